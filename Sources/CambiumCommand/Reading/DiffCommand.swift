import ArgumentParser
import Cambium

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Compares the records of two stores.",
    discussion: """
      Each record that only the second store has is shown as inserted, one that only the first has as deleted, and one that \
      differs as updated, with the fields that differ. With --json each is an object in a line, with both records. The status \
      is 10 if anything differs. Types are found by their stored names; of those that only one store has, all records are \
      shown. Each record is looked up in the other store.

      Example: cambium diff /backup/orders.cambium orders.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The directory of the second store.", completion: .directory)
  var other: String

  @Option(help: "Only compare this type. May be repeated.")
  var record: [String] = []

  func run() throws {
    let first = try arguments.snapshot()
    var others = arguments
    others.store = other
    let second = try others.snapshot()
    let names = Set(first.schema.records.map(\.name) + second.schema.records.map(\.name))
    for name in record where !names.contains(name) {
      throw CommandFailure.unknown(
        "type", name, in: "The schema of both stores", known: names.sorted())
    }
    var count = 0
    for name in names.sorted() where record.isEmpty || record.contains(name) {
      try Self.forEachDifference(of: name, first, second) { difference in
        difference.write(asJSON: arguments.json)
        count += 1
      }
    }
    if count > 0 {
      throw CommandFailure(
        .different, "\(Figures.count(count, "record")) \(count == 1 ? "differs" : "differ").")
    }
  }

  private static func forEachDifference(
    of name: String, _ first: StoreSnapshot, _ second: StoreSnapshot,
    _ body: (RecordDifference) -> Void
  ) throws {
    let old = first.schema.record(named: name).map { RecordShape($0) }
    let new = second.schema.record(named: name).map { RecordShape($0) }
    // Keys of other parts lead to no record.
    let areAlike = old?.key.map(\.name) == new?.key.map(\.name)
    func other(
      _ record: DynamicRecord, _ own: RecordShape, _ shape: RecordShape?, _ state: StoreSnapshot
    ) throws -> DynamicRecord? {
      guard areAlike, let shape else { return nil }
      return try state.find(own.key.map { record[$0.name] }, of: shape)
    }
    if let old {
      try first.forEach(record: name) { record in
        let found = try other(record, old, new, second)
        if let found, found.isSame(as: record) { return }
        body(RecordDifference(old, record, found))
      }
    }
    if let new {
      try second.forEach(record: name) { record in
        if try other(record, new, old, first) == nil { body(RecordDifference(new, nil, record)) }
      }
    }
  }
}

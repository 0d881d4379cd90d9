import ArgumentParser
import Cambium

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes all records as lines of JSON.",
    discussion: """
      The first line has the schema, each line after it a record or a value of the metadata, and the last \
      line the number of records. Nothing is lost: values that JSON cannot express are strings, which the \
      field's type says how to read. All records are of one state of the store, and the export takes \
      constant memory. A file gets its name when it is complete.

      Example: cambium export orders.cambium --output orders.jsonl
      """)

  @OptionGroup var arguments: StoreArguments

  @OptionGroup var file: OutputArguments

  @Option(help: "Only export this type, without metadata. May be repeated.")
  var record: [String] = []

  @OptionGroup var skipping: SkipDamagedArguments

  func run() throws {
    let snapshot = try arguments.snapshot()
    for name in record { _ = try snapshot.schema.type(named: name) }
    // Before the file is begun, so that nothing is left of it.
    Interruption.begin()
    let file = try file.create(of: arguments.store)
    let bar = ProgressBar()
    let leftOut = LeftOutRecords(skipping, arguments)
    var writer = try ExportWriter(
      snapshot, only: record.isEmpty ? nil : Set(record),
      leavingOut: skipping.skipDamaged ? leftOut : nil, bar
    ) { line in
      if let file { try file.write(line) } else { StandardOutput.write(line) }
    }
    do {
      defer { bar.end() }
      try writer.run()
    }
    guard let file else { return try leftOut.check(isInAnswer: false) }
    try file.close()
    if arguments.json {
      let records = JSONValue.Member(name: "records", value: JSONValue(writer.count))
      StandardOutput.line(
        "\(JSONValue.object([records] + (skipping.skipDamaged ? leftOut.json : [])))")
    } else {
      StandardOutput.line(
        "\(Figures.count(writer.count, "record")) written to \(self.file.output ?? "").")
    }
    try leftOut.check()
  }
}

/// Writes the lines of an export.
struct ExportWriter {
  private let snapshot: StoreSnapshot
  private let types: [RecordSchema]
  private let hasMetadata: Bool
  private let total: Int
  /// Notes records that cannot be read; nil if they end the export.
  private let leftOut: LeftOutRecords?
  private let bar: ProgressBar
  private let write: (String) throws -> Void
  private(set) var count = 0

  init(
    _ snapshot: StoreSnapshot, only names: Set<String>?, leavingOut leftOut: LeftOutRecords? = nil,
    _ bar: ProgressBar,
    to write: @escaping (String) throws -> Void
  ) throws {
    self.snapshot = snapshot
    self.leftOut = leftOut
    self.bar = bar
    self.write = write
    hasMetadata = names == nil
    types = snapshot.schema.inOrderOfReferences.filter { names?.contains($0.name) ?? true }
    var total = 0
    for type in types { total += try snapshot.count(record: type.name) }
    self.total = total
  }

  mutating func run() throws {
    try line(try header)
    for type in types { try writeRecords(of: RecordShape(type)) }
    if hasMetadata {
      try snapshot.forEachMetadata { name, error in
        guard let leftOut else { throw error }
        leftOut.add(valueUnder: name, error)
      } _: { name, value in
        try line(["metadata": .string(name), "value": value])
      }
    }
    try line(["end": JSONValue(count)])
  }

  private func line(_ value: JSONValue) throws { try write("\(value)\n") }

  private var header: JSONValue {
    get throws {
      let schema = snapshot.schema
      var counts: [JSONValue.Member] = []
      for type in types {
        counts.append(
          .init(name: type.name, value: JSONValue(try snapshot.count(record: type.name))))
      }
      return .object([
        .init(name: ExchangeFormat.name, value: JSONValue(ExchangeFormat.number)),
        .init(name: "version", value: JSONValue(schema.version)),
        .init(name: "label", value: JSONValue(schema.label)),
        .init(name: "fingerprint", value: .string("\(schema.fingerprint)")),
        .init(name: "schema", value: .string("\(SchemaLock([schema]))")),
        .init(name: "records", value: .object(counts)),
      ])
    }
  }

  private mutating func writeRecords(of shape: RecordShape) throws {
    var count = count
    let (bar, total, write) = (bar, total, write)
    // By name: numbers depend on a store's past.
    let named = shape.fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    let body: (DynamicRecord) throws -> Void = { record in
      try Interruption.check(
        "The export was interrupted. No file was made, and other output lacks its last line.")
      try write("{\"record\":\(JSONValue.string(shape.name)),\"fields\":")
      try FieldValue.writeJSON(named.map { ($0, record[$0.name]) }, to: write)
      try write("}\n")
      count += 1
      bar.show(Double(count) / Double(max(1, total)), "\(Figures.count(count)) records")
    }
    if let leftOut {
      let readable: (DynamicRecord) throws -> Void = { record in
        do {
          try record.checkBlobs()
        } catch let error as StoreError where error.isOfOneRecord {
          leftOut.add(record, of: shape, error)
          return
        }
        try body(record)
      }
      try snapshot.forEach(
        record: shape.name, stringsAsBlobs: true, skipping: { leftOut.add($0) }, readable)
    } else {
      try snapshot.forEach(record: shape.name, stringsAsBlobs: true, body)
    }
    self.count = count
  }
}

/// The lines of an export.
///
///     {"cambium-export":1,"version":3,"fingerprint":"…","schema":"schema-lock 1\n…","records":{"Person":2}}
///     {"record":"Person","fields":{"id":1,"name":"Ada"}}
///     {"record":"Person","fields":{"id":2,"name":"Grace"}}
///     {"metadata":"owner","value":"…"}
///     {"end":2}
///
/// The first has all that is needed to make the store again, with the names of its indexes. The last has the number
/// of records, so that an export that was cut off is not taken for a whole one. Types come before those that lead to
/// them, and else in the order of their names; records by primary key: stores with the same content have the same export.
enum ExchangeFormat {
  static let number = 1
  static let name = "cambium-export"
}

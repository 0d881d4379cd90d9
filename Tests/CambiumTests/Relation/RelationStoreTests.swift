import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A model of two records, whose rules a test says.
private struct Writer: Record, Identifiable, Equatable {
  var id: Int

  static let inverse = PerThread<Inverse<Writer, Text>?>(nil)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    if let inverse = inverse.value { inverse }
  }
}

private struct Text: Record, Identifiable, Equatable {
  var id: Int
  var writer: Reference<Writer>?
  var tags: [Reference<Writer>] = []

  static let bounds = PerThread<ClosedRange<Int>>(0...9)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "writer", type: .reference(to: Writer.self), optional: true)
    Field(name: "tags", type: .references(to: Writer.self, count: bounds.value))
  }
}

/// Relations of stores as wholes: their rules in the schema, and what checks find.
@Suite struct RelationStoreTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private let model = StoreModel(records: [Writer.self, Text.self])

  private func open(
    _ inverse: Inverse<Writer, Text>?, bounds: ClosedRange<Int> = 0...9,
    options: StoreOptions = StoreOptions(), _ body: (PersistentStore) throws -> Void
  ) throws {
    try Writer.inverse.withValue(inverse) {
      try Text.bounds.withValue(bounds) {
        let store = try PersistentStore(at: path, model: model, options: options)
        try body(store)
        try store.close()
      }
    }
  }

  private func stored() throws -> Schema {
    try #require(try PersistentStore.inspect(at: path).schemas.last)
  }

  // MARK: Rules

  @Test func `J12: the rules of the program that opens a store are the store's from then on`()
    throws
  {
    try open(nil) { store in
      try store.write { transaction in
        try transaction.save(Writer(id: 1))
        try transaction.save(Text(id: 1, writer: Reference(1)))
      }
    }
    #expect(try stored().records.flatMap(\.inverses) == [])
    let deny = Inverse("texts", of: \Text.writer, deleteRule: .deny, count: 0...3)
    try open(deny, bounds: 0...2) { _ in }
    let inverse = try #require(try stored().record(named: "Writer")?.inverse(named: "texts"))
    #expect(inverse.deleteRule == .deny && "\(inverse.bounds.map { "\($0)" } ?? "")" == "0...3")
    let tags = try stored().record(named: "Text")?.field(named: "tags")?.reference
    #expect(tags?.bounds?.most == 2)
    // Whoever opens it without the program, obeys them.
    let untyped = try PersistentStore(untypedAt: path)
    let error = #expect(throws: StoreError.self) {
      try untyped.write { transaction in try transaction.delete(record: "Writer", key: 1) }
    }
    #expect(error == .deleteDenied(record: "Writer", key: "1", by: "Text.writer", count: 1))
    try untyped.close()
    // And they go as they came, without using a number twice.
    try open(nil) { store in try store.save(Writer(id: 2)) }
    #expect(try stored().records.flatMap(\.inverses) == [])
    try open(Inverse("works", of: \Text.writer)) { _ in }
    let again = try #require(try stored().record(named: "Writer")?.inverses.first)
    #expect(again.number > inverse.number)
  }

  @Test func `a store that is only read, or whose rules are the same, is not written`() throws {
    let cascade = Inverse("texts", of: \Text.writer, deleteRule: .cascade)
    try open(cascade) { store in try store.save(Writer(id: 1)) }
    let sequence = try PersistentStore.inspect(at: path).sequence
    try open(cascade) { _ in }
    var reading = StoreOptions()
    reading.access = .reading
    try open(nil, options: reading) { store in
      let count = try store.count(Writer.self)
      #expect(count == 1)
    }
    #expect(try PersistentStore.inspect(at: path).sequence == sequence)
    #expect(try stored().record(named: "Writer")?.inverses.first?.deleteRule == .cascade)
  }

  // MARK: K4

  private func damaged(
    _ body: (WriteTransaction.Type, RecordWriter, Entity, Entity) throws -> Void
  ) throws -> [StoreError] {
    var faults: [StoreError] = []
    try open(nil) { store in
      try store.write { transaction in
        for id in 0..<300 { try transaction.save(Writer(id: id)) }
        for id in 0..<300 {
          try transaction.save(
            Text(
              id: id, writer: id % 3 == 0 ? nil : Reference(id / 2),
              tags: [Reference(299 - id), Reference((id + 7) % 299)].uniqued))
        }
      }
      #expect(try store.snapshot().check() == [])
      try store.write { transaction in
        let writer = transaction.writer
        try body(
          WriteTransaction.self, writer, try store.entities.type(Writer.self),
          try store.entities.type(Text.self))
      }
      faults = try store.snapshot().check()
    }
    return faults
  }

  /// Removes a record without the rules of relations.
  private func remove(_ id: Int, of entity: Entity, _ writer: RecordWriter) throws {
    let key = KeyEncoder()
    try key.encode(primaryKey: [id], of: entity)
    #expect(try writer.trees.remove(key.key, in: entity.rows))
  }

  @Test func `K4: a checked reference that leads nowhere is a fault, with its record`() throws {
    let faults = try damaged { _, writer, writers, _ in try remove(20, of: writers, writer) }
    let texts = faults.map { "\($0)" }.sorted()
    // Text 40 and 41 by `writer`, 279 and 13 by `tags`.
    #expect(texts.count == 4, "\(texts)")
    for fault in faults {
      guard case .corrupt(.entry(let tree, _), .references, let reason) = fault else {
        Issue.record("\(fault)")
        continue
      }
      #expect(tree == "Text")
      #expect(
        reason == "writer leads to Writer 20, which does not exist"
          || reason == "tags leads to Writer 20, which does not exist")
    }
  }

  @Test func `K4: of many references that lead nowhere, the first hundred are named`() throws {
    let faults = try damaged { _, writer, writers, _ in
      for id in 0..<300 { try remove(id, of: writers, writer) }
    }
    #expect(
      faults.count { if case .corrupt(_, .references, _) = $0 { true } else { false } } == 100)
  }

  @Test func `K4: unchecked references may lead nowhere`() throws {
    try open(Inverse("texts", of: \Text.writer, deleteRule: .noAction)) { store in
      try store.save(Text(id: 1, writer: Reference(99)))
      #expect(try store.snapshot().check() == [])
      #expect(try store.fetch(Reference<Writer>(99)) == nil)
    }
  }

  @Test func `K4: references of every way back are looked at`() throws {
    // In a primary key, unique, descending, and with keys longer than those of an index.
    let long = String(repeating: "k", count: 1_000)
    let store = try PersistentStore(
      inMemory: untyped(
        ("Root", description { Field(primaryKey: true, name: "id", type: .string) }),
        (
          "Leaf",
          description {
            Field(primaryKey: true, name: "root", type: .reference(to: "Root"))
            Field(primaryKey: true, name: "number", type: .integer)
            Field(name: "one", type: .reference(to: "Root"), optional: true, unique: true)
            Field(name: "down", type: .reference(to: "Root"), optional: true)
            Field(name: "all", type: .references(to: "Root"))
            RecordDescription.Index(.descending("down"), "number")
          }
        )))
    let roots = ["a", "b", "c", long]
    try store.write { transaction in
      for root in roots {
        try transaction.save(DynamicRecord("Root", ["id": .string(root)]))
      }
      for (number, root) in roots.enumerated() {
        try transaction.save(
          DynamicRecord(
            "Leaf",
            [
              "root": .string(root), "number": .integer(Int64(number)),
              "one": number == 1 ? .null : .string(root),
              "down": number == 2 ? .null : .string(root),
              "all": .array(roots.map { .string($0) }),
            ]))
      }
    }
    #expect(try store.snapshot().check() == [])
    for (root, expected) in [
      ("b", ["all", "all", "all", "all", "down", "root"]),
      (long, ["all", "all", "all", "all", "down", "one", "root"]),
    ] {
      try store.write { transaction in
        let entity = try store.entities.entity(named: "Root")
        let key = KeyEncoder()
        try key.encode(primaryKey: [root], of: entity)
        #expect(try transaction.writer.trees.remove(key.key, in: entity.rows))
      }
      let faults = try store.snapshot().check()
      let fields = faults.compactMap { fault -> String? in
        guard case .corrupt(_, .references, let reason) = fault else { return nil }
        return reason.split(separator: " ").first.map { String($0) }
      }
      #expect(fields.sorted() == expected, "\(root.prefix(5))")
      try store.write { transaction in
        let entity = try store.entities.entity(named: "Root")
        let (key, row) = (KeyEncoder(), RowWriter())
        try DynamicRecord("Root", ["id": .string(root)])
          .encode(to: row, key: key, layout: entity.layout)
        try transaction.writer.trees.put(
          key.key, row.row, schemaVersion: 1, in: entity.rows)
      }
    }
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  // MARK: Damage

  @Test(arguments: [DeleteRule.nullify, .cascade])
  func `a deletion that an index leads to records that are not there changes nothing`(
    rule: DeleteRule
  ) throws {
    try open(Inverse("texts", of: \Text.writer, deleteRule: rule)) { store in
      try store.save(Writer(id: 1))
      try store.save(contentsOf: (0..<3).map { Text(id: $0, writer: Reference(1)) })
      try store.write { transaction in
        try remove(1, of: try store.entities.type(Text.self), transaction.writer)
      }
      #expect(isIndexFault(storeError { try store.delete(Writer(id: 1)) }))
      #expect(try store.count(Writer.self) == 1 && store.count(Text.self) == 2)
    }
  }

  /// References without bounds are cut some at a time, until no more are found.
  @Test(.timeLimit(.minutes(60)))
  func `a deletion ends where an index goes on saying what a record does not`() throws {
    let store = try PersistentStore(
      inMemory: untyped(
        ("Root", description { Field(primaryKey: true, name: "id", type: .integer) }),
        (
          "Text",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "root", type: .reference(to: "Root"), optional: true)
          }
        )))
    let root = DynamicRecord("Root", ["id": 1])
    // More than are cut at once.
    try store.write { transaction in
      try transaction.save(root)
      let entity = try store.entities.entity(named: "Text")
      let (key, row) = (KeyEncoder(), RowWriter())
      for id in 0..<1_100 {
        let id = FieldValue.integer(Int64(id))
        try transaction.save(DynamicRecord("Text", ["id": id, "root": 1]))
        try DynamicRecord("Text", ["id": id, "root": .null])
          .encode(to: row, key: key, layout: entity.layout)
        try transaction.writer.trees.put(key.key, row.row, schemaVersion: 1, in: entity.rows)
      }
    }
    #expect(isIndexFault(storeError { try store.write { try $0.delete(record: "Root", key: 1) } }))
    #expect(try store.fetch(record: "Root", key: 1) != nil)
  }

  private func isIndexFault(_ error: StoreError?) -> Bool {
    guard case .corrupt(.entry("Text", _), .indexEntries, _) = error else { return false }
    return true
  }

  // MARK: Statistics

  @Test func `the entries that lead back are counted for each reference`() throws {
    try open(nil) { store in
      try store.write { transaction in
        for id in 0..<3 { try transaction.save(Writer(id: id)) }
        try transaction.save(Text(id: 1, writer: Reference(1), tags: [Reference(1), Reference(2)]))
        try transaction.save(Text(id: 2, writer: nil, tags: [Reference(0)]))
      }
      let statistics = try store.statistics().records
      #expect(statistics.map(\.name) == ["Text", "Writer"])
      #expect(statistics[0].references == ["writer": 1, "tags": 3])
      #expect(statistics[1].references == [:])
    }
  }
}

extension [Reference<Writer>] {
  fileprivate var uniqued: [Reference<Writer>] {
    var seen: Set<Reference<Writer>> = []
    return filter { seen.insert($0).inserted }
  }
}

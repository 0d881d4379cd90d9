import Cambium
import FoundationEssentials
import Testing

/// What writes nothing new: imports of what is there, and observers of what stays as it was.
@Suite struct UnchangedTests {
  struct Owner: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    var folded = ""
    var parts = 0
    var changed = Date.distantPast
    static let ofParts = Inverse("ofParts", of: \Part.owner)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "folded", type: .string, derived: .folded("name"))
      Field(name: "parts", type: .integer, derived: .count(of: "ofParts"))
      Field(name: "changed", type: .date, derived: .modificationDate)
      ofParts
    }
  }

  struct Part: Record, Identifiable, Equatable, Codable {
    var id: Int
    var owner: Reference<Owner>?
    var mark = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "owner", type: .reference(to: Owner.self), optional: true)
      Transient("mark", default: 0, tracked: true)
    }
  }

  struct Hooked: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    var folded = ""
    var weight = 0.0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "folded", type: .string, derived: .folded("name"))
      Field(name: "weight", type: .double)
    }
    static var hooks: RecordHooks<Hooked> {
      RecordHooks(beforeUpdate: { _, _, _ in throw CancellationError() })
    }
  }

  struct Note: Record, Equatable {
    var id: Int
    var body: String
    var more: Data

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "body", type: .string, storage: .external(threshold: 40))
      Field(
        name: "more", type: .binaryData, storage: .external(threshold: 40, deduplicated: true))
    }
  }

  private func store() throws -> PersistentStore {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    return try PersistentStore(
      inMemory: StoreModel(records: [Owner.self, Part.self, Hooked.self, Note.self]),
      options: options)
  }

  /// The key of the one record of an import.
  private static func one(_ name: String) -> Int { 1 }

  @Test func `an import of what only derived fields seem to change writes nothing`() throws {
    let store = try store()
    try store.save(Owner(id: 1, name: "Ada"))
    try store.save(Part(id: 1, owner: Reference(1)))
    // It equals nothing, and is stored as it was.
    try store.save(Hooked(id: 1, name: "Ada", weight: .nan))
    let cursor = try store.snapshot().historyCursor
    var report = try store.importRecords(Owner.self, from: ["Ada"], id: Self.one) { name, _ in
      Owner(id: 1, name: name)
    }
    #expect(report.unchanged == 1 && report.updated == 0)
    report = try store.importRecords(Hooked.self, from: ["Ada"], id: Self.one) { name, _ in
      Hooked(id: 1, name: name, weight: .nan)
    }
    #expect(report.unchanged == 1 && report.updated == 0)
    for json in [
      #"{"id": 1, "parts": 78, "folded": "x", "changed": 7}"#,
      #"{"id": 1, "name": "Ada", "parts": 0}"#,
    ] {
      report = try store.importRecords(Owner.self, decoding: Data(json.utf8), merging: true)
      #expect(report.unchanged == 1 && report.updated == 0, "\(json)")
    }
    report = try store.write { transaction in
      try transaction.importRecords(
        record: "Owner",
        from: [["id": 1, "name": "Ada", "folded": "", "parts": 5, "changed": .date(.distantPast)]]
      ) { _, error in throw error }
    }
    #expect(report.unchanged == 1)
    let history = try store.history(since: cursor)
    #expect(try history.next() == nil)
    // What really changes is written, with the derived fields as the store computes them.
    report = try store.importRecords(Owner.self, from: ["Eve"], id: Self.one) { name, _ in
      Owner(id: 1, name: name)
    }
    #expect(report.updated == 1)
    let owner = try #require(try store.fetch(Owner.self, key: 1))
    #expect(owner.folded == "eve" && owner.parts == 1)
  }

  @Test func `an import sees that a tracked property changed, and keeps it where none is named`()
    throws
  {
    let store = try store()
    try store.save(Part(id: 1, mark: 7))
    var report = try store.importRecords(Part.self, from: [1], id: \.self) { _, part in
      var part = part ?? Part(id: 1)
      part.mark += 1
      return part
    }
    #expect(report.updated == 1)
    #expect(try store.fetch(Part.self, key: 1)?.mark == 8)
    report = try store.importRecords(Part.self, from: [1], id: \.self) { _, part in part }
    #expect(report.unchanged == 1)
    report = try store.importRecords(
      Part.self, decoding: Data(#"{"id": 1, "owner": null}"#.utf8), merging: true)
    #expect(report.unchanged == 1)
    #expect(try store.fetch(Part.self, key: 1)?.mark == 8)
  }

  @Test func `an observer is not told of content that was replaced by the same`() async throws {
    let store = try store()
    let body = String(repeating: "x", count: 200)
    let note = Note(id: 1, body: body, more: Data(repeating: 7, count: 200))
    try await store.save(note)
    let changes = try store.changes(of: Note.self)
    try await store.save(Note(id: 1, body: "a", more: Data()))
    try await store.save(note)
    try await store.delete(Note.self, key: 1)
    try await store.save(note)
    try await store.save(Note(id: 2, body: "b", more: Data()))
    var iterator = changes.makeAsyncIterator()
    let change = try #require(try await iterator.next())
    #expect(change.updated.isEmpty && change.inserted.map(\.id) == [2])
  }

  @Test func `results that are sorted by another record are not told that a record changed`()
    async throws
  {
    let store = try store()
    try await store.save(Owner(id: 1, name: "b"))
    try await store.save(Owner(id: 2, name: "c"))
    try await store.save(Part(id: 1, owner: Reference(1)))
    try await store.save(Part(id: 2, owner: Reference(2)))
    let results = try store.results(of: Part.sorted(by: .ascending { $0.owner.name }))
    var iterator = results.makeAsyncIterator()
    #expect(try await iterator.next()?.records.map(\.id) == [1, 2])
    // The order stays.
    try await store.save(Owner(id: 1, name: "a"))
    try await store.save(Part(id: 3, owner: Reference(1)))
    let next = try #require(try await iterator.next())
    #expect(next.difference.updates.isEmpty && next.difference.insertions.map(\.record.id) == [3])
    // And here one moves.
    try await store.save(Owner(id: 2, name: "0"))
    let moved = try #require(try await iterator.next())
    #expect(moved.records.map(\.id) == [2, 1, 3])
    #expect(moved.difference.moves.map(\.change.new.id) == [2])
  }
}

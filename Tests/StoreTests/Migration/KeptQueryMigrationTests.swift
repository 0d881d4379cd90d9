import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record whose fields get other names from version 1 to 2: two exchange theirs.
private enum Renaming {
  struct Old: Record {
    var id: Int
    var title: String
    var width: Int
    var height: Int
    static func recordDescription(for version: Int) -> RecordDescription { Renaming.box(version) }
  }

  struct New: Record {
    var id: Int
    var name: String
    var height: Int
    var width: Int
    static func recordDescription(for version: Int) -> RecordDescription { Renaming.box(version) }
  }

  @RecordDescription.ResultBuilder
  static func box(_ version: Int) -> RecordDescription {
    RecordName("Box")
    Field(primaryKey: true, name: "id", type: .integer)
    if version == 1 {
      Field(name: "title", type: .string)
      Field(name: "width", type: .integer, indexed: true)
      Field(name: "height", type: .integer)
    } else {
      Field(name: "name", type: .string, migrationInfo: .init(renamingID: "title"))
      Field(
        name: "height", type: .integer, indexed: true, migrationInfo: .init(renamingID: "width"))
      Field(name: "width", type: .integer, migrationInfo: .init(renamingID: "height"))
    }
  }
}

@Suite struct KeptQueryMigrationTests {
  private typealias Old = Renaming.Old
  private typealias New = Renaming.New

  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  /// Queries of version 1, and which boxes they find in every version.
  private static let queries: [(query: Query<Old>, ids: [Int])] = [
    (Old.where { $0.title == "b" }, [2]),
    (Old.where { $0.width > 1 }, [2, 3]),
    (Old.where { $0.height > 1 }, [1, 2]),
    (Old.where { $0.width + $0.height * 2 == 5 && $0.title != "x" }, [3]),
    (Query().sorted(by: .descending(\.width)).limit(2), [3, 2]),
    (Query().sorted(by: .ascending(\.height), .ascending(\.title)), [3, 2, 1]),
    (Old.where { $0.id < 3 }, [1, 2]),
    (Query(), [1, 2, 3]),
  ]

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(
    _ version: Int, _ steps: [MigrationStep] = [], _ migration: MigrationMode = .automatic
  ) throws -> PersistentStore {
    let type: any Record.Type = version == 1 ? Old.self : New.self
    return try PersistentStore(
      at: path, model: StoreModel(version: version, records: [type]), steps: steps,
      migration: migration)
  }

  private func make() throws {
    let store = try open(1)
    try store.write { transaction in
      for (id, title) in [(1, "a"), (2, "b"), (3, "c")] {
        try transaction.save(Old(id: id, title: title, width: id, height: 4 - id))
      }
      for (number, query) in Self.queries.map(\.query).enumerated() {
        try transaction.setQuery(query, named: "q\(number)")
      }
    }
    try store.close()
  }

  private func expectSameResults<Subject: Record>(
    _ store: PersistentStore, of type: Subject.Type, _ id: (Subject) -> Int,
    but left: Int? = nil
  ) throws {
    for (number, expected) in Self.queries.map(\.ids).enumerated() where number != left {
      let query = try #require(try store.query(type, named: "q\(number)"))
      #expect(try store.fetch(query).map(id) == expected, "q\(number)")
    }
  }

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `a kept query asks the same fields after they are renamed, and after going back`(
    mode: MigrationMode
  ) throws {
    try make()
    let migrated = try open(2, [], mode)
    try expectSameResults(migrated, of: New.self, \.id)
    if mode == .deferred { _ = try migrated.finishMigration() }
    try expectSameResults(migrated, of: New.self, \.id)
    try migrated.close()
    try PersistentStore.rollback(at: path, to: 1)
    let store = try open(1)
    try expectSameResults(store, of: Old.self, \.id)
  }

  @Test func `a query that a hook keeps has the new names already`() throws {
    try make()
    let step = MigrationStep(to: 2) {
      RunAfter(New.self) { transaction in
        try transaction.setQuery(New.where { $0.width == 3 }, named: "q0")
      }
    }
    let store = try open(2, [step])
    let query = try #require(try store.query(New.self, named: "q0"))
    #expect(try store.fetch(query).map(\.id) == [1])
    try expectSameResults(store, of: New.self, \.id, but: 0)
  }

  @Test func `what is no query of fields stays as it is`() throws {
    try make()
    let store = try open(1)
    let names = ["cambium.query.1.text", "cambium.query.x", "cambium.query.1"]
    try store.write { transaction in
      for name in names { try transaction.setMetadata(name, for: name) }
    }
    try store.close()
    let migrated = try open(2)
    for name in names { #expect(try migrated.metadata(String.self, for: name) == name) }
    try expectSameResults(migrated, of: New.self, \.id)
  }
}

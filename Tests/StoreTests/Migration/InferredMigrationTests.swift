import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// One record in five versions, a type for each that describes it as its program does.
private enum Versions {
  struct Item1: Record, Equatable {
    var id: Int
    var color: String
    var size: Int16
    var note: String?
    var rest: String = "r"
    static func recordDescription(for version: Int) -> RecordDescription { Versions.item(version) }
  }

  struct Item2: Record, Equatable {
    var id: Int
    var paintColor: String
    var size: Int32
    var note: String?
    var count: Int32
    static func recordDescription(for version: Int) -> RecordDescription { Versions.item(version) }
  }

  struct Item3: Record, Equatable {
    var id: Int
    var primaryColor: String
    var size: Int32
    var note: String
    var count: Double
    var rest: URL?
    static func recordDescription(for version: Int) -> RecordDescription { Versions.item(version) }
  }

  /// Color and note have each other's names.
  struct Item4: Record, Equatable {
    var id: Int
    var note: String
    var size: Int64
    var primaryColor: String
    var count: Double?
    static func recordDescription(for version: Int) -> RecordDescription { Versions.item(version) }
  }

  @RecordDescription.ResultBuilder
  static func uniqueItem(_ version: Int) -> RecordDescription {
    item(version)
    if version > 2 { Unique("size", named: "sizes") }
  }

  @RecordDescription.ResultBuilder
  static func item(_ version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    switch version {
    case 1:
      Field(name: "color", type: .string, indexed: true)
      Field(name: "size", type: .int16)
      Field(name: "note", type: .string, optional: true)
      Field(name: "rest", type: .string)
    case 2:
      Field(
        name: "paintColor", type: .string, indexed: true,
        migrationInfo: .init(renamingID: "color"))
      Field(name: "size", type: .int32)
      Field(name: "note", type: .string, optional: true)
      Field(name: "count", type: .int32, migrationInfo: .init(default: 7))
    case 3:
      Field(
        name: "primaryColor", type: .string, migrationInfo: .init(renamingID: "paintColor"))
      Field(name: "size", type: .int32)
      Field(name: "note", type: .string, migrationInfo: .init(default: "none"))
      Field(name: "count", type: .double)
      Field(name: "rest", type: .url, optional: true)
      Index("size", .descending("count"))
    default:
      Field(name: "note", type: .string, migrationInfo: .init(renamingID: "primaryColor"))
      Field(name: "size", type: .int64)
      Field(name: "primaryColor", type: .string, migrationInfo: .init(renamingID: "note"))
      Field(name: "count", type: .double, optional: true)
      Index("size", .descending("count"))
    }
  }

  static func first(_ id: Int) -> Item1 {
    Item1(id: id, color: "c\(id)", size: Int16(id % 300 - 100), note: id % 3 == 0 ? nil : "n\(id)")
  }

  static func fourth(_ id: Int) -> Item4 {
    let first = first(id)
    return Item4(
      id: id, note: first.color, size: Int64(first.size), primaryColor: first.note ?? "none",
      count: 7)
  }
}

@Suite struct InferredMigrationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(
    _ version: Int, _ type: any Record.Type, migration: MigrationMode = .automatic
  ) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: StoreModel(version: version, records: [type]), migration: migration)
  }

  private static let count = scaled(5_000, debug: 700)

  /// A store of version 1.
  private func make() throws {
    let store = try open(1, Versions.Item1.self)
    try store.write { try $0.insert(contentsOf: (0..<Self.count).map(Versions.first)) }
    try store.close()
  }

  @Test
  func
    `renaming chains and swaps, defaults and widening come out the same by every path, J1 J3 J4 J5 J13`()
    throws
  {
    let paths: [[Int]] = [[4], [2, 4], [3, 4], [2, 3, 4]]
    for versions in paths {
      try make()
      for version in versions {
        switch version {
        case 2: try open(2, Versions.Item2.self).close()
        case 3: try open(3, Versions.Item3.self).close()
        default: break
        }
      }
      let store = try open(4, Versions.Item4.self)
      #expect(try store.fetch(Versions.Item4.self) == (0..<Self.count).map(Versions.fourth))
      #expect(try store.snapshot().check() == [])
      #expect(store.schema.version == 4)
      try store.close()
      #expect(try PersistentStore.inspect(at: path).schemas.map(\.version) == [1, 2, 3, 4])
      try PersistentStore.delete(at: path)
    }
  }

  @Test func `what is in between is as each version says, J1 J2 J4`() throws {
    try make()
    let second = try open(2, Versions.Item2.self)
    let item = try #require(try second.fetch(Versions.Item2.self, key: 5))
    #expect(item == Versions.Item2(id: 5, paintColor: "c5", size: -95, note: "n5", count: 7))
    try second.save(Versions.Item2(id: -1, paintColor: "x", size: 1 << 20, note: nil, count: 9))
    try second.close()
    let third = try open(3, Versions.Item3.self)
    #expect(
      try third.fetch(Versions.Item3.self, key: -1)
        == Versions.Item3(id: -1, primaryColor: "x", size: 1 << 20, note: "none", count: 9))
    #expect(try third.count(Versions.Item3.self) == Self.count + 1)
    #expect(try third.snapshot().check() == [])
    try third.close()
  }

  @Test func `a store that was not to be migrated is left as it is, K19`() throws {
    try make()
    #expect(
      storeError { try open(4, Versions.Item4.self, migration: .refuse) }
        == .needsMigration(found: 1, wanted: 4))
    var reading = StoreOptions()
    reading.access = .reading
    let model = StoreModel(
      version: 4, untyped: [RemovedRecord("Item") { Versions.uniqueItem($0) }])
    // The step to version 3 can fail, so the store cannot be read through it.
    #expect(
      storeError { try PersistentStore(at: path, model: model, options: reading) }
        == .needsMigration(found: 1, wanted: 4))
    let store = try open(1, Versions.Item1.self)
    #expect(try store.fetch(Versions.Item1.self) == (0..<Self.count).map(Versions.first))
    try store.close()
  }

  @Test func `after the migration the older program is refused, I9`() throws {
    try make()
    try open(4, Versions.Item4.self).close()
    #expect(
      storeError { try open(1, Versions.Item1.self) } == .newerSchema(found: 4, supported: 1))
  }
}

// MARK: What cannot be

/// A required field comes where some have no value.
private struct Strict: Record, Equatable {
  var id: Int
  var name: String
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, optional: version < 2, unique: version > 2)
  }
}

private struct Lax: Record, Equatable {
  var id: Int
  var name: String?
  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Strict")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, optional: true)
  }
}

/// What no step can be inferred for.
private struct Impossible: Record {
  var id: String
  var name: Int
  var more: Int
  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Strict")
    Field(primaryKey: true, name: "id", type: version < 2 ? .integer : .string)
    Field(name: "name", type: version < 2 ? .string : .integer, optional: version < 2)
    if version > 1 { Field(name: "more", type: .integer) }
  }
}

extension InferredMigrationTests {
  private func makeLax(_ records: [Lax]) throws {
    let store = try open(1, Lax.self)
    try store.write { try $0.insert(contentsOf: records) }
    try store.close()
  }

  @Test func `a value that is missing names its record, and nothing has changed, J3`() throws {
    let records = [Lax(id: 1, name: "a"), Lax(id: 2, name: nil), Lax(id: 3, name: "c")]
    try makeLax(records)
    guard
      case .stepFailed(2, "Strict.name of the record 2", let reason) = storeError({
        try open(2, Strict.self)
      })
    else { return #expect(Bool(false), "it is migrated") }
    #expect(reason.contains("MigrationInfo(default:)"), "\(reason)")
    let store = try open(1, Lax.self)
    #expect(try store.fetch(Lax.self) == records)
    try store.save(Lax(id: 2, name: "b"))
    try store.close()
    let migrated = try open(2, Strict.self)
    #expect(try migrated.fetch(Strict.self).map(\.name) == ["a", "b", "c"])
    try migrated.close()
  }

  @Test func `values that are to be unique and are not are named, and nothing has changed, J12`()
    throws
  {
    try makeLax([Lax(id: 1, name: "a"), Lax(id: 2, name: "b"), Lax(id: 3, name: "a")])
    guard case .stepFailed(3, "Strict", let reason) = storeError({ try open(3, Strict.self) })
    else { return #expect(Bool(false), "it is migrated") }
    #expect(
      reason.contains("1 record has the same name as another") && reason.contains("`RunBefore`"))
    let store = try open(1, Lax.self)
    #expect(try store.count(Lax.self) == 3)
    try store.delete(Lax(id: 3))
    try store.close()
    let migrated = try open(3, Strict.self)
    #expect(storeError { try migrated.save(Strict(id: 9, name: "a")) } != nil)
    #expect(try migrated.snapshot().check() == [])
    try migrated.close()
  }

  @Test func `what cannot be inferred is said at once, field by field`() throws {
    try makeLax([Lax(id: 1, name: "a")])
    guard case .cannotMigrate(1, 2, let reasons) = storeError({ try open(2, Impossible.self) })
    else { return #expect(Bool(false), "it is migrated") }
    #expect(reasons.count == 3, "\(reasons)")
    for name in ["Strict.id", "Strict.name", "Strict.more"] {
      #expect(reasons.contains { $0.contains(name) }, "\(name): \(reasons)")
    }
    try open(1, Lax.self).close()
  }
}

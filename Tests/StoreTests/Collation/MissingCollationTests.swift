import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Collations whose functions change, come and go.
@Suite struct MissingCollationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Sorted by bytes, then by a dictionary, then by a telephone book, and by bytes again.
  private struct Migrant: Record {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      if version == 2 { Index(.collated("name", by: .german), named: "name") }
      if version == 3 { Unique(.collated("name", by: .germanNames), named: "name") }
    }
  }

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(version: version, records: [Migrant.self])
  }

  private static let names = ["Zebra", "Ärger", "Adler", "ä", "a", "Öl", "Oase"]

  private func make(version: Int) throws {
    let store = try PersistentStore(at: path, model: Self.model(version))
    for (id, name) in Self.names.enumerated() { try store.save(Migrant(id: id, name: name)) }
    try store.close()
  }

  private static func order(_ collation: Collation) -> [String] {
    names.sorted {
      (collation.content.sortKey?($0) ?? []).lexicographicallyPrecedes(
        collation.content.sortKey?($1) ?? [])
    }
  }

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `another version of a collation is a migration that builds the index`(
    _ mode: MigrationMode
  ) throws {
    try make(version: 1)
    for (version, collation) in [(2, Collation.german), (3, .germanNames)] {
      let store = try PersistentStore(at: path, model: Self.model(version), migration: mode)
      let query = Migrant.sorted(by: .ascending(\.name, collation: collation))
      #expect(try store.fetch(query).map(\.name) == Self.order(collation))
      _ = try store.finishMigration()
      #expect(try store.explain(query).access == "index name")
      #expect(try store.fetch(query).map(\.name) == Self.order(collation))
      #expect(try store.snapshot().check() == [])
      try store.close()
    }
    let store = try PersistentStore(at: path, model: Self.model(4))
    #expect(
      try store.fetch(Migrant.sorted(by: .ascending(\.name))).map(\.name) == Self.names.sorted())
    #expect(try store.snapshot().check() == [])
  }

  @Test func `two strings with one sort key are a conflict, also in a migration`() throws {
    try make(version: 3)
    var store = try PersistentStore(at: path, model: Self.model(3))
    #expect(
      storeError { try store.insert(Migrant(id: 90, name: "Oel")) } == nil, "of another case")
    guard
      case .uniqueConflict("Migrant", "name", _) = storeError({
        try store.insert(Migrant(id: 91, name: "Oel"))
      })
    else {
      Issue.record("it was inserted")
      return
    }
    try store.close()
    store = try PersistentStore(at: path, model: Self.model(4))
    try store.insert(Migrant(id: 92, name: "Oel"))
    try store.close()
    struct Twice: Record {
      var id: Int
      var name: String
      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Migrant")
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
        if version == 5 { Unique(.collated("name", by: .germanNames), named: "name") }
      }
    }
    guard
      case .stepFailed(5, _, _) = storeError({
        try PersistentStore(at: path, model: StoreModel(version: 5, records: [Twice.self]))
      })
    else {
      Issue.record("it was migrated")
      return
    }
    #expect(
      try PersistentStore(at: path, model: Self.model(4)).count(Migrant.where { $0.name == "Oel" })
        == 2
    )
  }

  @Test func `without its collation a record is read, and neither written nor sorted by it`() throws
  {
    try make(version: 2)
    let missing = StoreError.missingCollation(record: "Migrant", name: "de", version: "1")
    let store = try PersistentStore(untypedAt: path)
    #expect(try store.fetch(record: "Migrant", key: 1)?["name"] == "Ärger")
    #expect(try store.fetch(record: "Migrant").count == Self.names.count)
    let order = FieldOrder(field: "name", collation: Collation(named: "de", version: "1"))
    #expect(storeError { try store.fetch(record: "Migrant", sortedBy: [order]) } == missing)
    let one = DynamicRecord("Migrant", ["id": 1, "name": "x"])
    #expect(storeError { try store.write { try $0.save(one) } } == missing)
    try store.write { transaction in
      // Refused before anything is written: the transaction goes on.
      #expect(storeError { try transaction.save(one) } == missing)
      #expect(storeError { _ = try transaction.delete(record: "Migrant", key: 1) } == missing)
      try transaction.setMetadata(1, for: "counter")
    }
    #expect(try store.metadata(Int.self, for: "counter") == 1)
    #expect(try store.snapshot().check() == [])
    try store.close()
    #expect("\(missing)".contains("Collation(\"de\", version: \"1\")"))
    #expect(try PersistentStore.check(at: path, .deep).faults == [])
  }

  @Test func `the options give a store without types its collations`() throws {
    try make(version: 2)
    var options = StoreOptions()
    options.collations = [.germanNames, .german]
    let store = try PersistentStore(untypedAt: path, options: options)
    let one = DynamicRecord("Migrant", ["id": 50, "name": "Ärmel"])
    try store.write { try $0.save(one) }
    let order = FieldOrder(field: "name", collation: Collation(named: "de", version: "1"))
    #expect(
      try store.fetch(record: "Migrant", sortedBy: [order]).first?["name"] == "a")
    #expect(try store.snapshot().check() == [])
    try store.close()
    #expect(
      try PersistentStore(at: path, model: Self.model(2)).fetch(
        Migrant.sorted(by: .descending(\.name, collation: .german))
      ).map(\.name).suffix(3) == ["Adler", "ä", "a"])
  }

  @Test func `a function that changed without its version is found by the check`() throws {
    try make(version: 2)
    var options = StoreOptions()
    options.collations = [Collation("de") { Array($0.utf8.reversed()) }]
    let store = try PersistentStore(untypedAt: path, options: options)
    let faults = try store.snapshot().check()
    #expect(faults.contains { $0.breaks(.indexEntries) })
  }

  @Test func `a check of files honours the collations of its options`() throws {
    try make(version: 2)
    func faults(_ collations: [Collation]) throws -> [StoreError] {
      var options = StoreOptions()
      options.collations = collations
      return try PersistentStore.check(at: path, .deep, options: options).faults
    }
    #expect(try faults([.german]) == [])
    #expect(try faults([.germanNames]) == [], "of another version, and so of no index")
    let changed = Collation("de") { Array($0.utf8.reversed()) }
    #expect(try faults([changed]).contains { $0.breaks(.indexEntries) })
  }

  @Test func `a lock states collations, and a store is made of it`() throws {
    let lock = try SchemaLock(Self.model(3))
    #expect("\(lock)".contains("unique name by de names named \"name\""))
    #expect("\(try SchemaLock(parsing: "\(lock)"))" == "\(lock)")
    #expect(
      try StoreModel(SchemaLock(parsing: "\(lock)")).schemas().last?.fingerprint
        == Self.model(3).schemas().last?.fingerprint)
    var options = StoreOptions()
    options.collations = [.germanNames]
    let store = try PersistentStore(at: path, model: StoreModel(lock), options: options)
    try store.write { transaction in
      try transaction.save(DynamicRecord("Migrant", ["id": 1, "name": "ä"]))
    }
    #expect(try store.snapshot().check() == [])
  }

  @Test func `versions of a collation are different schemas`() throws {
    func fingerprint(_ collation: Collation) throws -> Fingerprint {
      try schema { _ in
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "s", type: .string)
        Index(.collated("s", by: collation))
      }.fingerprint
    }
    let other = Collation("de") { _ in [] }
    #expect(try fingerprint(.german) == fingerprint(other))
    #expect(try fingerprint(.german) != fingerprint(.germanNames))
    #expect(try fingerprint(.german) != fingerprint(Collation("sv") { _ in [] }))
  }

  @Test func `schemas with collations that cannot be are refused when they are read`() throws {
    let schema = try schema { _ in
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "text", type: .string)
      Index(.collated("text", by: .german))
    }
    #expect(
      try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "here") == schema)
    var changed = 0
    for (name, version) in [
      ("", "1"), (String(repeating: "n", count: 256), "1"),
      ("de", String(repeating: "v", count: 256)),
    ] {
      var other = schema
      other.records[0].indexes[0].parts[0].collation = Collation(named: name, version: version)
      let error = storeError {
        try Schema(decoding: other.encoded().rawSpan, version: 1, path: "here")
      }
      #expect(error?.breaks(.schemaContents) == true, "\(name): \(String(describing: error))")
      changed += 1
    }
    var other = schema
    other.records[0].primaryKey[0].collation = .german
    #expect(
      storeError { try Schema(decoding: other.encoded().rawSpan, version: 1, path: "here") }?
        .breaks(.schemaContents) == true)
    other = schema
    other.records[0].indexes[0].parts[0].isCaseInsensitive = true
    #expect(
      storeError { try Schema(decoding: other.encoded().rawSpan, version: 1, path: "here") }?
        .breaks(.schemaContents) == true)
    #expect(changed == 3)
  }
}

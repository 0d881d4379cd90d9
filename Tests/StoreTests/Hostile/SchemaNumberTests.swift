import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Versions and numbers in a schema that no fingerprint covers: what cannot be is damage, for a program with a model, too.
@Suite struct SchemaNumberTests {
  /// A change of the tree of schemas, of a store of version 1.
  enum Change: CaseIterable {
    case versionZero, versionsZeroAndOne, highestVersion, versionAboveTheHighest
    case nextField, nextFieldAtTheEnd, nextNumber, nextNumberAtTheEnd

    func run(_ schema: Schema, in trees: TransactionTrees, _ tree: TreeSlot) throws(StoreError) {
      var schema = schema
      var versions = [schema.storedVersion]
      switch self {
      case .versionZero: versions = [0]
      case .versionsZeroAndOne: versions = [0, 1]
      case .highestVersion: versions = [.max]
      case .versionAboveTheHighest: versions = [UInt32(Schema.versionMax) + 1]
      case .nextField: schema.records[0].nextField = .max
      case .nextFieldAtTheEnd: schema.records[0].nextField = Schema.numberMax + 1
      case .nextNumber: schema.nextNumber = .max
      case .nextNumberAtTheEnd: schema.nextNumber = .max - 2
      }
      try trees.removeAll(in: tree)
      for version in versions {
        try trees.put(Schema.key(of: version).rawSpan, schema.encoded().rawSpan, in: tree)
      }
    }
  }

  private struct Cup: Record {
    var id: Int
    var name: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  /// The same in version 2.
  private struct SizedCup: Record {
    var id: Int
    var name: String
    var size: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Cup")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "size", type: .integer, migrationInfo: .init(default: 1))
    }
  }

  private struct Saucer: Record {
    var id: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }

  private static var newer: StoreModel {
    StoreModel([
      ModelVersion(1, records: [Cup.self]), ModelVersion(2, records: [SizedCup.self, Saucer.self]),
    ])
  }

  private func made(_ change: Change) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let store = try PersistentStore(
      at: directory.path + "/store", model: StoreModel(records: [Cup.self]))
    try store.save(contentsOf: (0..<10).map { Cup(id: $0, name: "cup \($0)") })
    let schema = store.schema
    let tree = try store.backend.names.slot(of: Schema.treeName)
    try store.backend.commit { trees throws(StoreError) in
      try change.run(schema, in: trees, tree)
    }
    try store.close()
    return directory
  }

  @Test(arguments: Change.allCases)
  func `a number that cannot be is damage to each program that opens the store`(change: Change)
    throws
  {
    let directory = try made(change)
    let path = directory.path + "/store"
    #expect(try !PersistentStore.check(at: path).isWhole)
    // A program of the newest version reads no other.
    if change != .versionsZeroAndOne {
      #expect(throws: StoreError.self) { try PersistentStore(untypedAt: path) }
      #expect(throws: StoreError.self) {
        try PersistentStore(at: path, model: StoreModel(records: [Cup.self]))
      }
    }
    #expect(throws: StoreError.self) {
      try PersistentStore.migration(at: path, to: Self.newer).plan
    }
    #expect(throws: StoreError.self) { try PersistentStore(at: path, model: Self.newer) }
    for use in StoreUse.allCases {
      do {
        _ = try use.run(at: path, scratch: directory.path + "/\(use)")
      } catch { #expect(error is StoreError, "\(use): \(error)") }
    }
  }

  @Test func `the last numbers are used up with an error and not with the process`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: StoreModel(records: [Cup.self]))
    var schema = store.schema
    schema.nextNumber = Schema.numberMax
    schema.records[0].nextField = Schema.numberMax
    let (tree, bytes) = (try store.backend.names.slot(of: Schema.treeName), schema.encoded())
    try store.backend.commit { trees throws(StoreError) in
      try trees.put(Schema.key(of: 1).rawSpan, bytes.rawSpan, in: tree)
    }
    try store.close()
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    try PersistentStore(at: path, model: StoreModel(records: [Cup.self])).close()
    #expect(throws: StoreError.self) { try PersistentStore(at: path, model: Self.newer) }
  }
}

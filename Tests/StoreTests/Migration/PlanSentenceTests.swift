import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The sentences of a plan.
@Suite struct PlanSentenceTests {
  /// Version 2 of a record whose version 1 has the key `id`, of 32 bits, and a field `code`.
  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let changesKeys: Bool
    var steps: [MigrationStep] = []
    let description: @Sendable () -> RecordDescription
  }

  private static let changes = [
    Change(testDescription: "a wider key", changesKeys: true) {
      description { Field(primaryKey: true, name: "id", type: .integer) }
    },
    Change(testDescription: "another field", changesKeys: true) {
      description {
        Field(name: "id", type: .int32)
        PrimaryKey("code")
      }
    },
    Change(
      testDescription: "a computed key", changesKeys: true,
      steps: [
        MigrationStep(to: 2) {
          UpdateRecord("R") { UpdateField("id", by: { try $0.as(Int32.self) ?? 0 }) }
        }
      ]
    ) { description { Field(primaryKey: true, name: "id", type: .int32) } },
    Change(testDescription: "a renamed key", changesKeys: false) {
      description {
        Field(
          primaryKey: true, name: "number", type: .int32, migrationInfo: .init(renamingID: "id"))
      }
    },
    Change(testDescription: "another new field", changesKeys: false) {
      description {
        Field(primaryKey: true, name: "id", type: .int32)
        Field(name: "note", type: .string, optional: true)
      }
    },
  ]

  @RecordDescription.ResultBuilder
  private static func description(
    @RecordDescription.ResultBuilder _ key: () -> RecordDescription
  ) -> RecordDescription {
    key()
    Field(name: "code", type: .string)
  }

  private static func model(
    _ version: Int,
    @RecordDescription.ResultBuilder description: @escaping @Sendable (Int) -> RecordDescription
  ) -> StoreModel {
    StoreModel(version: version, untyped: [RemovedRecord("R", description: description)])
  }

  @Test func `a renaming that nobody states is a field that goes and one that is new`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    func model(_ version: Int) -> StoreModel {
      Self.model(version) { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "code", type: .string)
        } else {
          Field(name: "label", type: .string, optional: true)
        }
      }
    }
    let store = try PersistentStore(at: path, model: model(1))
    try store.write { try $0.save(DynamicRecord("R", ["id": 1, "code": "a"])) }
    try store.close()
    let migration = try PersistentStore.migration(at: path, to: model(2))
    #expect(migration.plan.canRun)
    let sentences = try #require(migration.plan.steps.first).changes.map(\.description)
    #expect(sentences.count == 2, "\(sentences)")
    #expect(sentences.contains { $0.hasPrefix("R.code ") }, "\(sentences)")
    #expect(sentences.contains { $0.hasPrefix("R.label is new") }, "\(sentences)")
    _ = try migration.run()
    let migrated = try PersistentStore(at: path, model: model(2))
    #expect(try migrated.fetch(record: "R").map { $0["label"] } == [.null])
    try migrated.close()
  }

  @Test(arguments: changes)
  func `a plan says that keys change which other records may hold`(change: Change) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    func model(_ version: Int) -> StoreModel {
      Self.model(version) { version in
        if version == 1 {
          Self.description { Field(primaryKey: true, name: "id", type: .int32) }
        } else {
          change.description()
        }
      }
    }
    try PersistentStore(at: path, model: model(1)).close()
    let plan = try PersistentStore.migration(at: path, to: model(2), steps: change.steps).plan
    let sentences = try #require(plan.steps.first).changes.map(\.description)
    #expect(!sentences.isEmpty)
    #expect(sentences.contains { $0.contains("primary keys change") } == change.changesKeys)
  }
}

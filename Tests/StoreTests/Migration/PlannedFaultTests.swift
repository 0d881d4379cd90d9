import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What a run would refuse, the plan says.
@Suite struct PlannedFaultTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws { directory = try TemporaryDirectory() }

  private func model(
    @RecordDescription.ResultBuilder _ describe: @escaping @Sendable (Int) -> RecordDescription
  ) -> StoreModel {
    StoreModel(version: 2, untyped: [RemovedRecord("R", description: describe)])
  }

  private func fill(_ model: StoreModel, _ records: [[String: FieldValue]]) throws {
    let store = try PersistentStore(at: path, model: model.untyped(version: 1))
    try store.write { transaction in
      for record in records {
        try transaction.save(DynamicRecord("R", RecordFields(record)))
      }
    }
    try store.close()
  }

  @Test(arguments: [false, true])
  func `keys that a conversion makes equal are counted, and the first two are named, J12`(
    isComposed: Bool
  ) throws {
    let model = model { version in
      if isComposed { Field(primaryKey: true, name: "kind", type: .string) }
      Field(primaryKey: true, name: "id", type: version == 1 ? .string : .integer)
    }
    let ids = ["7", "07", "8", "007", "9"]
    try fill(
      model, ids.map { ["kind": "a", "id": .string($0)].filter { isComposed || $0.key == "id" } })
    let steps = [
      MigrationStep(to: 2) { UpdateRecord("R") { UpdateField("id", converting: .refuse) } }
    ]
    let migration = try PersistentStore.migration(at: path, to: model, steps: steps)
    guard case .duplicates("R", "primary key", 2, let first)? = migration.plan.faults.first,
      migration.plan.faults.count == 1
    else { return #expect(Bool(false), "\(migration.plan)") }
    #expect(first.contains("07") && first.contains(" as "), "\(first)")
    #expect(!migration.plan.canRun)
    #expect(throws: StoreError.self) { try migration.run() }
  }

  @Test func `every field that a record is refused for is named, not only the first, P3`() throws {
    let model = model { version in
      Field(primaryKey: true, name: "id", type: .integer)
      for name in ["a", "b", "c"] { Field(name: name, type: version == 1 ? .string : .integer) }
      Field(name: "d", type: .string, optional: version == 1)
    }
    try fill(
      model,
      [
        ["id": 1, "a": "1", "b": "2", "c": "3", "d": "x"],
        ["id": 2, "a": "one", "b": "2", "c": "three", "d": .null],
        ["id": 3, "a": "one", "b": "two", "c": "3", "d": "x"],
      ])
    let steps = [
      MigrationStep(to: 2) {
        UpdateRecord("R") {
          UpdateField("a", converting: .refuse)
          UpdateField("b", converting: .refuse)
          UpdateField("c", converting: .refuse)
        }
      }
    ]
    let plan = try PersistentStore.migration(at: path, to: model, steps: steps).plan
    let counts = plan.faults.compactMap { fault -> String? in
      guard case .refusedValues("R", let field, let count, 3, let first) = fault else { return nil }
      return "\(field) \(count) \(first.hasPrefix("of the record 2") ? 2 : 3)"
    }
    // What is optional and required by the new version is refused where the schemas are compared.
    #expect(counts.filter { !$0.hasPrefix("d") } == ["a 2 2", "b 1 3", "c 1 2"], "\(plan)")
  }

  private enum Now {
    struct R: Record {
      var id: Int
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 { Field(name: "category", type: .string) }
      }
    }
  }

  @Test func `a hook whose type does not fit its version is a fault, before anything is done, P3`()
    throws
  {
    let model = StoreModel(version: 2, records: [Now.R.self])
    try fill(model, [["id": 1, "category": "a"]])
    for part in ["hook", "check"] {
      let steps = [
        MigrationStep(to: 2) {
          if part == "hook" {
            RunBefore(Now.R.self) { transaction in _ = try transaction.fetch(Now.R.self, key: 1) }
          } else {
            RunBefore { transaction in _ = try transaction.count(record: "R") }
          }
          RunAfter(Now.R.self) { transaction in _ = try transaction.fetch(Now.R.self, key: 1) }
        }
      ]
      let migration = try PersistentStore.migration(at: path, to: model, steps: steps)
      if part == "check" {
        #expect(migration.plan.canRun, "\(migration.plan)")
        continue
      }
      #expect(
        migration.plan.faults.map(\.description).contains {
          $0.contains("category") && $0.contains("version 1") && $0.contains("DynamicRecord")
        }, "\(migration.plan)")
      guard case .cannotMigrate(1, 2, let reasons)? = storeError({ try migration.run() }) else {
        return #expect(Bool(false), "it runs")
      }
      #expect(reasons == migration.plan.faults.map(\.description))
    }
  }

  @Test func `a list that becomes one reference to other records is to be transformed, R7`() throws
  {
    let model = StoreModel(
      version: 2,
      untyped: [
        RemovedRecord("Laundry") { _ in Field(primaryKey: true, name: "id", type: .integer) },
        RemovedRecord("Detail") { version in
          if version == 2 {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "success", type: .references(to: "Laundry"))
          }
        },
        RemovedRecord("R") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          if version == 1 {
            Field(name: "data", type: .references(to: "Laundry"))
          } else {
            Field(name: "data", type: .reference(to: "Detail"), optional: true)
          }
        },
      ])
    let store = try PersistentStore(at: path, model: model.untyped(version: 1))
    try store.write { transaction in
      for id in 1...3 { try transaction.save(.of("Laundry", Int64(id))) }
      try transaction.save(.of("R", 1, ["data": [1, 2]]))
      try transaction.save(.of("R", 2, ["data": []]))
    }
    try store.close()
    let plan = try PersistentStore.migration(at: path, to: model).plan
    let text = plan.faults.map(\.description).joined()
    for part in ["2 elements", "Laundry", "TransformRecords(\"R\", into: \"R\", \"Detail\")"] {
      #expect(text.contains(part), "\(plan)")
    }
    #expect(!text.contains(".first"))
    let steps = [
      MigrationStep(to: 2) {
        TransformRecords("R", into: "R", "Detail") { old, emit in
          try emit(
            DynamicRecord("Detail", ["id": old["id"], "success": old["data"]]))
          try emit(DynamicRecord("R", ["id": old["id"], "data": old["id"]]))
        }
      }
    ]
    let migrated = try PersistentStore(at: path, model: model, steps: steps)
    #expect(try migrated.fetch(record: "Detail", key: 1)?["success"] == [1, 2])
    #expect(try migrated.snapshot().check() == [])
    try migrated.close()
  }
}

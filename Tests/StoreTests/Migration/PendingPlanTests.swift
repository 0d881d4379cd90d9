import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Planned: Record, Equatable {
  var id: Int
  var wide: Int64
  var note: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "wide", type: version < 2 ? .int16 : .int64)
    Field(name: "note", type: .string, optional: version < 3)
  }
}

private struct PlannedFirst: Record {
  var id: Int
  var wide: Int16
  var note: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Planned")
    Planned.recordDescription(for: version)
  }
}

private struct PlannedSecond: Record {
  var id: Int
  var wide: Int64
  var note: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Planned")
    Planned.recordDescription(for: version)
  }
}

@Suite struct PendingPlanTests {
  @Test
  func
    `a plan counts in rows that are of an older version still, and a rehearsal reads them, P1 P3 O1`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try PersistentStore(
      at: path, model: StoreModel(version: 1, records: [PlannedFirst.self]))
    try first.write { transaction in
      for id in 0..<100 {
        try transaction.insert(
          PlannedFirst(id: id, wide: Int16(id), note: id % 10 == 4 ? nil : "n\(id)"))
      }
    }
    try first.close()
    let second = try PersistentStore(
      at: path, model: StoreModel(version: 2, records: [PlannedSecond.self]),
      migration: .deferred)
    #expect(try second.pendingMigration?.recordCount == 100)
    try second.close()
    let model = StoreModel(version: 3, records: [Planned.self])
    let inferred = try PersistentStore.migration(at: path, to: model)
    #expect(inferred.plan.faults.count == 1, "\(inferred.plan)")
    #expect("\(inferred.plan.faults[0])".contains("Planned.note: 10 of 100 records"))
    let steps = [
      MigrationStep(to: 3) {
        UpdateRecord("Planned") { UpdateField("note", by: { try $0.as(String.self) ?? "-" }) }
      }
    ]
    let migration = try PersistentStore.migration(at: path, to: model, steps: steps)
    #expect(migration.plan.canRun, "\(migration.plan)")
    try migration.rehearse()
    try migration.run()
    let third = try PersistentStore(at: path, model: model)
    #expect(
      try third.fetch(Planned.self)
        == (0..<100).map {
          Planned(id: $0, wide: Int64($0), note: $0 % 10 == 4 ? "-" : "n\($0)")
        })
    #expect(try third.pendingMigration == nil)
    #expect(try third.snapshot().check() == [])
    try third.close()
  }
}

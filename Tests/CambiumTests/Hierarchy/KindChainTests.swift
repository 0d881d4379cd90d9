import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields that move into kinds and out of them in versions that are taken at once.
@Suite struct KindChainTests {
  private static let ways: [[MigrationStep]] = [
    [], [MigrationStep(from: 1, to: 3)], [MigrationStep(squashing: 1...2, to: 3)],
  ]

  /// Trips, the first of no kind, the others of two; `city` moves into business trips and out again, and becomes `town`.
  private static let model = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("Trip") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        if version == 1 {
          Field(name: "city", type: .string)
        } else if version == 3 {
          Field(
            name: "town", type: .string,
            migrationInfo: MigrationInfo(default: "none", renamingID: "Business.city"))
        }
      },
      RemovedRecord("Business") { version in
        RecordDescription.Parent("Trip")
        Field(name: "perDiem", type: .integer)
        if version == 2 {
          Field(name: "city", type: .string, migrationInfo: MigrationInfo(renamingID: "city"))
        }
      },
      RemovedRecord("Personal") { _ in
        RecordDescription.Parent("Trip")
        Field(name: "mood", type: .string)
      },
    ])

  private static func filled() throws -> StoreImage {
    let image = StoreImage()
    let store = try image.open(model.dynamic(version: 1))
    try store.write { transaction in
      for (id, city) in ["Rome", "Oslo", "Bonn"].enumerated() {
        var fields: [String: FieldValue] = ["id": .integer(Int64(id)), "city": .string(city)]
        if id == 1 { fields["Business"] = .composite(["perDiem": 5]) }
        if id == 2 { fields["Personal"] = .composite(["mood": "good"]) }
        try transaction.save(DynamicRecord("Trip", RecordFields(fields)))
      }
    }
    try store.close()
    return image
  }

  @Test(arguments: ways.indices, [MigrationMode.automatic, .deferred])
  func `what moves into a kind is dropped in records of other kinds, also by one step over all`(
    way: Int, mode: MigrationMode
  ) throws {
    let store = try Self.filled().open(Self.model, steps: Self.ways[way], migration: mode)
    #expect(try store.allRecords().map { $0["town"] } == ["none", "Oslo", "none"])
    #expect(
      try store.allRecords().map { $0["Business"] } == [.null, .composite(["perDiem": 5]), .null])
    #expect(
      try store.allRecords().map { $0["Personal"] } == [
        .null, .null, .composite(["mood": "good"]),
      ])
    try store.expectSound()
    try store.close()
  }

  @Test func `a plan says nothing of records that stay where they are`() throws {
    let changes = try Self.model.changes(from: 1, to: 3)
    #expect(!changes.contains { if case .moved = $0.change { true } else { false } }, "\(changes)")
  }

  /// `a` moves up in version 2 and `b` in version 3, so that records of each kind, and of none, have other fields than before:
  /// none is rewritten where it is. `rank` has its default in version 3 alone.
  @Test(arguments: [[MigrationStep(from: 1, to: 4)], [MigrationStep(squashing: 1...3, to: 4)], []])
  func `a field that comes on the way has its default where all records go ways of their own`(
    steps: [MigrationStep]
  ) throws {
    func kind(_ name: String, _ field: String, before version: Int) -> RemovedRecord {
      RemovedRecord(name) { present in
        RecordDescription.Parent("Trip")
        Field(name: "mark", type: .integer)
        if present < version { Field(name: field, type: .string) }
      }
    }
    @Sendable func field(_ name: String, from kind: String, in version: Int, since first: Int)
      -> Field
    {
      Field(
        name: name, type: .string,
        migrationInfo: version == first
          ? MigrationInfo(default: "none", renamingID: "\(kind).\(name)") : nil)
    }
    let model = StoreModel(
      version: 4,
      untyped: [
        RemovedRecord("Trip") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          if version > 1 { field("a", from: "Business", in: version, since: 2) }
          if version > 2 {
            field("b", from: "Personal", in: version, since: 3)
            Field(
              name: "rank", type: .integer, migrationInfo: version == 3 ? .init(default: 7) : nil)
          }
        },
        kind("Business", "a", before: 2), kind("Personal", "b", before: 3),
      ])
    let image = StoreImage()
    let store = try image.open(model.dynamic(version: 1))
    try store.write { transaction in
      let kinds: [RecordFields] = [
        [:], ["Business": .composite(["mark": 1, "a": "x"])],
        ["Personal": .composite(["mark": 2, "b": "y"])],
      ]
      for (id, kind) in kinds.enumerated() {
        var record = DynamicRecord("Trip", kind)
        record["id"] = .integer(Int64(id))
        try transaction.save(record)
      }
    }
    try store.close()
    let migrated = try image.open(model, steps: steps)
    let records = try migrated.allRecords()
    #expect(records.map { $0["a"] } == ["none", "x", "none"])
    #expect(records.map { $0["b"] } == ["none", "none", "y"])
    #expect(records.map { $0["rank"] } == [7, 7, 7])
    try migrated.expectSound()
    try migrated.close()
  }

  @Test func `a step over several versions may say what a record has that it cannot infer`() throws
  {
    let step = MigrationStep(from: 1, to: 3) {
      UpdateRecord("Trip") { UpdateField("town", path: "city") }
    }
    let store = try Self.filled().open(Self.model, steps: [step])
    #expect(try store.allRecords().map { $0["town"] } == ["Rome", "Oslo", "Bonn"])
    try store.expectSound()
    try store.close()
  }

  /// `Business` is a composite in version 1 and a kind from then on.
  @Test
  func `a field that is in a composite which becomes a kind for a time is taken step by step`()
    throws
  {
    let model = StoreModel(
      version: 3,
      untyped: [
        RemovedRecord("Trip") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          if version == 1 {
            Field(name: "city", type: .string, optional: true)
            Field(
              name: "Business", type: .composite { Field(name: "perDiem", type: .integer) },
              optional: true)
          } else if version == 3 {
            Field(
              name: "town", type: .string, optional: true,
              migrationInfo: MigrationInfo(renamingID: "Business.city"))
          }
        },
        RemovedRecord("Business") { version in
          if version > 1 {
            RecordDescription.Parent("Trip")
            Field(name: "perDiem", type: .integer)
          }
          if version == 2 {
            Field(
              name: "city", type: .string, optional: true,
              migrationInfo: MigrationInfo(renamingID: "city"))
          }
        },
      ])
    let image = StoreImage()
    let store = try image.open(model.dynamic(version: 1))
    try store.write { transaction in
      try transaction.save(DynamicRecord("Trip", ["id": 0, "city": "Rome"]))
      try transaction.save(
        DynamicRecord(
          "Trip",
          ["id": 1, "city": "Oslo", "Business": .composite(["perDiem": 7])]))
    }
    try store.close()
    let migrated = try image.copy().open(model)
    #expect(try migrated.allRecords().map { $0["town"] } == [.null, "Oslo"])
    #expect(
      try migrated.allRecords().map { $0["Business"] } == [.null, .composite(["perDiem": 7])])
    try migrated.close()
    guard
      case .cannotMigrate(1, 3, let reasons) = storeError({
        try image.copy().open(model, steps: [MigrationStep(from: 1, to: 3)])
      })
    else {
      Issue.record("it is migrated")
      return
    }
    #expect(reasons.count == 1 && reasons[0].hasPrefix("Trip.town: on the way"), "\(reasons)")
  }
}

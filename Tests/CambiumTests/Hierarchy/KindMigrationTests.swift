import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Kinds that come, go and change, and fields that move between them and their parents.
@Suite struct KindMigrationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws { directory = try TemporaryDirectory() }

  /// A model of trips, and of the kinds of them that a version has.
  private func model(
    _ version: Int,
    @RecordDescription.ResultBuilder trip: @escaping @Sendable (Int) -> RecordDescription,
    @RecordDescription.ResultBuilder business: @escaping @Sendable (Int) -> RecordDescription,
    @RecordDescription.ResultBuilder personal: @escaping @Sendable (Int) -> RecordDescription
  ) -> StoreModel {
    StoreModel(
      version: version,
      untyped: [
        RemovedRecord("Trip") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          trip(version)
        },
        RemovedRecord("Business", description: business),
        RemovedRecord("Personal", description: personal),
      ])
  }

  @RecordDescription.ResultBuilder
  private static func business(_ version: Int) -> RecordDescription {
    RecordDescription.Parent("Trip")
    Field(name: "perDiem", type: .integer)
  }

  @RecordDescription.ResultBuilder
  private static func personal(_ version: Int) -> RecordDescription {
    RecordDescription.Parent("Trip")
    Field(name: "mood", type: .string)
  }

  private func fill(_ model: StoreModel, _ records: [[String: FieldValue]]) throws {
    let store = try PersistentStore(at: path, model: model)
    try store.write { transaction in
      for record in records {
        try transaction.save(DynamicRecord("Trip", RecordFields(record)))
      }
    }
    try store.close()
  }

  private func rows(_ store: PersistentStore) throws -> [[String: FieldValue]] {
    #expect(try store.snapshot().check(readingBlobs: false) == [])
    return try store.fetch(record: "Trip").map { record in
      record.fields.dictionary.filter { $0.value != .null }
    }
  }

  private static let trips: [[String: FieldValue]] = [
    ["id": 1], ["id": 2, "Business": .composite(["perDiem": 5])],
    ["id": 3, "Personal": .composite(["mood": "good"])],
  ]

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `a kind is added, deferred too`(mode: MigrationMode) throws {
    func model(_ version: Int) -> StoreModel {
      self.model(
        version, trip: { _ in RecordDescription() }, business: { Self.business($0) },
        personal: { version in if version > 1 { Self.personal(version) } })
    }
    try fill(model(1), Array(Self.trips.prefix(2)))
    let plan = try PersistentStore.migration(at: path, to: model(2), steps: []).plan
    #expect(plan.faults == [])
    let store = try PersistentStore(at: path, model: model(2), migration: mode)
    #expect(try rows(store) == Array(Self.trips.prefix(2)))
    try store.write { transaction in
      try transaction.save(DynamicRecord("Trip", RecordFields(Self.trips[2])))
    }
    #expect(try rows(store) == Self.trips)
    #expect(throws: StoreError.self) {
      try store.write { transaction in
        try transaction.save(
          DynamicRecord(
            "Trip",
            [
              "id": 2, "Business": .composite(["perDiem": 5]),
              "Personal": .composite(["mood": "good"]),
            ]))
      }
    }
    try store.close()
  }

  @Test func `of a kind that is removed, records become plain`() throws {
    func model(_ version: Int) -> StoreModel {
      self.model(
        version, trip: { _ in RecordDescription() }, business: { Self.business($0) },
        personal: { version in if version < 2 { Self.personal(version) } })
    }
    try fill(model(1), Self.trips)
    let store = try PersistentStore(at: path, model: model(2))
    #expect(try rows(store) == [["id": 1], Self.trips[1], ["id": 3]])
    try store.close()
  }

  @Test func `of an abstract parent, a kind that has records is not removed`() throws {
    func model(_ version: Int) -> StoreModel {
      self.model(
        version, trip: { _ in RecordDescription([.init(kind: .abstract)]) },
        business: { Self.business($0) },
        personal: { version in if version < 2 { Self.personal(version) } })
    }
    try fill(model(1), Array(Self.trips.dropFirst()))
    let plan = try PersistentStore.migration(at: path, to: model(2), steps: []).plan
    #expect(
      plan.faults.map(\.description).first?.hasPrefix("Trip: 1 of 2 records would be refused")
        == true, "\(plan.faults)")
    #expect(throws: StoreError.self) { _ = try PersistentStore(at: path, model: model(2)) }
    let store = try PersistentStore(at: path, model: model(1))
    #expect(try rows(store) == Array(Self.trips.dropFirst()))
    _ = try store.write { transaction in try transaction.delete(record: "Trip", key: 3) }
    try store.close()
    let migrated = try PersistentStore(at: path, model: model(2))
    #expect(try rows(migrated) == [Self.trips[1]])
    try migrated.close()
  }

  @Test func `a record becomes abstract if it has no plain ones`() throws {
    func model(_ version: Int) -> StoreModel {
      self.model(
        version,
        trip: { $0 > 1 ? RecordDescription([.init(kind: .abstract)]) : RecordDescription() },
        business: { Self.business($0) }, personal: { Self.personal($0) })
    }
    try fill(model(1), Self.trips)
    let plan = try PersistentStore.migration(at: path, to: model(2), steps: []).plan
    #expect(
      plan.faults.map(\.description).first?.hasPrefix("Trip: 1 of 3 records would be refused")
        == true, "\(plan.faults)")
    #expect(throws: StoreError.self) {
      _ = try PersistentStore(at: path, model: model(2), migration: .deferred)
    }
    let store = try PersistentStore(at: path, model: model(1))
    _ = try store.write { transaction in try transaction.delete(record: "Trip", key: 1) }
    try store.close()
    let migrated = try PersistentStore(at: path, model: model(2))
    #expect(try rows(migrated) == Array(Self.trips.dropFirst()))
    try migrated.close()
  }

  @Test func `optional composites become kinds if no record has two`() throws {
    @Sendable func composites(_ version: Int) -> RecordDescription {
      version > 1
        ? RecordDescription()
        : RecordDescription([
          .init(
            kind: .field(
              Field(
                name: "Business", type: .composite { Field(name: "perDiem", type: .integer) },
                optional: true))),
          .init(
            kind: .field(
              Field(
                name: "Personal", type: .composite { Field(name: "mood", type: .string) },
                optional: true))),
        ])
    }
    func model(_ version: Int) -> StoreModel {
      self.model(
        version, trip: { composites($0) },
        business: { version in if version > 1 { Self.business(version) } },
        personal: { version in if version > 1 { Self.personal(version) } })
    }
    let both: [String: FieldValue] = [
      "id": 4, "Business": .composite(["perDiem": 5]), "Personal": .composite(["mood": "good"]),
    ]
    try fill(model(1), Self.trips + [both])
    let plan = try PersistentStore.migration(at: path, to: model(2), steps: []).plan
    #expect(
      plan.faults.map(\.description).first?.hasPrefix("Trip: 1 of 4 records would be refused")
        == true, "\(plan.faults)")
    let store = try PersistentStore(at: path, model: model(1))
    _ = try store.write { transaction in try transaction.delete(record: "Trip", key: 4) }
    try store.close()
    let migrated = try PersistentStore(at: path, model: model(2))
    #expect(try rows(migrated) == Self.trips)
    #expect(try migrated.count(record: "Trip", where: FieldCondition(parsing: "is(Business)")) == 1)
    try migrated.close()
  }

  @Test func `a field moves down into a kind, and up again`() throws {
    @Sendable func trip(_ version: Int) -> RecordDescription {
      switch version {
      case 1: RecordDescription([.init(kind: .field(Field(name: "sum", type: .integer)))])
      case 2: RecordDescription()
      default:
        RecordDescription([
          .init(
            kind: .field(
              Field(
                name: "total", type: .integer,
                migrationInfo: MigrationInfo(default: 7, renamingID: "Business.sum"))))
        ])
      }
    }
    @Sendable func business(_ version: Int) -> RecordDescription {
      var description = Self.business(version)
      if version == 2 {
        description.elements.append(
          .init(
            kind: .field(
              Field(
                name: "sum", type: .integer, migrationInfo: MigrationInfo(renamingID: "sum")))))
      }
      return description
    }
    func model(_ version: Int) -> StoreModel {
      self.model(
        version, trip: { trip($0) }, business: { business($0) }, personal: { Self.personal($0) })
    }
    try fill(
      model(1),
      [
        ["id": 1, "sum": 11], ["id": 2, "sum": 12, "Business": .composite(["perDiem": 5])],
        ["id": 3, "sum": 13, "Personal": .composite(["mood": "good"])],
      ])
    var store = try PersistentStore(at: path, model: model(2))
    #expect(
      try rows(store) == [
        ["id": 1], ["id": 2, "Business": .composite(["perDiem": 5, "sum": 12])], Self.trips[2],
      ])
    try store.close()
    store = try PersistentStore(at: path, model: model(3))
    #expect(
      try rows(store) == [
        ["id": 1, "total": 7], ["id": 2, "total": 12, "Business": .composite(["perDiem": 5])],
        ["id": 3, "total": 7, "Personal": .composite(["mood": "good"])],
      ])
    try store.close()
  }

  @Test func `a kind and its fields are renamed`() throws {
    @Sendable func business(_ version: Int) -> RecordDescription {
      if version == 1 { return Self.business(version) }
      return RecordDescription([
        .init(kind: .name(RecordName("Work", renamingID: "Business"))),
        .init(kind: .parent(RecordDescription.Parent("Trip"))),
        .init(
          kind: .field(
            Field(
              name: "rate", type: .integer, migrationInfo: MigrationInfo(renamingID: "perDiem")))),
      ])
    }
    func model(_ version: Int) -> StoreModel {
      self.model(
        version, trip: { _ in RecordDescription() }, business: { business($0) },
        personal: { Self.personal($0) })
    }
    try fill(model(1), Self.trips)
    let store = try PersistentStore(at: path, model: model(2))
    #expect(
      try rows(store) == [
        Self.trips[0], ["id": 2, "Work": .composite(["rate": 5])], Self.trips[2],
      ])
    try store.close()
  }
}

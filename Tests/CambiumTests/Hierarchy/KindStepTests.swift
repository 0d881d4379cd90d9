import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

// Two versions of trips, with types of their own: business trips lose the customer and count days instead, day trips are
// records of their own before, and personal trips are so afterwards.

private enum V1 {
  struct Trip: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Trip")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, unique: true)
      Abstract()
    }
  }

  struct BusinessTrip: Record, Equatable {
    var trip: Trip
    var customer: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      Field(name: "customer", type: .string, indexed: true)
    }
  }

  struct SalesTrip: Record, Equatable {
    var business: BusinessTrip
    var target: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(BusinessTrip.self, property: "business")
      Field(name: "target", type: .integer)
    }
  }

  struct PersonalTrip: Record, Equatable {
    var trip: Trip
    var mood: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      Field(name: "mood", type: .string)
    }
  }

  struct Excursion: Record, Identifiable, Equatable {
    var id: Int
    var place: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "place", type: .string)
    }
  }
}

private enum V2 {
  struct Trip: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    var days = 1
    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Trip")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, unique: true)
      Field(name: "days", type: .integer, migrationInfo: MigrationInfo(default: 1))
      Abstract()
    }
  }

  struct BusinessTrip: Record, Equatable {
    var trip: Trip
    var rate: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      Field(name: "rate", type: .integer, indexed: true)
    }
  }

  struct DayTrip: Record, Equatable {
    var trip: Trip
    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
    }
  }

  struct PersonalTrip: Record, Equatable {
    var trip: Trip
    var mood: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Trip.self, property: "trip")
      Field(name: "mood", type: .string)
    }
  }

  /// Customers of business trips, and what each business trip was.
  struct Customer: Record, Identifiable, Equatable {
    var id: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
    }
  }
}

/// Steps that take and make records of one kind.
@Suite struct KindStepTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws { directory = try TemporaryDirectory() }

  private static let model = StoreModel([
    ModelVersion(
      1,
      records: [
        V1.Trip.self, V1.BusinessTrip.self, V1.SalesTrip.self, V1.PersonalTrip.self,
        V1.Excursion.self,
      ]),
    ModelVersion(
      2,
      records: [
        V2.Trip.self, V2.BusinessTrip.self, V2.DayTrip.self, V2.PersonalTrip.self,
        V2.Customer.self,
      ]),
  ])

  private static func first() throws -> StoreModel {
    StoreModel([
      ModelVersion(
        1,
        records: [
          V1.Trip.self, V1.BusinessTrip.self, V1.SalesTrip.self, V1.PersonalTrip.self,
          V1.Excursion.self,
        ])
    ])
  }

  private static let count = 40

  private static func trip(_ id: Int) -> V1.Trip { V1.Trip(id: id, name: "trip \(id)") }

  /// Business, sales and personal trips in turn, and excursions with keys above them.
  private func fill() throws {
    let store = try PersistentStore(at: path, model: try Self.first())
    try store.write { transaction in
      for id in 0..<Self.count {
        let business = V1.BusinessTrip(trip: Self.trip(id), customer: "c\(id % 4)")
        switch id % 3 {
        case 0: try transaction.insert(business)
        case 1: try transaction.insert(V1.SalesTrip(business: business, target: id))
        default: try transaction.insert(V1.PersonalTrip(trip: Self.trip(id), mood: "m\(id)"))
        }
        try transaction.insert(V1.Excursion(id: 100 + id, place: "p\(id)"))
      }
    }
    try store.close()
  }

  private func open(
    _ model: StoreModel = Self.model, sliceCount: Int = 7,
    @ListBuilder<MigrationStep.Part> _ parts: () -> [MigrationStep.Part]
  ) throws -> PersistentStore {
    var options = StoreOptions()
    options.migration.sliceCount = sliceCount
    let step = MigrationStep(to: 2, parts)
    return try PersistentStore(at: path, model: model, steps: [step], options: options)
  }

  /// What both forms of the step make.
  private func expectMigrated(_ store: PersistentStore) throws {
    for id in 0..<Self.count {
      let trip = V2.Trip(id: id, name: "trip \(id)", days: 1)
      switch id % 3 {
      case 0, 1:
        #expect(
          try store.fetch(V2.BusinessTrip.self, key: id)
            == V2.BusinessTrip(
              trip: V2.Trip(id: id, name: "trip \(id)", days: id % 3 + 2), rate: id * 10))
      default:
        #expect(
          try store.fetch(V2.PersonalTrip.self, key: id)
            == V2.PersonalTrip(trip: trip, mood: "m\(id)"))
      }
      #expect(
        try store.fetch(V2.DayTrip.self, key: 100 + id)
          == V2.DayTrip(trip: V2.Trip(id: 100 + id, name: "p\(id)", days: 1)))
    }
    #expect(try store.count(V2.Trip.self) == 2 * Self.count)
    #expect(try store.fetch(V2.BusinessTrip.where { $0.rate == 30 }).map(\.trip.id) == [3])
    #expect(try store.fetch(V2.Customer.self).map(\.id) == ["c0", "c1", "c2", "c3"])
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `a step takes the records of one kind, and makes those of kinds, with Swift types`()
    throws
  {
    try fill()
    try expectMigrated(
      try open {
        TransformRecords(
          V1.BusinessTrip.self, into: V2.BusinessTrip.self, V2.Customer.self,
          reading: V1.SalesTrip.self
        ) { old, before, emit in
          let isSale = try before.contains(V1.SalesTrip.self, key: old.trip.id)
          let trip = V2.Trip(id: old.trip.id, name: old.trip.name, days: isSale ? 3 : 2)
          try emit(V2.BusinessTrip(trip: trip, rate: old.trip.id * 10))
          // Each customer once.
          if old.trip.id < 12, old.trip.id % 3 == 0 { try emit(V2.Customer(id: old.customer)) }
        }
        TransformRecords(V1.Excursion.self, into: V2.DayTrip.self) { old, emit in
          try emit(V2.DayTrip(trip: V2.Trip(id: old.id, name: old.place)))
        }
      })
  }

  @Test func `a step takes and makes records of kinds without types`() throws {
    try fill()
    try expectMigrated(
      try open {
        TransformRecords("BusinessTrip", into: "BusinessTrip", "Customer") { old, before, emit in
          let id = try old["id", as: Int.self]
          let isSale = try old["BusinessTrip.SalesTrip.target"] != .null
          #expect(try before.count(record: "Trip") == Self.count)
          var new = DynamicRecord("Trip", ["id": .integer(Int64(id))])
          new["name"] = try old["name"]
          new["days"] = .integer(isSale ? 3 : 2)
          new["BusinessTrip"] = .composite(["rate": .integer(Int64(id * 10))])
          try emit(new)
          if id < 12, id % 3 == 0 {
            try emit(
              DynamicRecord("Customer", ["id": try old["BusinessTrip.customer"]]))
          }
        }
        TransformRecords("Excursion", into: "DayTrip") { old, emit in
          try emit(
            DynamicRecord(
              "Trip",
              [
                "id": try old["id"], "name": try old["place"],
                "DayTrip": .composite(["is": .boolean(true)]),
              ]))
        }
      })
  }

  // MARK: Out of a hierarchy

  private static let apart = StoreModel([
    ModelVersion(
      1,
      records: [
        V1.Trip.self, V1.BusinessTrip.self, V1.SalesTrip.self, V1.PersonalTrip.self,
        V1.Excursion.self,
      ]),
    ModelVersion(
      2, records: [V1.Trip.self, V1.BusinessTrip.self, V1.SalesTrip.self, V2.Customer.self]),
  ])

  @Test func `records of a kind become plain ones, and those of other kinds stay as they are`()
    throws
  {
    try fill()
    // Without the step, personal trips would be plain ones of an abstract record.
    let plan = try PersistentStore.migration(at: path, to: Self.apart, steps: []).plan
    #expect(plan.faults.map(\.description).contains { $0.hasPrefix("Trip: 13 of 40 records") })
    let step = MigrationStep(to: 2) {
      TransformRecords(V1.PersonalTrip.self, into: V2.Customer.self) { old, emit in
        try emit(V2.Customer(id: old.mood))
      }
    }
    let given = try PersistentStore.migration(at: path, to: Self.apart, steps: [step]).plan
    #expect(given.faults == [])
    #expect(
      given.steps.first?.changes.map(\.description).contains(
        "Trip.PersonalTrip: its records are transformed") == true)
    let store = try PersistentStore(at: path, model: Self.apart, steps: [step])
    #expect(try store.count(V1.Trip.self) == 27)
    #expect(
      try store.fetch(V1.SalesTrip.self, key: 1)
        == V1.SalesTrip(
          business: V1.BusinessTrip(trip: Self.trip(1), customer: "c1"), target: 1))
    #expect(try store.fetch(V2.Customer.self).map(\.id).sorted().first == "m11")
    #expect(try store.count(V2.Customer.self) == 13)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  // MARK: Refusals

  private func refusal(
    @ListBuilder<MigrationStep.Part> _ parts: () -> [MigrationStep.Part]
  ) throws -> String {
    do {
      try open(Self.model, parts).close()
      return "no error"
    } catch let error as StoreError {
      let store = try PersistentStore(at: path, model: try Self.first())
      #expect(try store.count(V1.Trip.self) == Self.count)
      try store.close()
      return "\(error)"
    }
  }

  @Test func `what a step cannot make of kinds is refused with a sentence, and nothing changes`()
    throws
  {
    try fill()
    let both = try refusal {
      TransformRecords("BusinessTrip") { _, _ in }
      TransformRecords("SalesTrip", into: "Trip") { _, _ in }
    }
    #expect(
      both.contains(
        "Trip.BusinessTrip.SalesTrip: the step transforms it, and Trip.BusinessTrip, whose records these are, too"
      ),
      "\(both)")
    #expect(
      try refusal { TransformRecords("Business") { _, _ in } }.contains("no such record"))
    let other = try refusal {
      TransformRecords(V1.BusinessTrip.self, into: V2.BusinessTrip.self) { old, emit in
        try emit(V2.DayTrip(trip: V2.Trip(id: old.trip.id, name: old.trip.name)))
      }
    }
    #expect(other.contains("the step does not say that it makes"), "\(other)")
    let dynamic = try refusal {
      TransformRecords("BusinessTrip") { old, emit in
        try emit(
          DynamicRecord(
            "Trip",
            [
              "id": try old["id"], "name": try old["name"],
              "DayTrip": .composite(["is": .boolean(true)]),
            ]))
      }
    }
    #expect(dynamic.contains("the step does not say that it makes DayTrip"), "\(dynamic)")
    let plain = try refusal {
      TransformRecords("BusinessTrip", into: "Trip") { old, emit in
        try emit(
          DynamicRecord("Trip", ["id": try old["id"], "name": try old["name"]]))
      }
    }
    #expect(plain.contains("Trip is abstract"), "\(plain)")
    let taken = try refusal {
      TransformRecords(V1.BusinessTrip.self, into: V2.BusinessTrip.self) { old, emit in
        try emit(V2.BusinessTrip(trip: V2.Trip(id: 2, name: old.trip.name), rate: 1))
      }
    }
    #expect(taken.contains("it makes the Trip 2, which"), "\(taken)")
  }
}

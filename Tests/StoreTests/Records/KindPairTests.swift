import Cambium
import Testing

/// Kinds together with other features: conditions through inverses, conflict policies, observation.
@Suite struct KindPairTests {
  struct Owner: Record, Identifiable, Equatable {
    var id: Int
    static let sold = Inverse("sold", of: \Car.seller)
    static let driven = Inverse("driven", of: \Sports.driver)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      sold
      driven
    }
  }

  struct Vehicle: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    var weight = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, unique: true)
      Field(name: "weight", type: .integer)
    }
  }

  /// Its own fields come before its parent, so that its properties are at other places than those of a vehicle.
  struct Car: Record, Equatable {
    var seats: Int = 4
    var seller: Reference<Owner>?
    var spare: Reference<Vehicle>?
    var vehicle: Vehicle

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Vehicle.self, property: "vehicle")
      Field(name: "seats", type: .integer)
      Field(name: "seller", type: .reference(to: Owner.self), optional: true)
      Field(name: "spare", type: .reference(to: Vehicle.self), optional: true)
    }
  }

  struct Sports: Record, Equatable {
    var speed = 200
    var driver: Reference<Owner>?
    var car: Car

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Car.self, property: "car")
      Field(name: "speed", type: .integer)
      Field(name: "driver", type: .reference(to: Owner.self), optional: true)
    }
  }

  struct Bike: Record, Equatable {
    var vehicle: Vehicle
    var gears = 3

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Vehicle.self, property: "vehicle")
      Field(name: "gears", type: .integer)
    }
  }

  private func store() throws -> PersistentStore {
    let store = try PersistentStore(
      inMemory: StoreModel(
        records: [Owner.self, Vehicle.self, Car.self, Sports.self, Bike.self]))
    try store.write { transaction in
      for id in 1...3 { try transaction.save(Owner(id: id)) }
    }
    return store
  }

  @Test func `a condition through the inverse of a kind's reference finds the kind's own fields`()
    throws
  {
    let store = try store()
    try store.save(
      Car(seats: 5, seller: Reference(1), vehicle: Vehicle(id: 1, name: "A", weight: 70)))
    try store.save(
      Sports(
        speed: 300, driver: Reference(2),
        car: Car(seats: 2, seller: Reference(3), vehicle: Vehicle(id: 2, name: "B", weight: 50))))
    func owners(_ query: Query<Owner>) throws -> [Int] { try store.fetch(query).map(\.id) }
    #expect(try owners(Owner.where { $0.sold.any { $0.seats > 2 } }) == [1])
    #expect(try owners(Owner.where { $0.sold.any { $0.seats < 3 } }) == [3])
    #expect(try owners(Owner.where { $0.sold.any { $0.vehicle.weight > 60 } }) == [1])
    #expect(try owners(Owner.where { $0.sold.none { $0.seats > 2 } }) == [2, 3])
    #expect(try owners(Owner.where { $0.sold.all { $0.seats > 2 } }) == [1, 2])
    #expect(try owners(Owner.where { $0.sold.count { $0.seats == 5 } == 1 }) == [1])
    #expect(try owners(Owner.where { $0.sold.sum(\.seats) > 4 }) == [1])
    #expect(try owners(Owner.where { $0.driven.any { $0.speed > 200 } }) == [2])
    #expect(try owners(Owner.where { $0.driven.any { $0.car.seats == 2 } }) == [2])
    #expect(try owners(Owner.where { $0.driven.any { $0.car.vehicle.weight == 50 } }) == [2])
    for text in [
      "sold.any(seats > 2)", "sold.any(Car.seats > 2)", "sold.any(weight > 60)",
      "sold.any(vehicle.weight > 60)",
    ] {
      let condition = Condition<Owner>(try FieldCondition(parsing: text))
      #expect(try owners(Owner.where(condition)) == [1], "\(text)")
    }
    // A query that is kept finds the same.
    let query = Owner.where { $0.sold.any { $0.seats > 2 } }
    try store.write { try $0.setQuery(query, named: "large") }
    #expect(try store.query(Owner.self, named: "large").map(owners) == [1])
  }

  @Test func `a parent that replaces another keeps of its kind what the deletion leaves`() throws {
    let store = try store()
    try store.save(Vehicle(id: 1, name: "A"))
    try store.save(
      Car(seats: 5, spare: Reference(1), vehicle: Vehicle(id: 2, name: "B", weight: 9)))
    try store.save(Vehicle(id: 2, name: "A", weight: 10), onConflict: .replaceOther)
    #expect(
      try store.fetch(Car.self) == [Car(seats: 5, vehicle: Vehicle(id: 2, name: "A", weight: 10))])
    #expect(try store.count(Vehicle.self) == 1)
    // The same of a car over a sports car.
    try store.save(Vehicle(id: 3, name: "C"))
    try store.save(
      Sports(speed: 1, car: Car(spare: Reference(3), vehicle: Vehicle(id: 4, name: "D"))))
    try store.save(
      Car(seats: 7, vehicle: Vehicle(id: 4, name: "C")), onConflict: .replaceOther)
    #expect(
      try store.fetch(Sports.self)
        == [Sports(speed: 1, car: Car(seats: 7, vehicle: Vehicle(id: 4, name: "C")))])
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test func `a record of another kind in the way gets the values, and becomes of the new kind`()
    throws
  {
    let store = try store()
    try store.save(Vehicle(id: 1, name: "A"))
    try store.insert(
      Bike(vehicle: Vehicle(id: 9, name: "A", weight: 3), gears: 7), onConflict: .updateOther)
    #expect(
      try store.fetch(Bike.self) == [Bike(vehicle: Vehicle(id: 1, name: "A", weight: 3), gears: 7)])
    try store.save(
      Car(seats: 2, vehicle: Vehicle(id: 8, name: "A")), onConflict: .updateOther)
    #expect(try store.fetch(Bike.self) == [])
    #expect(try store.fetch(Car.self) == [Car(seats: 2, vehicle: Vehicle(id: 1, name: "A"))])
    // A parent leaves it of its kind.
    try store.save(Vehicle(id: 7, name: "A", weight: 5), onConflict: .updateOther)
    #expect(
      try store.fetch(Car.self) == [Car(seats: 2, vehicle: Vehicle(id: 1, name: "A", weight: 5))])
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test func `an observer of a parent is not told of fields that only a kind has`() async throws {
    let store = try store()
    try await store.save(Car(vehicle: Vehicle(id: 1, name: "A")))
    let vehicles = try store.changes(of: Vehicle.self)
    let cars = try store.changes(of: Car.self)
    let results = try store.results(of: Vehicle.sorted(by: .ascending(\.name)))
    var shown = results.makeAsyncIterator()
    #expect(try await shown.next()?.records.count == 1)
    try await store.save(Car(seats: 9, seller: Reference(1), vehicle: Vehicle(id: 1, name: "A")))
    try await store.save(Vehicle(id: 2, name: "B"))
    var ofVehicles = vehicles.makeAsyncIterator()
    let change = try #require(try await ofVehicles.next())
    #expect(change.updated.isEmpty && change.inserted.map(\.id) == [2])
    var ofCars = cars.makeAsyncIterator()
    let update = try #require(try await ofCars.next()?.updated.first)
    #expect(update.changedFields == ["Car.seats", "Car.seller"])
    let difference = try #require(try await shown.next()?.difference)
    #expect(difference.updates.isEmpty && difference.insertions.map(\.record.id) == [2])
  }
}

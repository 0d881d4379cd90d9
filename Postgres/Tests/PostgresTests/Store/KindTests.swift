import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// A model with kinds of kinds, references to them, and constraints of their own.
enum Fleet {
  struct Asset: Record, Identifiable {
    var id: Int
    var name: String
    var owner: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name", unique: true)
      Field("owner")
      Validation("a name") { (asset: Asset) in !asset.name.isEmpty }
    }
  }

  struct Vehicle: Record, Identifiable {
    var asset: Asset
    var plate: String
    var seats: [Int] = []
    var id: Int { asset.id }
    static let trips = Inverse("trips", of: \Trip.vehicle, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Asset.self, property: "asset")
      Field("plate", unique: true)
      Field("seats")
      Unique("owner")
      Validation("a plate") { (vehicle: Vehicle) in vehicle.plate != "none" }
      trips
    }
  }

  struct Truck: Record, Identifiable {
    var vehicle: Vehicle
    var load: Double
    var id: Int { vehicle.asset.id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Vehicle.self, property: "vehicle")
      Field("load")
    }
  }

  struct Building: Record, Identifiable {
    var asset: Asset
    var home: Reference<Building>?
    var id: Int { asset.id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Asset.self, property: "asset")
      Field("home")
      Abstract()
    }
  }

  struct Garage: Record, Identifiable {
    var building: Building
    var places: [Reference<Vehicle>] = []
    var id: Int { building.asset.id }

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Building.self, property: "building")
      Field("places")
    }
  }

  struct Trip: Record, Identifiable {
    var id: Int
    var vehicle: Reference<Vehicle>
    var luggage: Reference<Asset>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("vehicle")
      Field("luggage")
    }
  }

  static let model = StoreModel(
    version: 1,
    records: [
      Asset.self, Vehicle.self, Truck.self, Building.self, Garage.self, Trip.self,
    ])
}

/// Records of kinds, with the same results in a store on a server and in an embedded one.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct KindTests {
  private typealias Asset = Fleet.Asset
  private typealias Vehicle = Fleet.Vehicle
  private typealias Truck = Fleet.Truck
  private typealias Building = Fleet.Building
  private typealias Garage = Fleet.Garage
  private typealias Trip = Fleet.Trip

  private static func asset(_ id: Int, owner: String? = nil) -> Asset {
    Asset(id: id, name: "Asset \(id)", owner: owner)
  }

  private static func vehicle(_ id: Int, owner: String? = nil) -> Vehicle {
    Vehicle(asset: asset(id, owner: owner), plate: "P \(id)", seats: [id, 2])
  }

  private static func truck(_ id: Int) -> Truck {
    Truck(vehicle: vehicle(id), load: Double(id) / 4)
  }

  private static func garage(_ id: Int, _ places: [Int] = [], home: Int? = nil) -> Garage {
    Garage(
      building: Building(asset: asset(id), home: home.map { Reference($0) }),
      places: places.map { Reference($0) })
  }

  /// Everything that is in a store, as every type that reads it.
  private static func dump(
    _ state: borrowing some PortableReading & ~Copyable
  ) throws -> [String] {
    try state.fetch(Asset.self).map { "\($0)" } + state.fetch(Vehicle.self).map { "\($0)" }
      + state.fetch(Truck.self).map { "\($0)" } + state.fetch(Building.self).map { "\($0)" }
      + state.fetch(Garage.self).map { "\($0)" } + state.fetch(Trip.self).map { "\($0)" }
  }

  private static func fill(_ store: some RecordStore) async throws {
    try await store.write { transaction in
      try transaction.insert(asset(1, owner: "Ada"))
      try transaction.insert(asset(2, owner: "Ada"))
      try transaction.insert(vehicle(3, owner: "Ada"))
      try transaction.insert(vehicle(4))
      try transaction.insert(truck(5))
      try transaction.insert(garage(6, [4, 3, 5], home: 7))
      try transaction.insert(garage(7))
      try transaction.insert(Trip(id: 1, vehicle: Reference(3), luggage: Reference(2)))
      try transaction.insert(Trip(id: 2, vehicle: Reference(5), luggage: Reference(5)))
    }
  }

  /// Runs a transaction, and returns its error, if it throws one.
  private static func attempt<Store: RecordStore>(
    _ store: Store, _ body: @Sendable (inout Store.Transaction) throws -> Void
  ) async -> String {
    do {
      try await store.write(durability: nil, author: nil, body)
      return "done"
    } catch StoreError.uniqueConflict(let record, _, let key) {
      return "unique \(record) \(key)"
    } catch StoreError.danglingReference(let record, let key, let field, let destination) {
      return "dangling \(record) \(key) \(field) \(destination)"
    } catch StoreError.deleteDenied(let record, let key, let by, let count) {
      return "denied \(record) \(key) \(by) \(count)"
    } catch {
      return "\(error)"
    }
  }

  private static func both(
    _ name: String, _ body: (any RecordStore) async throws -> [String]
  ) async throws -> [String] {
    let server = try #require(PostgresServer.shared)
    let embedded = try PersistentStore(inMemory: Fleet.model)
    let store = try await PostgresStore(try server.makeDatabase(name), model: Fleet.model)
    let expected = try await body(embedded)
    let found = try await body(store)
    #expect(found == expected)
    return expected
  }

  // MARK: Writing

  private static func change(_ store: some RecordStore) async throws -> [String] {
    var seen: [String] = []
    try await fill(store)
    seen += try await store.read { try dump($0) }
    // A parent over one of its kinds keeps the kind; a kind over another one replaces it.
    seen.append(
      await attempt(store) { transaction in
        try transaction.save(Asset(id: 5, name: "Renamed", owner: nil))
        var changed = vehicle(5)
        changed.seats = [9]
        try transaction.update(changed)
        try transaction.save(vehicle(4, owner: "Bob"))
        try transaction.save(truck(4))
        try transaction.save(garage(2))
      })
    seen += try await store.read { try dump($0) }
    seen.append(await attempt(store) { try $0.insert(truck(4)) })
    seen.append(await attempt(store) { try $0.insert(asset(4)) })
    seen.append(await attempt(store) { try $0.update(truck(3)) })
    seen.append(await attempt(store) { try $0.update(truck(99)) })
    seen.append(await attempt(store) { try $0.update(asset(3)) })
    // An abstract kind alone is none.
    seen.append(
      await attempt(store) { try $0.save(Building(asset: asset(8), home: nil)) })
    seen.append(
      await attempt(store) { try $0.save(Building(asset: asset(6), home: Reference(2))) })
    // Validations of the parent hold for the kind.
    seen.append(
      await attempt(store) { transaction in
        var nameless = truck(9)
        nameless.vehicle.asset.name = ""
        try transaction.save(nameless)
      })
    seen.append(
      await attempt(store) { transaction in
        var other = truck(9)
        other.vehicle.plate = "none"
        try transaction.save(other)
      })
    // By another kind nothing is found, and nothing deleted.
    seen.append(
      await attempt(store) { transaction in
        guard try transaction.fetch(Truck.self, key: 3) == nil,
          try transaction.fetch(Asset.self, key: 3) != nil,
          try !transaction.delete(Truck.self, key: 3),
          try !transaction.delete(truck(3)),
          try transaction.delete(Query<Garage>().limit(9)) == 3
        else { throw StoreError.closed(path: "unexpected") }
      })
    seen += try await store.read { try dump($0) }
    return seen
  }

  @Test func `kinds are written and deleted as in an embedded store`() async throws {
    let seen = try await Self.both("kinds_written") { try await Self.change($0) }
    #expect(seen.count > 50)
  }

  private static func conflict(_ store: some RecordStore) async throws -> [String] {
    var seen: [String] = []
    try await fill(store)
    // The plate is unique among vehicles, the name among all, and the owner among vehicles alone.
    seen.append(
      await attempt(store) { transaction in
        var other = truck(9)
        other.vehicle.plate = "P 3"
        try transaction.insert(other)
      })
    seen.append(await attempt(store) { try $0.insert(Asset(id: 9, name: "Asset 3", owner: nil)) })
    seen.append(await attempt(store) { try $0.insert(vehicle(9, owner: "Ada")) })
    seen.append(await attempt(store) { try $0.insert(asset(9, owner: "Ada")) })
    seen.append(
      await attempt(store) { transaction in
        // After a refusal the transaction continues.
        do {
          try transaction.save(vehicle(9, owner: "Ada"))
        } catch StoreError.uniqueConflict {}
        try transaction.save(vehicle(1, owner: "Cleo"))
      })
    seen += try await store.read { try dump($0) }
    return seen
  }

  @Test func `unique values of kinds are those of their records alone`() async throws {
    let seen = try await Self.both("kinds_unique") { try await Self.conflict($0) }
    #expect(
      seen.prefix(5) == [
        "unique Asset 3", "unique Asset 3", "unique Asset 3", "done", "done",
      ])
  }

  private static func lead(_ store: some RecordStore) async throws -> [String] {
    var seen: [String] = []
    try await fill(store)
    seen.append(await attempt(store) { try $0.save(Trip(id: 3, vehicle: Reference(1))) })
    seen.append(await attempt(store) { try $0.save(Trip(id: 3, vehicle: Reference(99))) })
    seen.append(await attempt(store) { try $0.save(garage(6, [3, 7])) })
    seen.append(await attempt(store) { try $0.save(garage(6, home: 1)) })
    // The reference comes first, and its record later.
    seen.append(
      await attempt(store) { transaction in
        try transaction.save(Trip(id: 3, vehicle: Reference(1)))
        try transaction.save(vehicle(1))
      })
    // A vehicle to which a trip leads becomes something else.
    seen.append(await attempt(store) { try $0.save(garage(5)) })
    seen.append(
      await attempt(store) { transaction in
        try transaction.save(garage(5))
        try transaction.save(vehicle(5))
      })
    // In the place of one that was deleted, there is one of another kind.
    seen.append(
      await attempt(store) { transaction in
        try transaction.save(Trip(id: 9, vehicle: Reference(4)))
        try transaction.delete(Vehicle.self, key: 4)
        try transaction.save(asset(4))
        try transaction.save(Trip(id: 9, vehicle: Reference(4)))
      })
    seen.append(
      await attempt(store) { transaction in
        try transaction.delete(Garage.self, key: 7)
        try transaction.save(vehicle(7))
        try transaction.save(garage(6, [3], home: 7))
      })
    // Trips go with their vehicle, whichever type deletes it.
    seen.append(
      await attempt(store) { transaction in
        guard try transaction.delete(Asset.self, key: 3) else {
          throw StoreError.closed(path: "unexpected")
        }
      })
    seen += try await store.read { try dump($0) }
    return seen
  }

  @Test func `a reference to a kind leads to a record of it when a transaction is committed`()
    async throws
  {
    let seen = try await Self.both("kinds_references") { try await Self.lead($0) }
    #expect(
      seen.prefix(10).map { String($0.prefix(8)) } == [
        "dangling", "dangling", "dangling", "dangling", "done", "dangling", "done", "dangling",
        "dangling", "done",
      ])
  }

  // MARK: Reading

  private static func ask(_ store: some RecordStore) async throws -> [String] {
    try await fill(store)
    return try await store.read { state in
      var seen: [String] = []
      func add(_ records: [some Record]) { seen.append("\(records)") }
      add(try state.fetch(Asset.where(.is(Vehicle.self))))
      add(try state.fetch(Asset.where(.isExactly(Vehicle.self))))
      add(try state.fetch(Asset.where(.isExactly(Asset.self))))
      add(try state.fetch(Asset.where(!.is(Building.self) && !.is(Truck.self))))
      add(try state.fetch(Vehicle.where { $0.seats.contains(5) && .is(Truck.self) }))
      add(try state.fetch(Truck.where { $0.vehicle.asset.name == "Asset 5" && $0.load > 1 }))
      add(try state.fetch(Vehicle.sorted(by: .descending(\.asset.name)).limit(2)))
      add(try state.fetch(Vehicle.sorted(by: .ascending(\.plate)), after: vehicle(3)))
      add(try state.fetch(Vehicle.where { $0.trips.count() > 0 }))
      add(try state.fetch(Trip.where { $0.vehicle.plate == "P 3" }))
      add(try state.fetch(Trip.where { $0.vehicle.asset.owner == nil }))
      add(try state.fetch(Garage.where { $0.places.any { $0.plate == "P 4" } }))
      add(try state.fetch(Garage.where { $0.building.home != nil }))
      add(try state.fetch(Trip.where { $0.luggage.name == "Asset 2" }))
      add(try state.fetch(Asset.where { $0.id > Truck.minimum(\.vehicle.asset.id) }))
      seen.append("\(try state.count(Vehicle.self)) \(try state.count(Building.self))")
      seen.append("\(try state.sum(\.load, of: Query<Truck>()))")
      seen.append(
        "\(try state.fetch(Query<Vehicle>().grouped(by: \.asset.owner)).map { "\($0.key as Any) \($0.count)" })"
      )
      add(try state.fetch(Truck.self, keys: [3, 5, 6]))
      seen.append("\(try state.find(Reference<Vehicle>(5)))")
      return seen
    }
  }

  @Test func `queries of a parent find all kinds, and of a kind only that`() async throws {
    let seen = try await Self.both("kinds_queries") { try await Self.ask($0) }
    #expect(seen.count == 20)
    #expect(!seen.prefix(15).contains("[]"))
  }

  @Test func `inclusions lead to records of kinds, and from them`() async throws {
    let server = try #require(PostgresServer.shared)
    let embedded = try PersistentStore(inMemory: Fleet.model)
    let store = try await PostgresStore(
      try server.makeDatabase("kinds_included"), model: Fleet.model)
    try await Self.fill(embedded)
    try await Self.fill(store)
    let trips = try embedded.fetch(Query<Trip>(), including: .one(\.vehicle), .one(\.luggage))
    let vehicles = try embedded.fetch(Query<Vehicle>(), including: .all(Vehicle.trips))
    let garages = try embedded.fetch(Query<Garage>(), including: .all(\.places))
    let found = try await store.read { state in
      [
        "\(try state.fetch(Query<Trip>(), including: .one(\.vehicle), .one(\.luggage)))",
        "\(try state.fetch(Query<Vehicle>(), including: .all(Vehicle.trips)))",
        "\(try state.fetch(Query<Garage>(), including: .all(\.places)))",
      ]
    }
    #expect(found == ["\(trips)", "\(vehicles)", "\(garages)"])
  }

  @Test func `an update by a query of a parent leaves records of their kinds`() async throws {
    let server = try #require(PostgresServer.shared)
    let embedded = try PersistentStore(inMemory: Fleet.model)
    let store = try await PostgresStore(
      try server.makeDatabase("kinds_updated"), model: Fleet.model)
    try await Self.fill(embedded)
    try await Self.fill(store)
    try await embedded.write { (transaction: inout WriteTransaction) in
      try transaction.update(Asset.where { $0.id > 2 }) { $0.name += "!" }
      try transaction.update(Query<Vehicle>()) { $0.seats.append(7) }
      try transaction.update(Query<Garage>()) { $0.places = [] }
    }
    try await store.write { transaction in
      try transaction.update(Asset.where { $0.id > 2 }) { $0.name += "!" }
      try transaction.update(Query<Vehicle>()) { $0.seats.append(7) }
      try transaction.update(Query<Garage>()) { $0.places = [] }
    }
    let found = try await store.read { try Self.dump($0) }
    #expect(found == (try Self.dump(try embedded.snapshot())))
    await #expect(throws: StoreError.self) {
      try await store.update(Query<Garage>()) { $0.places = [Reference(1)] }
    }
  }
}

import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The operations that Core Data's lightweight migration supports, as its documents list them: one test a line, named by the
/// line, on data. Each follows from the two descriptions alone.
@Suite struct CoreDataListTests {
  private typealias Rows = [DynamicRecord]

  /// Migrates records whose types are described in two versions, at once and deferred, and expects that nothing but the
  /// descriptions is needed.
  ///
  /// - Parameter waits: True if the operation can be deferred.
  private static func migrate(
    _ rows: Rows, to expected: Rows, _ types: RemovedRecord..., waits: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let store = try VersionedStore(versions: 2, types, holding: rows)
    let plan = try store.plan()
    #expect(plan.isInferred && plan.canRun, "\(plan)", sourceLocation: sourceLocation)
    #expect(
      plan.steps.allSatisfy(\.isDeferrable) == waits, "\(plan)", sourceLocation: sourceLocation)
    for mode in [MigrationMode.automatic, .deferred] {
      let migrated = try store.migrated([], mode)
      #expect(try migrated.allRecords() == expected, "\(mode)", sourceLocation: sourceLocation)
      while try migrated.finishMigration(budget: WorkBudget(records: 1)) {}
      #expect(try migrated.allRecords() == expected, "\(mode)", sourceLocation: sourceLocation)
      try migrated.expectSound(sourceLocation)
      try migrated.close()
    }
  }

  /// A type with the key `id` in both versions.
  private static func type(
    _ name: String,
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) -> RemovedRecord {
    RemovedRecord(name) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      fields(version)
    }
  }

  // MARK: Attributes

  @Test func `Add attribute`() throws {
    try Self.migrate(
      [.of("Car", 1)], to: [.of("Car", 1, ["color": nil, "doors": 4])],
      Self.type("Car") { version in
        if version > 1 {
          Field(name: "color", type: .string, optional: true)
          Field(name: "doors", type: .integer, migrationInfo: .init(default: 4))
        }
      })
  }

  @Test func `Remove attribute`() throws {
    try Self.migrate(
      [.of("Car", 1, ["color": "red"])], to: [.of("Car", 1)],
      Self.type("Car") { version in if version == 1 { Field(name: "color", type: .string) } })
  }

  @Test func `Make optional attribute non-optional, with default value`() throws {
    try Self.migrate(
      [.of("Car", 1), .of("Car", 2, ["color": "red"])],
      to: [.of("Car", 1, ["color": "none"]), .of("Car", 2, ["color": "red"])],
      Self.type("Car") { version in
        Field(
          name: "color", type: .string, optional: version == 1,
          migrationInfo: .init(default: "none"))
      })
  }

  @Test func `Make non-optional attribute optional`() throws {
    try Self.migrate(
      [.of("Car", 1, ["color": "red"])], to: [.of("Car", 1, ["color": "red"])],
      Self.type("Car") { version in
        Field(name: "color", type: .string, optional: version > 1)
      })
  }

  @Test func `Rename attribute, using renaming identifier`() throws {
    try Self.migrate(
      [.of("Car", 1, ["color": "red"])], to: [.of("Car", 1, ["paintColor": "red"])],
      Self.type("Car") { version in
        Field(
          name: version == 1 ? "color" : "paintColor", type: .string,
          migrationInfo: version == 1 ? nil : .init(renamingID: "color"))
      })
  }

  // MARK: Relationships

  private static let garage = type("Garage") { _ in }
  private static let garages: Rows = [.of("Garage", 7), .of("Garage", 8)]

  @Test func `Add relationship`() throws {
    try Self.migrate(
      Self.garages + [.of("Car", 1)],
      to: [.of("Car", 1, ["garage": nil, "visited": []])] + Self.garages,
      Self.garage,
      Self.type("Car") { version in
        if version > 1 {
          Field(name: "garage", type: .reference(to: "Garage"), optional: true)
          Field(name: "visited", type: .references(to: "Garage"))
        }
      })
  }

  @Test func `Remove relationship`() throws {
    try Self.migrate(
      Self.garages + [.of("Car", 1, ["garage": 7, "visited": [8]])],
      to: [.of("Car", 1)] + Self.garages,
      Self.garage,
      Self.type("Car") { version in
        if version == 1 {
          Field(name: "garage", type: .reference(to: "Garage"), optional: true)
          Field(name: "visited", type: .references(to: "Garage"))
        }
      })
  }

  @Test func `Rename relationship, using renaming identifier`() throws {
    try Self.migrate(
      Self.garages + [.of("Car", 1, ["garage": 7, "visited": [8, 7]])],
      to: [.of("Car", 1, ["place": 7, "seen": [8, 7]])] + Self.garages,
      Self.garage,
      Self.type("Car") { version in
        Field(
          name: version == 1 ? "garage" : "place", type: .reference(to: "Garage"), optional: true,
          migrationInfo: version == 1 ? nil : .init(renamingID: "garage"))
        Field(
          name: version == 1 ? "visited" : "seen", type: .references(to: "Garage"),
          migrationInfo: version == 1 ? nil : .init(renamingID: "visited"))
      })
  }

  @Test func `Change cardinality, to-one to to-many`() throws {
    try Self.migrate(
      Self.garages + [.of("Car", 1, ["garage": 7]), .of("Car", 2)],
      to: [.of("Car", 1, ["garage": [7]]), .of("Car", 2, ["garage": []])] + Self.garages,
      Self.garage,
      Self.type("Car") { version in
        if version == 1 {
          Field(name: "garage", type: .reference(to: "Garage"), optional: true)
        } else {
          Field(name: "garage", type: .references(to: "Garage"))
        }
      })
  }

  /// It differs on purpose: where a record has several, Core Data drops all but one, and here the description says which.
  @Test func `Change cardinality, to-many to to-one`() throws {
    let car = Self.type("Car") { version in
      if version == 1 {
        Field(name: "garage", type: .references(to: "Garage"))
      } else {
        Field(name: "garage", type: .reference(to: "Garage"), optional: true)
      }
    }
    try Self.migrate(
      Self.garages + [.of("Car", 1, ["garage": [8]]), .of("Car", 2, ["garage": []])],
      to: [.of("Car", 1, ["garage": 8]), .of("Car", 2, ["garage": nil])] + Self.garages,
      Self.garage, car, waits: false)
    let several = try VersionedStore(
      versions: 2, [Self.garage, car],
      holding: Self.garages + [.of("Car", 1, ["garage": [8, 7]])])
    #expect(try !several.plan().canRun)
    #expect(try several.refusal() != nil)
    let chosen = Self.type("Car") { version in
      if version == 1 {
        Field(name: "garage", type: .references(to: "Garage"))
      } else {
        Field(
          name: "garage", type: .reference(to: "Garage"), optional: true,
          migrationInfo: .init(choosing: .last))
      }
    }
    try Self.migrate(
      Self.garages + [.of("Car", 1, ["garage": [8, 7]]), .of("Car", 2, ["garage": []])],
      to: [.of("Car", 1, ["garage": 7]), .of("Car", 2, ["garage": nil])] + Self.garages,
      Self.garage, chosen, waits: false)
  }

  /// A list keeps the order that it is given; a `Set` reads the same bytes.
  @Test func `Change ordering, ordered to non-ordered and back`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let ordered = try PersistentStore(at: path, model: StoreModel(records: [OrderedCar.self]))
    let car = OrderedCar(id: 1, next: [Reference(3), Reference(2)])
    try ordered.save(contentsOf: [car, OrderedCar(id: 2), OrderedCar(id: 3)])
    try ordered.close()
    let plan = try PersistentStore.migration(
      at: path, to: StoreModel(version: 2, records: [UnorderedCar.self])
    ).plan
    #expect(plan.isInferred && plan.work.isEmpty, "\(plan)")
    let unordered = try PersistentStore(
      at: path, model: StoreModel(version: 2, records: [UnorderedCar.self]))
    #expect(try unordered.fetch(UnorderedCar.self, key: 1)?.next == [Reference(2), Reference(3)])
    try unordered.close()
    let again = try PersistentStore(
      at: path, model: StoreModel(version: 3, records: [OrderedCar.self]))
    #expect(try again.fetch(OrderedCar.self, key: 1) == car)
    try again.expectSound()
    try again.close()
  }

  // MARK: Entities

  @Test func `Add entity`() throws {
    try Self.migrate(
      [.of("Car", 1)], to: [.of("Car", 1)], Self.type("Car") { _ in },
      RemovedRecord("Boat") { version in
        if version > 1 { Field(primaryKey: true, name: "id", type: .integer) }
      })
  }

  @Test func `Remove entity`() throws {
    try Self.migrate(
      [.of("Car", 1), .of("Boat", 2)], to: [.of("Car", 1)], Self.type("Car") { _ in },
      RemovedRecord("Boat") { version in
        if version == 1 { Field(primaryKey: true, name: "id", type: .integer) }
      })
  }

  @Test func `Rename entity, using renaming identifier`() throws {
    try Self.migrate(
      [.of("Car", 1, ["next": 2]), .of("Car", 2)],
      to: [.of("Vehicle", 1, ["next": 2]), .of("Vehicle", 2, ["next": nil])],
      Self.type("Car") { version in
        if version > 1 { RecordName("Vehicle", renamingID: "Car") }
        Field(
          name: "next", type: .reference(to: version == 1 ? "Car" : "Vehicle"), optional: true)
      })
  }

  // MARK: Hierarchies

  private static func kind(_ fields: [String: FieldValue]) -> FieldValue { .composite(fields) }

  @Test func `Create parent/child entity`() throws {
    try Self.migrate(
      [.of("Car", 1)], to: [.of("Car", 1, ["Taxi": nil])], Self.type("Car") { _ in },
      RemovedRecord("Taxi") { version in
        if version > 1 {
          RecordDescription.Parent("Car")
          Field(name: "fare", type: .integer)
        }
      })
  }

  @Test func `Move attributes down the hierarchy`() throws {
    try Self.migrate(
      [
        .of("Car", 1, ["fare": 3]),
        .of("Car", 2, ["fare": 5, "Taxi": Self.kind(["sign": "x"])]),
      ],
      to: [
        .of("Car", 1, ["Taxi": nil]), .of("Car", 2, ["Taxi": Self.kind(["fare": 5, "sign": "x"])]),
      ],
      Self.type("Car") { version in if version == 1 { Field(name: "fare", type: .integer) } },
      RemovedRecord("Taxi") { version in
        RecordDescription.Parent("Car")
        Field(name: "sign", type: .string)
        if version > 1 {
          Field(name: "fare", type: .integer, migrationInfo: .init(renamingID: "fare"))
        }
      })
  }

  /// It differs where an attribute is required: records of other kinds have a default.
  @Test func `Move attributes up the hierarchy`() throws {
    try Self.migrate(
      [.of("Car", 1), .of("Car", 2, ["Taxi": Self.kind(["fare": 5, "sign": "x"])])],
      to: [
        .of("Car", 1, ["Taxi": nil, "fare": 0]),
        .of("Car", 2, ["fare": 5, "Taxi": Self.kind(["sign": "x"])]),
      ],
      Self.type("Car") { version in
        if version > 1 {
          Field(
            name: "fare", type: .integer,
            migrationInfo: .init(default: 0, renamingID: "Taxi.fare"))
        }
      },
      RemovedRecord("Taxi") { version in
        RecordDescription.Parent("Car")
        Field(name: "sign", type: .string)
        if version == 1 { Field(name: "fare", type: .integer) }
      })
  }

  @Test func `Move entities into the hierarchy`() throws {
    try Self.migrate(
      [.of("Car", 1), .of("Taxi", 2, ["sign": "x"])],
      to: [.of("Car", 1, ["Taxi": nil]), .of("Car", 2, ["Taxi": Self.kind(["sign": "x"])])],
      Self.type("Car") { _ in }, Self.taxi { $0 > 1 }, waits: false)
  }

  @Test func `Move entities out of the hierarchy`() throws {
    try Self.migrate(
      [.of("Car", 1), .of("Car", 2, ["Taxi": Self.kind(["sign": "x"])])],
      to: [.of("Car", 1), .of("Taxi", 2, ["sign": "x"])],
      Self.type("Car") { _ in }, Self.taxi { $0 == 1 })
  }

  /// Taxis with a sign, which are cars in some versions.
  private static func taxi(isCar: @escaping @Sendable (Int) -> Bool) -> RemovedRecord {
    RemovedRecord("Taxi") { version in
      if isCar(version) {
        RecordDescription.Parent("Car")
      } else {
        Field(primaryKey: true, name: "id", type: .integer)
      }
      Field(name: "sign", type: .string)
    }
  }

  /// It differs on purpose: Core Data has no way to give two hierarchies one parent.
  @Test func `Merge entity hierarchies`() throws {
    func root(_ name: String, _ field: String) -> RemovedRecord {
      RemovedRecord(name) { version in
        if version == 1 {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
        } else {
          RecordDescription.Parent("Vehicle")
        }
        Field(name: field, type: .integer)
      }
    }
    func child(_ name: String, of parent: String, _ field: String) -> RemovedRecord {
      RemovedRecord(name) { _ in
        RecordDescription.Parent(parent)
        Field(name: field, type: .integer)
      }
    }
    func vehicle(_ id: Int64, _ name: FieldValue, car: FieldValue, boat: FieldValue)
      -> DynamicRecord
    {
      .of("Vehicle", id, ["name": name, "Car": car, "Boat": boat])
    }
    try Self.migrate(
      [
        .of("Boat", 3, ["name": "c", "sails": 2]),
        .of("Boat", 4, ["name": "d", "sails": 0, "Ferry": Self.kind(["decks": 6])]),
        .of("Car", 1, ["name": "a", "doors": 4]),
        .of("Car", 2, ["name": "b", "doors": 5, "Taxi": Self.kind(["fare": 7])]),
      ],
      to: [
        vehicle(1, "a", car: Self.kind(["doors": 4, "Taxi": nil]), boat: nil),
        vehicle(2, "b", car: Self.kind(["doors": 5, "Taxi": Self.kind(["fare": 7])]), boat: nil),
        vehicle(3, "c", car: nil, boat: Self.kind(["sails": 2, "Ferry": nil])),
        vehicle(4, "d", car: nil, boat: Self.kind(["sails": 0, "Ferry": Self.kind(["decks": 6])])),
      ],
      root("Car", "doors"), child("Taxi", of: "Car", "fare"),
      root("Boat", "sails"), child("Ferry", of: "Boat", "decks"),
      RemovedRecord("Vehicle") { version in
        if version > 1 {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
        }
      }, waits: false)
  }
}

private struct OrderedCar: Record, Identifiable, Equatable {
  var id: Int
  var next: [Reference<OrderedCar>] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Car")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "next", type: .references(to: OrderedCar.self))
  }
}

private struct UnorderedCar: Record, Identifiable, Equatable {
  var id: Int
  var next: Set<Reference<UnorderedCar>> = []

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Car")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "next", type: .references(to: UnorderedCar.self))
  }
}

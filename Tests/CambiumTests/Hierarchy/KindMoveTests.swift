import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Records that enter a hierarchy, leave it, or go from one kind to another.
@Suite struct KindMoveTests {
  /// Cars, boats and vehicles by the versions in which cars and boats are kinds of vehicles.
  private static func types(
    cars: Set<Int>, boats: Set<Int> = [], vehicles: Set<Int> = [1, 2, 3, 4]
  ) -> [RemovedRecord] {
    [
      RemovedRecord("Vehicle") { version in
        if vehicles.contains(version) {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string, indexed: true)
        }
      },
      RemovedRecord("Car") { version in
        if cars.contains(version) {
          RecordDescription.Parent("Vehicle")
        } else {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
        }
        Field(name: "doors", type: .integer, indexed: true)
        Field(name: "owner", type: .string, optional: true)
      },
      RemovedRecord("Boat") { version in
        if boats.contains(version) {
          RecordDescription.Parent("Vehicle")
        } else {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
        }
        Field(name: "sails", type: .integer)
      },
    ]
  }

  private static func car(_ id: Int64, _ owner: FieldValue = .null) -> DynamicRecord {
    .of("Car", id, ["name": .string("car \(id)"), "doors": .integer(id % 5), "owner": owner])
  }

  private static func boat(_ id: Int64) -> DynamicRecord {
    .of("Boat", id, ["name": .string("boat \(id)"), "sails": .integer(id % 3)])
  }

  private static func vehicle(_ record: DynamicRecord) -> DynamicRecord {
    var fields = record.fields.dictionary
    let shared = ["id", "name"]
    let own = fields.filter { !shared.contains($0.key) }
    fields = fields.filter { shared.contains($0.key) }
    if record.name != "Vehicle" { fields[record.name] = .composite(own) }
    return DynamicRecord("Vehicle", RecordFields(fields))
  }

  private static func plain(_ id: Int64) -> DynamicRecord {
    .of("Vehicle", id, ["name": .string("vehicle \(id)")])
  }

  private static let cars = [car(1), car(2, "Ada"), car(7), car(8, "Bo")]
  private static let boats = [boat(3), boat(5)]
  private static let plainOnes = [plain(4), plain(6)]

  /// Records without the kinds that they are not of.
  private static func known(_ records: [DynamicRecord]) -> Set<DynamicRecord> {
    Set(
      records.map { record in
        var record = record
        for kind in ["Car", "Boat"] where record.fields[kind] == .null {
          record.fields[kind] = nil
        }
        return record
      })
  }

  private static func records(of store: PersistentStore) throws -> Set<DynamicRecord> {
    known(try store.allRecords())
  }

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `a record enters a hierarchy: its rows are those of a kind, and indexes have them`(
    mode: MigrationMode
  ) throws {
    let store = try VersionedStore(
      versions: 2, Self.types(cars: [2]), holding: Self.cars + Self.boats + Self.plainOnes)
    #expect(try store.faults() == [])
    let migrated = try store.migrated([], mode)
    #expect(
      try Self.records(of: migrated)
        == Set(Self.cars.map(Self.vehicle) + Self.boats + Self.plainOnes))
    func count(_ text: String) throws -> Int {
      try migrated.count(record: "Vehicle", where: FieldCondition(parsing: text))
    }
    #expect(try count("is(Car)") == 4)
    #expect(try count("Car.doors == 2") == 2)
    #expect(try count("name == \"car 7\"") == 1)
    try migrated.close()
  }

  @Test func `records of a kind leave a hierarchy, and others stay`() throws {
    let store = try VersionedStore(
      versions: 2, Self.types(cars: [1], boats: [1, 2]),
      holding: (Self.cars + Self.boats).map(Self.vehicle) + Self.plainOnes)
    #expect(try store.faults() == [])
    let migrated = try store.migrated()
    #expect(
      try Self.records(of: migrated)
        == Set(Self.cars + Self.boats.map(Self.vehicle) + Self.plainOnes))
    #expect(
      try migrated.count(record: "Car", where: FieldCondition(parsing: "doors == 2")) == 2)
    try migrated.close()
  }

  @Test func `a parent is made over several records, and is dissolved again`() throws {
    let store = try VersionedStore(
      versions: 3, Self.types(cars: [2], boats: [2], vehicles: [2]),
      holding: Self.cars + Self.boats)
    let parent = try store.migrated(to: 2)
    #expect(
      try Self.records(of: parent) == Set((Self.cars + Self.boats).map(Self.vehicle)))
    try parent.close()
    for steps in [[], [MigrationStep(from: 1, to: 3)], [MigrationStep(squashing: 1...2, to: 3)]] {
      let dissolved = try store.migrated(steps)
      #expect(try Self.records(of: dissolved) == Set(Self.cars + Self.boats))
      try dissolved.close()
    }
  }

  @Test func `of a hierarchy that is dissolved, plain records are gone`() throws {
    let store = try VersionedStore(
      versions: 2, Self.types(cars: [1], boats: [1], vehicles: [1]),
      holding: (Self.cars + Self.boats).map(Self.vehicle) + Self.plainOnes)
    let plan = try store.plan()
    #expect(
      plan.description.contains(
        """
            Car has the records of Vehicle.Car
            Boat has the records of Vehicle.Boat
            Vehicle is removed, and its other records

        """) || plan.description.contains("Boat has the records of Vehicle.Boat\n    Car"),
      "\(plan)")
    let dissolved = try store.migrated()
    #expect(try Self.records(of: dissolved) == Set(Self.cars + Self.boats))
    try dissolved.close()
  }

  @Test func `shared becomes copied, and copied shared`() throws {
    func types(shared: Int) -> [RemovedRecord] {
      [
        RemovedRecord("Vehicle") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string, unique: true)
        },
        RemovedRecord("Car") { version in
          RecordDescription.Parent("Vehicle", storage: version == shared ? .shared : .copied)
          Field(name: "doors", type: .integer)
          Field(name: "owner", type: .string, optional: true)
        },
      ]
    }
    let copied = try VersionedStore(
      versions: 2, types(shared: 1), holding: Self.cars.map(Self.vehicle) + Self.plainOnes
    ).migrated()
    #expect(try Self.records(of: copied) == Set(Self.cars + Self.plainOnes))
    try copied.close()
    let shared = try VersionedStore(
      versions: 2, types(shared: 2), holding: Self.cars + Self.plainOnes
    ).migrated()
    #expect(try Self.records(of: shared) == Set(Self.cars.map(Self.vehicle) + Self.plainOnes))
    try shared.close()
  }

  // MARK: Refused

  @Test func `keys and unique values that are there twice are counted, and refused`() throws {
    func types(_ isUnique: Bool) -> [RemovedRecord] {
      ["Car", "Boat"].map { name in
        RemovedRecord(name) { version in
          if version > 1 {
            RecordDescription.Parent("Vehicle")
          } else {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "name", type: .string)
          }
          Field(name: "size", type: .integer)
        }
      } + [
        RemovedRecord("Vehicle") { version in
          if version > 1 {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "name", type: .string, unique: isUnique)
          }
        }
      ]
    }
    func record(_ name: String, _ id: Int64, _ text: String) -> DynamicRecord {
      .of(name, id, ["name": .string(text), "size": 1])
    }
    let keys = try VersionedStore(
      versions: 2, types(false),
      holding: (1...6).map { record("Car", $0, "c\($0)") }
        + (5...9).map { record("Boat", $0, "b\($0)") })
    var faults = try keys.faults()
    #expect(faults.count == 1)
    #expect(
      faults.first?.hasPrefix(
        "Vehicle: 2 records have the same primary key as another, the first ") == true, "\(faults)")
    #expect(try keys.refusal() != nil)
    let names = try VersionedStore(
      versions: 2, types(true),
      holding: (1...6).map { record("Car", $0, "n\($0)") }
        + (11...15).map { record("Boat", $0, "n\($0 - 7)") })
    faults = try names.faults()
    #expect(faults.count == 1)
    #expect(
      faults.first?.hasPrefix("Vehicle: 3 records have the same name as another, the first ")
        == true, "\(faults)")
    #expect(try names.refusal() != nil)
  }

  @Test func `keys of another type, and fields without a value, are refused by a sentence`() throws
  {
    func types(_ key: FieldType, _ size: Field) -> [RemovedRecord] {
      [
        RemovedRecord("Vehicle") { _ in
          Field(primaryKey: true, name: "id", type: key)
          size
        },
        RemovedRecord("Car") { version in
          if version > 1 {
            RecordDescription.Parent("Vehicle")
          } else {
            Field(primaryKey: true, name: "number", type: .integer)
          }
          Field(name: "doors", type: .integer)
        },
      ]
    }
    let size = Field(name: "size", type: .integer)
    let cars = (1...3).map {
      DynamicRecord("Car", ["number": .integer($0), "doors": 4])
    }
    let strings = try VersionedStore(
      versions: 2,
      types(.string, Field(name: "size", type: .integer, default: 2)), holding: cars)
    #expect(
      try strings.faults() == [
        "Car: its records go to Vehicle, whose primary key is id string and theirs number int64; keys must be of one type,"
          + " so let a step make them with TransformRecords"
      ])
    #expect(try strings.refusal() != nil)
    let sizes = try VersionedStore(versions: 2, types(.integer, size), holding: cars)
    #expect(
      try sizes.faults().first?.hasPrefix(
        "Vehicle.size: for the records of Car, it is new, not optional, and has no default") == true
    )
    let given = try VersionedStore(
      versions: 2,
      types(
        .integer, Field(name: "size", type: .integer, migrationInfo: MigrationInfo(default: 9))),
      holding: cars
    ).migrated()
    #expect(
      try given.fetch(record: "Vehicle", where: nil)
        == (1...3).map {
          .of("Vehicle", $0, ["size": 9, "Car": .composite(["doors": 4])])
        })
    try given.close()
  }

  @Test func `plain records of an abstract kind are counted where they enter`() throws {
    let store = try VersionedStore(
      versions: 2,
      [
        RemovedRecord("Vehicle") { version in
          Field(primaryKey: true, name: "id", type: .integer)
        },
        RemovedRecord("Car") { version in
          if version > 1 {
            RecordDescription.Parent("Vehicle")
            RecordDescription.Abstract()
          } else {
            Field(primaryKey: true, name: "id", type: .integer)
          }
        },
        RemovedRecord("Racer") { _ in
          RecordDescription.Parent("Car")
          Field(name: "speed", type: .integer)
        },
      ],
      holding: [
        .of("Car", 1), .of("Car", 2, ["Racer": .composite(["speed": 5])]), .of("Car", 3),
      ])
    #expect(
      try store.faults().first?.hasPrefix("Car: 2 of 3 records would be refused") == true)
    #expect(try store.refusal() != nil)
  }

  // MARK: Names

  @Test func `a renamingID leads to a record, to a kind, and to their fields`() throws {
    let store = try VersionedStore(
      versions: 3,
      [
        RemovedRecord("Vehicle") { version in
          if version == 2 {
            Field(primaryKey: true, name: "key", type: .integer)
            Field(
              name: "label", type: .string,
              migrationInfo: MigrationInfo(default: "none", renamingID: "Auto.title"))
          }
        },
        RemovedRecord("Car") { version in
          switch version {
          case 1:
            RecordName("Auto")
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "title", type: .string)
            Field(name: "doorCount", type: .int32)
          case 2:
            RecordName("Car", renamingID: "Auto")
            RecordDescription.Parent("Vehicle")
            Field(
              name: "doors", type: .integer, migrationInfo: MigrationInfo(renamingID: "doorCount"))
          default:
            RecordName("Wagon", renamingID: "Vehicle.Car")
            Field(primaryKey: true, name: "key", type: .integer)
            Field(name: "text", type: .string, migrationInfo: MigrationInfo(renamingID: "label"))
            Field(name: "gates", type: .integer, migrationInfo: MigrationInfo(renamingID: "doors"))
          }
        },
        RemovedRecord("Boat") { version in
          if version == 2 {
            RecordDescription.Parent("Vehicle")
          } else {
            Field(primaryKey: true, name: "id", type: .integer)
          }
        },
      ],
      holding: [.of("Auto", 1, ["title": "a", "doorCount": 4]), .of("Boat", 2)])
    let entered = try store.migrated(to: 2)
    #expect(
      try entered.fetch(record: "Vehicle", where: nil).map(\.fields) == [
        ["key": 1, "label": "a", "Car": .composite(["doors": 4]), "Boat": .null],
        ["key": 2, "label": "none", "Boat": .composite(["is": true]), "Car": .null],
      ])
    try entered.close()
    for steps in [[], [MigrationStep(from: 1, to: 3)]] {
      let left = try store.migrated(steps)
      #expect(
        try left.allRecords() == [
          .of("Boat", 2),
          DynamicRecord("Wagon", ["key": 1, "text": "a", "gates": 4]),
        ])
      try left.close()
    }
    #expect(
      try Set(store.model.changes(from: 1, to: 2).map(\.description).prefix(2)) == [
        "Vehicle.Boat has the records of Boat", "Vehicle.Car has the records of Auto",
      ])
    #expect(
      try store.model.changes(from: 1, to: 3).map(\.description).first
        == "Wagon has the records of Auto")
  }

  @Test func `a name that leads nowhere, and one that leads to two, are refused`() throws {
    func model(_ renamingID: String?) -> StoreModel {
      StoreModel(
        version: 2,
        untyped: ["Vehicle", "Machine"].map { name in
          RemovedRecord(name) { version in
            Field(primaryKey: true, name: "id", type: .integer)
          }
        } + [
          RemovedRecord("Car") { version in
            if version == 1 { RecordDescription.Parent("Vehicle") }
          },
          RemovedRecord("Tool") { version in
            if version == 1 {
              RecordName("Car")
              RecordDescription.Parent("Machine")
            }
          },
          RemovedRecord("Last") { version in
            if version == 2 {
              RecordName("Car", renamingID: renamingID ?? "Car")
              Field(primaryKey: true, name: "id", type: .integer)
            }
          },
        ])
    }
    func reason(_ renamingID: String?) -> String {
      "\(storeError { _ = try model(renamingID).schemas() }.map { "\($0)" } ?? "")"
    }
    #expect(
      reason(nil).contains("Vehicle.Car and Machine.Car were called Car before"), "\(reason(nil))")
    #expect(reason("Wagon").contains("its renamingID names Wagon, which was not there before"))
    #expect(reason("Machine.Car") == "")
  }

  // MARK: Relations

  @Test func `references to a record that enters lead to it in the hierarchy, and are proved`()
    throws
  {
    func store(_ extra: [DynamicRecord]) throws -> VersionedStore {
      try VersionedStore(
        versions: 3,
        Self.types(cars: [2]) + [
          RemovedRecord("Ticket") { version in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(
              name: "of", type: .reference(to: version == 2 ? "Vehicle" : "Car"), optional: true)
          }
        ],
        holding: Self.cars + Self.plainOnes + [
          .of("Ticket", 1, ["of": 7]), .of("Ticket", 2), .of("Ticket", 3, ["of": 1]),
        ] + extra)
    }
    let migrated = try store([]).migrated(to: 2)
    #expect(try migrated.fetch(record: "Ticket", where: nil).map { $0["of"] } == [7, nil, 1])
    try migrated.write { try $0.save(.of("Ticket", 2, ["of": 4])) }
    try migrated.remove("Vehicle", 7)
    #expect(try migrated.fetch(record: "Ticket", where: nil).map { $0["of"] } == [nil, 4, 1])
    try migrated.expectSound()
    try migrated.close()
    for steps in [[], [MigrationStep(from: 1, to: 3)]] {
      let left = try store([]).migrated(steps)
      #expect(try left.fetch(record: "Ticket", where: nil).map { $0["of"] } == [7, nil, 1])
      try left.close()
    }
  }

  @Test func `references to what has left are counted and refused`() throws {
    let store = try VersionedStore(
      versions: 2,
      Self.types(cars: [1]) + [
        RemovedRecord("Ticket") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "of", type: .reference(to: "Vehicle"), optional: true)
        }
      ],
      holding: Self.cars.map(Self.vehicle) + Self.plainOnes + [
        .of("Ticket", 1, ["of": 7]), .of("Ticket", 2, ["of": 4]), .of("Ticket", 3, ["of": 1]),
      ])
    #expect(
      try store.faults() == [
        "Ticket.of: 2 references lead to no Vehicle, the first of the record 1 to 7"
      ])
    #expect(try store.refusal() != nil)
  }

  // MARK: Paths

  /// Cars are a record, a kind, a record, and a kind again.
  private static let turns: [[MigrationStep]] = [
    [], [MigrationStep(from: 1, to: 4)], [MigrationStep(squashing: 1...3, to: 4)],
    [MigrationStep(from: 1, to: 3)], [MigrationStep(from: 2, to: 4)],
    [MigrationStep(from: 1, to: 2), MigrationStep(from: 2, to: 4)],
  ]

  @Test(arguments: turns.indices, [MigrationMode.automatic, .deferred])
  func `in and out and in again, by every path`(path: Int, mode: MigrationMode) throws {
    let store = try VersionedStore(
      versions: 4, Self.types(cars: [2, 4], boats: [1, 3]),
      holding: Self.cars + Self.boats.map(Self.vehicle) + Self.plainOnes)
    let migrated = try store.migrated(Self.turns[path], mode)
    #expect(
      try Self.records(of: migrated)
        == Set(Self.cars.map(Self.vehicle) + Self.boats + Self.plainOnes))
    try migrated.close()
  }

  @Test func `a step back takes records out of a hierarchy, and into it`() throws {
    for entered in [true, false] {
      let store = try VersionedStore(
        versions: 2, Self.types(cars: entered ? [2] : [1]),
        holding: (entered ? Self.cars : Self.cars.map(Self.vehicle)) + Self.plainOnes)
      let path = try store.copy()
      let before = try PersistentStore(at: path, model: store.model.dynamic(version: 1))
      let records = try Self.records(of: before)
      try before.close()
      try PersistentStore(at: path, model: store.model).close()
      let back = try PersistentStore(
        at: path, model: store.model.dynamic(version: 1), steps: [MigrationStep(from: 2, to: 1)])
      #expect(try Self.records(of: back) == records)
      try back.expectSound()
      try back.close()
    }
  }

  @Test func `a kind gets another parent, and takes its own kinds along`() throws {
    func types(_ version: Int) -> [RemovedRecord] {
      [
        RemovedRecord("Thing") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
        },
        RemovedRecord("Tool") { _ in
          RecordDescription.Parent("Thing")
          Field(name: "use", type: .string, default: "any")
        },
        RemovedRecord("Saw") { version in
          RecordDescription.Parent(version == 2 ? "Tool" : "Thing")
          Field(name: "teeth", type: .integer)
        },
        RemovedRecord("Chainsaw") { _ in
          RecordDescription.Parent("Saw")
          Field(name: "fuel", type: .string)
        },
      ]
    }
    let saw: [String: FieldValue] = ["teeth": 3]
    let chainsaw: [String: FieldValue] = ["teeth": 4, "Chainsaw": .composite(["fuel": "gas"])]
    let store = try VersionedStore(
      versions: 3, types(1),
      holding: [
        .of("Thing", 1, ["name": "a", "Saw": .composite(saw)]),
        .of("Thing", 2, ["name": "b", "Saw": .composite(chainsaw)]),
        .of("Thing", 3, ["name": "c", "Tool": .composite(["use": "x"])]),
        .of("Thing", 4, ["name": "d"]),
      ])
    let inner = try store.migrated(to: 2)
    let count = { (text: String) in
      try inner.count(record: "Thing", where: FieldCondition(parsing: text))
    }
    #expect(try count("is(Tool)") == 3)
    #expect(try count("Tool.use == \"any\"") == 2)
    #expect(try count("Tool.Saw.teeth == 4 && is(Tool.Saw.Chainsaw)") == 1)
    try inner.close()
    for steps in [[], [MigrationStep(from: 1, to: 3)]] {
      let outer = try store.migrated(steps)
      #expect(
        try outer.count(record: "Thing", where: FieldCondition(parsing: "isExactly(Tool)")) == 1)
      #expect(
        try outer.count(record: "Thing", where: FieldCondition(parsing: "Saw.teeth == 4")) == 1)
      #expect(
        try outer.count(
          record: "Thing", where: FieldCondition(parsing: "Saw.Chainsaw.fuel == \"gas\"")) == 1)
      try outer.close()
    }
  }

  @Test func `the plan says what goes where, and what is not to wait`() throws {
    let store = try VersionedStore(
      versions: 2, Self.types(cars: [2]), holding: Self.cars + Self.plainOnes)
    let plan = try store.plan()
    #expect(plan.isInferred && plan.canRun)
    #expect(plan.steps.map(\.isDeferrable) == [false])
    #expect(
      plan.steps[0].changes.map(\.description).first == "Vehicle.Car has the records of Car")
    #expect(plan.work.map(\.description).contains("making Vehicle.Car of Car, 4 records"))
    #expect(!plan.description.contains("removed"))
  }

  @Test func `a step gives fields of records that enter`() throws {
    let store = try VersionedStore(
      versions: 2, Self.types(cars: [2]), holding: Self.cars + Self.plainOnes)
    let steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Vehicle") {
          UpdateField("name", from: { old in "\(old.name) \(try old["id", as: Int.self])" })
        }
      }
    ]
    let migrated = try store.migrated(steps)
    #expect(
      try migrated.fetch(record: "Vehicle", where: nil).map { $0["name"] }
        == ["Car 1", "Car 2", "Vehicle 4", "Vehicle 6", "Car 7", "Car 8"])
    try migrated.close()
  }

  @Test
  func `power cuts and failures at every call leave one version or the other, with all references`()
    throws
  {
    let model = StoreModel(
      version: 2,
      untyped: Self.types(cars: [2], boats: [1]) + [
        RemovedRecord("Ticket") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "of", type: .reference(to: version == 2 ? "Vehicle" : "Car"), optional: true)
          Field(name: "all", type: .references(to: version == 2 ? "Vehicle" : "Car"))
        }
      ])
    var check = MigrationCheck(model, seed: 5)
    check.count = 12
    for (place, name) in ["Vehicle", "Car"].enumerated() {
      check.records.values["\(name).id"] = { random in
        .integer(Int64(bitPattern: random.next() << 4 | UInt64(place)))
      }
    }
    let cut = try check.everyPowerCut(from: 1, stride: scaled(1, debug: 7))
    let failed = try check.everyFailure(from: 1, stride: scaled(1, debug: 19))
    for violation in (cut.violations + failed.violations).prefix(5) {
      Issue.record("\(violation)")
    }
    #expect(cut.count > scaled(100, debug: 10) && failed.count > 0)
    print(
      "moved kinds: \(cut.count.grouped) crash images, \(failed.count.grouped) failed calls")
  }

  @Test func `Swift types of the newest version say what they were in the one before`() throws {
    struct OldTruck: Record, Identifiable {
      var id: Int
      var name: String
      var load: Double
      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Truck")
        Truck.recordDescription(for: 1)
      }
    }
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try PersistentStore(at: path, model: StoreModel(records: [OldTruck.self]))
    try first.save(OldTruck(id: 1, name: "Ada", load: 2.5))
    try first.close()
    let model = StoreModel(version: 2, records: [Vehicle.self, Truck.self])
    let second = try PersistentStore(at: path, model: model)
    #expect(
      try second.fetch(Truck.self, key: 1)
        == Truck(vehicle: Vehicle(id: 1, name: "Ada"), load: 2.5))
    #expect(try second.fetch(Vehicle.self) == [Vehicle(id: 1, name: "Ada")])
    try second.close()
  }

  // MARK: What names the records

  @Test func `queries that are kept of a record are kept of the kind, and of the record again`()
    throws
  {
    struct Machine: Record, Identifiable {
      var id: Int64
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .int64)
      }
    }
    struct Press: Record, Identifiable {
      var id: Int64
      var force: Int64
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .int64)
        Field(name: "force", type: .int64)
      }
    }
    struct KindOfPress: Record {
      var machine: Machine
      var force: Int64
      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Press")
        Parent(Machine.self, property: "machine")
        Field(name: "force", type: .int64)
      }
    }
    func model(_ count: Int) -> StoreModel {
      let versions = [
        ModelVersion(1, records: [Machine.self, Press.self]),
        ModelVersion(2, records: [Machine.self, KindOfPress.self]),
        ModelVersion(3, records: [Machine.self, Press.self]),
      ]
      return StoreModel(Array(versions.prefix(count)))
    }
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try PersistentStore(at: path, model: model(1))
    try first.write { transaction in
      try transaction.save(Press(id: 1, force: 3))
      try transaction.save(Press(id: 2, force: 5))
      try transaction.setQuery(Press.where { $0.force > 4 }, named: "strong")
    }
    try first.close()
    let second = try PersistentStore(at: path, model: model(2))
    let strong = try #require(try second.query(KindOfPress.self, named: "strong"))
    #expect(try second.fetch(strong).map(\.machine.id) == [2])
    #expect(try second.fetch(Machine.self).map(\.id) == [1, 2])
    try second.close()
    let third = try PersistentStore(at: path, model: model(3))
    let again = try #require(try third.query(Press.self, named: "strong"))
    #expect(try third.fetch(again).map(\.id) == [2])
    try third.close()
  }
}

private struct Vehicle: Record, Identifiable, Equatable {
  var id: Int
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    if version > 1 {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }
}

private struct Truck: Record, Equatable {
  var vehicle: Vehicle
  var load: Double

  static func recordDescription(for version: Int) -> RecordDescription {
    if version < 2 {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    } else {
      Parent(Vehicle.self, property: "vehicle")
    }
    Field(name: "load", type: .double)
  }
}

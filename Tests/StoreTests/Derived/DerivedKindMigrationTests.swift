import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Derived fields of kinds and composites that come, change and go with versions, and kinds with them that do. The store's
/// check compares each with what it is computed of.
@Suite struct DerivedKindMigrationTests {
  private typealias Statements = @Sendable (Int) -> RecordDescription

  private static func none(_ version: Int) -> RecordDescription { RecordDescription() }

  /// Trips, their kinds, and bills of trips; all kinds are there in every version.
  private static func types(
    @RecordDescription.ResultBuilder trip: @escaping Statements = none,
    @RecordDescription.ResultBuilder business: @escaping Statements = none,
    @RecordDescription.ResultBuilder sales: @escaping Statements = none,
    bill: RemovedRecord = Self.bill
  ) -> [RemovedRecord] {
    [
      RemovedRecord("Trip") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
        inverse("bills", of: "trip", in: "Bill", .cascade)
        trip(version)
      },
      RemovedRecord("Business") { version in
        RecordDescription.Parent("Trip")
        Field(name: "purpose", type: .string)
        business(version)
      },
      RemovedRecord("Sales") { version in
        RecordDescription.Parent("Business")
        Field(name: "target", type: .integer)
        sales(version)
      },
      RemovedRecord("Personal") { _ in RecordDescription.Parent("Trip") }, bill,
    ]
  }

  private static let bill = RemovedRecord("Bill") { _ in
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "trip", type: .reference(to: "Trip"))
    Field(name: "amount", type: .integer)
  }

  private static let bills = (0..<12).map { id in
    DynamicRecord.of("Bill", id, ["trip": .integer(id % 4), "amount": .integer(id)])
  }

  private static func purpose(_ id: Int64, sales: Bool) -> FieldValue {
    .composite([
      "purpose": .string("Öl \(id)"), "Sales": sales ? .composite(["target": .integer(id)]) : .null,
    ])
  }

  /// A plain trip, one of each kind, and bills of them.
  private static let records: [DynamicRecord] =
    [
      .of("Trip", 0, ["name": "Ä0"]),
      .of("Trip", 1, ["name": "Ä1", "Business": purpose(1, sales: false)]),
      .of("Trip", 2, ["name": "Ä2", "Business": purpose(2, sales: true)]),
      .of("Trip", 3, ["name": "Ä3", "Personal": .composite(["is": true])]),
    ] + bills

  /// The values at a path, which leads through composites, of all records that have it.
  private static func values(
    _ path: String..., of record: String = "Trip", in store: PersistentStore
  ) throws -> [Int64: FieldValue] {
    var values: [Int64: FieldValue] = [:]
    for record in try store.fetch(record: record, where: nil) {
      var value: FieldValue? = record[path[0]]
      for name in path.dropFirst() {
        if case .composite(let parts)? = value { value = parts[name] } else { value = nil }
      }
      if let value, let id = try record["id", as: Int64?.self] { values[id] = value }
    }
    return values
  }

  private static let modes: [MigrationMode] = [.automatic, .deferred]

  // MARK: Fields that come and change

  @Test(arguments: modes)
  func `A22: derived fields that are added to a kind are computed for its records`(
    mode: MigrationMode
  ) throws {
    let versioned = try VersionedStore(
      versions: 2,
      Self.types(
        business: { version in
          if version == 2 {
            Field(name: "upper", type: .string, unique: true, derived: .uppercased("name"))
            Field(name: "key", type: .string, derived: .folded("purpose"))
            Field(name: "count", type: .integer, indexed: true, derived: .count(of: "bills"))
            Field(name: "changed", type: .date, optional: true, derived: .modificationDate)
          }
        },
        sales: { version in
          if version == 2 {
            Field(name: "lower", type: .string, derived: .lowercased("purpose"))
            Field(name: "sum", type: .integer, derived: .sum(of: "bills", "amount"))
            Field(
              name: "least", type: .integer, optional: true,
              derived: .minimum(of: "bills", "amount"))
            Field(
              name: "most", type: .integer, optional: true, derived: .maximum(of: "bills", "amount")
            )
          }
        }), holding: Self.records)
    let plan = try versioned.plan()
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    #expect(plan.steps.map(\.isDeferrable) == [false])
    let store = try versioned.migrated([], mode)
    #expect(try Self.values("Business", "upper", in: store) == [1: "Ä1", 2: "Ä2"])
    #expect(try Self.values("Business", "key", in: store) == [1: "ol 1", 2: "ol 2"])
    #expect(try Self.values("Business", "count", in: store) == [1: 3, 2: 3])
    #expect(try Self.values("Business", "changed", in: store) == [1: nil, 2: nil])
    #expect(try Self.values("Business", "Sales", "lower", in: store) == [2: "öl 2"])
    #expect(try Self.values("Business", "Sales", "sum", in: store) == [2: 18])
    #expect(try Self.values("Business", "Sales", "least", in: store) == [2: 2])
    #expect(try Self.values("Business", "Sales", "most", in: store) == [2: 10])
    let three = FieldCondition.comparison(field: "Business.count", .equal, 3)
    #expect(try store.count(record: "Trip", where: three) == 2)
    try store.write { try $0.save(.of("Bill", 99, ["trip": 2, "amount": -1])) }
    #expect(try Self.values("Business", "Sales", "least", in: store) == [2: -1])
    try store.expectSound()
    try store.close()
  }

  @Test func `a derivation of a kind that changes is computed again, and one that goes stays`()
    throws
  {
    let versioned = try VersionedStore(
      versions: 4,
      Self.types(business: { version in
        switch version {
        case 1: Field(name: "d", type: .string, derived: .folded("name"))
        case 2: Field(name: "d", type: .string, derived: .folded("purpose"))
        case 3: Field(name: "d", type: .string)
        default: Field(name: "d", type: .string, derived: .uppercased("name"))
        }
      }), holding: Self.records)
    for (version, values) in [
      (1, [1: "a1", 2: "a2"]), (2, [1: "ol 1", 2: "ol 2"]), (3, [1: "ol 1", 2: "ol 2"]),
      (4, [1: "Ä1", 2: "Ä2"]),
    ] as [(Int, [Int64: FieldValue])] {
      let store = try versioned.migrated(to: version)
      #expect(try Self.values("Business", "d", in: store) == values)
      try store.close()
    }
  }

  @Test
  func `what steps do to fields of the record and of the kind is in the kind's derived fields`()
    throws
  {
    let versioned = try VersionedStore(
      versions: 2,
      Self.types(
        business: { _ in
          Field(name: "upper", type: .string, derived: .uppercased("name"))
          Field(name: "key", type: .string, derived: .folded("purpose"))
          Field(name: "count", type: .integer, derived: .count(of: "bills"))
        },
        sales: { _ in Field(name: "sum", type: .integer, derived: .sum(of: "bills", "amount")) }),
      holding: Self.records)
    let steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Trip") {
          UpdateField("name", by: { old in (try old.as(String.self) ?? "") + "ß" })
          UpdateField("Business.purpose", by: { old in "Ü" + (try old.as(String.self) ?? "") })
          UpdateField("Personal", from: { _ in FieldValue.null })
        }
        UpdateRecord("Bill") {
          UpdateField("trip", from: { _ in Int64(2) })
        }
      }
    ]
    let store = try versioned.migrated(steps)
    // A part that is given a value makes a record of the kind.
    #expect(
      try Self.values("Business", "upper", in: store)
        == [0: "Ä0ß", 1: "Ä1ß", 2: "Ä2ß", 3: "Ä3ß"])
    #expect(
      try Self.values("Business", "key", in: store) == [0: "u", 1: "uol 1", 2: "uol 2", 3: "u"])
    #expect(try Self.values("Business", "count", in: store) == [0: 0, 1: 0, 2: 12, 3: 0])
    #expect(try Self.values("Business", "Sales", "sum", in: store) == [2: 66])
    try store.close()
    let made = try versioned.migrated([
      MigrationStep(to: 2) {
        UpdateRecord("Trip") {
          UpdateField(
            "Business",
            from: { _ in
              FieldValue.composite(["purpose": "Æ", "Sales": .composite(["target": 1])])
            })
          UpdateField("Personal", from: { _ in FieldValue.null })
        }
      }
    ])
    #expect(
      try Self.values("Business", "upper", in: made) == [0: "Ä0", 1: "Ä1", 2: "Ä2", 3: "Ä3"])
    #expect(try Self.values("Business", "count", in: made) == [0: 3, 1: 3, 2: 3, 3: 3])
    #expect(try Self.values("Business", "Sales", "sum", in: made) == [0: 12, 1: 15, 2: 18, 3: 21])
    try made.close()
  }

  @Test func `closures make records of kinds without their derived fields`() throws {
    let versioned = try VersionedStore(
      versions: 2,
      Self.types(
        business: { _ in
          Field(name: "upper", type: .string, derived: .uppercased("name"))
          Field(name: "count", type: .integer, derived: .count(of: "bills"))
        }), holding: Self.records)
    let store = try versioned.migrated([
      MigrationStep(to: 2) {
        TransformRecords("Personal", into: "Business") { old, emit in
          try emit(
            .of(
              "Trip", try old["id", as: Int64.self],
              ["name": "new", "Business": .composite(["purpose": "p"])]))
        }
      }
    ])
    #expect(try Self.values("Business", "upper", in: store) == [1: "Ä1", 2: "Ä2", 3: "NEW"])
    #expect(try Self.values("Business", "count", in: store) == [1: 3, 2: 3, 3: 3])
    try store.close()
    let hooked = try versioned.migrated([
      MigrationStep(to: 2) {
        RunAfter { transaction in
          _ = try transaction.delete(record: "Bill", key: 1)
          try transaction.save(
            .of("Trip", 3, ["name": "x", "Business": .composite(["purpose": "p"])]))
        }
      }
    ])
    #expect(try Self.values("Business", "count", in: hooked) == [1: 2, 2: 3, 3: 3])
    try hooked.close()
  }

  @Test(arguments: modes)
  func `derived fields of composites are computed where the composite is`(
    mode: MigrationMode
  ) throws {
    let type = RemovedRecord("Office") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "address",
        type: .composite {
          Field(name: "city", type: .string, migrationInfo: MigrationInfo(default: "Köln"))
          if version > 1 { Field(name: "key", type: .string, derived: .folded("city")) }
        }, optional: version < 3)
      if version == 4 {
        Field(
          name: "home",
          type: .composite {
            Field(name: "city", type: .string, migrationInfo: MigrationInfo(default: "ÖÖ"))
            Field(name: "key", type: .string, derived: .lowercased("city"))
          })
      }
    }
    let versioned = try VersionedStore(
      versions: 4, [type],
      holding: [.of("Office", 1, ["address": .composite(["city": "Zürich"])]), .of("Office", 2)])
    for version in 2...4 {
      let store = try versioned.migrated(to: version, [], mode)
      let keys = try Self.values("address", "key", of: "Office", in: store)
      #expect(keys == (version == 2 ? [1: "zurich"] : [1: "zurich", 2: "koln"]))
      if version == 4 {
        #expect(try Self.values("home", "key", of: "Office", in: store) == [1: "öö", 2: "öö"])
      }
      try store.close()
    }
  }

  @Test func `a step over several versions that would keep what one between computes is refused`()
    throws
  {
    let versioned = try VersionedStore(
      versions: 3,
      Self.types(
        trip: { version in
          if version > 1 {
            Field(
              name: "key", type: .string, optional: true,
              derived: version == 2 ? .folded("name") : nil)
          }
        },
        business: { version in
          Field(
            name: "lower", type: .string, derived: version < 3 ? .lowercased("purpose") : nil)
        }), holding: Self.records)
    let step = MigrationStep(from: 1, to: 3)
    #expect(
      try versioned.faults([step]) == [
        "Trip.key: on the way it is the folded of name, which a step over several versions does not compute; take the versions"
          + " one by one, or say in the step how it is made"
      ])
    #expect(try versioned.refusal([step]) != nil)
    let given = try versioned.migrated([
      MigrationStep(from: 1, to: 3) { UpdateRecord("Trip") { UpdateField("key", path: "name") } }
    ])
    #expect(try Self.values("key", in: given) == [0: "Ä0", 1: "Ä1", 2: "Ä2", 3: "Ä3"])
    #expect(try Self.values("Business", "lower", in: given) == [1: "öl 1", 2: "öl 2"])
    try given.close()
    let single = try versioned.migrated()
    #expect(try Self.values("key", in: single) == [0: "a0", 1: "a1", 2: "a2", 3: "a3"])
    #expect(try Self.values("Business", "lower", in: single) == [1: "öl 1", 2: "öl 2"])
    try single.close()
  }

  // MARK: Kinds that come, go and move

  @Test(arguments: modes)
  func `a kind with derived fields is added, deferred too`(mode: MigrationMode) throws {
    let versioned = try VersionedStore(
      versions: 2,
      [
        RemovedRecord("Trip") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          inverse("bills", of: "trip", in: "Bill", .cascade)
        },
        RemovedRecord("Business") { version in
          if version > 1 {
            RecordDescription.Parent("Trip")
            Field(name: "upper", type: .string, derived: .uppercased("name"))
            Field(name: "sum", type: .integer, derived: .sum(of: "bills", "amount"))
          }
        }, Self.bill,
      ], holding: (0..<4).map { .of("Trip", $0, ["name": .string("ä\($0)")]) } + Self.bills)
    #expect(try versioned.plan().steps.map(\.isDeferrable) == [true])
    let store = try versioned.migrated([], mode)
    #expect(try Self.values("Business", "sum", in: store) == [:])
    try store.write { transaction in
      try transaction.save(.of("Trip", 2, ["name": "ü", "Business": .composite([:])]))
    }
    #expect(try Self.values("Business", "sum", in: store) == [2: 18])
    #expect(try Self.values("Business", "upper", in: store) == [2: "Ü"])
    try store.expectSound()
    try store.close()
  }

  @Test func `a kind with derived fields is renamed, gets another parent, and is removed`() throws {
    let versioned = try VersionedStore(
      versions: 4,
      [
        RemovedRecord("Trip") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          Field(name: "count", type: .integer, derived: .count(of: "bills"))
          inverse("bills", of: "trip", in: "Bill", .cascade)
        },
        RemovedRecord("Business") { version in
          RecordDescription.Parent("Trip")
          Field(name: "purpose", type: .string, default: "none")
          Field(name: "key", type: .string, derived: .folded("purpose"))
        },
        RemovedRecord("Sales") { version in
          if version < 4 {
            if version > 1 { RecordName("Selling", renamingID: "Sales") }
            RecordDescription.Parent(version < 3 ? "Business" : "Trip")
            Field(name: "target", type: .integer)
            Field(name: "upper", type: .string, derived: .uppercased("name"))
            Field(name: "sum", type: .integer, derived: .sum(of: "bills", "amount"))
          }
        }, RemovedRecord("Personal") { _ in RecordDescription.Parent("Trip") }, Self.bill,
      ], holding: Self.records)
    for version in 2...4 {
      for steps in [[], [MigrationStep(from: 1, to: version)]] where version > 2 || steps.isEmpty {
        let store = try versioned.migrated(to: version, steps)
        #expect(try Self.values("count", in: store) == [0: 3, 1: 3, 2: 3, 3: 3])
        let path = version == 2 ? ["Business", "Selling"] : ["Selling"]
        let sums =
          version == 2
          ? try Self.values("Business", "Selling", "sum", in: store)
          : version == 3 ? try Self.values("Selling", "sum", in: store) : [:]
        #expect(sums == (version < 4 ? [2: 18] : [:]), "\(path)")
        #expect(
          try Self.values("Business", "key", in: store)
            == (version == 2 ? [1: "ol 1", 2: "ol 2"] : [1: "ol 1"]))
        try store.close()
      }
    }
  }

  @Test func `a record with derived fields enters a hierarchy and leaves it`() throws {
    func types(_ kinds: Set<Int>) -> [RemovedRecord] {
      [
        RemovedRecord("Vehicle") { version in
          if version == 1, kinds.contains(1) { RecordDescription() }
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          Field(name: "folded", type: .string, derived: .folded("name"))
          Field(name: "rides", type: .integer, derived: .count(of: "rides of it"))
          inverse("rides of it", of: "vehicle", in: "Ride", .cascade)
        },
        RemovedRecord("Car") { version in
          if kinds.contains(version) {
            RecordDescription.Parent("Vehicle")
            Field(name: "miles", type: .integer, derived: .sum(of: "rides of it", "miles"))
          } else {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "name", type: .string)
          }
          Field(name: "upper", type: .string, indexed: true, derived: .uppercased("name"))
        },
        RemovedRecord("Ride") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "vehicle", type: .reference(to: "Vehicle"))
          Field(name: "miles", type: .integer)
        },
      ]
    }
    let rides = (0..<4).map {
      DynamicRecord.of("Ride", $0, ["vehicle": 1, "miles": .integer($0)])
    }
    let entering = try VersionedStore(
      versions: 2, types([2]),
      holding: [.of("Car", 2, ["name": "ä"]), .of("Vehicle", 1, ["name": "Ö"])] + rides)
    let entered = try entering.migrated()
    #expect(try Self.values("folded", of: "Vehicle", in: entered) == [1: "o", 2: "a"])
    #expect(try Self.values("Car", "upper", of: "Vehicle", in: entered) == [2: "Ä"])
    #expect(try Self.values("Car", "miles", of: "Vehicle", in: entered) == [2: 0])
    #expect(try Self.values("rides", of: "Vehicle", in: entered) == [1: 4, 2: 0])
    try entered.close()
    let leaving = try VersionedStore(
      versions: 2, types([1]),
      holding: [
        .of("Vehicle", 1, ["name": "Ö"]), .of("Vehicle", 2, ["name": "ä", "Car": .composite([:])]),
      ] + rides)
    let left = try leaving.migrated()
    #expect(try Self.values("upper", of: "Car", in: left) == [2: "Ä"])
    #expect(try Self.values("folded", of: "Vehicle", in: left) == [1: "o"])
    try left.close()
  }

  @Test func `a field moves between a kind and its parent, and derived fields follow`() throws {
    let versioned = try VersionedStore(
      versions: 3,
      [
        RemovedRecord("Trip") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          inverse("bills", of: "trip", in: "Bill", .cascade)
          if version == 1 { Field(name: "note", type: .string) }
          if version == 3 {
            Field(
              name: "remark", type: .string,
              migrationInfo: MigrationInfo(default: "Nö", renamingID: "Business.remark"))
            Field(
              name: "key", type: .string, migrationInfo: MigrationInfo(renamingID: "Business.key"),
              derived: .folded("remark"))
            Field(
              name: "count", type: .integer,
              migrationInfo: MigrationInfo(renamingID: "Business.count"),
              derived: .count(of: "bills"))
          }
        },
        RemovedRecord("Business") { version in
          RecordDescription.Parent("Trip")
          Field(name: "purpose", type: .string)
          switch version {
          case 1: Field(name: "key", type: .string, derived: .folded("note"))
          case 2:
            Field(name: "remark", type: .string, migrationInfo: MigrationInfo(renamingID: "note"))
            Field(name: "key", type: .string, derived: .folded("remark"))
            Field(name: "count", type: .integer, derived: .count(of: "bills"))
          default: RecordDescription()
          }
        },
        RemovedRecord("Sales") { _ in
          RecordDescription.Parent("Business")
          Field(name: "target", type: .integer)
        },
        RemovedRecord("Personal") { _ in RecordDescription.Parent("Trip") }, Self.bill,
      ],
      holding: Self.records.map { record in
        var record = record
        if record.name == "Trip" { record["note"] = .string("É\(record["id"])") }
        return record
      })
    let second = try versioned.migrated(to: 2)
    #expect(try Self.values("Business", "key", in: second) == [1: "e1", 2: "e2"])
    #expect(try Self.values("Business", "count", in: second) == [1: 3, 2: 3])
    try second.close()
    for steps in [[], [MigrationStep(from: 1, to: 3)]] {
      let third = try versioned.migrated(steps)
      #expect(try Self.values("key", in: third) == [0: "no", 1: "e1", 2: "e2", 3: "no"])
      #expect(try Self.values("count", in: third) == [0: 3, 1: 3, 2: 3, 3: 3])
      try third.close()
    }
  }

  // MARK: Of records of kinds

  @Test func `what is derived of records of a kind follows when the kind comes, changes and goes`()
    throws
  {
    let versioned = try VersionedStore(
      versions: 4,
      [
        RemovedRecord("Client") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          if version > 1, version < 4 {
            Field(name: "count", type: .integer, derived: .count(of: "jobs"))
            Field(name: "sum", type: .integer, derived: .sum(of: "jobs", "fee"))
          }
          if version < 4 { inverse("jobs", of: "Paid.client", in: "Job") }
        },
        RemovedRecord("Job") { version in
          Field(primaryKey: true, name: "id", type: .integer)
        },
        RemovedRecord("Paid") { version in
          if version < 4 {
            RecordDescription.Parent("Job")
            Field(name: "client", type: .reference(to: "Client"), optional: true)
            Field(name: "fee", type: version < 3 ? .int16 : .integer)
          }
        },
      ],
      holding: [.of("Client", 1), .of("Client", 2), .of("Job", 1)]
        + (2..<8).map { id in
          .of(
            "Job", id, ["Paid": .composite(["client": .integer(id % 2 + 1), "fee": .integer(id)])])
        })
    for version in 2...3 {
      for steps in [
        [],
        [
          MigrationStep(from: version - 1, to: version) {
            UpdateRecord("Job") {
              UpdateField(
                "Paid", from: { _ in FieldValue.composite(["client": 1, "fee": 5]) })
            }
          }
        ],
      ] {
        let store = try versioned.migrated(to: version, steps)
        #expect(
          try Self.values("count", of: "Client", in: store)
            == (steps.isEmpty ? [1: 3, 2: 3] : [1: 7, 2: 0]))
        #expect(
          try Self.values("sum", of: "Client", in: store)
            == (steps.isEmpty ? [1: 12, 2: 15] : [1: 35, 2: 0]))
        try store.close()
      }
    }
    let last = try versioned.migrated()
    #expect(try last.count(record: "Job", where: nil) == 7)
    try last.close()
  }

  // MARK: Back

  @Test func `a store goes back, and the derived fields of kinds are those of its records then`()
    throws
  {
    let versioned = try VersionedStore(
      versions: 2,
      Self.types(
        trip: { version in
          if version == 2 { Field(name: "count", type: .integer, derived: .count(of: "bills")) }
        },
        business: { version in
          if version == 1 {
            Field(name: "sum", type: .integer, derived: .sum(of: "bills", "amount"))
            Field(name: "upper", type: .string, derived: .uppercased("name"))
          }
        }), holding: Self.records)
    let path = try versioned.copy()
    let store = try PersistentStore(at: path, model: versioned.model)
    #expect(try Self.values("count", in: store) == [0: 3, 1: 3, 2: 3, 3: 3])
    try store.write { transaction in
      _ = try transaction.delete(record: "Bill", key: 1)
      try transaction.save(.of("Trip", 0, ["name": "ö", "Business": .composite(["purpose": "p"])]))
    }
    try store.close()
    let old = try PersistentStore(
      at: path, model: versioned.model.dynamic(version: 1),
      steps: [MigrationStep(from: 2, to: 1)])
    #expect(try Self.values("Business", "sum", in: old) == [0: 12, 1: 14, 2: 18])
    #expect(try Self.values("Business", "upper", in: old) == [0: "Ö", 1: "Ä1", 2: "Ä2"])
    try old.expectSound()
    try old.close()
  }
}

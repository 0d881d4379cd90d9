import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Derived fields of kinds and composites in descriptions, schemas and locks.
@Suite struct DerivedKindSchemaTests {
  private static func model(
    _ trip: Field? = nil, business: Field? = nil, sales: Field? = nil, personal: Field? = nil,
    client: Field? = nil
  ) -> StoreModel {
    @RecordDescription.ResultBuilder func stated(_ field: Field?) -> RecordDescription {
      if let field { field }
    }
    return untyped(
      (
        "Trip",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          Field(name: "client", type: .reference(to: "Client"), optional: true)
          inverse("bills", of: "trip", in: "Bill", .cascade)
          stated(trip)
        }
      ),
      (
        "Business",
        description {
          RecordDescription.Parent("Trip")
          Field(name: "purpose", type: .string)
          Field(name: "tags", type: .array(of: .string))
          Field(name: "payer", type: .reference(to: "Client"), optional: true)
          Field(
            name: "desk",
            type: .composite {
              Field(name: "city", type: .string)
              Field(name: "cityKey", type: .string, derived: .folded("city"))
            }, optional: true)
          inverse("receipts", of: "trip", in: "Receipt", .cascade)
          stated(business)
        }
      ),
      (
        "Sales",
        description {
          RecordDescription.Parent("Business")
          Field(name: "name", type: .string)
          Field(name: "target", type: .integer)
          stated(sales)
        }
      ),
      (
        "Personal",
        description {
          RecordDescription.Parent("Trip")
          Field(name: "mood", type: .string)
          stated(personal)
        }
      ),
      (
        "Client",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          inverse("trips", of: "client", in: "Trip")
          inverse("paid", of: "Business.payer", in: "Trip")
          stated(client)
        }
      ),
      (
        "Bill",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "trip", type: .reference(to: "Trip"))
          Field(name: "amount", type: .integer)
        }
      ),
      (
        "Receipt",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "trip", type: .reference(to: "Business"))
          Field(name: "amount", type: .integer)
        }
      ))
  }

  private static func text(_ derivation: Derivation, optional: Bool = false) -> Field {
    Field(name: "d", type: .string, optional: optional, derived: derivation)
  }

  private static func integer(_ derivation: Derivation) -> Field {
    Field(name: "d", type: .integer, derived: derivation)
  }

  // MARK: What names mean

  private static let found: [(StoreModel, field: String, text: String)] = [
    (model(business: text(.folded("purpose"))), "Business.d", "folded of Business.purpose"),
    (model(business: text(.folded("name"))), "Business.d", "folded of name"),
    (
      model(business: text(.folded("Sales.name"), optional: true)), "Business.d",
      "folded of Business.Sales.name"
    ),
    (model(sales: text(.folded("name"))), "Business.Sales.d", "folded of Business.Sales.name"),
    (model(sales: text(.folded("purpose"))), "Business.Sales.d", "folded of Business.purpose"),
    (
      model(sales: text(.folded("desk.city"), optional: true)), "Business.Sales.d",
      "folded of Business.desk.city"
    ),
    (
      model(text(.folded("Business.purpose"), optional: true)), "d",
      "folded of Business.purpose"
    ),
    (model(business: integer(.count(of: "tags"))), "Business.d", "count of Business.tags"),
    (model(sales: integer(.count(of: "bills"))), "Business.Sales.d", "count over Bill.trip"),
    (model(sales: integer(.count(of: "receipts"))), "Business.Sales.d", "count over Receipt.trip"),
    (model(integer(.count(of: "receipts"))), "d", "count over Receipt.trip"),
    (
      model(personal: integer(.sum(of: "bills", "amount"))), "Personal.d",
      "sum over Bill.trip of amount"
    ),
    (
      model(client: integer(.sum(of: "paid", "Sales.target"))), "d",
      "sum over Trip.Business.payer of Business.Sales.target"
    ),
    (
      model(client: integer(.sum(of: "trips", "Business.Sales.target"))), "d",
      "sum over Trip.client of Business.Sales.target"
    ),
  ]

  @Test func `a kind names its own fields, then its parents', and a composite its own parts`()
    throws
  {
    for (model, field, text) in Self.found {
      let schema = try model.checked().schema
      let found = schema.records.compactMap { $0.field(named: field)?.derivation }
      #expect(found.map(\.description) == [text])
      let read = try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "")
      #expect(read == schema)
      try read.validate()
    }
    let key = try Self.model().checked().schema.record(named: "Trip")?
      .field(named: "Business.desk.cityKey")
    #expect(key?.derivation?.description == "folded of Business.desk.city")
  }

  private static let expressions: [(StoreModel, field: String, text: String, lock: String)] = [
    (
      model(business: text(.value("lowercased(purpose)"))), "Business.d",
      "value of lowercased(Business.purpose)", #"value as "lowercased(Business.purpose)""#
    ),
    (
      model(sales: text(.value("lowercased(name)"))), "Business.Sales.d",
      "value of lowercased(Business.Sales.name)", #"value as "lowercased(Business.Sales.name)""#
    ),
    (
      model(sales: text(.value("desk.city ?? purpose"))), "Business.Sales.d",
      "value of (Business.desk.city ?? Business.purpose)",
      #"value as "(Business.desk.city ?? Business.purpose)""#
    ),
    (
      model(sales: integer(.value("target * id"))), "Business.Sales.d",
      "value of (Business.Sales.target * id)", #"value as "(Business.Sales.target * id)""#
    ),
    (
      model(integer(.value("length(Business.tags) ?? 0"))), "d",
      "value of (length(Business.tags) ?? 0)", #"value as "(length(Business.tags) ?? 0)""#
    ),
    (
      model(client: integer(.sum(of: "paid", value: "Sales.target * id"))), "d",
      "sum over Trip.Business.payer of (Business.Sales.target * id)",
      #"sum over Trip.Business.payer as "(Business.Sales.target * id)""#
    ),
    (
      model(personal: integer(.sum(of: "bills", value: "-amount"))), "Personal.d",
      "sum over Bill.trip of -(amount)", #"sum over Bill.trip as "-(amount)""#
    ),
  ]

  @Test func `names in expressions of kinds are found likewise, and are in locks`() throws {
    for (model, field, text, line) in Self.expressions {
      let schema = try model.checked().schema
      let found = schema.records.compactMap { $0.field(named: field)?.derivation }
      #expect(found.map(\.description) == [text])
      #expect(try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "") == schema)
      let lock = try SchemaLock(model)
      #expect("\(lock)".contains("derived \(line)\n"), "\(lock)")
      #expect(try SchemaLock(parsing: "\(lock)") == lock)
      let again = try StoreModel(SchemaLock(parsing: "\(lock)")).checked().schema
      #expect(again.fingerprint == schema.fingerprint, "\(text)")
      #expect(again.differences(to: schema) == [], "\(text)")
    }
  }

  @Test func `a lock and the Swift form have derivations of kinds`() throws {
    for (model, field, text) in Self.found {
      let lock = try SchemaLock(model)
      #expect("\(lock)".contains("derived \(text)\n"), "\(lock)")
      #expect(try SchemaLock(parsing: "\(lock)") == lock)
      let (schema, again) = (
        try model.checked().schema, try StoreModel(SchemaLock(parsing: "\(lock)")).checked().schema
      )
      #expect(again.fingerprint == schema.fingerprint)
      #expect(again.differences(to: schema) == [], "\(field)")
    }
    let schema = try Self.model(
      business: Self.text(.folded("purpose")), sales: Self.text(.lowercased("purpose")),
      client: Self.integer(.sum(of: "paid", "Sales.target"))
    ).checked().schema
    let trip = try #require(schema.record(named: "Trip"))
    let kinds = trip.kinds.compactMap { trip.field($0.composite) }.flatMap { kind in
      trip.swiftStatements(ofKind: kind, isNamed: false, parent: ("Trip", "trip"), in: schema)
    }
    let client = try #require(schema.record(named: "Client"))
    let swift = (kinds + client.swiftStatements(isNamed: false, in: schema))
      .joined(separator: "\n")
    for part in [
      #"derived: .folded("purpose")"#, #"derived: .lowercased("purpose")"#,
      #"derived: .folded("city")"#,
      #"derived: .sum(of: "paid", "Business.Sales.target")"#,
    ] {
      #expect(swift.contains(part), "\(part) is not in \(swift)")
    }
  }

  // MARK: What cannot be

  private static let refused: [(String, String, StoreModel)] = [
    (
      "Trip", "it is derived of mood, which is not there",
      model(business: text(.folded("mood"), optional: true))
    ),
    (
      "Trip", "it is derived of Personal.mood, which only records of another kind have",
      model(business: text(.folded("Personal.mood"), optional: true))
    ),
    (
      "Trip", "it is derived of Business.tags, which only records of another kind have",
      model(personal: integer(.count(of: "Business.tags")))
    ),
    (
      "Trip",
      "it is derived of Receipt.trip, which leads to records of another kind, Business",
      model(personal: integer(.count(of: "receipts")))
    ),
    (
      "Trip", "Business.Sales.name may be nil, so it is optional too",
      model(business: text(.folded("Sales.name")))
    ),
    (
      "Trip", "Business.purpose may be nil, so it is optional too",
      model(text(.folded("Business.purpose")))
    ),
    (
      "Trip", "Business.desk.city may be nil, so it is optional too",
      model(sales: text(.folded("desk.city")))
    ),
    (
      "Trip", "it is derived of Business.desk.cityKey, which is derived itself",
      model(sales: text(.folded("desk.cityKey"), optional: true))
    ),
    (
      "Trip", "it is derived of mood, which is not there",
      model(business: text(.value("lowercased(mood)"), optional: true))
    ),
    (
      "Trip", "it is derived of Personal.mood, which only records of another kind have",
      model(business: text(.value("Personal.mood"), optional: true))
    ),
    (
      "Trip", "Business.Sales.target may be nil, so it is optional too",
      model(business: integer(.value("Sales.target")))
    ),
    (
      "Trip", "it is derived of Business.desk.cityKey, which is derived itself",
      model(sales: text(.value("desk.cityKey"), optional: true))
    ),
    (
      "Client", "it is derived of target, which is not there",
      model(client: integer(.sum(of: "trips", value: "target * 2")))
    ),
    (
      "Client", "it is derived of a field that is not there, or has no order",
      model(client: integer(.sum(of: "trips", "Sales.target")))
    ),
    (
      "Trip", "it is a count, which two records may have, so it cannot be unique",
      model(business: Field(name: "d", type: .integer, unique: true, derived: .count(of: "bills")))
    ),
  ]

  @Test func `A22: what a kind or a composite cannot derive is refused when the model is checked`()
    throws
  {
    for (record, sentence, model) in Self.refused {
      let error = storeError { try model.schemas() }
      guard case .invalidDescription(record, _, 1, let reason)? = error else {
        Issue.record("\(sentence): \(String(describing: error))")
        continue
      }
      #expect(reason == sentence)
    }
  }

  @Test func `what is derived of a kind's records by a reference of its parent is refused`() throws
  {
    let error = storeError {
      try StoreModel(records: [Lane.self, Bicycle.self, RaceBicycle.self]).schemas()
    }
    #expect(
      error
        == .invalidDescription(
          record: "Lane", field: "count", version: 1,
          reason:
            "it is derived of races, an inverse of Race whose reference, Bicycle.lane, records of other kinds have, too;"
            + " declare the inverse of the type that declares the reference, or a reference in Race"
        ))
  }

  @Test func `a composite in a store's schema that derives from outside of it is refused`() throws {
    var schema = try Self.model().checked().schema
    let place = try #require(schema.records.firstIndex { $0.name == "Trip" })
    let name = try #require(schema.records[place].field(named: "name")?.number)
    let key = try #require(
      schema.records[place].fields.firstIndex { $0.name == "Business.desk.cityKey" })
    schema.records[place].fields[key].derivation?.sourceNumber = name
    let error = storeError {
      try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "")
    }
    #expect("\(String(describing: error))".contains("name is not a part of that one"))
  }

  @Test func `a copied kind has its parent's derived fields, of inverses that it declares itself`()
    throws
  {
    func model(
      @RecordDescription.ResultBuilder car own: () -> RecordDescription
    ) -> StoreModel {
      let own = own()
      return untyped(
        (
          "Vehicle",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "name", type: .string)
            Field(name: "key", type: .string, derived: .folded("name"))
            Field(name: "rides", type: .integer, derived: .count(of: "all rides"))
            inverse("all rides", of: "vehicle", in: "Ride", .cascade)
          }
        ),
        (
          "Car",
          description {
            RecordDescription.Parent("Vehicle", storage: .copied)
            Field(name: "upper", type: .string, derived: .uppercased("name"))
            own
          }
        ),
        (
          "Ride",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "vehicle", type: .reference(to: "Vehicle"), optional: true)
            Field(name: "car", type: .reference(to: "Car"), optional: true)
          }
        ))
    }
    guard
      case .invalidDescription("Car", "rides", 1, let reason)? = storeError({
        try model {}.schemas()
      })
    else {
      Issue.record("it is not refused")
      return
    }
    #expect(
      reason
        == "it is derived of all rides, which is no inverse of the record and no list; declare one, as Inverse(\"all rides\","
        + " of: \\Other.reference)")
    let store = try PersistentStore(
      inMemory: model { inverse("all rides", of: "car", in: "Ride", .cascade) })
    try store.write { transaction in
      try transaction.save(.of("Vehicle", 1, ["name": "Ä"]))
      try transaction.save(.of("Car", 1, ["name": "Ö"]))
      try transaction.save(.of("Ride", 1, ["vehicle": 1, "car": 1]))
      try transaction.save(.of("Ride", 2, ["car": 1]))
    }
    let (vehicle, car) = (
      try store.fetch(record: "Vehicle", where: nil), try store.fetch(record: "Car", where: nil)
    )
    #expect(vehicle.map { [$0["key"], $0["rides"]] } == [["a", 1]])
    #expect(car.map { [$0["key"], $0["upper"], $0["rides"]] } == [["o", "Ö", 2]])
    try store.expectSound()
  }

  @Test func `types of a version may derive in kinds, and may leave kinds out`() throws {
    let schema = try StoreModel(records: [Plan.self, GreatPlan.self, Task.self]).checked().schema
    for types in [[Plan.self, GreatPlan.self, Task.self], [Plan.self, Task.self]]
      as [[any Record.Type]]
    {
      #expect(try schema.checked(types: types).records.count >= types.count)
    }
  }

  // MARK: Damage

  @Test func `a derived field of a kind that cannot be is refused when a schema is read`() throws {
    var (refused, accepted) = (0, 0)
    replaying(0..<UInt64(scaled(3_000, debug: 400))) { seed in
      var random = SplitMix64(seed: seed)
      var changed = try random.pick(Self.found).0.checked().schema
      let places = changed.records.indices.flatMap { record in
        changed.records[record].fields.indices.filter {
          changed.records[record].fields[$0].derivation != nil
        }.map { (record, $0) }
      }
      let (record, field) = random.pick(places)
      let number = UInt32.random(in: 0...16, using: &random)
      switch random.next() % 4 {
      case 0: changed.records[record].fields[field].derivation?.relatedNumber = number
      case 1: changed.records[record].fields[field].derivation?.referenceNumber = number
      case 2: changed.records[record].fields[field].derivation?.sourceNumber = number
      default: changed.records[record].fields[field].isOptional.toggle()
      }
      do {
        _ = try Schema(decoding: changed.encoded().rawSpan, version: 1, path: "")
        accepted += 1
      } catch let error as StoreError {
        guard case .corrupt(_, .schemaContents, _) = error else { throw error }
        refused += 1
      }
    }
    #expect(refused > 100 && accepted > 0)
  }

  @Test func `the check finds a derived field of a kind that has another value, K5`() throws {
    let store = try PersistentStore(inMemory: Self.model(sales: Self.integer(.count(of: "bills"))))
    let sales: FieldValue = .composite(["name": "s", "target": 1])
    let business: FieldValue = .composite(["purpose": "p", "tags": .array([]), "Sales": sales])
    try store.write { transaction in
      try transaction.save(.of("Trip", 1, ["name": "A", "Business": business]))
      try transaction.save(.of("Trip", 2, ["name": "B"]))
    }
    try store.expectSound()
    let entity = try store.entities.entity(named: "Trip")
    let column = try #require(entity.layout.index(named: "Business.Sales.d"))
    let (key, changed) = (KeyEncoder(), RowWriter())
    try key.encode(primaryKey: [1], of: entity)
    var row: Bytes = []
    #expect(try store.snapshot().trees.copyValue(of: key.key, in: entity.rows, to: &row))
    try entity.row(key: key.key, row: row.rawSpan)
      .copy(to: changed, replacing: [column: .integer(5)])
    try store.backend.commit { trees throws(StoreError) in
      try trees.put(key.key, changed.row, schemaVersion: entity.layout.version, in: entity.rows)
    }
    let faults = try store.snapshot().check()
    guard faults.count == 1, case .corrupt(_, .derivations, let reason)? = faults.first else {
      Issue.record("\(faults)")
      return
    }
    #expect(reason == "Business.Sales.d is 5, and the count over Bill.trip is 0")
  }
}

// MARK: - Records

extension DerivedKindSchemaTests {
  fileprivate struct Lane: Record, Identifiable {
    var id: Int
    var count = 0

    static let races = Inverse("races", of: \RaceBicycle.bicycle.lane)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "count", type: .integer, derived: .count(of: "races"))
      races
    }
  }

  fileprivate struct Bicycle: Record, Identifiable {
    var id: Int
    var lane: Reference<Lane>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "lane", type: .reference(to: Lane.self), optional: true)
    }
  }

  fileprivate struct RaceBicycle: Record {
    var bicycle: Bicycle

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Race")
      Parent(Bicycle.self, property: "bicycle")
    }
  }

  fileprivate struct Plan: Record, Identifiable {
    var id: Int
    var name: String
    var next: Reference<Task>?

    static let tasks = Inverse("tasks", of: \Task.plan, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "next", type: .reference(to: Task.self), optional: true)
      tasks
    }
  }

  fileprivate struct GreatPlan: Record {
    var plan: Plan
    var budget: Int
    var folded = ""
    var taskCount = 0
    var hours = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Plan.self, property: "plan")
      Field(name: "budget", type: .integer)
      Field(name: "folded", type: .string, derived: .folded("name"))
      Field(name: "taskCount", type: .integer, derived: .count(of: "tasks"))
      Field(name: "hours", type: .integer, derived: .sum(of: "tasks", "hours"))
    }
  }

  fileprivate struct Task: Record, Identifiable {
    var id: Int
    var plan: Reference<Plan>
    var hours: Int
    var budget = 0

    static let plans = Inverse("plans", of: \Plan.next)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "plan", type: .reference(to: Plan.self))
      Field(name: "hours", type: .integer)
      Field(name: "budget", type: .integer, derived: .sum(of: "plans", "GreatPlan.budget"))
      plans
    }
  }
}

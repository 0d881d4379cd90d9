import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What is stored of hierarchies, and what cannot be described.
@Suite struct KindDescriptionTests {
  // MARK: What is stored

  @Test func `the record of the root has a composite for each kind`() throws {
    let schema = try #require(try StoreModel.trips.schemas().last)
    #expect(schema.records.map(\.name) == ["Trip"])
    let trip = schema.records[0]
    let lines = trip.fields.sorted { $0.name < $1.name }.map {
      "\($0.name): \($0.type)\($0.isOptional ? "?" : "")"
    }
    #expect(
      lines == [
        "BusinessTrip: composite?", "BusinessTrip.SalesTrip: composite?",
        "BusinessTrip.SalesTrip.code: string?", "BusinessTrip.SalesTrip.target: int64",
        "BusinessTrip.customer: string?", "BusinessTrip.perDiem: int64", "DayTrip: composite?",
        "DayTrip.is: boolean", "PersonalTrip: composite?", "PersonalTrip.mood: string",
        "id: int64", "name: string", "start: int64",
      ])
    #expect(
      Set(trip.kinds.map { trip.name(of: $0) }) == [
        "BusinessTrip", "BusinessTrip.SalesTrip", "DayTrip", "PersonalTrip",
      ])
    #expect(!trip.isAbstract)
    let index = try #require(trip.index(named: "by per diem"))
    #expect(trip.keyFields(index.parts).map(\.name) == ["BusinessTrip.perDiem", "start"])
    #expect(index.condition == .comparison(field: "BusinessTrip", .notEqual, .null))
    let nested = try #require(trip.index(named: "BusinessTrip.SalesTrip.target"))
    #expect(
      nested.condition == .comparison(field: "BusinessTrip.SalesTrip", .notEqual, .null))
  }

  @Test func `a copied kind is a record with the fields of its parent`() throws {
    let schema = try #require(
      try StoreModel(records: [Vehicle.self, Van.self, Tanker.self]).schemas().last)
    #expect(Set(schema.records.map(\.name)) == ["Vehicle", "Van"])
    let van = try #require(schema.record(named: "Van"))
    #expect(Set(van.fields.map(\.name)) == ["id", "wheels", "load", "Tanker", "Tanker.liters"])
    #expect(van.keyFields(van.primaryKey).map(\.name) == ["id"])
    #expect(van.indexes.map(\.name) == ["wheels"])
    #expect(schema.record(named: "Vehicle")?.isAbstract == true)
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Vehicle.self, Van.self, Tanker.self]))
    let van1 = Van(vehicle: Vehicle(id: 1, wheels: 4), load: 7)
    let tanker = Tanker(van: Van(vehicle: Vehicle(id: 2, wheels: 6), load: 8), liters: 9)
    try store.save(van1)
    try store.save(tanker)
    #expect(try store.fetch(Van.self) == [van1, tanker.van])
    #expect(try store.fetch(Tanker.where { $0.van.vehicle.wheels == 6 }) == [tanker])
    #expect(try store.count(Vehicle.self) == 0)
    #expect(throws: StoreError.self) { try store.save(Vehicle(id: 3, wheels: 2)) }
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `of an abstract record only kinds are written`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Shape.self, Circle.self]))
    let error = #expect(throws: StoreError.self) { try store.save(Shape(id: 1, color: "red")) }
    #expect(
      "\(try #require(error))".contains(
        "Shape is abstract, so a record is of one of its kinds: Circle"))
    try store.save(Circle(shape: Shape(id: 1, color: "red"), radius: 2))
    // A shape says only what all shapes have.
    try store.save(Shape(id: 1, color: "blue"))
    #expect(
      try store.fetch(Circle.self) == [Circle(shape: Shape(id: 1, color: "blue"), radius: 2)])
  }

  @Test func `kinds encode themselves where their coding says so`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Coded.self, CodedKind.self]))
    let kind = CodedKind(coded: Coded(id: 1, text: "a"), number: 2)
    try store.save(kind)
    try store.save(Coded(id: 2, text: "b"))
    #expect(try store.fetch(CodedKind.self) == [kind])
    #expect(try store.fetch(Coded.self) == [kind.coded, Coded(id: 2, text: "b")])
    #expect(try store.fetch(CodedKind.where { $0.number == 2 }) == [kind])
    try store.save(Coded(id: 1, text: "c"))
    #expect(try store.fetch(CodedKind.self, key: 1)?.number == 2)
  }

  // MARK: Without types

  @Test func `a store without types keeps the rule that a record is of one kind`() throws {
    let store = try PersistentStore(inMemory: .trips)
    try store.write { transaction in
      try transaction.save(
        DynamicRecord(
          "Trip",
          [
            "id": 1, "name": "one", "start": 3,
            "BusinessTrip": .composite(["perDiem": 4, "SalesTrip": .composite(["target": 5])]),
          ]))
      try transaction.save(
        DynamicRecord(
          "Trip",
          ["id": 2, "name": "two", "start": 3, "DayTrip": .composite([:])]))
    }
    #expect(
      try store.fetch(SalesTrip.self) == [
        SalesTrip(
          business: BusinessTrip(
            trip: Trip(id: 1, name: "one", start: 3), perDiem: 4, customer: nil), target: 5,
          code: nil)
      ])
    #expect(try store.fetch(DayTrip.self).map(\.trip.id) == [2])
    let error = #expect(throws: StoreError.self) {
      try store.write { transaction in
        try transaction.save(
          DynamicRecord(
            "Trip",
            [
              "id": 3, "name": "three", "start": 3, "BusinessTrip": .composite(["perDiem": 4]),
              "PersonalTrip": .composite(["mood": "x"]),
            ]))
      }
    }
    #expect("\(try #require(error))".contains("it is of the kinds BusinessTrip and PersonalTrip"))
    #expect(try store.count(Trip.self) == 2)
    let found = try #require(try store.fetch(record: "Trip", key: 1))
    #expect(found.value(at: "BusinessTrip.SalesTrip.target") == 5)
    #expect(found["PersonalTrip"] == .null)
  }

  // MARK: The lock

  @Test func `a lock has the kinds, and is a model again`() throws {
    let model = StoreModel(records: [
      Trip.self, BusinessTrip.self, SalesTrip.self, PersonalTrip.self, DayTrip.self, Shape.self,
      Circle.self, Vehicle.self, Van.self, Tanker.self,
    ])
    let lock = try SchemaLock(model)
    let text = "\(lock)"
    #expect(text.contains("  field BusinessTrip.SalesTrip composite kind\n"))
    #expect(text.contains("record Shape\n") && text.contains("  abstract\n"))
    #expect(try SchemaLock(parsing: text) == lock)
    let untyped = try StoreModel(lock)
    #expect(
      try untyped.schemas().map(\.fingerprint) == model.schemas().map(\.fingerprint))
    #expect(try "\(SchemaLock(untyped))" == text)
  }

  @Test func `a kind is described as a program would`() throws {
    let schema = try #require(try StoreModel.trips.schemas().last)
    let trip = schema.records[0]
    #expect(
      trip.swiftStatements(isNamed: false, in: schema) == [
        #"Field(primaryKey: true, name: "id", type: .integer)"#,
        #"Field(name: "name", type: .string)"#, #"Field(name: "start", type: .integer)"#,
        #"Unique("name")"#, #"Index("start")"#,
      ])
    let business = try #require(trip.field(named: "BusinessTrip"))
    #expect(
      trip.swiftStatements(
        ofKind: business, isNamed: false, parent: ("Trip", "trip"), in: schema) == [
          #"Parent(Trip.self, property: "trip")"#,
          #"Field(name: "perDiem", type: .integer)"#,
          #"Field(name: "customer", type: .string, optional: true)"#,
          #"Index("perDiem", "start", named: "by per diem")"#,
        ])
    let day = try #require(trip.field(named: "DayTrip"))
    #expect(
      trip.swiftStatements(
        ofKind: day, isNamed: false, parent: ("Trip", "trip"), in: schema) == [
          #"Parent(Trip.self, property: "trip")"#
        ])
  }

  @Test func `kinds are a difference, and in the fingerprint`() throws {
    func schema(_ isAbstract: Bool, _ isKind: Bool) throws -> Schema {
      try #require(
        try StoreModel(
          version: 1,
          untyped: [
            RemovedRecord("A") { _ in
              Field(primaryKey: true, name: "id", type: .integer)
              if isAbstract { RecordDescription.Abstract() }
              if !isKind {
                Field(
                  name: "B", type: .composite { Field(name: "x", type: .integer) }, optional: true)
              }
            },
            RemovedRecord("B") { _ in
              if isKind {
                RecordDescription.Parent("A")
                Field(name: "x", type: .integer)
              }
            },
          ]
        ).schemas().last)
    }
    let (plain, kind, abstract) = (
      try schema(false, false), try schema(false, true), try schema(true, true)
    )
    #expect(Set([plain, kind, abstract].map(\.fingerprint)).count == 3)
    #expect(
      plain.differences(to: kind).map(\.description) == ["A: the kinds was none and is B"])
    #expect(
      kind.differences(to: abstract).map(\.description)
        == ["A: the kinds was B and is abstract, B"])
  }

  // MARK: D2

  @Test func `D2: kinds that cannot be are refused where they are read`() throws {
    let base = try #require(try StoreModel.trips.schemas().last)
    func number(_ name: String) throws -> UInt32 {
      try #require(base.records[0].field(named: name)).number
    }
    let (business, sales, mood) = (
      try number("BusinessTrip"), try number("BusinessTrip.SalesTrip"), try number("name")
    )
    let impossible: [(String, (inout RecordSchema) -> Void)] = [
      ("a composite that is not there", { $0.kinds[0].composite = 99 }),
      ("a field that is no composite", { $0.kinds[0].composite = mood }),
      ("a kind twice", { $0.kinds[1] = $0.kinds[0] }),
      ("out of order", { $0.kinds.swapAt(0, 1) }),
      ("within a field that is no kind", { $0.kinds.removeAll { $0.composite == business } }),
      (
        "a ring",
        { record in
          let place = record.fields.firstIndex { $0.number == business } ?? 0
          record.fields[place].composite = sales
        }
      ),
      (
        "a composite that is always there",
        { record in
          let place = record.fields.firstIndex { $0.number == sales } ?? 0
          record.fields[place].isOptional = false
        }
      ),
    ]
    #expect(try decode(base.encoded()) == base)
    for (what, change) in impossible {
      var schema = base
      change(&schema.records[0])
      let bytes = schema.encoded()
      let error = storeError { () throws(StoreError) in _ = try decode(bytes) }
      guard case .corrupt(_, .schemaContents, _) = error else {
        Issue.record("\(what): \(String(describing: error))")
        continue
      }
    }
  }

  @Test func `a kind that is more than this version knows is newer`() throws {
    let base = try #require(try StoreModel.trips.schemas().last)
    let bytes = base.encoded()
    // The element comes last: flags, the count, and a number and flags of each kind.
    let count = base.records[0].kinds.count
    var flagged = bytes
    flagged[bytes.count - 1] = 2
    #expect(
      storeError { () throws(StoreError) in _ = try decode(flagged) }?.isOfNewerFormat == true)
    flagged = bytes
    flagged[bytes.count - 5 * count - 5] = 4
    #expect(
      storeError { () throws(StoreError) in _ = try decode(flagged) }?.isOfNewerFormat == true)
  }

  private func decode(_ bytes: [UInt8]) throws(StoreError) -> Schema {
    try Schema(decoding: bytes.rawSpan, version: 1, path: "here")
  }
}

extension StoreError {
  fileprivate var isOfNewerFormat: Bool {
    if case .newerFormat = self { true } else { false }
  }
}

// MARK: - Records

private struct Vehicle: Record, Equatable {
  var id: Int
  var wheels: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "wheels", type: .integer, indexed: true)
    Abstract()
  }
}

private struct Van: Record, Equatable {
  var vehicle: Vehicle
  var load: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Vehicle.self, property: "vehicle", storage: .copied)
    Field(name: "load", type: .integer)
  }
}

private struct Tanker: Record, Equatable {
  var van: Van
  var liters: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Van.self, property: "van")
    Field(name: "liters", type: .integer)
  }
}

private struct Shape: Record, Equatable {
  var id: Int
  var color: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Abstract()
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "color", type: .string)
  }
}

private struct Circle: Record, Equatable {
  var shape: Shape
  var radius: Double

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Shape.self, property: "shape")
    Field(name: "radius", type: .double)
  }
}

private struct Coded: Record, Equatable {
  var id: Int
  var text: String

  static var coding: RecordCoding { .codable }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
  }
}

private struct CodedKind: Record, Equatable {
  var coded: Coded
  var number: Int

  static var coding: RecordCoding { .codable }

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Coded.self, property: "coded")
    Field(name: "number", type: .integer)
  }
}

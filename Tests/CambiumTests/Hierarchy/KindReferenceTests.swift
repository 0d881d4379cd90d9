import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

// Expenses lead to business trips, of whatever kind those are; a claim to any trip.

private struct Journey: Record, Identifiable, Equatable {
  var id: Int
  var name: String

  static let claims = Inverse("claims", of: \Claim.journey)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    claims
  }
}

private struct Business: Record, Identifiable, Equatable {
  var journey: Journey
  var perDiem: Int
  var id: Int { journey.id }

  static let expenses = Inverse("expenses", of: \Expense.trip, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Journey.self, property: "journey")
    Field(name: "perDiem", type: .integer, indexed: true)
    expenses
  }
}

private struct Sales: Record, Identifiable, Equatable {
  var business: Business
  var target: Int
  var id: Int { business.id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Business.self, property: "business")
    Field(name: "target", type: .integer)
  }
}

private struct Personal: Record, Equatable {
  var journey: Journey

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Journey.self, property: "journey")
  }
}

private struct Expense: Record, Identifiable, Equatable {
  var id: Int
  var trip: Reference<Business>
  var sales: [Reference<Sales>] = []
  /// May lead nowhere.
  var hint: Reference<Business>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "trip", type: .reference(to: Business.self))
    Field(name: "sales", type: .references(to: Sales.self))
    Field(name: "hint", type: .reference(to: Business.self, checked: false), optional: true)
  }
}

private struct Claim: Record, Identifiable, Equatable {
  var id: Int
  var journey: Reference<Journey>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "journey", type: .reference(to: Journey.self), optional: true)
  }
}

private let model = StoreModel(records: [
  Journey.self, Business.self, Sales.self, Personal.self, Expense.self, Claim.self,
])

@Suite struct KindReferenceTests {
  private static func business(_ id: Int) -> Business {
    Business(journey: Journey(id: id, name: "j\(id)"), perDiem: id * 10)
  }

  private static func sales(_ id: Int) -> Sales { Sales(business: business(id), target: id) }

  private static func personal(_ id: Int) -> Personal {
    Personal(journey: Journey(id: id, name: "j\(id)"))
  }

  /// Business trips 1 and 2, the sales trip 3, the personal trip 4 and the plain one 5.
  private func store() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model)
    try store.write { transaction in
      // References may come before what they lead to.
      try transaction.insert(
        Expense(id: 10, trip: Reference(1), sales: [Reference(3)], hint: Reference(4)))
      try transaction.insert(Expense(id: 11, trip: Reference(3), hint: Reference(2)))
      for id in 1...2 { try transaction.insert(Self.business(id)) }
      try transaction.insert(Self.sales(3))
      try transaction.insert(Self.personal(4))
      try transaction.insert(Journey(id: 5, name: "j5"))
    }
    return store
  }

  @Test(arguments: [
    ("trip.expenses.count(", "id >= 0", ") > 0"), ("trip.expenses.any(", "id >= 0", ")"),
    ("trip.expenses.all(", "id >= 0", ")"), ("!trip.expenses.none(", "id >= 0", ")"),
    ("trip.expenses.sum(trip.Business.perDiem, ", "id >= 0", ") > 0"),
    ("trip.expenses.minimum(id, ", "id >= 0", ") >= 0"),
    ("trip.expenses.maximum(id, ", "id >= 0", ") >= 0"),
  ])
  func `nested conditions over kinds take time with the sum of their levels`(
    start: String, middle: String, end: String
  ) throws {
    var options = StoreOptions()
    options.queryBudget = QueryBudget(rows: 100_000)
    let store = try PersistentStore(inMemory: model, options: options)
    try store.write { transaction in
      for id in 1...2 { try transaction.insert(Self.business(id)) }
      try transaction.insert(Self.sales(3))
      for id in 0..<60 { try transaction.insert(Expense(id: id, trip: Reference(1 + id % 3))) }
    }
    for levels in [1, 4, 8] {
      let condition = try FieldCondition(
        parsing: String(repeating: start, count: levels) + middle
          + String(repeating: end, count: levels))
      #expect(try store.count(record: "Expense", where: condition) == 60)
      let inTransaction = try store.write { try $0.count(record: "Expense", where: condition) }
      #expect(inTransaction == 60)
    }
  }

  private func expectDangling(
    _ destination: String, of record: String = "Expense", _ store: PersistentStore,
    _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    do {
      try store.write { try body(&$0) }
      Issue.record("nothing was refused")
    } catch StoreError.danglingReference(record, _, _, destination) {
    }
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `a reference to a kind leads to a record of that kind, or of one of its kinds`() throws
  {
    let store = try store()
    let expense = try #require(try store.fetch(Expense.self, key: 10))
    #expect(try store.fetch(expense.trip) == Self.business(1))
    #expect(try store.fetch(expense.sales) == [Self.sales(3)])
    #expect(try store.fetch(expense.hint) == nil)
    let other = try #require(try store.fetch(Expense.self, key: 11))
    #expect(try store.fetch(other.trip)?.perDiem == 30)
    #expect(try store.contains(other.trip))
    #expect(try store.snapshot().check(readingBlobs: false) == [])
    for id in 4...6 {
      try expectDangling("Journey.Business \(id)", store) {
        try $0.insert(Expense(id: 20, trip: Reference(id)))
      }
    }
    try expectDangling("Journey.Business.Sales 1", store) {
      try $0.insert(Expense(id: 20, trip: Reference(1), sales: [Reference(1)]))
    }
  }

  @Test func `a record that references to a kind lead to does not become one of another kind`()
    throws
  {
    let store = try store()
    try expectDangling("Journey.Business 1", store) { try $0.save(Self.personal(1)) }
    try expectDangling("Journey.Business.Sales 3", store) {
      try $0.save(Self.personal(3))
      try $0.save(Self.business(3))
    }
    // It stays of the kind, or is so again; or nothing leads to it any more.
    try store.save(Journey(id: 1, name: "plain"))
    try store.save(Self.sales(1))
    try store.write { transaction in
      try transaction.save(Self.personal(1))
      try transaction.save(Self.business(1))
    }
    try store.write { transaction in
      try transaction.save(Self.personal(3))
      try transaction.save(Expense(id: 10, trip: Reference(1)))
      try transaction.save(Expense(id: 11, trip: Reference(2)))
    }
    #expect(try store.fetch(Personal.self).map(\.journey.id) == [3, 4])
    // Within a savepoint that is rolled back, nothing is left open.
    try store.write { transaction in
      try? transaction.savepoint { (transaction: inout WriteTransaction) throws -> Void in
        try transaction.save(Self.personal(1))
        throw CancellationError()
      }
    }
    #expect(try store.fetch(Business.self, key: 1) == Self.business(1))
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `an inverse of a kind is queried, included, changed, and obeys its delete rule`()
    throws
  {
    let store = try store()
    let trip = try #require(try store.fetch(Business.self, key: 1))
    #expect(try store.fetch(Business.expenses(of: trip)).map(\.id) == [10])
    let included = try store.fetch(Query<Business>(), including: .all(Business.expenses))
    #expect(included.map { $0.1.map(\.id) } == [[10], [], [11]])
    #expect(
      try store.fetch(Business.where { $0.expenses.any { $0.id == 11 } }).map(\.id) == [3])
    #expect(try store.fetch(Business.where { $0.expenses.count() == 0 }).map(\.id) == [2])
    let expense = Expense(id: 12, trip: Reference(1))
    try store.insert(expense)
    #expect(try store.write { try $0.add(expense, to: Business.expenses, of: Self.business(2)) })
    #expect(try store.count(Business.expenses(of: Reference(2))) == 1)
    // By the root's type, too.
    try store.delete(Journey.self, key: 2)
    #expect(try store.fetch(Expense.self).map(\.id) == [10, 11])
    try store.delete(Sales.self, key: 3)
    #expect(
      try store.fetch(Expense.self) == [Expense(id: 10, trip: Reference(1), hint: Reference(4))])
    #expect(try store.snapshot().check(readingBlobs: false) == [])
  }

  @Test func `conditions and inclusions lead over references to a kind`() throws {
    let store = try store()
    #expect(try store.fetch(Expense.where { $0.trip.perDiem > 10 }).map(\.id) == [11])
    #expect(try store.fetch(Expense.where { $0.trip.journey.name == "j1" }).map(\.id) == [10])
    #expect(try store.fetch(Expense.where { $0.sales.any { $0.target == 3 } }).map(\.id) == [10])
    // A hint at a personal trip is one at no business trip.
    #expect(try store.fetch(Expense.where { $0.hint.perDiem > 0 }).map(\.id) == [11])
    #expect(try store.fetch(Expense.where { $0.hint.journey.id > 0 }).map(\.id) == [11])
    let all = try store.fetch(
      Query<Expense>(), including: .one(\.trip), .all(\.sales), .one(\.hint))
    #expect(all.map { $0.1?.perDiem } == [10, 30])
    #expect(all.map { $0.2.map(\.target) } == [[3], []])
    #expect(all.map { $0.3?.perDiem } == [nil, 20])
    let text = try FieldCondition(parsing: "trip.Business.perDiem > 10")
    #expect(try store.fetch(record: "Expense", where: text).map { $0["id"] } == [11])
    let untyped = try store.fetch(record: "Expense")
    #expect(
      try store.related(to: untyped[0], "trip").map { $0.value(at: "Business.perDiem") } == [10])
    #expect(try store.fetch(record: "Journey").count == 5)
    try expectDangling("Journey.Business 5", store) { transaction in
      var record = untyped[0]
      record["trip"] = 5
      try transaction.save(record)
    }
  }

  @Test func `a damaged reference to a kind is found by the deep check, K4`() throws {
    let store = try store()
    try store.write { transaction in
      // Past the writer, which would refuse it.
      let entity = try transaction.writer.entities.type(Personal.self)
      let (key, row) = (KeyEncoder(), RowWriter())
      try entity.encode(Self.personal(1), to: row, key: key)
      try transaction.writer.trees.put(
        key.key, row.row, schemaVersion: entity.layout.version, in: entity.rows)
    }
    let faults = try store.snapshot().check(readingBlobs: false).map { "\($0)" }
    #expect(
      faults.contains { $0.contains("trip leads to Journey.Business 1, which does not exist") },
      "\(faults)")
  }

  // MARK: Schema

  @Test func `a schema, a lock and the Swift form say which kind a reference leads to`() throws {
    let schema = try #require(try model.schemas().last)
    let trip = try #require(schema.record(named: "Expense")?.field(named: "trip")?.reference)
    #expect(trip.destination == "Journey")
    #expect(trip.kind == "Business")
    let bytes = schema.encoded()
    #expect(try Schema(decoding: bytes.rawSpan, version: 1, path: "here") == schema)
    let lock = try SchemaLock(model)
    let text = "\(lock)"
    #expect(text.contains("field trip int64 to Journey.Business"), "\(text)")
    #expect(text.contains("to Journey.Business.Sales"))
    #expect(try SchemaLock(parsing: text) == lock)
    let expense = try #require(schema.record(named: "Expense"))
    #expect(
      expense.swiftStatements(isNamed: false, in: schema).contains(
        "Field(name: \"trip\", type: .reference(to: Business.self))"))
    let journey = try #require(schema.record(named: "Journey"))
    let business = try #require(journey.field(named: "Business"))
    #expect(
      journey.swiftStatements(
        ofKind: business, isNamed: false, parent: ("Journey", "journey"), in: schema
      ).contains(
        "Inverse<Business, Expense>(\"expenses\", of: \"trip\", deleteRule: .cascade)"))
  }

  @Test func `a stored schema whose reference leads to what is no kind is damaged, D2`() throws {
    let schema = try #require(try model.schemas().last)
    let record = try #require(schema.records.firstIndex { $0.name == "Expense" })
    let field = try #require(schema.records[record].fields.firstIndex { $0.name == "trip" })
    let journey = try #require(schema.record(named: "Journey"))
    let others = journey.fields.map(\.number).filter { journey.kind($0) == nil }
    for composite in others + [0, 99, .max] {
      var hostile = schema
      hostile.records[record].fields[field].reference?.composite = composite
      let bytes = hostile.encoded()
      #expect(throws: StoreError.self, "\(composite)") {
        _ = try Schema(decoding: bytes.rawSpan, version: 1, path: "here")
      }
    }
  }

  // MARK: Migration

  private static func versions(
    _ version: Int, kinds: [String?]
  ) -> StoreModel {
    StoreModel(
      version: version,
      untyped: [
        RemovedRecord("Trip") { _ in Field(primaryKey: true, name: "id", type: .integer) },
        RemovedRecord("Work") { _ in
          RecordDescription.Parent("Trip")
          Field(name: "rate", type: .integer)
        },
        RemovedRecord("Bill") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(
            name: "trip", type: .reference(to: kinds[version - 1] ?? "Trip"), optional: true)
        },
      ])
  }

  @Test
  func `a reference that comes to lead to a kind is counted and proved, and the way back is free`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = Self.versions(1, kinds: [nil])
    var store = try PersistentStore(at: path, model: first)
    try store.write { transaction in
      for id in 1...4 {
        var trip = DynamicRecord("Trip", ["id": .integer(Int64(id))])
        if id > 2 { trip["Work"] = .composite(["rate": 1]) }
        try transaction.save(trip)
        try transaction.save(
          DynamicRecord(
            "Bill", ["id": .integer(Int64(id)), "trip": .integer(Int64(id))]))
      }
    }
    try store.close()
    let second = Self.versions(2, kinds: [nil, "Work"])
    let faults = try PersistentStore.migration(at: path, to: second, steps: []).plan.faults
    #expect(
      faults.map(\.description) == [
        "Bill.trip: 2 references lead to no Trip.Work, the first of the record 1 to 1"
      ])
    #expect(throws: StoreError.self) { _ = try PersistentStore(at: path, model: second) }
    store = try PersistentStore(at: path, model: first)
    try store.write { transaction in
      for id in 1...2 { _ = try transaction.delete(record: "Bill", key: id) }
    }
    try store.close()
    store = try PersistentStore(at: path, model: second)
    #expect(try store.count(record: "Bill") == 2)
    #expect(throws: StoreError.self) {
      try store.write { transaction in
        try transaction.save(DynamicRecord("Bill", ["id": 9, "trip": 1]))
      }
    }
    #expect(try store.snapshot().check(readingBlobs: false) == [])
    try store.close()
    let third = Self.versions(3, kinds: [nil, "Work", nil])
    let plan = try PersistentStore.migration(at: path, to: third, steps: []).plan
    #expect(plan.faults == [])
    store = try PersistentStore(at: path, model: third)
    try store.write { transaction in
      try transaction.save(DynamicRecord("Bill", ["id": 9, "trip": 1]))
    }
    #expect(try store.snapshot().check(readingBlobs: false) == [])
    try store.close()
  }
}

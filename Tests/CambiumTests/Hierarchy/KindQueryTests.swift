import Testing

@testable import Cambium

/// Queries of kinds and of their parents: what they find, and by which way.
@Suite struct KindQueryTests {
  private func store(_ count: Int = 5) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: .trips)
    try store.write { transaction in
      for id in 0..<count {
        let kind = AnyTrip.Kind.allCases[id % 5]
        try transaction.insert(AnyTrip(kind, id: id, id))
      }
    }
    return store
  }

  @Test func `a query of the parent finds every kind, and of a kind only that`() throws {
    let store = try store()
    #expect(try store.fetch(Trip.where { $0.start > 1 }).map(\.id) == [2, 3, 4])
    #expect(
      try store.fetch(BusinessTrip.where { $0.trip.start > 0 }).map(\.trip.id) == [1, 2])
    #expect(try store.fetch(SalesTrip.where { $0.target == 6 }).map(\.business.trip.id) == [2])
    #expect(
      try store.fetch(SalesTrip.where { $0.business.perDiem == 4 }).map(\.target) == [6])
    #expect(try store.fetch(DayTrip.sorted(by: .descending(\.trip.start))).count == 1)
    #expect(try store.first(Query<PersonalTrip>())?.mood == "mood 3")
    #expect(try store.contains(Query<DayTrip>()))
    #expect(try store.keys(Query<BusinessTrip>()) == [[1], [2]])
    #expect(try store.select(\.perDiem, from: Query<BusinessTrip>()) == [2, 4])
    #expect(try store.contains(BusinessTrip.self, key: 2))
    #expect(try !store.contains(PersonalTrip.self, key: 2))
    #expect(try store.fetch(BusinessTrip.self, keys: [0, 1, 2, 3]).map(\.trip.id) == [1, 2])
    var ids: [Int] = []
    try store.forEach(BusinessTrip.self) { ids.append($0.trip.id) }
    let cursor = try store.cursor(BusinessTrip.self)
    try cursor.seek(to: 2)
    #expect(try cursor.next()?.trip.id == 2)
    #expect(try cursor.next() == nil)
    let readable = try store.fetchReadable(BusinessTrip.self)
    #expect(ids == [1, 2] && readable.records.map(\.trip.id) == ids && readable.skipped.isEmpty)
  }

  @Test func `a condition asks for a kind, or for exactly one`() throws {
    let store = try store()
    func ids(_ condition: Condition<Trip>) throws -> [Int] {
      try store.fetch(Trip.where(condition)).map(\.id)
    }
    #expect(try ids(.is(BusinessTrip.self)) == [1, 2])
    #expect(try ids(.isExactly(BusinessTrip.self)) == [1])
    #expect(try ids(.is(SalesTrip.self)) == [2])
    #expect(try ids(.isExactly(Trip.self)) == [0])
    #expect(try ids(.is(Trip.self)) == [0, 1, 2, 3, 4])
    #expect(try ids(Condition { !.is(BusinessTrip.self) && $0.start > 0 }) == [3, 4])
    #expect(try ids(.is(DayTrip.self) || .is(PersonalTrip.self)) == [3, 4])
    #expect(
      try store.count(BusinessTrip.where(.isExactly(BusinessTrip.self))) == 1)
    #expect(try ids(Condition(try FieldCondition(parsing: "BusinessTrip.perDiem == 4"))) == [2])
  }

  @Test func `the condition for a kind is text, too`() throws {
    let condition = Condition<Trip>.isExactly(BusinessTrip.self) && !.is(SalesTrip.self)
    #expect("\(condition)" == "(isExactly(BusinessTrip) && !(is(SalesTrip)))")
    let parsed = Condition<Trip>(try FieldCondition(parsing: "\(condition)"))
    #expect("\(parsed)" == "\(condition)")
    let store = try store()
    func ids(_ text: String) throws -> [FieldValue] {
      try store.fetch(record: "Trip", where: try FieldCondition(parsing: text)).map {
        $0["id"]
      }
    }
    #expect(try ids("is(BusinessTrip)") == [1, 2])
    #expect(try ids("isExactly(BusinessTrip) or is(DayTrip)") == [1, 4])
    #expect(try ids("isExactly(Trip)") == [0])
    #expect(try ids("is(SalesTrip)") == [2])
    #expect(try ids("is(BusinessTrip.SalesTrip)") == [2])
    #expect(try ids("BusinessTrip != null and BusinessTrip.SalesTrip == null") == [1])
    #expect(throws: StoreError.self) { try ids("is(Nobody)") }
    #expect(throws: StoreError.self) {
      try store.count(PersonalTrip.where(.is(NoTrip.self)))
    }
  }

  @Test func `a query of a kind uses its indexes, and those of its parent`() throws {
    let store = try store(500)
    let byPerDiem = try store.explain(BusinessTrip.where { $0.perDiem == 22 }, running: true)
    #expect("\(byPerDiem)".contains("by per diem"), "\(byPerDiem)")
    let ofGrandchild = try store.explain(
      SalesTrip.where { $0.business.perDiem == 22 }, running: true)
    #expect("\(ofGrandchild)".contains("by per diem"), "\(ofGrandchild)")
    let byTarget = try store.explain(SalesTrip.where { $0.target > 1_000 }, running: true)
    #expect("\(byTarget)".contains("SalesTrip.target"), "\(byTarget)")
    let shared = try store.explain(PersonalTrip.where { $0.trip.start == 8 }, running: true)
    #expect("\(shared)".contains("start"), "\(shared)")
    // Not all records are in an index of a kind.
    let all = try store.explain(Trip.where { $0.start == 8 }, running: true)
    #expect("\(all)".hasPrefix("Trip: index start"), "\(all)")
    #expect(try store.count(BusinessTrip.self) == 200)
    #expect(try store.count(SalesTrip.where { $0.target > 1_000 }) == 33)
  }

  @Test func `values, groups and sections are those of the kind`() throws {
    let store = try store(50)
    #expect(try store.sum(\.perDiem, of: Query<BusinessTrip>()) == 960)
    #expect(try store.sum(\.start, of: Query<Trip>()) == 1225)
    #expect(try store.average(\.trip.start, of: Query<DayTrip>()) == 26.5)
  }

  @Test func `a kept query of a kind is read again`() throws {
    let store = try store()
    let query = BusinessTrip.where { $0.perDiem > 1 }.sorted(by: .descending(\.trip.start))
    try store.write { transaction in try transaction.setQuery(query, named: "mine") }
    let read = try #require(try store.query(BusinessTrip.self, named: "mine"))
    #expect(try store.fetch(read).map(\.trip.id) == [2, 1])
  }
}

/// A record that is no trip.
private struct NoTrip: Record {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

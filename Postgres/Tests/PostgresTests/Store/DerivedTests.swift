import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// Derived fields that the server computes, with the values that the store gives them.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct DerivedTests {
  struct Event: Record, Identifiable {
    var id: Int
    var date: Date
    var end: Date?
    var name: String
    var nick: String?
    var price: Decimal?
    var listPrice: Decimal
    var weight: Double?
    var count: Int16?
    var picture: Data
    var marks: [Int]
    var isOpen: Bool?

    var year = 0
    var month: Int8 = 0
    var day: Int?
    var hours = 0
    var label = ""
    var nickname = ""
    var cost: Decimal = 0
    var mass = 0.0
    var until = Date(timeIntervalSinceReferenceDate: 0)
    var size = 0
    var amount: Int16 = 0
    var isShut: Bool?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("date")
      Field("end")
      Field("name")
      Field("nick")
      Field("price")
      Field("listPrice")
      Field("weight")
      Field("count")
      Field("picture")
      Field("marks")
      Field("isOpen")
      Field(name: "year", type: .integer, indexed: true, derived: .value("year(date)"))
      Field(name: "month", type: .int8, derived: .value("month(date, \"+05:30\")"))
      Field(name: "day", type: .integer, optional: true, derived: .value("day(end)"))
      Field(name: "hours", type: .integer, derived: .value("hour(date) * 60 + weekday(date)"))
      Field(name: "label", type: .string, indexed: true, derived: .value("nick ?? name"))
      Field(name: "nickname", type: .string, derived: .value("nick ?? \"it's none\""))
      Field(name: "cost", type: .decimal, derived: .value("price ?? listPrice"))
      Field(name: "mass", type: .double, derived: .value("weight ?? 0.5"))
      Field(name: "until", type: .date, derived: .value("end ?? date"))
      Field(name: "size", type: .integer, derived: .value("length(picture) + length(marks)"))
      Field(name: "amount", type: .int16, derived: .value("(count ?? 1) * 2"))
      Field(name: "isShut", type: .boolean, optional: true, derived: .value("isOpen"))
    }
  }

  private static let model = StoreModel(version: 1, records: [Event.self])

  private static let derived = [
    "year", "month", "day", "hours", "label", "nickname", "cost", "mass", "until", "size", "amount",
    "isShut",
  ]

  private static let events: [Event] = (0..<60).map { number in
    // From before the year 1 on, with the borders of years and of hours.
    let seconds = [
      0, -1, 86_399.5, -63_113_904_000, -63_000_000_000, -64_000_000_000, 1_000_000_000.25,
      315_532_799, -978_307_201, 759_283_200,
    ]
    func pick<Value>(_ values: [Value?]) -> Value? { values[number % values.count] }
    let date = Date(timeIntervalSinceReferenceDate: seconds[number % seconds.count])
    return Event(
      id: number, date: date, end: number % 3 == 0 ? nil : date.addingTimeInterval(90_000),
      name: "n\(number % 7)", nick: pick([nil, "", "é", "it's"]),
      price: pick([nil, 0, -1, Decimal(1) / 3]), listPrice: Decimal(number) / 8,
      weight: pick([nil, 0, -0.0, .nan, .infinity, .leastNonzeroMagnitude]),
      count: pick([nil, 0, -5, 100]), picture: Data(repeating: 0, count: number % 4),
      marks: Array(0..<number % 5), isOpen: pick([nil, true, false]))
  }

  /// Each value of each derived field, with the records that have it.
  private static func answers(_ state: some PortableReading) throws -> [String] {
    var answers = try state.fetch(Event.self).map { "\($0)" }
    for field in derived {
      for isDescending in [false, true] {
        var query = Query<Event>()
        query.order = [.init(FieldOrder(field: field, isDescending: isDescending))]
        answers.append("\(field) \(try state.fetch(query, after: nil).map(\.id))")
      }
    }
    let conditions: [FieldCondition] = [
      .comparison(field: "year", .equal, 2001), .comparison(field: "year", .less, 1),
      .comparison(field: "month", .greater, 11), .comparison(field: "day", .equal, .null),
      .comparison(field: "hours", .lessOrEqual, 64), .comparison(field: "label", .equal, ""),
      .comparison(field: "nickname", .equal, "it's none"),
      .comparison(field: "cost", .greater, 2), .comparison(field: "mass", .equal, 0),
      .comparison(field: "until", .greater, .date(Date(timeIntervalSinceReferenceDate: 0))),
      .comparison(field: "size", .equal, 3), .comparison(field: "amount", .less, 0),
      .comparison(field: "isShut", .equal, true),
    ]
    for condition in conditions {
      let query = Query().where(Condition<Event>(condition))
      answers.append("\(condition) \(try state.fetch(query, after: nil).map(\.id))")
    }
    return answers
  }

  @Test func `derived fields of every kind that the server computes are those of a store`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let embedded = try PersistentStore(inMemory: Self.model)
    let store = try await PostgresStore(try server.makeDatabase("derived"), model: Self.model)
    try await embedded.write { (transaction: inout WriteTransaction) in
      for event in Self.events { try transaction.insert(event) }
    }
    try await store.write { try $0.insert(contentsOf: Self.events) }
    let change: @Sendable (inout Event) -> Void = { event in
      event.nick = event.nick == nil ? "new" : nil
      event.date += 40_000_000
      event.marks.append(0)
    }
    for isChanged in [false, true] {
      if isChanged {
        _ = try await embedded.write { (transaction: inout WriteTransaction) in
          try transaction.update(Event.where { $0.id > 20 }, set: change)
        }
        try await store.update(Event.where { $0.id > 20 }, set: change)
      }
      let expected = try Self.answers(try embedded.snapshot())
      let found = try await store.read { try Self.answers($0) }
      #expect(found.count == expected.count)
      for (one, other) in zip(found, expected) { #expect(one == other) }
    }
  }

  @Test func `a store with derived fields is moved, and verified, and goes on in the database`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("derived_moved")
    let path = Workshop.directory("derived_moved")
    let embedded = try await PersistentStore(at: path, model: Self.model)
    defer {
      try? embedded.close()
      try? PersistentStore.delete(at: path)
    }
    try await embedded.write { (transaction: inout WriteTransaction) in
      for event in Self.events { try transaction.insert(event) }
    }
    try PostgresServer.move(embedded, at: path, to: address)
    let store = try await PostgresStore(address, model: Self.model)
    let expected = try Self.answers(try embedded.snapshot())
    #expect(try await store.read { try Self.answers($0) } == expected)
  }

  @Test func `a database that has values where the server is to compute them is not opened`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("derived_plain")
    await (try await PostgresStore(address, model: Self.model)).close()
    try Connection(address).run("ALTER TABLE event ALTER COLUMN year DROP EXPRESSION")
    let error = await #expect(throws: PostgresStoreError.self) {
      try await PostgresStore(address, model: Self.model)
    }
    guard case .unsuitableDatabase(let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.hasPrefix("event.year is to be computed by the server"), "\(reason)")
  }
}

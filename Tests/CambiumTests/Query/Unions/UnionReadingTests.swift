import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record with a number, which another type of record has as well.
private struct Measure: Record, Identifiable {
  var id: Int
  var value: Double?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "value", type: .double, optional: true)
  }
}

private struct Estimate: Record, Identifiable {
  var id: Int
  var value: Double?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "value", type: .double, optional: true)
  }
}

/// A value that fields of two types can hold.
private enum Mixed: OrderedFieldValue {
  case number(Int)
  case text(String)

  init?(fieldValue: FieldValue) {
    switch fieldValue {
    case .integer(let number): self = .number(Int(number))
    case .string(let text): self = .text(text)
    default: return nil
    }
  }

  var fieldValue: FieldValue {
    switch self {
    case .number(let number): number.fieldValue
    case .text(let text): .string(text)
    }
  }
}

/// How unions are read, and what they read.
@Suite struct UnionReadingTests {
  private static let titles = Film.select(\.title, \.year).union(Series.select(\.name, \.start))

  private static func world(_ count: Int) -> TitleWorld {
    TitleWorld(
      films: (0..<count).map { Film(id: $0, title: "f\($0)", year: 2 * $0) },
      series: (0..<count).map { Series(code: "\($0)", start: 2 * $0 + 1, name: "s\($0)") })
  }

  @Test func `an order that indexes have is merged as it is read`() throws {
    let store = try Self.world(1_000).store()
    let newest = Self.titles.sorted(by: .descending { $0.1 })
    #expect(try store.fetch(newest.limit(5)).map(\.0) == ["s999", "f999", "s998", "f998", "s997"])
    let explanation = try store.explain(newest.limit(5), running: true)
    #expect(explanation.isMerged)
    #expect(explanation.sortedInMemory == [])
    #expect(explanation.queries.map(\.access) == ["index year", "index start"])
    let actual = try #require(explanation.actual)
    #expect(actual.resultCount == 5)
    #expect(actual.entryCount < 200, "of 2,000: \(actual.entryCount)")
    let text = "\(explanation)"
    #expect(text.hasPrefix("union of 2 queries, merged in order\n  Film: index year"), "\(text)")
    #expect(text.hasSuffix("for 5 results"), "\(text)")
  }

  @Test func `without an order, a query is not read before the one before it has ended`() throws {
    let store = try Self.world(1_000).store()
    let explanation = try store.explain(Self.titles.limit(10), running: true)
    #expect(!explanation.isMerged)
    #expect(explanation.actual?.resultCount == 10)
    #expect(explanation.actual?.rowCount ?? .max <= 10)
    let all = try store.explain(Self.titles.distinct(), running: true)
    #expect(all.actual?.resultCount == 2_000)
    #expect("\(all)".hasPrefix("union of 2 queries, one after the other, each row once"))
  }

  @Test func `rows of a query with a limit of its own are sorted in memory`() throws {
    let store = try Self.world(100).store()
    let some = Film.sorted(by: .descending(\.year)).limit(3).select(\.title, \.year)
      .union(Series.sorted(by: .ascending(\.start)).limit(2).select(\.name, \.start))
      .sorted(by: .ascending { $0.1 })
    #expect(try store.fetch(some).map(\.0) == ["s0", "s1", "f97", "f98", "f99"])
    #expect(try store.fetch(some.offset(1).limit(2)).map(\.0) == ["s1", "f97"])
    let explanation = try store.explain(some)
    #expect(explanation.sortedInMemory == [0, 1])
    #expect(explanation.actual == nil)
    #expect("\(explanation)".contains("then all of its rows sorted in memory"))
  }

  @Test func `a cursor reads page after page of one state`() throws {
    let store = try Self.world(10).store()
    let query = Self.titles.sorted(by: .ascending { $0.1 })
    let cursor = try store.cursor(query)
    var titles = try cursor.next(7).map(\.0)
    try store.write { transaction in
      try transaction.delete(Query<Film>())
      try transaction.save(Series(code: "z", start: 7, name: "new"))
    }
    titles += try cursor.next(7).map(\.0)
    titles += try cursor.next(7).map(\.0)
    #expect(titles == (0..<10).flatMap { ["f\($0)", "s\($0)"] })
    #expect(try cursor.next() == nil)
    #expect(try cursor.next(1).isEmpty)
    #expect(try store.count(query) == 11)
  }

  @Test func `a transaction and a snapshot read unions of what they have`() throws {
    let store = try Self.world(2).store()
    let query = Self.titles.sorted(by: .ascending { $0.0 })
    let snapshot = try store.snapshot()
    try store.write { transaction in
      try transaction.save(Film(id: 9, title: "b", year: nil))
      #expect(try transaction.fetch(query).map(\.0) == ["b", "f0", "f1", "s0", "s1"])
      #expect(try transaction.first(query)?.0 == "b")
      #expect(try transaction.count(query) == 5)
    }
    #expect(try snapshot.fetch(query).map(\.0) == ["f0", "f1", "s0", "s1"])
  }

  @Test func `all queries of a union share a budget`() throws {
    var options = StoreOptions()
    options.queryBudget = QueryBudget(rows: 150)
    let store = try Self.world(100).store(options)
    #expect(try store.select(\.title, from: Query<Film>()).count == 100)
    #expect(try store.select(\.name, from: Query<Series>()).count == 100)
    guard case .queryBudgetExceeded = storeError({ try store.fetch(Self.titles) }) else {
      Issue.record("a union had a budget for each query")
      return
    }
    #expect(try store.fetch(Self.titles.limit(120)).count == 120)
  }

  @Test func `numbers of every kind have one order in all queries`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Measure.self, Estimate.self]))
    let values: [Double?] = [.nan, 0, -.infinity, nil, -0.0, .infinity, -1, 1, 0.5]
    for (id, value) in values.enumerated() {
      try store.insert(Measure(id: id, value: value))
      try store.insert(Estimate(id: -id, value: value))
    }
    let sorted: [Double?] = [nil, -.infinity, -1, 0, 0, 0.5, 1, .infinity, .nan]
    let all = Measure.select(\.value).union(Estimate.select(\.value))
      .sorted(by: .ascending { $0 })
    // NaN equals nothing, but is the same as NaN.
    let expected = sorted.flatMap { ["\($0 as Double?)", "\($0 as Double?)"] }
    #expect(
      try store.fetch(all).map { "\($0.map { $0 == 0 ? 0 : $0 } as Double?)" } == expected)
    #expect(try store.fetch(all.distinct()).count == 8)
    #expect(
      try store.fetch(all.sorted(by: .descending { $0 }).limit(2)).allSatisfy { $0?.isNaN ?? false }
    )
  }

  @Test func `unions that cannot be are errors, and no record is read`() throws {
    let store = try Self.world(3).store()
    let wrong: [(String, () throws -> Int)] = [
      ("a negative limit", { try store.fetch(Self.titles.limit(-1)).count }),
      ("a negative offset", { try store.count(Self.titles.offset(-1)) }),
      (
        "a negative limit of a query",
        {
          try store.fetch(
            Film.select(\.title).union(Series.where { $0.code != "" }.limit(-1).select(\.name))
          ).count
        }
      ),
      (
        "values of two kinds",
        {
          try store.fetch(
            Film.select { _ in FieldConstant(Mixed.number(1)) }
              .union(Series.select { _ in FieldConstant(Mixed.text("a")) })
              .sorted(by: .ascending { $0 })
          ).count
        }
      ),
      (
        "a column that rows do not have",
        {
          try store.fetch(
            Self.titles.sorted(by: .ascending { _ in SelectedColumn<Int>(place: 2) })
          ).count
        }
      ),
      (
        "a computation without a result",
        {
          try store.fetch(
            Film.select { $0.id / 0 }.union(Film.select(\.id)).sorted(by: .ascending { $0 })
          ).count
        }
      ),
    ]
    for (name, query) in wrong {
      guard case .invalidQuery = storeError(query) else {
        Issue.record("\(name) was accepted")
        continue
      }
    }
    struct Stranger: Record {
      var id = 0
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
      }
    }
    guard
      case .unknownRecord = storeError({
        try store.fetch(Film.select(\.id).union(Stranger.select(\.id)).limit(1))
      })
    else {
      Issue.record("a record that the store does not have was found")
      return
    }
  }
}

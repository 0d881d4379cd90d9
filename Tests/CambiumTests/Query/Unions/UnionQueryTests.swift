import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

typealias TitleUnion = UnionQuery<
  (String, Int?), (SelectedColumn<String>, SelectedColumn<Int?>)
>

@Suite struct UnionQueryTests {
  private static let titles = Film.select(\.title, \.year).union(Series.select(\.name, \.start))

  /// The orders of unions, and the same of arrays.
  private static var orders: [(query: (TitleUnion) -> TitleUnion, model: TitleOrder)] {
    [
      ({ $0 }, TitleOrder()),
      ({ $0.sorted(by: .ascending { $0.0 }) }, TitleOrder(comparisons: [TitleOrder.title()])),
      (
        { $0.sorted(by: .descending { $0.1 }) },
        TitleOrder(comparisons: [TitleOrder.year(descending: true)])
      ),
      (
        { $0.sorted(by: .ascending { $0.1 }, .descending { $0.0 }) },
        TitleOrder(comparisons: [TitleOrder.year(), TitleOrder.title(descending: true)])
      ),
    ]
  }

  /// Compares every order of a union with that of the rows that its queries have, one after the other.
  private func check(_ union: TitleUnion, _ rows: [TitleRow], in store: PersistentStore) throws {
    for (query, model) in Self.orders {
      for isDistinct in [false, true] {
        let sorted = isDistinct ? model.sorted(rows).distinct : model.sorted(rows)
        for (limit, offset) in [(nil, 0), (2, 1), (0, 3)] as [(Int?, Int)] {
          var query = query(union)
          (query.isDistinct, query.limit, query.offset) = (isDistinct, limit, offset)
          let expected = sorted.window(limit: limit, offset: offset)
          let place = "\(rows), distinct: \(isDistinct), limit: \(limit ?? -1), \(offset)"
          let found = try store.fetch(query).map { TitleRow(title: $0.0, year: $0.1) }
          #expect(found == expected, "\(place)")
          #expect(try store.count(query) == expected.count, "\(place)")
          let first = try store.first(query).map { TitleRow(title: $0.0, year: $0.1) }
          #expect(first == expected.first, "\(place)")
        }
      }
    }
  }

  /// Every world with a number of films and series that have one of two titles, and a year or none.
  private static func smallWorlds(_ filmCount: Int, _ seriesCount: Int) -> [TitleWorld] {
    let states = 1 << (2 * (filmCount + seriesCount))
    return (0..<states).map { number in
      var rest = number
      func next() -> (title: String, year: Int?) {
        defer { rest /= 4 }
        return (rest % 2 == 0 ? "a" : "b", rest / 2 % 2 == 0 ? nil : 1)
      }
      var world = TitleWorld()
      for id in 0..<filmCount {
        let (title, year) = next()
        world.films.append(Film(id: id, title: title, year: year))
      }
      for code in 0..<seriesCount {
        let (name, start) = next()
        world.series.append(Series(code: "\(code)", start: start, name: name))
      }
      return world
    }
  }

  @Test(arguments: [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (1, 2), (2, 2)])
  func `every small world has the rows of arrays, in every order`(
    films: Int, series: Int
  ) throws {
    for world in Self.smallWorlds(films, series) {
      let store = try world.store()
      try check(Self.titles, world.filmRows + world.seriesRows, in: store)
      // A query has an order and a window of its own, which choose its rows before the union is sorted.
      let first = TitleOrder(comparisons: [TitleOrder.title(descending: true)])
      let last = TitleOrder(comparisons: [TitleOrder.year()])
      try check(
        Film.sorted(by: .descending(\.title)).select(\.title, \.year)
          .union(
            Series.sorted(by: .ascending(\.start)).offset(1).limit(2).select(\.name, \.start)),
        first.sorted(world.filmRows) + last.sorted(world.seriesRows).window(limit: 2, offset: 1),
        in: store)
    }
  }

  @Test func `random worlds have the rows of arrays, in every order`() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    let titles = ["", "a", "A", "ä", "a\u{308}", "a\0", "a\0b", "b", "Z", "日"]
    for count in [20, 300] {
      var world = TitleWorld()
      for id in 0..<count {
        let title = titles[Int.random(in: 0..<titles.count, using: &random)]
        let year = id % 7 == 0 ? nil : Int.random(in: -4...4, using: &random)
        world.films.append(Film(id: id, title: title, year: year))
        world.series.append(
          Series(code: "\(id * 7919 % 1_000)", start: year.map { -$0 }, name: title + "b"))
      }
      let store = try world.store()
      try check(Self.titles, world.filmRows + world.seriesRows, in: store)
      // One record type may be there several times, and conditions choose its records.
      try check(
        Film.where { $0.year > 0 }.select(\.title, \.year)
          .union(Series.where { $0.start < 2 }.select(\.name, \.start))
          .union(Film.select({ $0.title.lowercased() }, { $0.year + 1 })),
        world.filmRows.filter { $0.year ?? .min > 0 }
          + world.seriesRows.filter { $0.year.map { $0 < 2 } ?? false }
          + world.filmRows.map {
            TitleRow(title: $0.title.lowercased(), year: $0.year.map { $0 + 1 })
          },
        in: store)
    }
  }
}

// MARK: - Columns

extension UnionQueryTests {
  private static let world = TitleWorld(
    films: [
      Film(id: 1, title: "Zoo", year: 1999), Film(id: 2, title: "alien", year: 1979),
      Film(id: 3, title: "Fargo", year: 1996),
    ],
    series: [
      Series(code: "f", start: 2014, name: "Fargo"),
      Series(code: "d", start: nil, name: "dark"),
    ])

  @Test func `a constant says which query a row is of`() throws {
    let store = try Self.world.store()
    let kinds = Film.select(\.title) { _ in FieldConstant("film") }
      .union(Series.select(\.name) { _ in FieldConstant("series") })
      .sorted(by: .ascending { $0.0 }, .descending { $0.1 })
    let rows = try store.fetch(kinds).map { "\($0.0) \($0.1)" }
    #expect(rows == ["Fargo series", "Fargo film", "Zoo film", "alien film", "dark series"])
    let byKind = kinds.sorted(by: .descending { $0.1 })
    #expect(
      try store.fetch(byKind.limit(3)).map { "\($0.0) \($0.1)" }
        == ["dark series", "Fargo series", "Zoo film"])
    let missing = Film.select(\.title) { $0.id.optional }
      .union(Series.select(\.name) { _ in FieldConstant(Int?.none) })
      .sorted(by: .ascending { $0.1 })
    #expect(try store.fetch(missing).map { $0.1 } == [nil, nil, 1, 2, 3])
  }

  @Test func `rows of one column are values, and of more columns tuples`() throws {
    let store = try Self.world.store()
    let names = Film.select(\.title).union(Series.select(\.name)).sorted(by: .ascending { $0 })
    #expect(try store.fetch(names) == ["Fargo", "Fargo", "Zoo", "alien", "dark"])
    #expect(try store.fetch(names.distinct().limit(2)) == ["Fargo", "Zoo"])
    let computed = Film.select { $0.year + 1 }.union(Series.select { $0.start + 1 })
    #expect(try store.fetch(computed.sorted(by: .descending { $0 }).limit(1)) == [2015])
    let three = Film.select(\.title, \.year, \.id)
      .union(Series.select(\.name, \.start, { _ in FieldConstant(0) }))
      .sorted(by: .ascending { $0.2 }, .descending { $0.1 })
    #expect(try store.fetch(three).map { $0.2 } == [0, 0, 1, 2, 3])
    #expect(try store.fetch(three).map { $0.1 } == [2014, nil, 1999, 1979, 1996])
    let four = Film.where { $0.id < 2 }.select(\.id, \.title, \.year, { $0.id * 2 })
      .union(Film.where { $0.id > 2 }.select({ $0.id * 2 }, \.title, \.year, \.id))
      .sorted(by: .descending { $0.3 })
    let rows = try store.fetch(four)
    #expect(rows.map { [$0.0, $0.2 ?? 0, $0.3] } == [[6, 1996, 3], [1, 1999, 2]])
    #expect(rows.map { $0.1 } == ["Fargo", "Zoo"])
  }

  @Test func `strings are sorted without case, and by a collation`() throws {
    let store = try Self.world.store()
    let all = Film.select(\.title).union(Series.select(\.name))
    #expect(
      try store.fetch(all.sorted(by: .ascending(caseInsensitive: true) { $0 }))
        == ["alien", "dark", "Fargo", "Fargo", "Zoo"])
    let backward = Collation("backward") { Array($0.utf8.reversed()) }
    let titles = try store.fetch(all.sorted(by: .descending(collation: backward) { $0 }))
    #expect(titles == ["Zoo", "Fargo", "Fargo", "alien", "dark"])
    // Rows in memory are sorted likewise.
    let limited = Film.sorted(by: .ascending(\.title)).limit(9).select(\.title)
      .union(Series.select(\.name)).sorted(by: .ascending(caseInsensitive: true) { $0 })
    #expect(try store.fetch(limited) == ["alien", "dark", "Fargo", "Fargo", "Zoo"])
    let names = Series.select(\.name)
    let plain = Film.select { $0.title.lowercased() }.union(names)
    let few = Film.where { $0.id > 0 }.limit(9).select { $0.title.lowercased() }.union(names)
    for (name, query) in [("plain", plain), ("limited", few)] {
      let sorted = query.sorted(by: .ascending(caseInsensitive: true) { $0 })
      guard case .invalidQuery = storeError({ try store.fetch(sorted) }) else {
        Issue.record("an expression was sorted without case, \(name)")
        continue
      }
    }
  }
}

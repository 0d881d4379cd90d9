import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The first records in the order of a field of the record that they lead to: along its index.
@Suite struct RelatedOrderTests {
  struct Studio: Record, Identifiable, Equatable {
    var id: Int
    var name: String
    var founded: Int?
    static let films = Inverse("films", of: \Film.studio)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name", indexed: true)
      Field("founded", indexed: true)
      films
    }
  }

  struct Film: Record, Identifiable, Equatable {
    var id: Int
    var title: String
    var length: Int
    var studio: Reference<Studio>
    var second: Reference<Studio>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("title")
      Field("length")
      Field("studio")
      Field("second")
    }
  }

  private let store: PersistentStore
  private let studios: [Studio]
  private let films: [Film]

  /// Names that agree in more bytes than an index keeps, and names of several studios; some without a film, and one with
  /// more films than are looked at together.
  init() throws {
    var random = SplitMix64(seed: 7)
    func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    let long = String(repeating: "long", count: 150)
    studios = (0..<200).map { id in
      let name = number(4) == 0 ? long + "\(number(5))" : "name \(number(60))"
      return Studio(id: id, name: name, founded: number(5) == 0 ? nil : 1900 + number(40))
    }
    films = (0..<4_000).map { id in
      Film(
        id: id, title: "title \(number(50))", length: number(200),
        studio: Reference(number(3) == 0 ? 17 : number(190)),
        second: number(2) == 0 ? nil : Reference(number(190)))
    }
    store = try PersistentStore(
      inMemory: StoreModel(records: [Studio.self, Film.self]))
    try store.save(contentsOf: studios)
    try store.save(contentsOf: films)
  }

  /// Compares what every plan finds with the order of all.
  private func compare(
    _ query: FieldQuery, shorterThan length: Int = .max, _ isBefore: (Film, Film) -> Bool?
  ) throws {
    let sorted = films.filter { $0.length < length }
      .sorted { isBefore($0, $1) ?? ($0.id < $1.id) }
    let expected = sorted.dropFirst(query.offset).prefix(query.limit ?? .max).map(\.id)
    let reader = try store.snapshot().recordReader()
    let runner = QueryRunner(try reader.entities.entity(named: "Film"), in: reader)
    let (_, candidates) = try runner.planner().candidates(query, for: .records)
    #expect(candidates.contains { if case .relatedOrder = $0.access { true } else { false } })
    for forced in candidates.indices {
      let found = try runner.find(query, forced: forced)
      var ids: [Int] = []
      while try found.next() {
        var key = KeyReader(found.key, layout: found.layout)
        guard case .integer(let id) = try key.value(found.layout.key.columns[0]) else { continue }
        ids.append(Int(id))
        if try found.row().byteCount == 0 { Issue.record("a row of \(id) is empty") }
      }
      #expect(ids == expected, "\(query), by \(runner.text(of: found.plan.access))")
    }
  }

  private static let windows: [(limit: Int, offset: Int)] = [
    (1, 0), (10, 5), (40, 0), (33, 700), (5_000, 0), (10, 3_995),
  ]

  @Test(arguments: windows, [false, true])
  func `every plan has the first films by the name of the studio`(
    window: (limit: Int, offset: Int), isDescending: Bool
  ) throws {
    var query = FieldQuery()
    query.order = [
      FieldOrder(field: "studio.name", isDescending: isDescending), FieldOrder(field: "title"),
    ]
    query.limit = window.limit
    query.offset = window.offset
    for longest in [200, 20] {
      if longest < 200 {
        query.condition = .comparison(field: "length", .less, .integer(Int64(longest)))
      }
      try compare(query, shorterThan: longest) { one, other in
        let names = (studios[one.studio.id].name, studios[other.studio.id].name)
        if names.0 != names.1 { return (names.0 < names.1) != isDescending }
        return one.title == other.title ? nil : one.title < other.title
      }
    }
  }

  @Test(arguments: windows, [false, true])
  func `studios without a year come first, or last`(
    window: (limit: Int, offset: Int), isDescending: Bool
  ) throws {
    var query = FieldQuery()
    query.order = [FieldOrder(field: "studio.founded", isDescending: isDescending)]
    query.limit = window.limit
    query.offset = window.offset
    try compare(query) { one, other in
      let years = (studios[one.studio.id].founded ?? 0, studios[other.studio.id].founded ?? 0)
      return years.0 == years.1 ? nil : (years.0 < years.1) != isDescending
    }
  }

  @Test func `the first ten read few records, and a transaction has the same`() throws {
    let query = Film.sorted(by: .descending { $0.studio.name }, .ascending(\.title)).limit(10)
    let explanation = try store.snapshot().explain(query, running: true)
    #expect(explanation.access == "Film.studio in the order of index name of Studio")
    #expect(explanation.sorting == .groups)
    #expect(try #require(explanation.actual).rowCount < 200)
    let found = try store.fetch(query)
    #expect(found.count == 10)
    let foundInside = try store.write { transaction in try transaction.fetch(query) }
    #expect(foundInside == found)
    let page = try store.fetch(query, after: found[4])
    #expect(page.prefix(5).elementsEqual(found.suffix(5)))
  }

  @Test func `an optional reference, and a query of all, are sorted`() throws {
    for query in [
      Film.sorted(by: .ascending { $0.second.name }).limit(10),
      Film.sorted(by: .ascending { $0.studio.name }),
    ] {
      #expect(try store.snapshot().explain(query).access == "all rows")
    }
  }
}

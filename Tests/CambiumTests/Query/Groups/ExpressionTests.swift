import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record with numbers at the ends of their ranges.
private struct ExtremeNumbers: Record {
  var id: Int
  var small: Int8 = 0
  var large: UInt64 = 0
  var number: Int?
  var weight = 0.0
  var ratio: Float = 0
  var price: Decimal = 0
  var day = Date(timeIntervalSinceReferenceDate: 0)
  var name = ""

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "small", type: .int8)
    Field(name: "large", type: .uint64)
    Field(name: "number", type: .integer, optional: true)
    Field(name: "weight", type: .double)
    Field(name: "ratio", type: .float)
    Field(name: "price", type: .decimal)
    Field(name: "day", type: .date)
    Field(name: "name", type: .string)
  }
}

@Suite struct ExpressionTests {
  private static func store(_ records: [ExtremeNumbers]) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [ExtremeNumbers.self]))
    try store.write { try $0.insert(contentsOf: records) }
    return store
  }

  private static func isRefused<Result>(_ body: () throws -> Result) -> Bool {
    if case .invalidQuery = storeError(body) { true } else { false }
  }

  @Test func `numbers of different types are computed with in every use`() throws {
    let world = try SaleWorld(lineCount: 500, seed: 11)
    let store = world.store
    let all = Query<SaleLine>()
    let totals = world.lines.map { SaleWorld.total($0) }
    #expect(
      try store.select(from: all) { $0.price * $0.quantity * (1 - $0.discount) } == totals)
    #expect(
      try store.sum(of: all) { $0.price * $0.quantity * (1 - $0.discount) }
        == totals.reduce(0, +))
    #expect(try store.max(of: all) { $0.price * $0.quantity * (1 - $0.discount) } == totals.max())
    let sorted = try store.fetch(
      all.sorted(by: .descending { $0.price * $0.quantity * (1 - $0.discount) }).limit(50))
    let expected = world.lines.sorted {
      (SaleWorld.total($0), $1.id) > (SaleWorld.total($1), $0.id)
    }
    #expect(sorted == Array(expected.prefix(50)))
    let pairs = try store.select(from: all) { ($0.product.category.name, $0.quantity / 2) }
    #expect(pairs.map(\.0) == world.lines.map { world.category(of: $0)?.name })
    #expect(pairs.map(\.1) == world.lines.map { $0.quantity / 2 })
    let late = try store.fetch(
      SaleLine.where { $0.returned - $0.ordered > $0.product.weight * 86_400.0 })
    #expect(
      late
        == world.lines.filter { line in
          guard let returned = line.returned, let weight = world.product(of: line)?.weight else {
            return false
          }
          return returned.timeIntervalSince(line.ordered) > weight * 86_400
        })
  }

  @Test func `records are sorted by counts, sums and extremes of relations, in pages`() throws {
    let world = try SaleWorld(lineCount: 300, seed: 5)
    let lines = Dictionary(grouping: world.lines, by: \.product.id)
    func sold(_ product: SaleProduct) -> Int {
      lines[product.id, default: []].map { Int($0.quantity) }.reduce(0, +)
    }
    let products = world.products.values.sorted { $0.id < $1.id }
    let expected = products.sorted { (sold($0), $1.id) > (sold($1), $0.id) }
    let query = Query<SaleProduct>()
      .sorted(by: .descending { $0.lines.sum(\.quantity) })
    #expect(try world.store.fetch(query) == expected)
    var pages: [SaleProduct] = []
    while true {
      let page = try world.store.fetch(query.limit(5), after: pages.last)
      pages += page
      if page.count < 5 { break }
    }
    #expect(pages == expected)
    let counted = try world.store.fetch(
      Query<SaleProduct>().sorted(by: .ascending { $0.lines.count() }).limit(3))
    let byCount = products.sorted {
      (lines[$0.id]?.count ?? 0, $0.id) < (lines[$1.id]?.count ?? 0, $1.id)
    }
    #expect(counted == Array(byCount.prefix(3)))
    let latest = try world.store.fetch(
      Query<SaleProduct>().sorted(by: .descending { $0.lines.maximum(\.ordered) }))
    let dates = latest.map { lines[$0.id]?.map(\.ordered).max() ?? .distantPast }
    #expect(dates == dates.sorted(by: >))
  }

  @Test func `an order of an expression is kept as text and comes back`() throws {
    let query = Query<SaleProduct>()
      .sorted(by: .descending { $0.lines.sum(\.quantity) }, .ascending(\.name))
    let bytes = try JSONEncoder().encode(query)
    let decoded = try JSONDecoder().decode(Query<SaleProduct>.self, from: bytes)
    #expect("\(decoded)" == "\(query)")
    #expect("\(query)" == "all sorted by lines.sum(quantity) descending, name")
    let world = try SaleWorld(lineCount: 20, seed: 1)
    try world.store.write { transaction in try transaction.setQuery(query, named: "sold") }
    let kept = try world.store.query(SaleProduct.self, named: "sold")
    let products = try world.store.fetch(query)
    #expect(try world.store.fetch(decoded) == products)
    #expect(try world.store.fetch(try #require(kept)) == products)
    let dynamic = try world.store.fetch(
      record: "SaleProduct",
      sortedBy: [
        FieldOrder(try FieldExpression(parsing: "lines.sum(quantity)"), isDescending: true),
        FieldOrder(field: "name"),
      ])
    #expect(try dynamic.map { try $0["id"].as(Int.self) } == products.map(\.id))
  }

  @Test func `overflow, division by zero and inexact decimals are errors, and nothing traps`()
    throws
  {
    let store = try Self.store([
      ExtremeNumbers(
        id: .max, small: .min, large: .max, number: .min, weight: .greatestFiniteMagnitude,
        ratio: .greatestFiniteMagnitude, price: .greatestFiniteMagnitude)
    ])
    let all = Query<ExtremeNumbers>()
    #expect(Self.isRefused { try store.select(from: all) { $0.id * 2 } })
    #expect(Self.isRefused { try store.select(from: all) { -$0.number } })
    #expect(Self.isRefused { try store.select(from: all) { $0.id / ($0.id - $0.id) } })
    #expect(Self.isRefused { try store.select(from: all) { $0.id % ($0.id - $0.id) } })
    #expect(Self.isRefused { try store.select(from: all) { $0.small * 2 } })
    #expect(Self.isRefused { try store.select(from: all) { $0.large + 1 } })
    #expect(Self.isRefused { try store.select(from: all) { $0.weight * 2 } })
    #expect(Self.isRefused { try store.select(from: all) { $0.price * 10 } })
    #expect(Self.isRefused { try store.select(from: all) { $0.price + Decimal(1) } })
    #expect(Self.isRefused { try store.sum(of: all) { $0.id * $0.id * $0.id } })
    #expect(Self.isRefused { try store.sum(of: all) { $0.large + 0 } })
    #expect(Self.isRefused { try store.fetch(all.sorted(by: .ascending { $0.weight * 10 })) })
    #expect(Self.isRefused { try store.fetch(all.grouped { $0.id * 2 }) })
    // In a condition, a computation without a result is null.
    #expect(try store.count(ExtremeNumbers.where { $0.id / ($0.id - $0.id) == 1 }) == 0)
    #expect(try store.select(from: all) { $0.large - 1 } == [UInt64.max - 1])
    #expect(try store.select(from: all) { $0.ratio * 1 } == [Float.greatestFiniteMagnitude])
    #expect(try store.select(from: all) { $0.number + 1 } == [Int.min + 1])
    #expect(try store.average(of: all) { $0.number * 1 } == Double(Int.min))
  }

  @Test func `nil and what is no number are left out of sums of expressions`() throws {
    let store = try Self.store([
      ExtremeNumbers(id: 0, number: nil, weight: 1), ExtremeNumbers(id: 1, number: 5, weight: 2),
      ExtremeNumbers(id: 2, number: 7, weight: .nan),
    ])
    let all = Query<ExtremeNumbers>()
    #expect(try store.select(from: all) { $0.number * 2 } == [nil, 10, 14])
    #expect(try store.sum(of: all) { $0.number * 2 } == 24)
    #expect(try store.average(of: all) { $0.number * 2 } == 12)
    #expect(try store.max(of: all) { $0.weight * 2 } == 4)
    #expect(try store.min(of: all) { $0.weight } == 1)
    let groups = try store.fetch(all.grouped { $0.number * 2 }.computing(.sum { $0.weight }))
    #expect(groups.map(\.key) == [nil, 10, 14])
    #expect(groups.map(\.value)[0] == 1)
    #expect(groups.map(\.value)[2].isNaN)
  }

  @Test func `parts of dates are those of the calendar`() throws {
    var random = SplitMix64(seed: 44)
    let days = (0..<400).map { _ in Double.random(in: -12e9...60e9, using: &random) }
    let edges: [Double] = [0, -1, -0.5, 86_399.999, 5_097_600, 5_184_000, -978_307_200]
    let records = (edges + days).enumerated().map { id, seconds in
      ExtremeNumbers(id: id, day: Date(timeIntervalSinceReferenceDate: seconds))
    }
    let store = try Self.store(records)
    for minutes in [0, 90, -480] {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = try #require(TimeZone(secondsFromGMT: minutes * 60))
      let offset = UTCOffset.minutes(minutes)
      let all = Query<ExtremeNumbers>()
      let dates = try store.select(from: all) {
        ($0.day.year(in: offset), $0.day.month(in: offset), $0.day.day(in: offset))
      }
      let times = try store.select(from: all) {
        ($0.day.weekday(in: offset), $0.day.hour(in: offset))
      }
      for (record, (date, time)) in zip(records, zip(dates, times)) {
        let parts = calendar.dateComponents(
          [.year, .month, .day, .weekday, .hour], from: record.day)
        let found: [Int?] = [date.0, date.1, date.2, time.0, time.1]
        let expected = [parts.year, parts.month, parts.day, parts.weekday, parts.hour]
        #expect(found == expected, "\(record.day) \(minutes)")
      }
    }
    let far = try Self.store([
      ExtremeNumbers(id: 0, day: Date(timeIntervalSinceReferenceDate: 1e300))
    ])
    #expect(Self.isRefused { try far.select(from: Query<ExtremeNumbers>()) { $0.day.year() } })
    #expect(
      Self.isRefused {
        try store.select(from: Query<ExtremeNumbers>()) {
          $0.day.hour(in: UTCOffset.minutes(Int.min))
        }
      })
  }

  @Test func `ranges begin at the highest multiple that is not above a value`() throws {
    let store = try Self.store(
      [-11, -10, -1, 0, 9, 10].map { number in
        ExtremeNumbers(
          id: number, weight: Double(number), price: Decimal(number) / 10,
          day: Date(timeIntervalSinceReferenceDate: Double(number)), name: "né\(number)")
      })
    let all = Query<ExtremeNumbers>()
    #expect(try store.select(from: all) { $0.id.bucket(of: 10) } == [-20, -10, -10, 0, 0, 10])
    #expect(try store.select(from: all) { $0.weight.bucket(of: 10) } == [-20, -10, -10, 0, 0, 10])
    #expect(try store.select(from: all) { $0.price.bucket(of: 1) } == [-2, -1, -1, 0, 0, 1])
    #expect(
      try store.select(from: all) { $0.day.bucket(of: 10) }.map(\.timeIntervalSinceReferenceDate)
        == [-20, -10, -10, 0, 0, 10])
    #expect(try store.select(from: all) { $0.name.prefix(2) } == Array(repeating: "né", count: 6))
    #expect(Self.isRefused { try store.select(from: all) { $0.id.bucket(of: 0) } })
    #expect(Self.isRefused { try store.select(from: all) { $0.weight.bucket(of: -.infinity) } })
    #expect(Self.isRefused { try store.select(from: all) { $0.name.prefix(-1) } })
  }

  @Test(arguments: [
    ("month(day)", "month(day)"), ("hour(day, \"+05:30\")", "hour(day, \"+05:30\")"),
    ("year(day, \"-00:00\")", "year(day)"), ("prefix(name, 2)", "prefix(name, 2)"),
    ("bucket(price, decimal\"0.5\")", "bucket(price, decimal\"0.5\")"),
    ("price * (1 - 2)", "(price * (1 - 2))"), ("month", "month"),
  ])
  func `functions are read from text and written as it`(text: String, written: String) throws {
    let expression = try FieldExpression(parsing: text)
    #expect("\(expression)" == written)
    #expect(try FieldExpression(parsing: written) == expression)
    let condition = try FieldCondition(parsing: "\(text) == 1")
    #expect(try FieldCondition(parsing: "\(condition)") == condition)
  }

  @Test(arguments: [
    "month(day, 5)", "month(day, \"+25\")", "prefix(name)", "prefix(name, \"a\")", "bucket(price)",
    "second(day)", "length(name, 1)", "month()", "price >", "price == 1",
  ])
  func `what is no expression says where`(text: String) {
    #expect(throws: ConditionSyntaxError.self) { try FieldExpression(parsing: text) }
  }
}

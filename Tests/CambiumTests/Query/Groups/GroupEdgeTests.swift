import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Numbers of every width, in the primary key and beside it.
private struct Measure: Record, Equatable {
  var place: Int8
  var device: UInt32
  var number: UInt64
  var count: Int
  var big: UInt64
  var ratio: Float
  var weight: Double?
  var text: String
  var flag: Bool

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(name: "place", type: .int8)
    Field(name: "device", type: .uint32)
    Field(name: "number", type: .uint64)
    Field(name: "count", type: .integer)
    Field(name: "big", type: .uint64)
    Field(name: "ratio", type: .float)
    Field(name: "weight", type: .double, optional: true)
    Field(name: "text", type: .string)
    Field(name: "flag", type: .boolean)
    PrimaryKey("place", "device", "number")
  }

  init(
    _ place: Int8, _ device: UInt32, _ number: UInt64, count: Int = 0, big: UInt64 = 0,
    ratio: Float = 0, weight: Double? = nil, text: String = "", flag: Bool = false
  ) {
    (self.place, self.device, self.number) = (place, device, number)
    (self.count, self.big, self.ratio, self.weight) = (count, big, ratio, weight)
    (self.text, self.flag) = (text, flag)
  }
}

/// Groups and sums at the edges of what numbers and keys are.
@Suite struct GroupEdgeTests {
  private func store(_ measures: [Measure]) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Measure.self]))
    try store.save(contentsOf: measures)
    return store
  }

  private static let all = Query<Measure>()

  private func isRefused<Result>(_ body: () throws -> Result) -> Bool {
    guard case .invalidQuery = storeError({ _ = try body() }) else { return false }
    return true
  }

  @Test func `each part of a primary key makes groups, and can be computed with`() throws {
    var measures: [Measure] = []
    for place in [.min, -1, 0, 1, .max] as [Int8] {
      for device in [0, 1, 1 << 31, .max] as [UInt32] {
        for number in [0, 1 << 63, .max] as [UInt64] {
          measures.append(Measure(place, device, number, count: measures.count))
        }
      }
    }
    let store = try store(measures)
    let places = try store.fetch(Self.all.grouped(by: \.place).computing(.sum(\.count)))
    #expect(places.map(\.key) == [.min, -1, 0, 1, .max])
    let byPlace = Dictionary(grouping: measures, by: \.place)
    #expect(places.map(\.value) == places.map { byPlace[$0.key]?.map(\.count).reduce(0, +) ?? 0 })
    let numbers = try store.fetch(Self.all.grouped(by: \.number))
    #expect(numbers.map(\.key) == [0, 1 << 63, .max] && numbers.allSatisfy { $0.count == 20 })
    let both = try store.fetch(Self.all.grouped { ($0.device, $0.place) })
    #expect(both.count == 20 && both[0].key == (0, .min) && both[19].key == (.max, .max))
    let products = Set(measures.map { Int($0.place) * Int($0.device) })
    for (text, count) in [
      ("place + 1", 5), ("device + 1", 4), ("number + 1 - 1", 3),
      ("place * device", products.count),
    ] {
      let columns = GroupColumns(keys: [try FieldExpression(parsing: text)], aggregates: [.count])
      let found = try store.group(record: "Measure", by: columns)
      #expect(found.count == count && found.map(\.count).reduce(0, +) == 60, "\(text)")
    }
    let wide = GroupColumns(keys: [try FieldExpression(parsing: "number * 2")], aggregates: [])
    #expect(isRefused { try store.group(record: "Measure", by: wide) })
  }

  @Test func `sums beyond 64 bits are refused, and are no trap on the way`() throws {
    let store = try store([
      Measure(0, 0, 0, count: .max, big: .max), Measure(0, 0, 1, count: 1, big: .max),
      Measure(0, 0, 2, count: .min, big: 2), Measure(1, 0, 0, count: 3, big: 1 << 63),
    ])
    let sums = try store.fetch(
      Self.all.grouped(by: \.place).computing(
        .sum(\.count), .average(\.count), .sum { $0.count - 1 + 1 }))
    #expect(sums.map(\.value.0) == [0, 3] && sums.map(\.value.2) == [0, 3])
    #expect(sums.map(\.value.1) == [0, 3])
    // No group of the result has the sum, but it is one that is computed.
    #expect(isRefused { try store.fetch(Self.all.grouped(by: \.place).computing(.sum(\.big))) })
    #expect(
      isRefused {
        try store.fetch(
          Self.all.grouped(by: \.place).computing(.sum(\.big)).sorted(by: .descendingByKey)
            .limit(1))
      })
    #expect(isRefused { try store.sum(of: Self.all) { $0.count / ($0.count - $0.count) } })
    let wide = try store.fetch(
      Self.all.grouped(by: \.place).computing(.max { $0.count * $0.count / $0.count }))
    #expect(wide.map(\.value) == [.max, 3])
    let conditions: [(String, Int)] = [
      ("count * count > count", 3), ("count + count == count * 2", 4), ("0 - count < 0", 3),
      ("count - 1 < count", 4), ("big * big >= big", 2),
    ]
    for (text, count) in conditions {
      let condition = try FieldCondition(parsing: text)
      #expect(try store.count(record: "Measure", where: condition) == count, "\(text)")
    }
  }

  @Test func `zeros of both signs are one group, NaN is one, and both are in sums`() throws {
    let nan = -Double.nan
    let weights: [Double?] = [0.0, -0.0, nil, .nan, nan, .infinity, -.infinity, 1, nil, -0.0]
    let store = try store(
      weights.enumerated().map { place, weight in
        Measure(0, 0, UInt64(place), ratio: Float(weight ?? -0.0), weight: weight)
      })
    let groups = try store.fetch(Self.all.grouped(by: \.weight).computing(.count(of: \.weight)))
    #expect(groups.map(\.count) == [2, 1, 3, 1, 1, 2])
    #expect(groups.map(\.value) == [0, 1, 3, 1, 1, 2])
    #expect(groups[0].key == nil && groups[2].key == 0 && groups[5].key?.isNaN == true)
    let finite = try FieldCondition(parsing: "number != 5 && number != 6")
    let product = GroupColumns(keys: [try FieldExpression(parsing: "weight * 1")], aggregates: [])
    let computed = try store.group(record: "Measure", where: finite, by: product)
    #expect(computed.map(\.count) == [4, 3, 1] && computed.map { $0.key[0] } == [nil, 0.0, 1.0])
    let zeros = Self.all.where { $0.number == 1 || $0.number == 9 }
    #expect(try store.sum(\.weight, of: zeros).sign == .plus)
    #expect(try store.fetch(zeros.grouped(by: \.place).computing(.sum(\.weight)))[0].value == 0)
    let all = try store.fetch(
      Self.all.grouped(by: \.place).computing(.sum(\.weight), .min(\.weight), .max(\.ratio)))
    #expect(all[0].value.0.isNaN && all[0].value.1 == -.infinity && all[0].value.2 == .infinity)
    // A value that is not finite has no result, and is no error.
    let doubled = try store.fetch(
      Self.all.grouped(by: \.place).computing(.sum { $0.weight * 2 }, .count(of: { $0.weight * 2 }))
    )
    #expect(doubled[0].value == (2, 4))
  }

  @Test func `strings with one beginning, empty ones and flags are groups of their own`() throws {
    let texts = [
      "", "a", "a\u{0}", "a\u{0}a", "aa", "e\u{301}", "\u{e9}", String(repeating: "a", count: 300),
    ]
    let measures = texts.enumerated().flatMap { place, text in
      (0...place).map { Measure(0, UInt32(place), UInt64($0), text: text, flag: $0 % 2 == 1) }
    }
    let store = try store(measures)
    let groups = try store.fetch(Self.all.grouped(by: \.text))
    let expected = texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(groups.map { Array($0.key.utf8) } == expected.map { Array($0.utf8) })
    #expect(
      groups.map(\.count)
        == expected.map { text in 1 + (texts.firstIndex { $0.utf8.elementsEqual(text.utf8) } ?? 0) }
    )
    let flags = try store.fetch(
      Self.all.grouped { ($0.text, $0.flag) }.computing(.countDistinct(\.device), .min(\.text)))
    #expect(flags.count == 2 * texts.count - 1)
    #expect(flags.allSatisfy { $0.value.0 == 1 && $0.value.1 == $0.key.0 })
    #expect(flags.map(\.count).reduce(0, +) == measures.count)
  }

  @Test func `the first groups in an order are the same as those of all in it`() throws {
    var random = SplitMix64(seed: 11)
    let store = try store(
      (0..<2_000).map { number in
        Measure(
          Int8(random.next() % 5), UInt32(random.next() % 700), number,
          count: Int(random.next() % 4), weight: random.next() % 5 == 0 ? nil : Double(number % 7))
      })
    let query = Self.all.grouped(by: \.device).computing(.sum(\.count), .max(\.weight))
      .sorted(by: .descending(.max(\.weight)), .ascending(.sum(\.count)), .descendingByKey)
    let all = try store.fetch(query)
    #expect(all.count > 300)
    for (limit, offset) in [(0, 0), (1, 0), (10, 3), (256, 0), (250, 7), (300, 1), (9_999, 2)] {
      let some = try store.fetch(query.limit(limit).offset(offset))
      #expect(some.map(\.key) == all.dropFirst(offset).prefix(limit).map(\.key))
      #expect(some.map(\.value.0) == all.dropFirst(offset).prefix(limit).map(\.value.0))
    }
  }
}

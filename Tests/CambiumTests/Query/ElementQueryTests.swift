import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record with few values, whose array is a part of indexes in every place.
private struct Basket: Record, Hashable {
  var id: Int8
  var fruits: [Int8]?
  var day: Int8 = 0
  var eggs: [Int8] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .int8)
    Field(name: "fruits", type: .array(of: .int8), optional: true)
    Field(name: "day", type: .int8)
    Field(name: "eggs", type: .array(of: .int8))
    Index(.elements("fruits"))
    Index(.elements("fruits"), .descending("day"))
    Index("day", .elements("fruits"))
    Index(.elements("fruits"), named: "late", where: .comparison(field: "day", .greater, 0))
    Unique(.elements("eggs"))
  }

  /// Every array of at most three of the numbers, none, and null.
  static let all: [Basket] = {
    var arrays: [[Int8]] = [[]]
    for length in 0..<3 {
      for array in arrays where array.count == length {
        for number in 0..<3 as Range<Int8> { arrays.append(array + [number]) }
      }
    }
    var baskets: [Basket] = []
    for fruits in [nil] + arrays.map({ Optional($0) }) {
      let id = Int8(baskets.count)
      let eggs = id % 4 == 0 ? [] : [id, id, -id]
      baskets.append(Basket(id: id, fruits: fruits, day: id % 3, eggs: eggs))
    }
    return baskets
  }()
}

/// A condition, and what it says of a basket.
private struct Wanted {
  let condition: FieldCondition
  let holds: (Basket) -> Bool

  static func fruit(_ number: Int8) -> Wanted {
    Wanted(condition: .contains(field: "fruits", .integer(Int64(number)))) {
      $0.fruits?.contains(number) ?? false
    }
  }

  static func egg(_ number: Int8) -> Wanted {
    Wanted(condition: .contains(field: "eggs", .integer(Int64(number)))) {
      $0.eggs.contains(number)
    }
  }

  static var days: [Wanted] {
    [
      Wanted(condition: .comparison(field: "day", .equal, 1)) { $0.day == 1 },
      Wanted(condition: .comparison(field: "day", .greater, 0)) { $0.day > 0 },
      Wanted(condition: .comparison(field: "day", .lessOrEqual, 1)) { $0.day <= 1 },
      Wanted(condition: .isIn(field: "day", [0, 2])) { $0.day != 1 },
    ]
  }

  static func && (one: Wanted, other: Wanted) -> Wanted {
    Wanted(condition: .and([one.condition, other.condition])) { one.holds($0) && other.holds($0) }
  }

  static func || (one: Wanted, other: Wanted) -> Wanted {
    Wanted(condition: .or([one.condition, other.condition])) { one.holds($0) || other.holds($0) }
  }

  static prefix func ! (one: Wanted) -> Wanted {
    Wanted(condition: .not(one.condition)) { !one.holds($0) }
  }
}

@Suite struct ElementQueryTests {
  private let store: PersistentStore
  private let record: Entity
  private let trees: TreeAccess

  init() throws {
    store = try PersistentStore(inMemory: StoreModel(records: [Basket.self]))
    try store.save(contentsOf: Basket.all)
    record = try store.entities.entity(named: "Basket")
    trees = try store.snapshot().trees
  }

  private static var wanted: [Wanted] {
    let fruits = (0..<4 as Range<Int8>).map(Wanted.fruit)
    let one = fruits + fruits.map(!) + Wanted.days + [.egg(5), .egg(-7), .egg(99)]
    var all = one
    for first in fruits + [.egg(5)] {
      for second in one {
        all += [first && second, first || second]
        for third in Wanted.days { all += [first && second && third, (first || second) && third] }
      }
    }
    return all
  }

  @Test func `every small query of elements has the answer of plain arrays, by every plan`() throws
  {
    let orders: [([FieldOrder], (Basket, Basket) -> Bool)] = [
      ([], { $0.id < $1.id }),
      ([FieldOrder(field: "id", isDescending: true)], { $0.id > $1.id }),
      ([FieldOrder(field: "day")], { ($0.day, $0.id) < ($1.day, $1.id) }),
      ([FieldOrder(field: "day", isDescending: true)], { (-$0.day, $0.id) < (-$1.day, $1.id) }),
    ]
    var places: [String: Int] = [:]
    let all = Self.wanted
    for place in stride(from: 0, to: all.count, by: scaled(1, debug: 29)) {
      let wanted = all[place]
      for (order, isBefore) in orders {
        let expected = Basket.all.filter(wanted.holds).sorted(by: isBefore)
        let start = Basket.all[17]
        let behind = expected.filter { isBefore(start, $0) }
        var query = FieldQuery(condition: wanted.condition, order: order)
        try compare(query, expected, &places)
        query.limit = 3
        query.offset = 1
        try compare(query, Array(expected.dropFirst().prefix(3)), &places)
        query.after = .key([.integer(Int64(start.id))])
        try compare(query, Array(behind.dropFirst().prefix(3)), &places)
      }
    }
    // Every index was a plan often enough, alone and with others.
    for name in ["elements(fruits)", "elements(fruits), day descending", "day, elements(fruits)"] {
      #expect(places["index \(name) in one range"] ?? 0 > 10)
    }
    #expect(places["index late in one range"] ?? 0 > 10)
    #expect(places["index elements(eggs) in one range"] ?? 0 > 10)
    #expect(places["index day, elements(fruits) in 2 ranges"] ?? 0 > 10)
    #expect(places.keys.contains { $0.hasPrefix("intersection of index elements(fruits)") })
    #expect(places.keys.contains { $0.hasPrefix("union of index elements(fruits)") })
  }

  private func compare(
    _ query: FieldQuery, _ expected: [Basket], _ places: inout [String: Int]
  ) throws {
    let runner = QueryRunner(record, in: RecordReader(entities: store.entities, trees: trees))
    let (_, candidates) = try runner.planner().candidates(query, for: .records)
    for forced in candidates.indices {
      let found = try runner.find(query, forced: forced)
      var ids: [Int8] = []
      while try found.next() {
        ids.append(Int8(truncatingIfNeeded: Int(found.key.array()[0]) - 128))
      }
      let access = runner.text(of: found.plan.access)
      try agree(ids == expected.map(\.id), "\(query) by \(access): \(ids)")
      places[access, default: 0] += 1
    }
    try agree(try runner.count(query) == expected.count, "the count of \(query)")
  }

  @Test func `a count of one element is the size of a range`() throws {
    let query = FieldQuery(condition: .contains(field: "fruits", 1))
    let reader = RecordReader(entities: store.entities, trees: trees)
    let plan = try QueryPlanner(record, in: reader).plan(query, for: .keysInAnyOrder)
    guard case .index(_, let ranges) = plan.access else {
      Issue.record("\(plan.access)")
      return
    }
    #expect(plan.isExact && ranges.count == 1)
    #expect(plan.estimate == Basket.all.count { $0.fruits?.contains(1) ?? false })
  }

  @Test func `the text of a condition uses the index as its closure does`() throws {
    let model = StoreModel(records: [Named.self])
    let store = try PersistentStore(inMemory: model)
    try store.save(contentsOf: (0..<100).map { Named(id: $0, names: ["n\($0 % 50)", "m"]) })
    let closure = Named.where { $0.names.contains("n3") }
    let text = Named.where(Condition(try FieldCondition(parsing: "names contains \"n3\"")))
    for query in [closure, text] {
      #expect(try store.count(query) == 2)
      #expect(try store.explain(query).access == "index elements(names) in one range")
    }
    // Part of an element is none.
    #expect(try store.count(Named.where { $0.names.contains("n") }) == 0)
    let other = try store.explain(Named.where { $0.id > 3 })
    #expect(
      "\(other)".contains(
        "not index elements(names): the condition asks for no element of its array"))
  }

  private struct Named: Record {
    var id: Int
    var names: [String]
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "names", type: .array(of: .string))
      Index(.elements("names"))
    }
  }
}

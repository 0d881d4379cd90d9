import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Conditions, orders and names that are nested deep are answered or refused, also on a thread with little stack.
@Suite struct ConditionDepthTests {
  private static func library() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: .library)
    try store.write { transaction in
      try transaction.save(Poet(id: "a", name: "a"))
      for id in 0..<4 {
        try transaction.save(
          Poem(
            id: id, name: "p", year: id, poet: Reference("a"), sequel: Reference((id + 1) % 4)))
      }
    }
    return store
  }

  /// Finds poems by a condition in each way that a text can come to a store; nil if it was refused.
  private static func find(_ text: String, in store: PersistentStore) throws -> [Int]? {
    do {
      let condition = try FieldCondition(parsing: text)
      let found = try store.fetch(record: "Poem", where: condition)
      let typed = try store.fetch(Poem.where(Condition(condition))).map(\.id)
      #expect(found.count == typed.count)
      _ = try store.explain(record: "Poem", where: condition)
      _ = condition.description
      return typed
    } catch is ConditionSyntaxError {
      return nil
    } catch StoreError.invalidQuery {
      return nil
    }
  }

  private static func repeated(_ start: String, _ middle: String, _ end: String, _ n: Int) -> String
  {
    String(repeating: start, count: n) + middle + String(repeating: end, count: n)
  }

  private static let shapes: [(start: String, middle: String, end: String)] = [
    ("sequel.", "year >= 0", ""), ("sequel.", "any(year >= 0)", ""),
    ("sequel.", "poet.name == \"a\"", ""), ("sequel.", "count() >= 0", ""),
    ("sequel.any(", "year >= 0", ")"), ("prequel.any(", "year >= 0", ")"),
    ("prequel.all(", "year >= 0", ")"), ("prequel.none(", "year >= 0", ")"),
    ("prequel.count(", "year >= 0", ") > 0"), ("poet.poems.count(", "year >= 0", ") > 0"),
    ("poet.poems.any(", "year >= 0", ")"), ("poet.poems.sum(year, ", "year >= 0", ") > 0"),
    ("prequel.maximum(year, ", "year >= 0", ") > 0"), ("(", "year >= 0", ")"),
    ("!(", "year >= 0", ")"),
    ("!", "(year >= 0)", ""), ("-(", "year", ") > 0"), ("all(", "year >= 0", ")"),
    ("year > -1 && (year < 9 || ", "year >= 0", ")"), ("year + (", "year", ") > 0"),
    ("not not ", "(year >= 0)", ""), ("lowercased(", "title", ") == \"p\""),
    ("[", "1", "]"), ("year in [", "1", "]"), ("{\"a\": ", "1", "}"),
    ("(year ?? ", "year", ") >= 0"),
  ]

  @Test(arguments: shapes.indices)
  func `a condition is answered or refused however deep it is nested`(_ shape: Int) throws {
    let (start, middle, end) = Self.shapes[shape]
    let store = try Self.library()
    let counts = try onSmallStack {
      try [1, 3, 8, 20, 24, 25, 40, 60, 80, 99, 100, 101, 150, 200, 400, 2_000, 20_000].map {
        n -> Int? in
        try Self.find(Self.repeated(start, middle, end, n), in: store)?.count
      }
    }
    #expect(counts[counts.count - 1] == nil)
    #expect(!start.hasPrefix("sequel") || counts[1] != nil)
  }

  @Test func `an order over many references is answered or refused`() throws {
    let store = try Self.library()
    try onSmallStack {
      for count in [1, 10, 24, 25, 200, 20_000] {
        let name = String(repeating: "sequel.", count: count) + "year"
        do {
          let found = try store.fetch(record: "Poem", sortedBy: [FieldOrder(field: name)])
          #expect(found.count == 4 && count <= 24)
        } catch StoreError.invalidQuery {
          #expect(count > 24)
        }
        do {
          _ = try store.fetch(
            record: "Poem", where: .comparison(field: name, .greaterOrEqual, .integer(0)))
          #expect(count <= 24)
        } catch StoreError.invalidQuery {
          #expect(count > 24)
        }
      }
    }
  }

  @Test func `a decoded condition is bounded as its text is`() throws {
    try onSmallStack {
      for (start, middle, end) in Self.shapes {
        let text = Self.repeated(start, middle, end, 20_000)
        #expect(throws: (any Error).self) {
          let json = try JSONEncoder().encode([text])
          let conditions = try JSONDecoder().decode([Condition<Poem>].self, from: json)
          _ = try Self.library().fetch(Poem.where(conditions[0]))
        }
      }
    }
  }

  @Test func `a text of more than 16 MiB is refused`() {
    let text = "year > 1" + String(repeating: " ", count: 16 << 20)
    #expect(throws: ConditionSyntaxError.self) { try FieldCondition(parsing: text) }
  }

  @Test func `a condition made by hand is refused if it is nested deep`() throws {
    let store = try Self.library()
    let leaf = FieldCondition.comparison(field: "year", .greater, .integer(0))
    let makes: [@Sendable (FieldCondition) -> FieldCondition] = [
      { .not($0) }, { .and([$0]) }, { .or([$0, $0]) }, { .any(relation: "sequel", $0) },
      { .computed(.count(relation: "prequel", where: $0), .greater, .value(.integer(0))) },
    ]
    try onSmallStack {
      for make in makes {
        var condition = leaf
        for _ in 0..<1_000 { condition = make(condition) }
        #expect(throws: StoreError.self) {
          _ = try store.fetch(record: "Poem", where: condition)
        }
        #expect(throws: StoreError.self) {
          _ = try store.fetch(Poem.where(Condition(condition)))
        }
        #expect(condition.description == "(nested too deep)")
      }
    }
  }

  @Test func `a condition that was joined with itself again and again is refused`() throws {
    let store = try Self.library()
    try onSmallStack {
      var condition = FieldCondition.comparison(field: "year", .greater, .integer(0))
      var sum = FieldExpression.field("year")
      var typed = Condition<Poem> { $0.year > 0 }
      for _ in 0..<45 {
        condition = .and([condition, condition])
        sum = .arithmetic(sum, .plus, sum)
        typed = typed || typed
      }
      for condition in [condition, .computed(sum, .greater, .value(.integer(0)))] {
        #expect(throws: StoreError.self) {
          _ = try store.fetch(record: "Poem", where: condition)
        }
        #expect(throws: StoreError.self) {
          _ = try store.fetch(Poem.where(Condition(condition)))
        }
        #expect(condition.description == "(nested too deep)")
      }
      #expect(throws: StoreError.self) { _ = try store.fetch(Poem.where(typed)) }
      #expect(typed.description == "(nested too deep)")
    }
  }

  @Test func `a condition is joined with itself in no time, however often`() throws {
    let store = try Self.library()
    let joins: [(Condition<Poem>, Condition<Poem>) -> Condition<Poem>] = [
      { $0 || $1 }, { $0 && $1 },
    ]
    for join in joins {
      var condition = Condition<Poem> { $0.year > 0 }
      let time = threadTime {
        for _ in 0..<200 { condition = join(condition, condition) }
      }
      #expect(time < .seconds(scaled(2, debug: 20)))
      #expect(condition.description == "(nested too deep)")
      #expect(throws: StoreError.self) { _ = try store.fetch(Poem.where(condition)) }
    }
  }

  @Test func `a condition that was joined with itself is compared and hashed in no time`() {
    func joined(_ count: Int) -> Condition<Poem> {
      var condition = Condition<Poem> { $0.year > 0 }
      for _ in 0..<count { condition = condition && condition }
      return condition
    }
    let time = threadTime {
      for count in [0, 1, 8, 25, 49] {
        #expect(Set([joined(count), joined(count)]).count == 1, "\(count)")
      }
    }
    #expect(time < .seconds(scaled(10, debug: 60)))
    #expect(joined(1) != joined(2) && joined(2) != joined(49))
    // However it was made.
    let pair = Condition<Poem> { $0.year > 0 && $0.id < 9 }
    let fields: [FieldCondition] = [
      .comparison(field: "year", .greater, .integer(0)),
      .comparison(field: "id", .less, .integer(9)),
    ]
    #expect(pair == Condition<Poem>(.and(fields)))
  }

  /// A predicate as `#Predicate` makes it, of as many negations.
  private static func negations(_ count: Int) -> Predicate<Poem> {
    func negated(
      _ expression: some StandardPredicateExpression<Bool>
    ) -> any StandardPredicateExpression<Bool> {
      PredicateExpressions.build_Negation(expression)
    }
    return Predicate<Poem> { poem in
      var expression: any StandardPredicateExpression<Bool> = PredicateExpressions.build_Equal(
        lhs: PredicateExpressions.build_KeyPath(
          root: PredicateExpressions.build_Arg(poem), keyPath: \.year),
        rhs: PredicateExpressions.build_Arg(2))
      for _ in 0..<count { expression = negated(expression) }
      return expression
    }
  }

  @Test func `a predicate made by code is refused if it is nested deep`() throws {
    let store = try Self.library()
    try onSmallStack {
      for count in [0, 1, 30, 90, 110, 400] {
        do {
          let found = try store.fetch(Poem.where(Condition(Self.negations(count))))
          #expect(count <= 90 && found.count == (count % 2 == 0 ? 1 : 3))
        } catch StoreError.invalidQuery {
          #expect(count > 90)
        }
      }
    }
  }
}

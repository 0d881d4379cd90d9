@_spi(_Unicode) import Swift
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What one query takes is linear in what it reads, or ends with its budget.
@Suite struct QueryBudgetTests {
  /// A store of `count` poems by `poets` poets.
  private static func library(
    _ count: Int, poets: Int = 3, budget: QueryBudget? = nil, nameLength: Int = 1
  ) throws -> PersistentStore {
    var options = StoreOptions()
    options.queryBudget = budget
    let store = try PersistentStore(inMemory: .library, options: options)
    try store.write { transaction in
      for poet in 0..<poets { try transaction.save(Poet(id: "\(poet)", name: "n")) }
      for id in 0..<count {
        try transaction.save(
          Poem(
            id: id, name: String(repeating: "p", count: nameLength) + "\(id)", year: id % 7,
            poet: Reference("\(id % poets)")))
      }
    }
    return store
  }

  private static func nested(
    _ start: String, _ middle: String, _ end: String, _ levels: Int
  ) throws -> FieldCondition {
    try FieldCondition(
      parsing: String(repeating: start, count: levels) + middle
        + String(repeating: end, count: levels))
  }

  @Test(arguments: [
    ("poet.poems.count(", "year >= 0", ") > 0"), ("poet.poems.any(", "year > 99", ")"),
    ("poet.poems.sum(year, ", "year >= 0", ") > 0"),
    ("poet.poems.sum(year + id, ", "year >= 0", ") > -1"),
    ("poet.poems.maximum(year, ", "year >= 0", ") > 0"),
    ("poet.poems.minimum(year, ", "year >= 0", ") >= 0"),
    ("poet.poems.all(", "year >= 0", ")"), ("!poet.poems.none(", "year >= 0", ")"),
    // These are not found from the other end.
    ("poet.poems.count(", "year >= 0", ") >= 0"), ("poet.poems.count(", "year > 99", ") > id * 0"),
    ("id < 0 || poet.poems.any(", "year >= 0", ")"),
  ])
  func `nested conditions take time with the sum of their levels`(
    start: String, middle: String, end: String
  ) throws {
    // Without what is known of a record, ten levels would read 20 to the power of ten.
    let store = try Self.library(60, budget: QueryBudget(rows: 100_000))
    let expected = middle == "year > 99" ? 0 : 60
    for levels in [1, 4, 10] {
      let condition = try Self.nested(start, middle, end, levels)
      #expect(try store.count(record: "Poem", where: condition) == expected)
      #expect(
        try store.snapshot().fetch(record: "Poem", where: condition).count == expected)
      let (before, after) = try store.write { transaction in
        let before = try transaction.count(record: "Poem", where: condition)
        try transaction.save(Poem(id: 0, name: "changed", year: 0, poet: Reference("0")))
        return (before, try transaction.count(record: "Poem", where: condition))
      }
      #expect(before == expected && after == expected)
    }
  }

  @Test(arguments: ["maximum", "minimum"])
  func `nested aggregates of long strings take time with the sum of their levels`(
    aggregate: String
  ) throws {
    let store = try Self.library(60, budget: QueryBudget(rows: 100_000), nameLength: 200)
    for levels in [1, 4, 10] {
      let text =
        String(repeating: "poet.poems.\(aggregate)(", count: levels) + "title"
        + String(repeating: ")", count: levels) + " > \"p\""
      let condition = try FieldCondition(parsing: text)
      #expect(try store.count(record: "Poem", where: condition) == 60)
    }
  }

  @Test func `a long text that almost matches everywhere is looked for in linear time`() {
    func seconds(_ length: Int) -> Duration {
      let text = String(repeating: "a", count: length)
      let bytes = Array(String(repeating: "A", count: 2 * length).utf8)
      let matcher = TextMatcher(TextMatch(.contains, text + "b", [.caseInsensitive]))
      let found = TextMatcher(TextMatch(.contains, text, [.caseInsensitive]))
      let times = (0..<3).map { _ in
        threadTime {
          let results = (matcher.matches(bytes.rawSpan), found.matches(bytes.rawSpan))
          #expect(results.0 == false && results.1 == true)
        }
      }
      return times.min() ?? .zero
    }
    _ = seconds(100)
    let times = [20_000, 80_000].map { seconds($0) }
    #expect(times[1] < times[0] * 10, "\(times)")
  }

  @Test func `a pattern is refused if matching it would take too long for each byte`() throws {
    let store = try Self.library(3)
    for (pattern, count) in [
      (String(repeating: "p", count: 4_000), 0), (String(repeating: "?*", count: 1_999) + "*", 0),
      ("p" + String(repeating: "*", count: 5_000), 3),
    ] {
      #expect(try store.fetch(Poem.where { $0.name.like(pattern) }).count == count)
    }
    for pattern in [
      "?" + String(repeating: "p", count: 4_000), String(repeating: "?*", count: 2_001),
    ] {
      for options in [[], .caseInsensitive] as [TextMatch.Options] {
        let error = #expect(throws: StoreError.self) {
          _ = try store.fetch(Poem.where { $0.name.like(pattern, options) })
        }
        guard case .invalidQuery? = error else {
          Issue.record("\(error.map { "\($0)" } ?? "")")
          return
        }
      }
    }
  }

  @Test func `a query ends with its budget, whatever it does`() throws {
    let store = try Self.library(2_000, budget: QueryBudget(rows: 500))
    func refused(_ body: () throws -> Void) {
      let error = #expect(throws: StoreError.self) { try body() }
      guard case .queryBudgetExceeded(let rows, _) = error else {
        Issue.record("\(error.map { "\($0)" } ?? "")")
        return
      }
      #expect((501...1_010).contains(rows))
    }
    refused { _ = try store.fetch(Poem.where { $0.year == 3 }) }
    refused { _ = try store.fetch(Poem.where { $0.year == 99 }) }
    refused { _ = try store.count(Poem.where { $0.year == 99 }) }
    refused { _ = try store.fetch(Poem.sorted(by: .descending(\.year)).limit(3)) }
    refused { _ = try store.sum(\.year, of: Poem.where { $0.year > 1 }) }
    refused {
      _ = try store.fetch(record: "Poem", where: FieldCondition(parsing: "poet.name == 'n'"))
    }
    refused { _ = try store.fetch(Poet.where { $0.poems.count { $0.year == 99 } > 1 }) }
    refused { try store.snapshot().forEach(Poem.where { $0.year == 99 }) { _ in } }
    refused { try store.write { _ = try $0.fetch(Poem.where { $0.year == 99 }) } }
    refused { try store.write { _ = try $0.delete(Poem.where { $0.year == 99 }) } }
    #expect(try store.fetch(Poem.where { $0.id < 100 }).count == 100)
    #expect(try store.count(Query<Poem>()) == 2_000)
    // No poet has the name, so that no poem is read.
    let none = try store.fetch(record: "Poem", where: FieldCondition(parsing: "poet.name == 'x'"))
    #expect(none.isEmpty)
    // Each query has a budget of its own.
    for _ in 0..<20 { #expect(try store.fetch(Poem.where { $0.id < 100 }).count == 100) }
  }

  @Test func `a query ends after its time`() throws {
    let store = try Self.library(2_000, budget: QueryBudget(duration: .zero))
    let error = #expect(throws: StoreError.self) {
      _ = try store.fetch(Poem.where { $0.year == 99 })
    }
    guard case .queryBudgetExceeded(_, let duration) = error else {
      Issue.record("\(error.map { "\($0)" } ?? "")")
      return
    }
    #expect(duration > .zero)
  }

  @Test func `a cancelled task ends a query with a budget`() async throws {
    let store = try Self.library(2_000, budget: QueryBudget())
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      // As in code of a task that calls a function which is not asynchronous.
      return try { try store.fetch(Poem.where { $0.year == 99 }).count }()
    }
    task.cancel()
    await #expect(throws: StoreError.self) { _ = try await task.value }
    #expect(try await store.fetch(Poem.where { $0.year == 99 }).isEmpty)
  }

  @Test func `conditions of many terms over a reference are linear`() throws {
    let store = try Self.library(20)
    let factor = try growth(from: 500, to: 2_000, atMost: 2.5) { count in
      let text = (0..<count).map { "poet.name != 'x\($0)'" }.joined(separator: " && ")
      let condition = try FieldCondition(parsing: text)
      return try nanoseconds(each: count) {
        let found = try store.count(record: "Poem", where: condition)
        #expect(found == 20)
      }
    }
    #expect(factor < 2.5)
  }

  @Test func `folding marks is linear in their number`() {
    for pair in ["\u{301}\u{316}", "\u{f73}", "\u{302e}\u{1d165}", "\u{1d165}\u{302e}\u{301}"] {
      let factor = growth(from: 5_000, to: 20_000, atMost: 2.5) { count in
        let text = "a" + String(repeating: pair, count: count)
        return nanoseconds(each: count) {
          #expect(TextFolding.bytes(of: text, .diacriticInsensitive).count >= 1)
        }
      }
      #expect(factor < 2.5)
    }
  }

  @Test func `long runs of marks are folded as short ones are`() {
    var random = SplitMix64(seed: 7)
    let marks = [
      "\u{301}", "\u{316}", "\u{302e}", "\u{1d165}", "\u{f73}", "\u{34f}", "e", "\u{1b44}",
    ]
    for _ in 0..<200 {
      let text = (0..<80).map { _ in marks[Int(random.next() % 8)] }.joined()
      let direct = text._nfd.filter { $0.properties.generalCategory != .nonspacingMark }
      let bytes = Array(String(String.UnicodeScalarView(direct)).utf8)
      #expect(TextFolding.bytes(of: text, .diacriticInsensitive) == bytes)
      let long = text + String(repeating: "\u{302e}\u{301}\u{1d165}", count: 40)
      let directLong = long._nfd.filter { $0.properties.generalCategory != .nonspacingMark }
      let longBytes = Array(String(String.UnicodeScalarView(directLong)).utf8)
      #expect(TextFolding.bytes(of: long, .diacriticInsensitive) == longBytes)
    }
  }

  @Test func `many words are found as few are, in linear time`() {
    func query(_ count: Int) -> (WordQuery, [UInt8]) {
      let words = (0..<count).map { $0 % 3 == 0 ? "w\($0)x*" : "w\($0)" }.joined(separator: " ")
      let text = (0..<count).map { $0 % 3 == 0 ? "w\($0)xyz" : "w\($0)" }.joined(separator: " ")
      return (WordQuery(Array(words.utf8)), Array(text.utf8))
    }
    let factor = growth(from: 1_000, to: 4_000, atMost: 2.5) { count in
      nanoseconds(each: count) {
        let (words, text) = query(count)
        #expect(Self.finds(words, text))
        #expect(!Self.finds(words, text.dropLast(3)))
      }
    }
    #expect(factor < 2.5)
    let (words, text) = query(100)
    #expect(Self.finds(words, text))
    #expect(!Self.finds(words, "w1 w2".utf8))
    #expect(Self.finds(WordQuery([]), []))
  }

  private static func finds(_ words: WordQuery, _ text: some Sequence<UInt8>) -> Bool {
    words.matches(Array(text).rawSpan)
  }
}

import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Conditions across relations that are decided by looking up related records: how much is read for them.
@Suite struct RelatedLookUpTests {
  private static let poetCount = 40
  private static let poemCount = 100

  /// A store of poets, of whom every fourth has no poems.
  private func store() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: .library)
    try store.write { transaction in
      for poet in 0..<Self.poetCount {
        try transaction.save(Poet(id: "p\(poet)", name: "P\(poet)"))
        if poet % 4 == 0 { continue }
        for number in 0..<Self.poemCount {
          let id = poet * Self.poemCount + number
          try transaction.save(
            Poem(
              id: id, name: "t", year: number % 10, poet: Reference("p\(poet)"),
              sequel: number % 10 == 0 ? Reference(id + 1) : nil))
        }
      }
    }
    return store
  }

  @Test func `any and none of an inverse read an entry of its index for each record`() throws {
    let store = try store()
    for (query, count) in [
      (Poet.where { $0.poems.none() }, 10), (Poet.where { $0.poems.any() }, 30),
      (Poet.where { $0.poems.count() > 0 }, 30),
    ] as [(Query<Poet>, Int)] {
      let plan = try store.explain(query, running: true)
      let actual = try #require(plan.actual)
      #expect(actual.resultCount == count)
      #expect(actual.rowCount == Self.poetCount, "\(plan)")
      #expect(actual.entryCount == Self.poetCount + 30, "\(plan)")
      #expect(
        plan.related.first?.hasPrefix("looking up Poet.poems of each by index poet, about") == true,
        "\(plan)")
    }
  }

  @Test func `any of an inverse ends at the first record that meets its condition`() throws {
    let plan = try store().explain(Poet.where { $0.poems.any { $0.year < 5 } }, running: true)
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == 30)
    #expect(actual.rowCount == Self.poetCount + 30, "\(plan)")
    #expect(actual.entryCount == Self.poetCount + 30, "\(plan)")
  }

  @Test func `a checked reference says that its record exists without reading it`() throws {
    let condition = Condition<Poem>(try FieldCondition(parsing: "sequel.any()"))
    let plan = try store().explain(Poem.where(condition), running: true)
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == 300)
    #expect(actual.rowCount == 30 * Self.poemCount, "\(plan)")
  }

  @Test func `a reference to a lost record leads nowhere in every plan`() throws {
    let store = try store()
    try store.write { transaction in
      try transaction.save(Poem(id: 9_000, name: "t", year: 1, poet: Reference("lost")))
      _ = try transaction.acceptMissing()
    }
    let led = Condition<Poem>(try FieldCondition(parsing: "poet.any()"))
    #expect(try store.count(Poem.where(led)) == 30 * Self.poemCount)
    #expect(try store.ids(Poem.where(!led)) == [9_000])
    // By the other end, of which the lost record is one.
    #expect(try store.ids(Poet.where { $0.poems.any { $0.id == 9_000 } }) == [])
  }

  @Test func `related records that are found first are counted as read`() throws {
    let store = try store()
    let plan = try store.explain(Poem.where { $0.poet.name == "P1" }, running: true)
    #expect(plan.access == "keys of Poem.poet")
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == Self.poemCount)
    // One entry of the index of names, and those of the index of poets.
    #expect(actual.entryCount == 1 + Self.poemCount, "\(plan)")
  }

  @Test func `values of most records are computed in one scan, and are those of each`() throws {
    let store = try store()
    let sums = try FieldCondition(parsing: "poems.sum(year) > 0 && poems.maximum(year) == 9")
    let plan = try store.explain(Poet.where(Condition(sums)), running: true)
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == 30)
    // A few poets' poems are looked up before all poems are read, once for each value.
    #expect(actual.entryCount < Self.poetCount + 2 * 800, "\(plan)")
    #expect(actual.rowCount < Self.poetCount + 2 * (800 + 30 * Self.poemCount), "\(plan)")
    func values(_ rows: [(String, Int, Int, Int?)]) -> [String] { rows.map { "\($0)" }.sorted() }
    func select<Reading: RecordReading & ~Copyable>(
      _ reader: borrowing Reading
    ) throws -> [(String, Int, Int, Int?)] {
      let first = try reader.select(from: Query<Poet>()) {
        ($0.id, $0.poems.sum(\.year), $0.poems.count())
      }
      let highest = try reader.select(from: Query<Poet>()) { $0.poems.maximum(\.year) }
      return zip(first, highest).map { ($0.0, $0.1, $0.2, $1) }
    }
    func expected(without left: Int) -> [(String, Int, Int, Int?)] {
      (0..<Self.poetCount).map { poet in
        if poet % 4 == 0 { return ("p\(poet)", 0, 0, nil) }
        return ("p\(poet)", poet == left ? 450 - 9 : 450, poet == left ? 99 : 100, 9)
      }
    }
    #expect(values(try select(store)) == values(expected(without: 0)))
    try store.write { transaction in
      let before = try transaction.select(from: Query<Poet>()) { $0.poems.sum(\.year) }
      #expect(before.reduce(0, +) == 30 * 450)
      try transaction.delete(Poem.self, key: 19 * Self.poemCount + 9)
      let after = try transaction.select(from: Query<Poet>()) { $0.poems.sum(\.year) }
      #expect(after.reduce(0, +) == 30 * 450 - 9)
    }
    #expect(values(try select(store)) == values(expected(without: 19)))
  }

  @Test func `a value without a result of a record that is not queried is no error`() throws {
    let store = try store()
    try store.write { transaction in
      try transaction.save(Poem(id: 9_000, name: "t", year: -1, poet: Reference("p39")))
    }
    let order = [FieldOrder(try FieldExpression(parsing: "poems.sum(100 / (year + 1))"))]
    let others = try FieldCondition(parsing: "id != 'p39'")
    let found = try store.fetch(record: "Poet", where: others, sortedBy: order)
    #expect(found.count == Self.poetCount - 1)
    guard case .invalidQuery = storeError({ try store.fetch(record: "Poet", sortedBy: order) })
    else {
      Issue.record("a division by zero has a result")
      return
    }
  }

  @Test func `a record that many lead to is looked up once`() throws {
    let store = try store()
    let condition = try FieldCondition(parsing: "id < 0 || poet.name == 'P1' || poet.born == 3")
    let plan = try store.explain(Poem.where(Condition(condition)), running: true)
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == Self.poemCount)
    #expect(actual.rowCount <= 30 * Self.poemCount + 2 * Self.poetCount, "\(plan)")
    let groups = try store.fetch(Query<Poem>().grouped { ($0.poet.name, $0.year) })
    #expect(groups.count == 300 && groups.allSatisfy { $0.count == 10 })
    // In a transaction, the record may change between two queries.
    try store.write { transaction in
      let query = Query<Poem>().grouped { $0.poet.name }
      #expect(try transaction.fetch(query).map(\.key).contains("P1"))
      try transaction.save(Poet(id: "p1", name: "renamed"))
      let names = try transaction.fetch(query).map(\.key)
      #expect(names.contains("renamed") && !names.contains("P1"))
    }
  }

  @Test(arguments: 0..<4)
  func `results are those of arrays, however many records lead to one`(shard: Int) {
    replaying(Seeds.range(scaled(60, debug: 6), shard: 210 + shard)) { seed in
      var choices = LibraryChoices(seed: seed)
      let store = try PersistentStore(inMemory: .library)
      let poets = (0..<choices.one(of: [1, 5, 30])).map { Poet(id: "p\($0)", name: "n") }
      var poems: [Poem] = []
      let most = choices.one(of: [1, 4, 40])
      for poet in poets {
        for _ in 0..<choices.number(most + 1) {
          poems.append(
            Poem(
              id: poems.count, name: "t", year: choices.number(20), poet: Reference(poet.id)))
        }
      }
      try store.write { transaction in
        try transaction.save(contentsOf: poets)
        try transaction.save(contentsOf: poems)
      }
      try Self.compare({ try store.fetch($0) }, poets, poems, &choices)
      let left = poems.filter { _ in !choices.chance(3) }
      try store.write { transaction in
        for poem in poems where !left.contains(poem) {
          try transaction.delete(Poem.self, key: poem.id)
        }
        try Self.compare({ try transaction.fetch($0) }, poets, left, &choices)
      }
      try Self.compare({ try store.fetch($0) }, poets, left, &choices)
      try store.expectSound()
    }
  }

  private static func compare(
    _ fetch: (Query<Poet>) throws -> [Poet], _ poets: [Poet], _ poems: [Poem],
    _ choices: inout LibraryChoices
  ) throws {
    let years = (0..<4).map { _ in choices.number(21) }
    func written(by poet: Poet) -> [Poem] { poems.filter { $0.poet.id == poet.id } }
    func check(_ condition: Condition<Poet>, _ isMet: (Poet) -> Bool) throws {
      let expected = poets.filter(isMet).map(\.id).sorted()
      let found = try fetch(Poet.where(condition)).map(\.id)
      try agree(found == expected, "\(found) and not \(expected) of \(condition)")
      let few = try fetch(Poet.where(condition).limit(3)).map(\.id)
      try agree(few == Array(expected.prefix(3)), "\(few), the first of \(condition)")
    }
    try check(Condition { $0.poems.any() }) { !written(by: $0).isEmpty }
    try check(Condition { $0.poems.none() }) { written(by: $0).isEmpty }
    for year in years {
      try check(Condition { $0.poems.any { $0.year < year } }) {
        written(by: $0).contains { $0.year < year }
      }
      try check(Condition { $0.poems.none { $0.year < year } }) {
        !written(by: $0).contains { $0.year < year }
      }
      try check(Condition { $0.poems.all { $0.year < year } }) {
        written(by: $0).allSatisfy { $0.year < year }
      }
      try check(Condition { $0.poems.none() || $0.poems.any { $0.year == year } }) {
        written(by: $0).isEmpty || written(by: $0).contains { $0.year == year }
      }
    }
  }
}

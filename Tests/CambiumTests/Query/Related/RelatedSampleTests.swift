import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Related records of which no index says how many meet a condition: a sample does.
@Suite struct RelatedSampleTests {
  private static let poetCount = 100
  private static let poemCount = 30

  /// Two poets are born in each year from 0 to 49, and each has 30 poems.
  private static func store() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: .library)
    try store.write { transaction in
      for poet in 0..<poetCount {
        try transaction.insert(Poet(id: "p\(poet)", name: "P\(poet)", born: poet % 50))
        for number in 0..<poemCount {
          try transaction.insert(
            Poem(
              id: poet * poemCount + number, name: "t", year: number, poet: Reference("p\(poet)")))
        }
      }
    }
    return store
  }

  private static func poems(by isBorn: (Int) -> Bool) -> [Int] {
    (0..<poetCount * poemCount).filter { isBorn($0 / poemCount % 50) }
  }

  private static let fromThree = Poem.where { $0.poet.born == 3 }

  @Test func `few records that lead to few others are found by those`() throws {
    let store = try Self.store()
    let plan = try store.explain(Self.fromThree, running: true)
    // Expected to be three tenths of the poets, as nothing is known of the field, all poems were read.
    #expect(plan.access == "keys of Poem.poet", "\(plan)")
    #expect(plan.related.first?.contains("of which about 2 meet it by a sample") == true, "\(plan)")
    let actual = try #require(plan.actual)
    #expect(actual.resultCount == 60)
    #expect(actual.rowCount <= Self.poetCount + 60, "\(plan)")
    #expect(try store.ids(Self.fromThree) == Self.poems { $0 == 3 })
  }

  @Test func `all rows are read if most of them lead to such records`() throws {
    let store = try Self.store()
    let query = Poem.where { $0.poet.born >= 1 }
    let plan = try store.explain(query)
    #expect(plan.access == "all rows", "\(plan)")
    #expect(plan.related.first?.contains("about 98 meet it by a sample") == true, "\(plan)")
    #expect(try store.ids(query) == Self.poems { $0 >= 1 })
  }

  @Test func `nothing is sampled for a few records, or by an index, or in a transaction`() throws {
    let store = try Self.store()
    for query in [
      Poem.where { $0.poet.name == "P7" }, Poem.where { $0.id == 3 && $0.poet.born == 3 },
    ] {
      let plan = try store.explain(query)
      #expect(!"\(plan)".contains("by a sample"), "\(plan)")
    }
    try store.write { transaction in
      let found = try transaction.fetch(Self.fromThree).map(\.id)
      #expect(found == Self.poems { $0 == 3 })
      let poets = try store.entities.entity(named: "Poet")
      let sample = try poets.sample(in: try transaction.recordReader().trees)
      #expect(sample?.rowCount == nil)
    }
  }

  @Test func `a sample has every row of a few, at most 256 of many, and none that is long`() throws
  {
    func share(_ count: Int, _ size: Int = 1) throws -> Double? {
      let store = try PersistentStore(inMemory: .library)
      try store.write { transaction in
        for id in 0..<count {
          try transaction.insert(
            Poet(id: "p\(id)", name: String(repeating: "n", count: size), born: id % 10))
        }
      }
      let entity = try store.entities.entity(named: "Poet")
      var rowCount = 0
      let share = try entity.sample(in: try store.snapshot().trees)?.share { _, _ in
        rowCount += 1
        return rowCount % 10 == 0
      }
      #expect(rowCount == (size > RowSample.sizeMax ? 0 : min(count, RowSample.rowsMax)))
      return share
    }
    #expect(try share(0) == nil)
    #expect(try share(1) == 0.5)
    #expect(try share(100) == 0.1)
    #expect(try share(1_000) == 25.0 / 256)
    #expect(try share(20, 2_000) == nil)
  }

  @Test func `a damaged row is left out of a sample, and planning does not end at it`() throws {
    let store = try Self.store()
    let poets = try store.entities.entity(named: "Poet")
    try store.write { transaction in
      let trees = transaction.writer.trees
      let cursor = try TreeAccess.transaction(trees).cursor(in: poets.rows)
      guard try cursor.first() else { return }
      let key = cursor.key.array()
      try trees.put(key.rawSpan, ([0xff] as Bytes).rawSpan, schemaVersion: 0, in: poets.rows)
    }
    let plan = try store.explain(Self.fromThree)
    #expect(plan.related.first?.contains("of which about 2 meet it by a sample") == true, "\(plan)")
    #expect(throws: StoreError.self) { try store.fetch(Self.fromThree) }
  }

  @Test func `queries that sample at once find the same`() async throws {
    let store = try Self.store()
    let expected = Self.poems { $0 == 3 }
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 { group.addTask { try store.ids(Self.fromThree) } }
      for try await found in group { #expect(found == expected) }
    }
  }
}

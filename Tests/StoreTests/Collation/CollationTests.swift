import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Orders of strings that the program gives, G6.
@Suite struct CollationTests {
  private static let model = StoreModel(records: [Villager.self, Stranger.self])

  private static func filled(_ random: inout SplitMix64, count: Int) throws -> (
    PersistentStore, [Villager]
  ) {
    let store = try PersistentStore(inMemory: model)
    var all: [Int: Villager] = [:]
    try store.write { transaction in
      for _ in 0..<count {
        let id = Int(random.next() % 60)
        let one = Villager(
          id: id, name: random.name(), nick: random.next() % 3 == 0 ? nil : random.name(),
          town: Int(random.next() % 4))
        if random.next() % 6 == 0 {
          all[id] = nil
          _ = try transaction.delete(Villager.self, key: id)
          _ = try transaction.delete(Stranger.self, key: id)
          continue
        }
        all[id] = one
        try transaction.save(one)
        try transaction.save(
          Stranger(id: id, name: one.name, nick: one.nick, town: one.town))
      }
    }
    return (store, Array(all.values))
  }

  private static func sorted(
    _ all: [Villager], by key: (Villager) -> [UInt8]?, descending: Bool
  ) -> [Int] {
    all.sorted { one, other in
      let (first, second) = (key(one), key(other))
      if first == second { return one.id < other.id }
      let isBefore =
        switch (first, second) {
        case (nil, _): true
        case (_, nil): false
        case (let first?, let second?): first.lexicographicallyPrecedes(second)
        }
      return isBefore != descending
    }.map(\.id)
  }

  private static func key(_ collation: Collation, _ string: String) -> [UInt8] {
    collation.content.sortKey?(string) ?? []
  }

  @Test func `records come in the order of sort keys, by an index or without, G6`() throws {
    replaying(0..<UInt64(scaled(60, debug: 12))) { seed in
      var random = SplitMix64(seed: seed)
      let (store, all) = try Self.filled(&random, count: 150)
      for descending in [false, true] {
        let wanted = Self.sorted(all, by: { Self.key(.german, $0.name) }, descending: descending)
        let order: Query<Villager>.Order =
          descending
          ? .descending(\.name, collation: .german) : .ascending(\.name, collation: .german)
        let found = try store.fetch(Villager.sorted(by: order))
        try agree(found.map(\.id) == wanted, "by index: \(found.map(\.id)) \(wanted)")
        let other = try store.fetch(
          Stranger.sorted(
            by: descending
              ? .descending(\.name, collation: .german) : .ascending(\.name, collation: .german)))
        try agree(other.map(\.id) == wanted, "sorted: \(other.map(\.id)) \(wanted)")
        // Page by page.
        var pages: [Int] = []
        while let page = try Self.page(store, order, after: pages.last) { pages += page }
        try agree(pages == wanted, "paged: \(pages) \(wanted)")
        let nicks = Self.sorted(
          all, by: { $0.nick.map { Self.key(.german, $0) } }, descending: descending)
        let nicked = try store.fetch(
          Villager.sorted(
            by: descending
              ? .descending(\.nick, collation: .german) : .ascending(\.nick, collation: .german)))
        try agree(nicked.map(\.id) == nicks, "optional: \(nicked.map(\.id)) \(nicks)")
      }
      let town = all.filter { $0.town == 2 }
      let inTown = try store.fetch(
        Villager.where { $0.town == 2 }.sorted(by: .descending(\.name, collation: .german)))
      try agree(
        inTown.map(\.id)
          == Self.sorted(town, by: { Self.key(.german, $0.name) }, descending: true), "in a town")
      let long = try store.fetch(
        Villager.where { $0.town > 1 }.sorted(by: .ascending(\.name, collation: .length)))
      try agree(
        long.map(\.id)
          == Self.sorted(
            all.filter { $0.town > 1 }, by: { Self.key(.length, $0.name) }, descending: false),
        "of a partial index")
      try agree(try store.snapshot().check() == [], "the check")
    }
  }

  private static func page(
    _ store: PersistentStore, _ order: Query<Villager>.Order, after: Int?
  ) throws -> [Int]? {
    var query = Villager.sorted(by: order).limit(7)
    query.after = after.map { [.integer(Int64($0))] }
    let page = try store.fetch(query).map(\.id)
    return page.isEmpty ? nil : page
  }

  @Test func `a query says by which index it is in order`() throws {
    var random = SplitMix64(seed: 1)
    let (store, _) = try Self.filled(&random, count: 100)
    let query = Villager.sorted(by: .ascending(\.name, collation: .german))
    #expect("\(query)" == "all sorted by name by de 1")
    let explanation = try store.explain(query)
    #expect(explanation.access == "index name by de 1")
    #expect(explanation.sorting == .none)
    let other = try store.explain(
      Villager.sorted(by: .ascending(\.name, collation: .germanNames)))
    #expect(other.access == "all rows")
    #expect(other.sorting == .all)
  }

  @Test func `a condition on the string itself is met by strings, not by sort keys`() throws {
    let store = try PersistentStore(inMemory: Self.model)
    for (id, name) in ["a", "A", "ä", "ae"].enumerated() {
      try store.save(Villager(id: id, name: name, nick: id == 3 ? nil : name, town: 3))
    }
    #expect(try store.fetch(Villager.where { $0.name == "ä" }).map(\.id) == [2])
    #expect(try store.count(Villager.where { $0.name >= "a" }) == 3)
    #expect(
      try store.fetch(
        Villager.where { $0.nick != nil }.sorted(by: .descending(\.nick, collation: .german))
      ).map(\.id) == [2, 1, 0])
    #expect(
      try store.fetch(
        Villager.where { $0.nick == nil }.sorted(by: .descending(\.nick, collation: .german))
      ).map(\.id) == [3])
  }

  @Test func `sections and queries that were stored keep their collation`() throws {
    let store = try PersistentStore(inMemory: Self.model)
    for (id, name) in ["ö", "z", "o", "Ö", "o"].enumerated() {
      try store.save(Villager(id: id, name: name))
    }
    let query = Villager.sorted(by: .ascending(\.name, collation: .german))
    let sections = try store.sections(of: query, by: \.name)
    #expect(sections.map(\.key) == ["o", "ö", "Ö", "z"])
    let coded = try JSONDecoder().decode(
      Query<Villager>.self, from: JSONEncoder().encode(query))
    #expect(coded == query)
    #expect(try store.fetch(coded).map(\.id) == [2, 4, 0, 3, 1])
    // Without an index, nobody has the function.
    let strange = Stranger.sorted(by: .ascending(\.name, collation: .german))
    let decoded = try JSONDecoder().decode(
      Query<Stranger>.self, from: JSONEncoder().encode(strange))
    #expect(
      storeError { try store.fetch(decoded) }
        == .missingCollation(record: "Stranger", name: "de", version: "1"))
  }

  @Test func `only strings have a collation, and primary keys have none`() throws {
    let store = try PersistentStore(inMemory: Self.model)
    guard
      case .invalidQuery = storeError({
        try store.fetch(Villager.sorted(by: .ascending(\.town, collation: .german)))
      })
    else {
      Issue.record("numbers were sorted by a collation")
      return
    }
    let wrong: [RecordDescription] = [
      description { Index(.collated("n", by: .german)) },
      description { Unique(.collated("s", by: Collation("") { _ in [] })) },
      description {
        Index(.collated("s", by: Collation(String(repeating: "x", count: 256)) { _ in [] }))
      },
    ]
    for wrong in wrong {
      #expect(
        throws: StoreError.self,
        performing: {
          try schema { _ in
            Field(primaryKey: true, name: "id", type: .uuid)
            Field(name: "n", type: .integer)
            Field(name: "s", type: .string)
            wrong
          }
        })
    }
    #expect(throws: StoreError.self) {
      try schema { _ in
        Field(name: "id", type: .string)
        PrimaryKey(.collated("id", by: .german))
      }
    }
  }
}

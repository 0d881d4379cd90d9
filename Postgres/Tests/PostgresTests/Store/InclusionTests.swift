import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// Records that are fetched with related ones, computed values and different values: the same in a store on a server and in an
/// embedded one, by the same code.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct InclusionTests {
  private typealias Sample = TruthTable.Sample
  private typealias Owner = TruthTable.Owner
  private typealias Customer = OrderService.Customer
  private typealias Order = OrderService.Order
  private typealias Line = OrderService.Line

  private static func pair(_ name: String) async throws -> (PersistentStore, PostgresStore) {
    let server = try #require(PostgresServer.shared)
    let embedded = try PersistentStore(inMemory: TruthTable.model)
    let store = try await PostgresStore(try server.makeDatabase(name), model: TruthTable.model)
    for store in [embedded, store] as [any RecordStore] { try await fill(store) }
    return (embedded, store)
  }

  private static func fill(_ store: some RecordStore) async throws {
    try await TruthTable.fill(store)
    // Two keys that only look the same.
    try await store.write { transaction in
      try transaction.insert(Owner(id: "é", rank: 4))
      try transaction.insert(Owner(id: "e\u{301}", rank: 5))
      var sample = Sample(id: 100)
      sample.owner = Reference("e\u{301}")
      sample.owners = [Reference("é"), Reference("a"), Reference("e\u{301}")]
      try transaction.insert(sample)
    }
  }

  private static func seen(_ state: some PortableReading) throws -> [[String]] {
    let all = Query<Sample>()
    let some = Sample.sorted(by: .descending(\.text)).limit(7)
    return [
      try state.fetch(all, including: .one(\.owner)).map { "\($0)" },
      try state.fetch(all, including: .all(\.owners)).map { "\($0)" },
      try state.fetch(all, including: .all({ Set($0.owners) })).map { "\($0)" },
      try state.fetch(all, including: .one(\.text, of: Owner.self)).map { "\($0)" },
      try state.fetch(
        all, including: .all({ ["a"] + ($0.words ?? []) + ["é", "a"] }, of: Owner.self)
      ).map { "\($0)" },
      try state.fetch(
        all,
        including: .all(
          { Set($0.words ?? ["b", "a"]) }, of: Owner.self, including: .all(Owner.samples))
      ).map { "\($0)" },
      try state.fetch(some, including: .one(\.owner), .all(\.owners)).map { "\($0)" },
      try state.fetch(
        some,
        including: .one(
          \.owner, including: .all(Owner.samples, limit: 2), .all(Owner.members)
        )
      ).map { "\($0)" },
      try state.fetch(Query<Owner>(), including: .all(Owner.samples)).map { "\($0)" },
      try state.fetch(Query<Owner>(), including: .all(Owner.members)).map { "\($0)" },
      try state.fetch(
        Owner.sorted(by: .descending(\.rank)),
        including: .all(
          Owner.samples, where: .init { $0.int8 != 0 || $0.id > 10 },
          sortedBy: .descending(\.double),
          limit: 3),
        .all(Owner.members, sortedBy: .ascending(\.text), .descending(\.id), limit: 2)
      ).map { "\($0)" },
      try state.fetch(
        Query<Owner>(),
        including: .all(Owner.members, limit: 3, including: .one(\.owner), .all(\.owners))
      ).map { "\($0)" },
      try state.fetch(Query<Owner>(), including: .all(Owner.samples, limit: 0)).map { "\($0)" },
      try state.fetch(Sample.where { $0.id < 0 }, including: .one(\.owner)).map { "\($0)" },
      try state.fetch(Owner.where { $0.id == "x" }, including: .all(Owner.samples)).map { "\($0)" },
      try state.fetch(
        [Owner(id: "a", rank: nil), Owner(id: "a", rank: nil), Owner(id: "none", rank: nil)],
        including: .all(Owner.samples)
      ).map { "\($0)" },
      try state.fetch(
        some, after: try state.fetch(some, after: nil).last, including: .one(\.owner)
      ).map { "\($0)" },
    ]
  }

  @Test func `inclusions are the same: of references, lists and inverses, nested and limited`()
    async throws
  {
    let (embedded, server) = try await Self.pair("inclusions")
    let expected = try Self.seen(try embedded.snapshot())
    let found = try await server.read { try Self.seen($0) }
    #expect(found.count == expected.count)
    for (place, (one, other)) in zip(found, expected).enumerated() {
      #expect(one == other, "\(place)")
    }
    #expect(expected.count { $0.isEmpty } == 2)
    let page = try await server.fetch(
      Query<Sample>().limit(2), including: .one(\.owner), .all(\.owners))
    #expect(page.map(\.0.id) == [0, 1])
  }

  @Test
  func `a transaction includes its own changes, and a key that cannot be there leads nowhere`()
    async throws
  {
    let (_, server) = try await Self.pair("inclusion_changes")
    try await server.write { transaction in
      try transaction.insert(Owner(id: "new", rank: 9))
      var sample = try transaction.find(Sample.self, key: 3)
      sample.owner = Reference("new")
      try transaction.update(sample)
      let found = try transaction.fetch(Sample.where { $0.id == 3 }, including: .one(\.owner))
      #expect(found.first?.1?.rank == 9)
      sample.owner = Reference("a\0")
      #expect(try transaction.fetch([sample], including: .one(\.owner)).first?.1 == nil)
    }
  }

  @Test func `the server is asked as often for two records as for all of them`() async throws {
    let server = try #require(PostgresServer.shared)
    let name = "inclusion_statements"
    try await Self.fill(
      try await PostgresStore(try server.makeDatabase(name), model: TruthTable.model))
    let proxy = try CuttingProxy(before: server, named: name, cuttingAfter: [])
    let store = try await PostgresStore(
      server.address(name, host: proxy.directory), model: TruthTable.model)
    func roundTrips(_ body: () async throws -> Int) async throws -> (records: Int, Int) {
      let before = proxy.roundTripCount
      let count = try await body()
      return (count, proxy.roundTripCount - before)
    }
    let few = try await roundTrips {
      try await store.fetch(
        Query<Sample>().limit(2), including: .one(\.owner, including: .all(Owner.members)),
        .all(\.owners)
      ).count
    }
    let many = try await roundTrips {
      try await store.fetch(
        Query<Sample>(), including: .one(\.owner, including: .all(Owner.members)), .all(\.owners)
      ).count
    }
    #expect(few == (2, 5))
    #expect(many == (25, 5))
    // Old changes for observers are removed after the first write.
    _ = try await store.update(Query<Sample>()) { $0.int16 = 6 }
    let one = try await roundTrips {
      try await store.update(Query<Sample>().limit(1)) { $0.int16 = 7 }
    }
    let all = try await roundTrips { try await store.update(Query<Sample>()) { $0.int16 = 8 } }
    #expect(one.records == 1 && all.records == 25)
    #expect(one.1 == all.1)
  }

  // MARK: Values

  private static func distinct(_ state: StoreSnapshot) throws -> [[String]] {
    let all = Query<Sample>()
    let ordered = Sample.sorted(by: .descending(\.id))
    return [
      try state.distinct(\.owner, from: all).map { "\($0 as Any)" },
      try state.distinct(\.owner, \.flag, from: all).map { "\($0)" },
      try state.distinct(\.double, from: all).map { "\($0 as Any)" },
      try state.distinct(\.float, from: ordered).map { "\($0 as Any)" },
      try state.distinct(\.decimal, from: all).map { "\($0 as Any)" },
      try state.distinct(\.text, from: ordered).map { "\($0 as Any)" },
      try state.distinct(\.uuid, \.date, from: ordered.limit(5).offset(3)).map { "\($0)" },
      try state.distinct(\.data, from: Sample.where { $0.id > 2 }).map { "\($0 as Any)" },
      try state.distinct(\.id, from: Sample.where { $0.id < 0 }).map { "\($0)" },
    ]
  }

  private static func distinct(_ state: PostgresSnapshot) throws -> [[String]] {
    let all = Query<Sample>()
    let ordered = Sample.sorted(by: .descending(\.id))
    return [
      try state.distinct(\.owner, from: all).map { "\($0 as Any)" },
      try state.distinct(\.owner, \.flag, from: all).map { "\($0)" },
      try state.distinct(\.double, from: all).map { "\($0 as Any)" },
      try state.distinct(\.float, from: ordered).map { "\($0 as Any)" },
      try state.distinct(\.decimal, from: all).map { "\($0 as Any)" },
      try state.distinct(\.text, from: ordered).map { "\($0 as Any)" },
      try state.distinct(\.uuid, \.date, from: ordered.limit(5).offset(3)).map { "\($0)" },
      try state.distinct(\.data, from: Sample.where { $0.id > 2 }).map { "\($0 as Any)" },
      try state.distinct(\.id, from: Sample.where { $0.id < 0 }).map { "\($0)" },
    ]
  }

  @Test func `different values of every kind are the same, in the same order`() async throws {
    let (embedded, server) = try await Self.pair("distinct_values")
    let expected = try Self.distinct(try embedded.snapshot())
    let found = try await server.read { try Self.distinct($0) }
    for (place, (one, other)) in zip(found, expected).enumerated() {
      #expect(one == other, "\(place)")
    }
    await #expect(throws: StoreError.self) {
      try await server.read { _ = try $0.distinct(\.numbers, from: Query<Sample>()) }
    }
  }

  private static func computed(_ state: StoreSnapshot) throws -> [[String]] {
    let all = Query<Sample>()
    let some = Sample.sorted(by: .descending(\.text)).limit(9).offset(1)
    return [
      try state.select(from: all) { $0.id * 2 + 1 }.map { "\($0)" },
      try state.select(from: some) { ($0.text, $0.owner.rank) }.map { "\($0)" },
      try state.select(from: all) { ($0.double, $0.float, $0.decimal) }.map { "\($0)" },
      try state.select(from: all) { ($0.uint64, $0.int8, $0.uint8) }.map { "\($0)" },
      try state.select(from: all) { ($0.date, $0.uuid, $0.flag) }.map { "\($0)" },
      try state.select(from: all) { ($0.link, $0.data) }.map { "\($0)" },
      try state.select(from: all) { ($0.owner, $0.owners.count) }.map { "\($0)" },
      try state.select(from: Query<Owner>()) { ($0.samples.count(), $0.samples.maximum(\.id)) }
        .map { "\($0)" },
    ]
  }

  private static func computed(_ state: PostgresSnapshot) throws -> [[String]] {
    let all = Query<Sample>()
    let some = Sample.sorted(by: .descending(\.text)).limit(9).offset(1)
    return [
      try state.select(from: all) { $0.id * 2 + 1 }.map { "\($0)" },
      try state.select(from: some) { ($0.text, $0.owner.rank) }.map { "\($0)" },
      try state.select(from: all) { ($0.double, $0.float, $0.decimal) }.map { "\($0)" },
      try state.select(from: all) { ($0.uint64, $0.int8, $0.uint8) }.map { "\($0)" },
      try state.select(from: all) { ($0.date, $0.uuid, $0.flag) }.map { "\($0)" },
      try state.select(from: all) { ($0.link, $0.data) }.map { "\($0)" },
      try state.select(from: all) { ($0.owner, $0.owners.count) }.map { "\($0)" },
      try state.select(from: Query<Owner>()) { ($0.samples.count(), $0.samples.maximum(\.id)) }
        .map { "\($0)" },
    ]
  }

  @Test func `computed values of each record are the same, of every type`() async throws {
    let (embedded, server) = try await Self.pair("computed_values")
    let expected = try Self.computed(try embedded.snapshot())
    let found = try await server.read { try Self.computed($0) }
    for (place, (one, other)) in zip(found, expected).enumerated() {
      #expect(one == other, "\(place)")
    }
  }
}

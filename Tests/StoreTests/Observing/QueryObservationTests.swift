import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite(.timeLimit(.minutes(60))) struct QueryObservationTests {
  /// The results of a query, asked anew.
  static func run(_ query: FieldQuery, in snapshot: StoreSnapshot) throws -> [Account] {
    let type = try snapshot.entities.type(Account.self)
    let found = try QueryRunner(type, in: snapshot.recordReader()).find(query)
    var records: [Account] = []
    while try found.next() { records.append(try type.load(key: found.key, row: try found.row())) }
    return records
  }

  private static let active = FieldCondition.comparison(field: "isActive", .equal, true)

  @Test func `results come first, and then what they become, H4`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    let accounts = (0..<4).map {
      Account(id: $0, name: "N\($0)", city: "\($0)", balance: Double($0), isActive: $0 < 3)
    }
    try await store.write { try $0.save(contentsOf: accounts) }
    let query = Account.where { $0.isActive == true }.sorted(by: .descending(\.balance))
    let told = Told(by: try store.results(of: query))
    let first = try #require(try await told.next())
    #expect(first.records.map(\.id) == [2, 1, 0] && first.authors.isEmpty)
    #expect(first.difference.insertions.map(\.offset) == [0, 1, 2])
    #expect(first.difference.applying(to: []) == first.records)

    func change(_ id: Int, _ body: (inout Account) -> Void) async throws
      -> QueryResults<Account>
    {
      var account = try #require(try store.fetch(Account.self, key: id))
      body(&account)
      let changed = account
      try await store.write(author: "me") { try $0.save(changed) }
      return try #require(try await told.next())
    }
    let moved = try await change(0) { $0.balance = 9 }
    #expect(moved.records.map(\.id) == [0, 2, 1] && moved.authors == ["me"])
    #expect(moved.difference.moves.map { [$0.oldOffset, $0.newOffset] } == [[2, 0]])
    #expect(moved.difference.moves.first?.change.changedFields == ["balance"])
    let updated = try await change(2) { $0.name = "new" }
    #expect(updated.difference.updates.map(\.offset) == [1] && updated.difference.moves.isEmpty)
    let inserted = try await change(3) { $0.isActive = true }
    #expect(inserted.difference.insertions.map(\.offset) == [1])
    let removed = try await change(2) { $0.isActive = false }
    #expect(removed.difference.removals.map(\.offset) == [2])
    #expect(removed.difference.removals.map(\.record.id) == [2])
    #expect(removed.records.map(\.id) == [0, 3, 1])
    // What does not concern the results is not told of.
    try await store.write { try $0.save(Account(id: 9, name: "x", city: "y", isActive: false)) }
    try await store.close()
    #expect(try await told.next() == nil)
  }

  /// What becomes of a record for who sees those that meet a condition.
  @Test func `every transition of a record is told as what it is`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    let told = Told(by: try store.changes(of: Account.where { $0.isActive == true }))
    // Not there, there and not matching, there and matching; and another version of each.
    let states: [Account?] = [
      nil, Account(id: 1, name: "a", isActive: false), Account(id: 1, name: "b", isActive: false),
      Account(id: 1, name: "c"), Account(id: 1, name: "d"),
    ]
    for (from, to) in states.indices.flatMap({ from in states.indices.map { (from, $0) } }) {
      for index in [from, to] {
        try await store.write { transaction in
          if let record = states[index] {
            try transaction.save(record)
          } else {
            try transaction.delete(Account.self, key: 1)
          }
          // So that there always is a set.
          try transaction.save(Account(id: 2, name: "z", balance: Double.random(in: 0..<1)))
        }
        let set = try #require(try await told.next())
        guard index == to else { continue }
        let (was, present) = (states[from], states[to])
        let isMatch = (was?.isActive ?? false, present?.isActive ?? false)
        let about = (
          set.inserted.filter { $0.id == 1 }, set.updated.filter { $0.new.id == 1 },
          set.deleted.filter { $0.id == 1 }
        )
        if from == to { continue }
        #expect(about.0 == (!isMatch.0 && isMatch.1 ? [present] : []))
        #expect(about.1.map(\.new) == (isMatch.0 && isMatch.1 ? [present] : []))
        #expect(about.2 == (isMatch.0 && !isMatch.1 ? [was] : []))
      }
    }
    try await store.close()
  }

  // MARK: Random queries

  private static func query(_ generator: inout SplitMix64) -> FieldQuery {
    let fields = ["name", "city", "balance", "isActive", "email", "id"]
    var query = FieldQuery()
    let terms: [FieldCondition] = [
      active, .comparison(field: "balance", .greater, .double(3)),
      .comparison(field: "city", .notEqual, "Ulm"), .comparison(field: "email", .equal, nil),
      .comparison(field: "id", .less, 40),
    ]
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: break
    case 1: query.condition = terms.randomElement(using: &generator)
    case 2: query.condition = .or(Array(terms.shuffled(using: &generator).prefix(2)))
    default: query.condition = .and(Array(terms.shuffled(using: &generator).prefix(2)))
    }
    for field in fields.shuffled(using: &generator).prefix(Int.random(in: 0...2, using: &generator))
    {
      query.order.append(FieldOrder(field: field, isDescending: Bool.random(using: &generator)))
    }
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: query.limit = Int.random(in: 0...12, using: &generator)
    case 1:
      query.limit = Int.random(in: 0...12, using: &generator)
      query.offset = Int.random(in: 0...9, using: &generator)
    case 2: query.offset = Int.random(in: 0...9, using: &generator)
    default: break
    }
    return query
  }

  private static func change(
    _ store: PersistentStore, _ generator: inout SplitMix64
  ) async throws {
    var random = generator
    try await store.write(durability: .relaxed) { transaction in
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let id = Int.random(in: 0..<60, using: &random)
        if Int.random(in: 0..<40, using: &random) == 0 { try transaction.deleteAll(Account.self) }
        if Int.random(in: 0..<3, using: &random) == 0 {
          try transaction.delete(Account.self, key: id)
          continue
        }
        let account = Account(
          id: id, name: "N\(Int.random(in: 0..<6, using: &random))",
          email: Bool.random(using: &random) ? nil : "\(id)@example.org",
          city: ["Ulm", "Bonn", "Köln", "c\(id)"].randomElement(using: &random) ?? "",
          balance: Double(Int.random(in: 0..<7, using: &random)),
          isActive: Bool.random(using: &random))
        try transaction.save(account, onConflict: .replaceOther)
      }
    }
    generator = random
  }

  @Test func `differences lead from the first results to those of the query asked anew`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Observed queries: seed \(seed)")
    var generator = SplitMix64(seed: seed)
    for round in 0..<scaled(400, debug: 40) {
      let store = try PersistentStore(inMemory: .samples)
      for _ in 0..<Int.random(in: 0..<60, using: &generator) {
        try await Self.change(store, &generator)
      }
      var query = Self.query(&generator)
      if Int.random(in: 0..<4, using: &generator) == 0,
        let after = try store.fetch(Account.self).randomElement(using: &generator)
      {
        query.after = .key([.integer(Int64(after.id))])
      }
      let observation = try store.results(of: query, store.entities.type(Account.self))
      let told = Told(by: observation)
      var records: [Account] = []
      var pinned = query
      if let first = try await told.next() {
        records = first.difference.applying(to: records)
        #expect(records == first.records)
        #expect(try records == Self.run(query, in: observation.snapshot), "seed \(seed)")
      }
      if case .key(let parts)? = query.after {
        // Asked anew, it comes after the record as it was in the beginning.
        let type = try store.entities.type(Account.self)
        let key = KeyEncoder()
        try key.encode(primaryKey: parts, of: type)
        var row: [UInt8] = []
        _ = try observation.snapshot.trees.copyValue(
          of: key.key, in: type.rows, to: &row)
        pinned.after = .record(key: key.key.array(), row: row)
      }
      let steps = Int.random(in: 1..<30, using: &generator)
      for _ in 0..<steps {
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          try await Self.change(store, &generator)
        }
        let fresh = try Self.run(pinned, in: store.snapshot())
        if fresh == records { continue }
        let results = try #require(try await told.next())
        records = results.difference.applying(to: records)
        #expect(records == results.records, "seed \(seed), round \(round)")
        #expect(records == fresh, "seed \(seed), round \(round), \(query)")
      }
      try await store.close()
      #expect(try await told.next() == nil, "seed \(seed), round \(round)")
    }
  }

  @Test func `live results follow threads that write`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Live results: seed \(seed)")
    let store = try PersistentStore(inMemory: .samples)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for observer in 0..<5 {
        group.addTask {
          var generator = SplitMix64(seed: seed &+ UInt64(observer))
          let query = Self.query(&generator)
          let observation = try store.results(of: query, store.entities.type(Account.self))
          var records: [Account] = []
          for try await results in observation {
            records = results.difference.applying(to: records)
            let fresh = try Self.run(query, in: observation.snapshot)
            #expect(records == results.records && records == fresh, "seed \(seed), \(query)")
            if observer > 2 { try await Task.sleep(for: .milliseconds(3)) }
          }
          return false
        }
      }
      for writer in 0..<2 {
        group.addTask {
          var generator = SplitMix64(seed: seed &+ 100 &+ UInt64(writer))
          for _ in 0..<scaled(4000, debug: 300) { try await Self.change(store, &generator) }
          return true
        }
      }
      var ended = 0
      while ended < 2 { if try await group.next() == true { ended += 1 } }
      try await store.close()
      try await group.waitForAll()
    }
  }
}

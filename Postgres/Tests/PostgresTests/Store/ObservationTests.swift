import Cambium
import CambiumPostgres
import FoundationEssentials
import Glibc
import Synchronization
import Testing

/// Observation over the outbox, compared with that of an embedded store.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct ObservationTests {
  private typealias Maker = Watched.Maker
  private typealias Tag = Watched.Tag
  private typealias Tool = Watched.Tool
  private typealias Plan = Watched.Plan
  private typealias Entry = Watched.Entry

  private struct Stop: Error {}

  private func open(_ name: String, keptChanges: Duration = .seconds(60)) async throws
    -> PostgresStore
  {
    let server = try #require(PostgresServer.shared)
    var options = PostgresOptions()
    options.keptChanges = keptChanges
    return try await PostgresStore(
      try server.makeDatabase(name), model: Watched.model, options: options)
  }

  // MARK: The same as embedded

  /// Changes records in every way, and returns the elements of all observations.
  private func changes(of store: some RecordStore) async throws -> [String] {
    try await store.write { transaction in
      for id in 1...3 { try transaction.insert(Maker(id: id, name: "Maker \(id)")) }
      for id in ["a", "b", "c"] { try transaction.insert(Tag(id: id)) }
    }
    let tools = Observed(try await store.observeChanges(of: Tool.self))
    let plans = Observed(try await store.observeChanges(of: Plan.self))
    let makers = Observed(try await store.observeChanges(of: Maker.self))
    var lines: [String] = []
    // Several at once, in the order of their keys.
    try await store.write { transaction in
      for id in [3, 1, 2, 10] {
        try transaction.insert(
          Tool(id: id, maker: Reference(id % 3 + 1), tags: [Reference("a"), Reference("b")]))
      }
      for name in ["B", "a", "C"] {
        try transaction.insert(Plan(maker: Reference(2), name: name, pages: 1))
      }
    }
    lines.append("inserted \(try await tools.next()?.line ?? "end")")
    lines.append("inserted \(try await plans.next()?.line ?? "end")")
    // A transaction that is undone, one within another, and a record that comes and goes.
    try? await store.write { transaction in
      try transaction.delete(Tool.self, key: 1)
      throw Stop()
    }
    try await store.write { transaction in
      try? transaction.savepoint { inner in
        try inner.delete(Tool.self, key: 2)
        throw Stop()
      }
      try transaction.insert(Tool(id: 20))
      try transaction.delete(Tool.self, key: 20)
      var tool = try transaction.find(Tool.self, key: 1)
      tool.price = 5
      try transaction.update(tool)
    }
    lines.append("updated \(try await tools.next()?.line ?? "end")")
    // Records that are saved as they are, with their lists, are not changed.
    try await store.write { transaction in
      try transaction.save(try transaction.find(Tool.self, key: 1))
      try transaction.update(Tool.where { $0.id < 3 }) { tool in tool.tags = tool.tags }
      try transaction.save(Tool(id: 2, maker: Reference(1), tags: [Reference("c")], price: -0.0))
    }
    lines.append("saved \(try await tools.next()?.line ?? "end")")
    // A list alone.
    try await store.write { transaction in
      _ = try transaction.update(Tool.where { $0.id == 3 }) { tool in
        tool.tags = [Reference("c")]
      }
    }
    lines.append("list \(try await tools.next()?.line ?? "end")")
    // Rules: references to it become null, elements of lists go, and plans are deleted.
    try await store.write { transaction in
      try transaction.delete(Maker.self, key: 2)
      try transaction.delete(Tag.self, key: "c")
    }
    lines.append("rules \(try await tools.next()?.line ?? "end")")
    lines.append("rules \(try await plans.next()?.line ?? "end")")
    lines.append("rules \(try await makers.next()?.line ?? "end")")
    // Replaced by another of the same key, in one transaction and in two.
    try await store.write { transaction in
      try transaction.delete(Tool.self, key: 1)
      try transaction.insert(Tool(id: 1, price: 7))
    }
    lines.append("replaced \(try await tools.next()?.line ?? "end")")
    _ = try await store.write { transaction in try transaction.delete(Tool.self, key: 1) }
    try await store.write { transaction in try transaction.insert(Tool(id: 1, price: 8)) }
    try await store.write { transaction in try transaction.insert(Tool(id: 30)) }
    _ = try await store.write { transaction in try transaction.delete(Tool.self, key: 30) }
    try await store.write { transaction in try transaction.deleteAll(Entry.self) }
    try await store.delete(Tool.where { $0.id > 1 && $0.id < 10 })
    // One element or several, depending on when they are looked for.
    var prices = [1: 7.0, 2: 0, 3: 0, 10: 0]
    while prices != [1: 8, 10: 0] {
      guard let changes = try await tools.next() else { break }
      for tool in changes.inserted + changes.updated { prices[tool.id] = tool.price }
      for key in changes.deleted {
        if case .integer(let id) = key.first { prices[Int(id)] = nil }
      }
    }
    lines.append("rest \(prices.sorted { $0.key < $1.key })")
    return lines
  }

  @Test func `the changes are those of an embedded store, line by line`() async throws {
    let expected = try await changes(of: PersistentStore(inMemory: Watched.model))
    let store = try await open("observed_changes")
    #expect(try await changes(of: store) == expected)
    #expect(expected.count == 10)
  }

  /// The results of queries after each of several changes.
  private func results(of store: some RecordStore) async throws -> [String] {
    let dear = Observed(
      try await store.observeResults(
        of: Tool.where { $0.price > 1 }.sorted(by: .descending(\.price)).limit(3)))
    let named = Observed(
      try await store.observeResults(of: Tool.where { $0.maker.name == "Good" }))
    var lines = ["\(try await dear.next() ?? [])", "\(try await named.next() ?? [])"]
    try await store.write { transaction in
      try transaction.insert(Maker(id: 1, name: "Good"))
      for id in 1...5 {
        try transaction.insert(
          Tool(id: id, maker: id < 3 ? Reference(1) : nil, price: Double(id) / 2))
      }
    }
    lines += ["\(try await dear.next() ?? [])", "\(try await named.next() ?? [])"]
    // Not among the results, then beyond the limit, then within it.
    try await store.save(Tool(id: 9, price: 0.5))
    try await store.save(Tool(id: 8, price: 1.25))
    try await store.save(Tool(id: 7, price: 100))
    lines.append("\(try await dear.next() ?? [])")
    // Only a related record.
    try await store.save(Maker(id: 1, name: "Bad"))
    lines.append("\(try await named.next() ?? [])")
    try await store.write { transaction in
      try transaction.save(Maker(id: 1, name: "Good"))
      try transaction.delete(Tool.self, key: 2)
    }
    lines.append("\(try await named.next() ?? [])")
    return lines
  }

  @Test func `the results of queries are those of an embedded store, line by line`() async throws {
    let expected = try await results(of: PersistentStore(inMemory: Watched.model))
    let store = try await open("observed_results")
    #expect(try await results(of: store) == expected)
    #expect(expected.count == 7)
  }

  /// The changes of kinds: a record that becomes one of a kind is inserted, one that is no longer of it deleted.
  private func kinds(of store: some RecordStore) async throws -> [String] {
    @Sendable func vehicle(_ id: Int, _ plate: String) -> Fleet.Vehicle {
      Fleet.Vehicle(
        asset: Fleet.Asset(id: id, name: "Asset \(id) \(plate)", owner: nil), plate: plate,
        seats: [id])
    }
    let assets = Observed(try await store.observeChanges(of: Fleet.Asset.self))
    let vehicles = Observed(try await store.observeChanges(of: Fleet.Vehicle.self))
    let trucks = Observed(try await store.observeChanges(of: Fleet.Truck.self))
    var lines: [String] = []
    try await store.write { transaction in
      try transaction.insert(Fleet.Asset(id: 1, name: "Asset 1", owner: nil))
      try transaction.insert(vehicle(2, "A"))
      try transaction.insert(Fleet.Truck(vehicle: vehicle(3, "B"), load: 1))
    }
    lines.append("assets \(try await assets.next()?.line ?? "end")")
    lines.append("vehicles \(try await vehicles.next()?.line ?? "end")")
    lines.append("trucks \(try await trucks.next()?.line ?? "end")")
    // A parent that is saved over its kind leaves it of that kind.
    try await store.save(Fleet.Asset(id: 2, name: "Renamed", owner: nil))
    lines.append("assets \(try await assets.next()?.line ?? "end")")
    lines.append("vehicles \(try await vehicles.next()?.line ?? "end")")
    try await store.write { transaction in
      try transaction.delete(Fleet.Truck.self, key: 3)
      try transaction.insert(vehicle(3, "C"))
      try transaction.delete(Fleet.Asset.self, key: 1)
      try transaction.insert(Fleet.Truck(vehicle: vehicle(1, "D"), load: 2))
    }
    lines.append("assets \(try await assets.next()?.line ?? "end")")
    lines.append("vehicles \(try await vehicles.next()?.line ?? "end")")
    lines.append("trucks \(try await trucks.next()?.line ?? "end")")
    return lines
  }

  @Test func `the changes of kinds are those of an embedded store`() async throws {
    let expected = try await kinds(of: PersistentStore(inMemory: Fleet.model))
    let server = try #require(PostgresServer.shared)
    let store = try await PostgresStore(
      try server.makeDatabase("observed_kinds"), model: Fleet.model)
    #expect(try await kinds(of: store) == expected)
    #expect(expected.count == 8)
  }

  @Test func `the errors of observing are those of an embedded store`() async throws {
    func errors(
      _ store: some RecordStore, _ close: () async throws -> Void
    ) async throws -> [String] {
      var errors: [String] = []
      func attempt(_ body: () async throws -> Void) async {
        do {
          try await body()
          errors.append("none")
        } catch {
          errors.append(String("\(error)".prefix(40)))
        }
      }
      await attempt { _ = try await store.observeChanges(of: Fleet.Asset.self) }
      await attempt { _ = try await store.observeResults(of: Query<Tool>().limit(-1)) }
      let observed = Observed(try await store.observeChanges(of: Tool.self))
      try await close()
      // Ended by the closing.
      errors.append("\(try await observed.next()?.line ?? "end")")
      return errors
    }
    let embedded = try PersistentStore(inMemory: Watched.model)
    let expected = try await errors(embedded) { try await embedded.close() }
    let store = try await open("observed_errors")
    #expect(try await errors(store) { await store.close() } == expected)
    await #expect(throws: StoreError.closed(path: "PostgreSQL")) {
      _ = try await store.observeChanges(of: Tool.self)
    }
  }

  // MARK: Many writers

  /// Writes entries in many ways, and gives up at random. Returns when all of it is committed.
  private static func write(
    _ store: PostgresStore, _ number: Int, _ rounds: Int, _ seed: UInt64
  ) async throws {
    var random = Seeded(seed &+ UInt64(number))
    for round in 0..<rounds {
      let (kind, target) = (random.next() % 6, Int(random.next() % 24))
      let stops = random.next() % 4 == 0
      let id = 1_000 * (number + 1) + round
      while true {
        do {
          try await store.write { transaction in
            switch kind {
            case 0, 1: try transaction.insert(Entry(id: id, value: 0, writer: "\(number)"))
            case 2:
              try transaction.insert(Entry(id: id, value: 0, writer: "\(number)"))
              try transaction.delete(Entry.self, key: id - 1)
            default: break
            }
            if var entry = try transaction.fetch(Entry.self, key: target) {
              entry.value += 1
              entry.writer = "\(number)"
              try transaction.update(entry)
            }
            if stops { throw Stop() }
          }
          break
        } catch is Stop {
          break
        } catch PostgresStoreError.conflict, PostgresStoreError.connectionLost {
          continue
        } catch StoreError.outcomeUnknown {
          break
        }
      }
    }
  }

  /// Has two stores write one database, mirrors it by its changes, and compares both. Meanwhile `disturb` runs again and again.
  private func mirror(_ name: String, disturb: @escaping @Sendable () throws -> Void = {})
    async throws
  {
    let seed = UInt64.random(in: 0..<1_000_000)
    let store = try await open(name)
    let server = try #require(PostgresServer.shared)
    let other = try await PostgresStore(server.address(name), model: Watched.model)
    try await store.write { transaction in
      for id in 0..<24 { try transaction.insert(Entry(id: id, value: 0, writer: "")) }
    }
    var start = EntryCopy()
    start.apply(RecordChanges.all(try await store.fetch(Query<Entry>())))
    let observation = try await other.observeChanges(of: Entry.self)
    let end = Entry(id: -1, value: 0, writer: "end")
    let mirrored = Task { [start] in
      var (mirror, count) = (start, 0)
      for try await changes in observation {
        mirror.apply(changes)
        count += 1
        if mirror.entries[end.id] != nil { break }
      }
      return (mirror, count)
    }
    let disturbing = Task {
      while !Task.isCancelled {
        try disturb()
        try? await Task.sleep(for: .milliseconds(30))
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { writers in
      for number in 0..<6 {
        let writer = number % 2 == 0 ? store : other
        writers.addTask { try await Self.write(writer, number, 40, seed) }
      }
      try await writers.waitForAll()
    }
    disturbing.cancel()
    try await disturbing.value
    while true {
      do {
        try await store.insert(end)
        break
      } catch PostgresStoreError.connectionLost {}
    }
    let (mirror, count) = try await mirrored.value
    #expect(mirror.faults.isEmpty, "seed \(seed)")
    #expect(count > 1)
    let all = try await store.fetch(Query<Entry>())
    #expect(all.count > 60)
    let seen = mirror.entries.values.sorted { $0.id < $1.id }
    #expect(seen.map { "\($0)" } == all.map { "\($0)" }, "seed \(seed)")
    await store.close()
    await other.close()
  }

  @Test func `each change of many writers is seen once, in the order of its record's commits`()
    async throws
  {
    try await mirror("observed_writers")
  }

  @Test func `a listening connection that breaks amid writes loses nothing`() async throws {
    let server = try #require(PostgresServer.shared)
    let count = Atomic(0)
    try await mirror("observed_broken") {
      let ended = try Connection(server.address("postgres")).run(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
          + " AND mode = 'ShareLock' AND database ="
          + " (SELECT oid FROM pg_database WHERE datname = 'observed_broken')")
      count.add(ended.count, ordering: .relaxed)
    }
    #expect(count.load(ordering: .relaxed) > 1)
  }

  @Test func `connections of observers and writers that break lose nothing`() async throws {
    let server = try #require(PostgresServer.shared)
    let random = Mutex(Seeded(1))
    try await mirror("observed_all_broken") {
      let part = random.withLock { $0.next() % 4 }
      try Connection(server.address("postgres")).run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
          + " WHERE datname = 'observed_all_broken' AND pid % 4 = \(part)")
    }
  }

  @Test func `a transaction that is open for long delays no other, and is seen when it ends`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let store = try await open("observed_long")
    // It has the lowest number of all, and another one is open that has changed nothing.
    let long = try Connection(server.address("observed_long"))
    try long.run("BEGIN; INSERT INTO entry VALUES (1, 1, 'long')")
    let observed = Observed(try await store.observeChanges(of: Entry.self))
    for id in 2...4 {
      try await store.insert(Entry(id: id, value: 0, writer: ""))
      #expect(try await observed.next()?.inserted.map(\.id) == [id])
    }
    try long.run("COMMIT")
    // Not by a store: no notification.
    #expect(try await observed.next()?.inserted.map(\.id) == [1])
    try long.run("UPDATE entry SET value = 2 WHERE id = 1; UPDATE entry SET id = 9 WHERE id = 2")
    let changes = try await observed.next()
    #expect(changes?.updated.map(\.value) == [2])
    #expect(changes?.inserted.map(\.id) == [9])
    #expect(changes?.deleted == [[.integer(2)]])
  }

  // MARK: Slow, late and gone

  @Test func `a slow observer receives each record once, as it is now`() async throws {
    let store = try await open("observed_slow")
    let observed = Observed(try await store.observeChanges(of: Entry.self))
    let results = Observed(try await store.observeResults(of: Query<Entry>()))
    for round in 0..<50 {
      try await store.save(Entry(id: round % 5, value: round, writer: ""))
    }
    #expect(try await observed.next()?.inserted.map(\.value) == [45, 46, 47, 48, 49])
    #expect(try await results.next()?.map(\.value) == [45, 46, 47, 48, 49])
    try await store.delete(Query<Entry>())
    #expect(try await observed.next()?.deleted.count == 5)
    #expect(try await results.next()?.count == 0)
  }

  @Test func `an observer that was away for longer than changes are kept is told so`() async throws
  {
    let store = try await open("observed_late", keptChanges: .seconds(1))
    let server = try #require(PostgresServer.shared)
    let direct = try Connection(server.address("observed_late"))
    let observed = Observed(try await store.observeChanges(of: Entry.self))
    // The first rows stay for as long as transactions of other tests are open that have begun before them.
    var (round, isRemoved) = (0, false)
    while !isRemoved, round < 2_000 {
      try await store.save(Entry(id: 1, value: round, writer: ""))
      try await Task.sleep(for: .milliseconds(20))
      round += 1
      let count = try direct.run("SELECT count(*) FROM cambium.outbox")[0][0].flatMap { Int($0) }
      isRemoved = count ?? round < round
    }
    #expect(isRemoved)
    let late = try #require(try await observed.next())
    #expect(!late.isComplete)
    #expect(late.inserted.isEmpty && !late.isEmpty)
    // From there on it is told of changes again.
    try await store.save(Entry(id: 2, value: 0, writer: ""))
    #expect(try await observed.next()?.inserted.map(\.id) == [2])
  }

  @Test func `an observer that waits for long, while others are told of changes, misses nothing`()
    async throws
  {
    // Beside other tests, a second passes without a turn.
    let store = try await open("observed_idle", keptChanges: .seconds(10))
    let observed = try await store.observeChanges(of: Entry.self)
    let waiting = Task { try await Observed(observed).next()?.line }
    for round in 0..<600 {
      try await store.save(Tool(id: 1, price: Double(round)))
      try await Task.sleep(for: .milliseconds(20))
    }
    try await store.save(Entry(id: 2, value: 0, writer: "a"))
    let line = try await waiting.value
    #expect(
      line == RecordChanges.all([Entry(id: 2, value: 0, writer: "a")]).line)
  }

  /// The number of connections that listen to a database.
  private func listeners(_ name: String) throws -> Int {
    let server = try #require(PostgresServer.shared)
    return try Connection(server.address("postgres")).run(
      "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND database ="
        + " (SELECT oid FROM pg_database WHERE datname = '\(name)')"
    ).count
  }

  @Test func `a task that is cancelled ends, and the last observer ends the connection`()
    async throws
  {
    let store = try await open("observed_cancelled")
    func observe() async throws {
      let observed = Observed(try await store.observeChanges(of: Entry.self))
      var tasks: [Task<Int, any Error>] = []
      for _ in 0..<5 {
        let other = try await store.observeResults(of: Query<Tool>())
        tasks.append(
          Task {
            var count = 0
            for try await _ in other { count += 1 }
            return count
          })
      }
      try await Task.sleep(for: .milliseconds(100))
      #expect(try listeners("observed_cancelled") == 1)
      for task in tasks { task.cancel() }
      for task in tasks { #expect(try await task.value <= 1) }
      // Others are not ended by that.
      try await store.save(Entry(id: 1, value: 1, writer: ""))
      #expect(try await observed.next()?.inserted.map(\.id) == [1])
    }
    try await observe()
    var count = 1
    for _ in 0..<100 where count > 0 {
      try await Task.sleep(for: .milliseconds(50))
      count = try listeners("observed_cancelled")
    }
    #expect(count == 0)
    // Another one begins again.
    let again = Observed(try await store.observeChanges(of: Entry.self))
    try await store.save(Entry(id: 2, value: 1, writer: ""))
    #expect(try await again.next()?.inserted.map(\.id) == [2])
  }

  // MARK: Databases

  @Test(.enabled(if: Pooler.isInstalled, "\(Pooler.missing)"))
  func `a pooler that gives each transaction another session is an error, and else all works`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let direct = try await open("observed_pooled")
    let pooler = try Pooler(before: server, database: "observed_pooled", mode: "transaction")
    let store = try await PostgresStore(pooler.address, model: Watched.model)
    do {
      _ = try await store.observeChanges(of: Entry.self)
      Issue.record("it was observed")
    } catch PostgresStoreError.cannotObserve(let reason) {
      #expect(reason.contains("pgbouncer"))
    }
    // Its changes are seen by other stores.
    let observed = Observed(try await direct.observeChanges(of: Entry.self))
    try await store.save(Entry(id: 1, value: 1, writer: ""))
    #expect(try await observed.next()?.inserted.map(\.id) == [1])
    await store.close()
  }

  @Test(.enabled(if: Pooler.isInstalled, "\(Pooler.missing)"))
  func `a pooler that keeps sessions is none`() async throws {
    let server = try #require(PostgresServer.shared)
    _ = try server.makeDatabase("observed_sessions")
    let pooler = try Pooler(before: server, database: "observed_sessions", mode: "session")
    let store = try await PostgresStore(pooler.address, model: Watched.model)
    let observed = Observed(try await store.observeChanges(of: Entry.self))
    try await store.save(Entry(id: 1, value: 1, writer: ""))
    #expect(try await observed.next()?.inserted.map(\.id) == [1])
    await store.close()
  }

  @Test func `a program without the right to make the outbox can do all but observe`() async throws
  {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("observed_guest")
    let first = try await PostgresStore(address, model: Watched.model)
    await first.close()
    let owner = try Connection(address)
    try owner.run(
      """
      DROP TABLE cambium.outbox, cambium.outbox_mark;
      CREATE ROLE guest LOGIN;
      GRANT USAGE ON SCHEMA cambium, public TO guest;
      GRANT SELECT ON ALL TABLES IN SCHEMA cambium TO guest;
      GRANT INSERT, UPDATE ON cambium.committed TO guest;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest;
      DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE pronamespace =
      'cambium'::regnamespace LOOP EXECUTE 'DROP FUNCTION ' || f || ' CASCADE'; END LOOP; END $$
      """)
    var options = PostgresOptions()
    options.createsTables = false
    let guest = address.replacing("user=cambium", with: "user=guest")
    for options in [PostgresOptions(), options] {
      let store = try await PostgresStore(guest, model: Watched.model, options: options)
      try await store.save(Entry(id: 1, value: 1, writer: ""))
      await #expect(throws: PostgresStoreError.self) {
        _ = try await store.observeChanges(of: Entry.self)
      }
      await store.close()
    }
    // The owner makes it again; then the guest needs no right for the outbox to write.
    let store = try await PostgresStore(address, model: Watched.model)
    let writer = try await PostgresStore(guest, model: Watched.model, options: options)
    let observed = Observed(try await store.observeChanges(of: Entry.self))
    try await writer.save(Entry(id: 1, value: 2, writer: ""))
    #expect(try await observed.next()?.updated.map(\.value) == [2])
  }

  @Test func `taking a move back removes the outbox as well`() async throws {
    let followed = try Followed("observed_back", Watched.model)
    try await followed.store.save(Entry(id: 1, value: 1, writer: ""))
    try followed.move()
    _ = try followed.whileClosed { try followed.finish() }
    let store = try await PostgresStore(followed.address, model: Watched.model)
    let observed = Observed(try await store.observeChanges(of: Entry.self))
    try await store.save(Entry(id: 1, value: 2, writer: ""))
    #expect(try await observed.next()?.updated.map(\.value) == [2])
    try await store.save(Entry(id: 1, value: 1, writer: ""))
    await store.close()
    let outcome = try followed.whileClosed { try followed.backOut() }
    #expect(outcome == .unfenced)
    try followed.move(restarting: true)
    guard case .dropped = try followed.backOut() else {
      Issue.record("the tables are still there")
      return
    }
    let rest = try Connection(followed.address).run("SELECT to_regnamespace('cambium')")
    #expect(rest == [[nil]])
  }
}

extension RecordChanges {
  /// All records as new ones.
  fileprivate static func all(_ records: [Subject]) -> RecordChanges {
    RecordChanges(inserted: records)
  }
}

/// Numbers that look random, the same for the same seed.
private struct Seeded: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

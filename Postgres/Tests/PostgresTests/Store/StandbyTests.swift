import Cambium
import CambiumPostgres
import Testing

/// Reads on a stand-by of the tests' server.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct StandbyTests {
  private typealias Counter = OrderService.Counter

  private func open(
    _ address: String, waiting: Duration, connections: Int = 2
  ) async throws -> PostgresStore {
    var options = PostgresOptions()
    options.connections = connections
    options.reads = .standby(waiting: waiting)
    return try await PostgresStore(address, model: OrderService.model, options: options)
  }

  @Test func `reads go to a stand-by that has what the program wrote, else to the primary`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let name = "standby_reads"
    _ = try server.makeDatabase(name)
    let directory = try server.startStandby(name)
    defer { server.stopStandby(directory) }
    let hosts = "\(directory),\(server.directory)"
    let store = try await open(server.address(name, host: hosts), waiting: .milliseconds(200))
    let standby = try Connection(server.address(name, host: directory))
    #expect(try standby.run("SELECT pg_is_in_recovery()") == [["t"]])

    // As new as what was written, each time.
    for value in 1...50 {
      try await OrderService.count("all", in: store)
      #expect(try await store.fetch(Counter.self, key: "all")?.value == value)
    }
    let before = store.standbyReadCount
    #expect(before > 0)

    // A stand-by that stays behind is waited for, and then not read.
    try standby.run("SELECT pg_wal_replay_pause()")
    while try standby.run("SELECT pg_get_wal_replay_pause_state()") != [["paused"]] {}
    try await OrderService.count("all", in: store)
    let start = ContinuousClock.now
    #expect(try await store.fetch(Counter.self, key: "all")?.value == 51)
    #expect(ContinuousClock.now - start >= .milliseconds(200))
    #expect(store.standbyReadCount == before)

    try standby.run("SELECT pg_wal_replay_resume()")
    let patient = try await open(server.address(name, host: hosts), waiting: .seconds(60))
    try await OrderService.count("all", in: patient)
    #expect(try await patient.fetch(Counter.self, key: "all")?.value == 52)
    #expect(patient.standbyReadCount == 1)

    // Without a stand-by, reads go to the primary.
    server.stopStandby(directory)
    try await OrderService.count("all", in: store)
    #expect(try await store.fetch(Counter.self, key: "all")?.value == 53)
  }

  @Test func `a stand-by alone is no server for a store, and that is said`() async throws {
    let server = try #require(PostgresServer.shared)
    let name = "standby_alone"
    let address = try server.makeDatabase(name)
    let writer = try await PostgresStore(address, model: OrderService.model)
    try await OrderService.count("all", in: writer)
    let directory = try server.startStandby(name)
    defer { server.stopStandby(directory) }
    let alone = server.address(name, host: directory)
    do {
      _ = try await PostgresStore(alone, model: OrderService.model)
      Issue.record("it was opened")
    } catch PostgresStoreError.connectionLost(let message) {
      #expect(message.contains("read-only"))
    }
  }

  /// A pooler tells its clients what the server was when it connected to it.
  @Test(.enabled(if: Pooler.isInstalled, "\(Pooler.missing)"))
  func `a server that became the primary is found behind a pooler, alone and beside another`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let name = "standby_promoted"
    let writer = try await PostgresStore(
      try server.makeDatabase(name), model: OrderService.model)
    try await OrderService.count("all", in: writer)
    let directory = try server.startStandby(name)
    defer { server.stopStandby(directory) }
    let pooler = try Pooler(before: server, database: name, mode: "transaction", host: directory)
    let standby = try Connection(server.address(name, host: directory))
    while try standby.run("SELECT to_regclass('public.counter')") == [[nil]] {}
    _ = try Connection(pooler.address).run("SELECT 1")
    await #expect(throws: PostgresStoreError.self) {
      _ = try await PostgresStore(pooler.address, model: OrderService.model)
    }
    try standby.run("SELECT pg_promote()")
    while try standby.run("SELECT pg_is_in_recovery()") == [["t"]] {}
    let alone = try await PostgresStore(pooler.address, model: OrderService.model)
    try await OrderService.count("all", in: alone)
    #expect(try await alone.fetch(Counter.self, key: "all")?.value == 2)
    let beside = try await PostgresStore(
      pooler.address(beside: "\(directory)/nothing"), model: OrderService.model)
    try await OrderService.count("all", in: beside)
    #expect(try standby.run("SELECT value FROM counter") == [["3"]])
    #expect(try await writer.fetch(Counter.self, key: "all")?.value == 1)
  }

  /// After a pooler, a connection may lead to a stand-by at any time.
  @Test func `a transaction that is begun on a stand-by is an error, and so is a read`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let name = "standby_pooled"
    let address = try server.makeDatabase(name)
    let writer = try await PostgresStore(address, model: OrderService.model)
    try await OrderService.count("all", in: writer)
    let directory = try server.startStandby(name)
    defer { server.stopStandby(directory) }
    let standby = try Connection(server.address(name, host: directory))
    while try standby.run("SELECT to_regclass('public.counter')") == [[nil]] {}
    var options = PostgresOptions()
    options.patience = .milliseconds(100)
    let pooled = try await PostgresStore(
      server.address(name, host: directory) + " target_session_attrs=any",
      model: OrderService.model, options: options)
    await #expect(throws: PostgresStoreError.self) {
      try await OrderService.count("all", in: pooled)
    }
    await #expect(throws: PostgresStoreError.self) {
      _ = try await pooled.fetch(Counter.self, key: "all")
    }
  }
}

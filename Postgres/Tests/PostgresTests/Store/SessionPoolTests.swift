import Cambium
import CambiumPostgres
import FoundationEssentials
import Glibc
import Synchronization
import Testing

/// Connections that are too few, break while nobody uses them, or are cut at any byte.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct SessionPoolTests {
  private typealias Counter = OrderService.Counter

  /// A transaction that waits in its closure until it is released.
  private final class Gate: Sendable {
    private let state = Mutex((isEntered: false, isOpen: false))

    var isEntered: Bool { state.withLock { $0.isEntered } }

    func open() { state.withLock { $0.isOpen = true } }

    func pass() {
      state.withLock { $0.isEntered = true }
      while !state.withLock({ $0.isOpen }) { usleep(1_000) }
    }

    /// Waits until a transaction is in it.
    func waitUntilEntered() async throws {
      while !isEntered { try await Task.sleep(for: .milliseconds(1)) }
    }
  }

  private func open(
    _ address: String, connections: Int = 1, patience: Duration = .seconds(300)
  ) async throws -> PostgresStore {
    var options = PostgresOptions()
    options.connections = connections
    options.patience = patience
    return try await PostgresStore(address, model: OrderService.model, options: options)
  }

  @Test func `a task that is cancelled while it waits for a connection leaves at once`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let store = try await open(try server.makeDatabase("pool_cancelled"))
    let gate = Gate()
    let first = Task {
      try await store.write { transaction in
        try transaction.insert(Counter(id: "first", value: 1))
        gate.pass()
      }
    }
    try await gate.waitUntilEntered()
    let waiting = (0..<20).map { number in
      Task { try await store.insert(Counter(id: "\(number)", value: number)) }
    }
    try await Task.sleep(for: .milliseconds(50))
    // Every second one leaves, while the only connection is still in use.
    for task in waiting.indices where task % 2 == 0 { waiting[task].cancel() }
    for task in waiting.indices where task % 2 == 0 {
      await #expect(throws: CancellationError.self) { try await waiting[task].value }
    }
    #expect(gate.isEntered)
    gate.open()
    try await first.value
    for task in waiting.indices where task % 2 == 1 { try await waiting[task].value }
    let found = try await store.fetch(Query<Counter>()).map(\.id)
    #expect(Set(found) == Set(["first"] + (0..<10).map { "\($0 * 2 + 1)" }))
    // Nobody has taken the connection along.
    #expect(try await store.count(Query<Counter>()) == 11)
  }

  @Test func `a task that was cancelled before changes nothing`() async throws {
    let server = try #require(PostgresServer.shared)
    let store = try await open(try server.makeDatabase("pool_cancelled_before"))
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.insert(Counter(id: "a", value: 1))
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store.count(Query<Counter>()) == 0)
  }

  @Test func `tasks that wait when the store is closed are told so`() async throws {
    let server = try #require(PostgresServer.shared)
    let store = try await open(try server.makeDatabase("pool_closed"))
    let gate = Gate()
    let first = Task { try await store.write { _ in gate.pass() } }
    try await gate.waitUntilEntered()
    let waiting = Task { try await store.insert(Counter(id: "a", value: 1)) }
    try await Task.sleep(for: .milliseconds(50))
    await store.close()
    await #expect(throws: StoreError.closed(path: "PostgreSQL")) { try await waiting.value }
    gate.open()
    try await first.value
  }

  @Test func `a server that refuses connections is an error, again and again`() async throws {
    let server = try #require(PostgresServer.shared)
    let address = server.address("nothing_is_called_so")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<20 {
            await #expect(throws: PostgresStoreError.self) {
              _ = try await PostgresStore(address, model: OrderService.model)
            }
          }
        }
      }
    }
  }

  @Test func `a hundred tasks share two connections, and each gets its turn`() async throws {
    let server = try #require(PostgresServer.shared)
    let store = try await open(try server.makeDatabase("pool_shared"), connections: 2)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 { group.addTask { try await store.count(Query<Counter>()) } }
      for try await count in group { #expect(count == 0) }
    }
  }

  @Test func `a fetch asks the server once, and saving a record three times`() async throws {
    let server = try #require(PostgresServer.shared)
    let name = "pool_round_trips"
    _ = try await open(try server.makeDatabase(name))
    let proxy = try CuttingProxy(before: server, named: name, cuttingAfter: [])
    let store = try await open(server.address(name, host: proxy.directory))
    func count(_ body: () async throws -> Void) async throws -> Int {
      let before = proxy.roundTripCount
      try await body()
      return proxy.roundTripCount - before
    }
    // Old changes for observers are removed after the first write.
    try await store.save(Counter(id: "a", value: 0))
    let counts = [
      try await count { try await store.save(Counter(id: "a", value: 1)) },
      try await count { _ = try await store.fetch(Counter.self, key: "a") },
      try await count { _ = try await store.fetch(Counter.where { $0.value > 0 }) },
      try await count { _ = try await store.count(Query<Counter>()) },
      try await count { try await store.read { _ in } },
      try await count { try await store.write { _ in } },
    ]
    #expect(counts == [3, 1, 1, 1, 0, 0])
  }

  @Test func `a transaction that cannot begin runs nothing, also if its errors are hidden`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let name = "pool_unbegun"
    let store = try await open(try server.makeDatabase(name))
    // As after a migration.
    try Connection(server.address(name)).run("DROP TABLE cambium.version_1")
    await #expect(throws: StoreError.self) {
      try await store.write { transaction in
        for id in ["a", "b"] { try? transaction.insert(Counter(id: id, value: 1)) }
      }
    }
    await #expect(throws: (any Error).self) {
      try await store.read { snapshot in _ = try? snapshot.count(Counter.self) }
    }
    #expect(try Connection(server.address(name)).run("SELECT FROM counter").isEmpty)
  }

  // MARK: Broken connections

  /// Ends all connections to a database.
  private func breakAll(_ name: String, _ server: PostgresServer) throws {
    try Connection(server.address("postgres")).run(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(name)'")
  }

  @Test func `connections that broke while nobody used them are replaced, and nothing fails`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let store = try await open(try server.makeDatabase("pool_broken"), connections: 4)
    for round in 1...3 {
      // All four are open.
      let gate = Gate()
      let readers = (0..<4).map { _ in Task { try await store.read { _ in gate.pass() } } }
      try await Task.sleep(for: .milliseconds(100))
      gate.open()
      for reader in readers { try await reader.value }
      try breakAll("pool_broken", server)
      try await OrderService.count("all", in: store)
      #expect(try await store.fetch(Counter.self, key: "all")?.value == round)
    }
  }

  /// Inserts two counters, and breaks the connection between them as often as the counter says.
  private func insertBreaking(
    _ name: String, in store: PostgresStore, times: Int = 1
  ) async throws {
    let server = try #require(PostgresServer.shared)
    let rest = Mutex(times)
    try await store.write { transaction in
      try transaction.insert(Counter(id: "a", value: 1))
      let breaks = rest.withLock { rest in
        defer { rest -= 1 }
        return rest > 0
      }
      if breaks { try breakAll(name, server) }
      try transaction.insert(Counter(id: "b", value: 1))
    }
  }

  @Test func `a connection that breaks within a transaction is an error without patience`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let name = "pool_broken_within"
    let store = try await open(try server.makeDatabase(name), patience: .zero)
    do {
      try await insertBreaking(name, in: store)
      Issue.record("it was committed")
    } catch PostgresStoreError.connectionLost {}
    #expect(try await store.count(Query<Counter>()) == 0)
  }

  @Test func `a transaction whose connection breaks is run again, until the patience ends`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let name = "pool_run_again"
    let store = try await open(try server.makeDatabase(name))
    try await insertBreaking(name, in: store, times: 3)
    #expect(try await store.count(Query<Counter>()) == 2)
    #expect(try await store.delete(Query<Counter>()) == 2)
    let impatient = try await open(server.address(name), patience: .milliseconds(300))
    do {
      try await insertBreaking(name, in: impatient, times: .max)
      Issue.record("it was committed")
    } catch PostgresStoreError.noPrimary(let patience, _) {
      #expect(patience == .milliseconds(300))
    }
    #expect(try await store.count(Query<Counter>()) == 0)
  }

  @Test func `a task that is cancelled while it waits for a server ends at once`() async throws {
    let server = try #require(PostgresServer.shared)
    let name = "pool_cancelled_waiting"
    let store = try await open(try server.makeDatabase(name), patience: .seconds(600))
    let task = Task { try await insertBreaking(name, in: store, times: .max) }
    try await Task.sleep(for: .milliseconds(300))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `a commit whose answer is lost is looked up, and happens once`() async throws {
    let server = try #require(PostgresServer.shared)
    let name = "pool_commits"
    let direct = try await open(try server.makeDatabase(name))
    let proxy = try CuttingProxy(before: server, named: name, cuttingAfter: [], commits: 20)
    let store = try await open(server.address(name, host: proxy.directory))
    for _ in 0..<30 { try await OrderService.count("all", in: store) }
    #expect(proxy.rest == 0)
    #expect(try await direct.fetch(Counter.self, key: "all")?.value == 30)
  }

  @Test
  func `a commit that did not reach the server is run again, though its transaction is still open`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let name = "pool_withheld"
    let direct = try await open(try server.makeDatabase(name))
    try await OrderService.count("all", in: direct)
    let proxy = try CuttingProxy(
      before: server, named: name, cuttingAfter: [], commits: 2, withholding: true)
    let store = try await open(server.address(name, host: proxy.directory))
    for _ in 0..<3 { try await OrderService.count("all", in: store) }
    #expect(proxy.rest == 0)
    #expect(try await direct.fetch(Counter.self, key: "all")?.value == 4)
  }

  @Test func `commits leave one mark for each connection, and old marks are removed`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("pool_marks")
    let connection = try Connection(address)
    func marks() throws -> String? {
      try connection.run("SELECT count(*) FROM cambium.committed")[0][0]
    }
    let first = try await open(address)
    for _ in 0..<5 { try await OrderService.count("all", in: first) }
    #expect(try marks() == "1")
    await first.close()
    let second = try await open(address)
    #expect(try marks() == "1")
    _ = try await second.count(Query<Counter>())
    try await second.write { transaction in _ = try transaction.count(Counter.self) }
    #expect(try marks() == "1")
    try connection.run("UPDATE cambium.committed SET committed_at = now() - interval '2 days'")
    let third = try await open(address)
    #expect(try marks() == "0")
    // A database that was made before there were marks.
    try connection.run("DROP TABLE cambium.committed")
    let fourth = try await open(address)
    try await OrderService.count("all", in: fourth)
    try await OrderService.count("all", in: third)
    #expect(try marks() == "2")
  }

  /// Counts through connections that are cut after more and more bytes.
  ///
  /// - Returns: The counts that were acknowledged, and the number of errors.
  private func countCut(
    _ name: String, patience: Duration
  ) async throws -> (count: Int, value: Int?, lost: Int) {
    let server = try #require(PostgresServer.shared)
    let direct = try await open(try server.makeDatabase(name))
    var (count, lost) = (0, 0)
    for cut in stride(from: 50, to: 4_500, by: 41) {
      let proxy = try CuttingProxy(before: server, named: "\(name)_\(cut)", cuttingAfter: [cut])
      let address = server.address(name, host: proxy.directory)
      let store: PostgresStore
      do {
        store = try await open(address, patience: patience)
      } catch PostgresStoreError.connectionLost {
        lost += 1
        continue
      }
      for _ in 0..<3 {
        do {
          try await OrderService.count("all", in: store)
          count += 1
        } catch PostgresStoreError.connectionLost {
          lost += 1
        }
      }
      await store.close()
    }
    return (count, try await direct.fetch(Counter.self, key: "all")?.value, lost)
  }

  @Test
  func `a connection that is cut after any number of bytes loses no commit, and makes none twice`()
    async throws
  {
    let found = try await countCut("pool_cut", patience: .zero)
    #expect(found.lost > 20)
    #expect(found.count > 20)
    #expect(found.value == found.count)
  }

  @Test
  func `with patience, a connection that is cut after any number of bytes only fails to be opened`()
    async throws
  {
    let found = try await countCut("pool_cut_patient", patience: .seconds(300))
    #expect((found.count / 3) + found.lost == 109)
    #expect(found.count % 3 == 0)
    #expect(found.count > 100)
    #expect(found.value == found.count)
  }
}

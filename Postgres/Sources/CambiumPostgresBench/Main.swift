import ArgumentParser
import Cambium
import CambiumPostgres
import FoundationEssentials

@main
struct PostgresBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium-postgres-bench",
    abstract: "Compares what a store does on PostgreSQL with the same by libpq, in C.",
    discussion: """
      It makes databases cambium_bench and cambium_bench_peer on the server, drops those of before, and alternates between both. The \
      program in C copies rows that are encoded already; it reads and queries by prepared statements without a transaction, and \
      saves in serializable transactions. Reads and saves of the store are those of `PostgresStore`, with everything that it promises.

      Example: cambium-postgres-bench --server 'host=/tmp user=postgres' --records 1000000
      """)

  @Option(help: "The server, as a connection string of libpq without a database.")
  var server: String

  @Option(help: "The number of records.")
  var records = 1_000_000

  @Option(help: "The number of point reads, and a tenth of it of saves and queries, in a round.")
  var operations = 20_000

  @Option(help: "The number of rounds. Figures are medians.")
  var rounds = 5

  @Option(help: "The directory for the store.")
  var directory = "/tmp/cambium-postgres-bench"

  func validate() throws {
    guard records >= 1_000, operations >= 100, rounds >= 1 else {
      throw ValidationError("There are at least 1000 records, 100 operations and one round.")
    }
  }

  func run() async throws {
    let (address, peer, rows) = try move()
    let store = try await PostgresStore(address, model: BenchItem.model)
    try peer.prepare()
    try await measure(store, peer, rows)
    await store.close()
    try await PersistentStore.delete(at: directory)
  }

  /// Moves a store, and compares that with copying the same rows.
  ///
  /// - Returns: the address of the finished database, the peer with the same table, and its rows.
  private func move() throws -> (String, Peer, [UInt8]) {
    if FileManager.default.fileExists(atPath: directory) {
      try PersistentStore.delete(at: directory)
    }
    var options = StoreOptions()
    options.history = .keptForever
    let store = try PersistentStore(at: directory, model: BenchItem.model, options: options)
    try fill(store)
    let address = try database("cambium_bench")
    let peerAddress = try database("cambium_bench_peer")
    let plan = PostgresPlan(store.schema)

    let moved = try time(records) {
      let move = Move(
        try store.snapshot(), of: try PersistentStore.inspect(at: directory),
        options: PlanOptions(), to: address)
      return try move.run()
    }
    let peer = try Peer(peerAddress)
    let rows = try Peer(address).rows(of: "bench_item")
    let copied = try time(records) { try peer.make(plan, copying: rows) }
    report("move: records a second", [moved], [copied])

    try store.close()
    _ = try Finish(directory, to: address).run()
    return (address, peer, rows)
  }

  private func fill(_ store: PersistentStore) throws {
    for start in stride(from: 0, to: records, by: 50_000) {
      try store.write { transaction in
        for number in start..<min(records, start + 50_000) {
          try transaction.save(BenchItem(number))
        }
      }
    }
  }

  private func database(_ name: String) throws -> String {
    let connection = try Connection(server + " dbname=postgres")
    try connection.run("DROP DATABASE IF EXISTS \(name)")
    try connection.run("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8'")
    return server + " dbname=\(name)"
  }

  /// Point reads, saves and queries, one task, in turns.
  private func measure(_ store: PostgresStore, _ peer: Peer, _ rows: [UInt8]) async throws {
    var figures: [String: (own: [Double], peer: [Double])] = [:]
    let few = max(10, operations / 10)
    for round in 0..<rounds {
      let keys = (0..<operations).map { BenchItem.id(($0 * 7_919 + round) % records) }
      var start = ContinuousClock.now
      for key in keys {
        guard try await store.fetch(BenchItem.self, key: key) != nil else { throw NotTheSame() }
      }
      figures["point reads a second", default: ([], [])].own.append(rate(operations, since: start))
      start = ContinuousClock.now
      guard try peer.find(keys) == operations else { throw NotTheSame() }
      figures["point reads a second", default: ([], [])].peer.append(rate(operations, since: start))

      start = ContinuousClock.now
      for number in 0..<few {
        var item = BenchItem(number)
        item.count += round
        try await store.save(item)
      }
      figures["saves a second", default: ([], [])].own.append(rate(few, since: start))
      start = ContinuousClock.now
      guard try peer.save(rows, few) == few else { throw NotTheSame() }
      figures["saves a second", default: ([], [])].peer.append(rate(few, since: start))

      start = ContinuousClock.now
      for _ in 0..<few {
        let found = try await store.fetch(
          BenchItem.where { $0.title >= BenchItem.title(100) }.sorted(by: .ascending(\.title))
            .limit(
              100))
        guard found.count == 100 else { throw NotTheSame() }
      }
      figures["queries of 100 records a second", default: ([], [])].own.append(
        rate(few, since: start))
      start = ContinuousClock.now
      guard try peer.query(few) == 100 * few else { throw NotTheSame() }
      figures["queries of 100 records a second", default: ([], [])].peer.append(
        rate(few, since: start))
    }
    for (name, found) in figures.sorted(by: { $0.key < $1.key }) {
      report(name, found.own, found.peer)
    }
  }

  private func time(_ count: Int, _ body: () throws -> Int) throws -> Double {
    let start = ContinuousClock.now
    guard try body() == count else { throw NotTheSame() }
    return rate(count, since: start)
  }

  private func rate(_ count: Int, since start: ContinuousClock.Instant) -> Double {
    Double(count) / ((ContinuousClock.now - start) / .seconds(1))
  }

  private func report(_ name: String, _ own: [Double], _ peer: [Double]) {
    let (mine, other) = (median(own), median(peer))
    print("\(name): store \(Int(mine)), libpq \(Int(other)), ratio \(Int(100 * mine / other)) %")
  }

  private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// One of the two sides has a wrong result.
struct NotTheSame: Error, CustomStringConvertible {
  var description: String { "One of the two sides has a wrong result." }
}

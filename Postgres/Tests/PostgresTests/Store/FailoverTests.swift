import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// A cluster whose primary is killed, cut off and replaced, as a program sees it.
@Suite(.enabled(if: Cluster.shared != nil, "\(Cluster.missing)"), .serialized)
struct FailoverTests {
  /// A way in which the primary ends.
  private enum Fault: String, CaseIterable {
    case kill, cut
    case switchOver = "switch-over"
  }

  /// The servers themselves, or the poolers before them.
  enum Route: String, Sendable {
    case servers = ""
    case poolers = "pgbouncer"
  }

  // Not over the poolers: pgbouncer 1.18 takes a new primary for a stand-by.
  @Test(arguments: [Route.servers])
  func `failovers lose no acknowledged commit, and make none twice`(_ route: Route) async throws {
    let cluster = try #require(Cluster.shared)
    var options = PostgresOptions()
    options.connections = FailoverLoad.taskCount + 4
    options.attempts = 20
    options.patience = .seconds(120)
    options.reads = .standby()
    let address = try await cluster.run("address \(route.rawValue)")
    let store = try await PostgresStore(address, model: FailoverLoad.model, options: options)
    let load = FailoverLoad(store)
    try await load.prepare()

    let running = Task { await load.run() }
    defer { load.end() }
    let failovers = try await replacePrimary(cluster, load)
    try await waitUntil(within: .seconds(1_200)) {
      load.commitCount >= failovers.count * 5_000
    }
    load.end()
    await running.value
    let outcome = try await load.compare()
    report(failovers, outcome, route)
    #expect(outcome.lostCount == 0)
    #expect(outcome.twiceCount == 0)
    #expect(outcome.wronglyRefusedCount == 0)
    #expect(outcome.differenceOfSums == 0)
    #expect(outcome.staleReadCount == 0)
    #expect(outcome.standbyReadCount > 0)
    for failover in failovers { #expect(failover.ownTime < 10, "\(failover)") }
    await store.close()
  }

  private struct Failover: CustomStringConvertible {
    let fault: Fault
    /// Seconds from the fault to the promotion of another server, and from there to the program's first commit.
    let promotion: Double
    let recovery: Double
    /// The part of `recovery` since commits had a stand-by to wait for, which is a matter of the cluster.
    let ownTime: Double
    let commitCount: Int

    var description: String {
      "\(fault.rawValue), promotion after \(Self.text(promotion)) s, first commit \(Self.text(recovery)) s later,"
        + " \(Self.text(ownTime)) s after the first stand-by, \(commitCount) commits"
    }

    static func text(_ seconds: Double) -> String { "\((seconds * 100).rounded() / 100)" }
  }

  /// Has the primary replaced again and again, while the load runs.
  private func replacePrimary(
    _ cluster: Cluster, _ load: FailoverLoad
  ) async throws -> [Failover] {
    let count = cluster.failoverCount
    var failovers: [Failover] = []
    for number in 0..<count {
      let start = load.commitCount
      try await waitUntil(within: .seconds(120)) { load.commitCount > start + 200 }
      // A switch-over is every fifth, for it is the least of them.
      let fault: Fault = number % 5 == 2 ? .switchOver : number % 2 == 0 ? .kill : .cut
      let begun = FailoverLoad.now()
      try await cluster.run(fault.rawValue)
      let found = try await promotion(after: begun, in: cluster, load)
      let first = load.firstCommit(after: found.time) ?? .infinity
      let failover = Failover(
        fault: fault, promotion: found.time - begun, recovery: first - found.time,
        ownTime: first - (found.ready ?? found.time), commitCount: load.commitCount)
      print("Failover \(number + 1) of \(count): \(failover)")
      failovers.append(failover)
      try await cluster.run("heal")
    }
    return failovers
  }

  /// Waits for a promotion after a time, and for a commit of the program after that.
  private func promotion(
    after time: Double, in cluster: Cluster, _ load: FailoverLoad
  ) async throws -> Cluster.Promotion {
    for _ in 0..<240 {
      let found = try await cluster.promotions().first { $0.time > time }
      if let found, load.firstCommit(after: found.time) != nil { return found }
      try await Task.sleep(for: .milliseconds(500))
    }
    throw TooLate()
  }

  private struct TooLate: Error {}

  private func waitUntil(within limit: Duration, _ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + limit
    while !condition() {
      guard ContinuousClock.now < end else { throw TooLate() }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  private func report(
    _ failovers: [Failover], _ outcome: FailoverLoad.Outcome, _ route: Route
  ) {
    let times = failovers.map(\.recovery).sorted()
    print(
      """
      Over the \(route): \(failovers.count) failovers, \(outcome.acknowledgedCount) acknowledged commits.
      Lost: \(outcome.lostCount); twice: \(outcome.twiceCount); refused, and yet committed: \(outcome.wronglyRefusedCount); \
      of unknown outcome: \(outcome.unknownCount); errors: \(outcome.errors).
      Seconds from the promotion to the first commit: \(Failover.text(times.first ?? 0)) to \
      \(Failover.text(times.last ?? 0)), the median \(Failover.text(times.isEmpty ? 0 : times[times.count / 2])).
      Reads: \(outcome.readCount), of stand-bys \(outcome.standbyReadCount), older than the program's commits \(outcome.staleReadCount).
      """)
  }
}

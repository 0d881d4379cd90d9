import Cambium
import Synchronization

/// The server that the reads of a `PostgresStore` go to.
public enum ReadServer: Sendable, Hashable {
  /// The primary, which takes the writes as well.
  case primary
  /// A stand-by that has every commit which this store had acknowledged when the read began.
  ///
  /// The positions of the two servers in the log are compared: by a part of each commit, and by a statement before each read. A read
  /// waits up to `waiting` for a stand-by that is not as far, and goes to the primary then, as it does if no stand-by can be reached.
  /// It may see less than the primary of what other programs have committed.
  case standby(waiting: Duration = .milliseconds(100))
}

/// Reads on stand-bys.
final class StandbyReads: Sendable {
  private let pool: SessionPool
  private let waiting: Duration
  private let newest = Mutex(LogPosition.zero)
  private let count = Atomic(0)

  /// After a minute, a connection is made again: so a stand-by that has become the primary is not read for long, and one that has
  /// come back is used.
  private static let lifetime = Duration.seconds(60)

  init(_ address: String, _ options: PostgresOptions, waiting: Duration) {
    pool = SessionPool(
      ServerAddress(address, .standby), countMax: options.connections, lifetime: Self.lifetime)
    self.waiting = waiting
  }

  /// The number of reads that did not go to the primary's connections.
  var readCount: Int { count.load(ordering: .relaxed) }

  /// Notes the position of a commit that is acknowledged.
  func note(_ position: LogPosition) { newest.withLock { $0 = max($0, position) } }

  /// Runs `body` with a connection to a stand-by that has all acknowledged commits; nil if there is none in time.
  func read<Result: Sendable>(
    _ body: @Sendable (Connection) throws -> Result
  ) async throws -> Result? {
    let position = newest.withLock { $0 }
    do {
      let result = try await SessionRun(pool, patience: .zero).run { connection in
        try wait(for: position, connection) ? body(connection) : nil
      }
      if result != nil { count.add(1, ordering: .relaxed) }
      return result
    } catch PostgresStoreError.connectionLost {
      return nil
    }
  }

  /// Waits until a server has reached a position. False if it has not in time.
  private func wait(for position: LogPosition, _ connection: Connection) throws -> Bool {
    let end = ContinuousClock.now + waiting
    do {
      while try !position.isReached(by: connection) {
        guard ContinuousClock.now < end else { return false }
        try connection.run("SELECT pg_sleep(0.002)")
      }
      return true
    } catch {
      throw ConnectionLoss(error)
    }
  }

  func close() async { await pool.close() }
}

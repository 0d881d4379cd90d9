import Cambium
import FoundationEssentials

/// Runs transactions on connections of a pool. If a connection is lost, the transaction is run again on another one, which may lead to
/// another server, until the patience ends.
struct SessionRun: Sendable {
  private let pool: SessionPool
  private let patience: Duration

  init(_ pool: SessionPool, patience: Duration) {
    self.pool = pool
    self.patience = patience
  }

  /// Runs `body` with a connection that no other task uses; again if it throws `ConnectionLoss`.
  ///
  /// - Throws: errors of `body`; `PostgresStoreError.connectionLost`, `.noPrimary`; `CancellationError`.
  func run<Result: Sendable>(
    _ body: @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await untilPatienceEnds {
      let (session, result) = try await begin { connection, _ in try body(connection) }
      await pool.giveBack(session, isLost: session.isLost)
      return result
    }
  }

  /// Runs a write transaction. If the answer to its commit is lost, the outcome is looked up; if the commit was not made, the
  /// transaction is run again.
  ///
  /// - Parameter body: Given a connection, and the identity that the marks of its commits have.
  /// - Throws: as `run(_:)`; `StoreError.outcomeUnknown` if no server answers the lookup while the patience lasts.
  func write<Result: Sendable>(
    _ body: @Sendable (Connection, UUID) throws -> TransactionEnd<Result>
  ) async throws -> (Result, LogPosition?) {
    try await untilPatienceEnds {
      let (session, end) = try await begin(body)
      switch end {
      case .committed(let result, let position):
        await pool.giveBack(session, isLost: session.isLost)
        return (result, position)
      case .unknown(let result, let mark, let cause):
        let found = try await lookUp(mark, session, after: cause)
        guard found.isCommitted else { throw ConnectionLoss(cause) }
        return (result, found.position)
      }
    }
  }

  /// Takes a connection, and runs `body` with it.
  private func begin<Result: Sendable>(
    _ body: @Sendable (Connection, UUID) throws -> Result
  ) async throws -> (Session, Result) {
    let session = try await pool.take()
    do {
      try Task.checkCancellation()
      return (session, try await session.run(body))
    } catch let loss as ConnectionLoss {
      await pool.giveBack(session, isLost: true)
      if loss.isUnbegun, session.isReused { throw IdleLoss() }
      throw loss
    } catch {
      await pool.giveBack(session, isLost: session.isLost)
      throw error
    }
  }

  /// Looks up the outcome of a commit over a new connection in the place of the one that was lost.
  private func lookUp(
    _ mark: CommitMark, _ lost: Session, after cause: PostgresError
  ) async throws -> (isCommitted: Bool, position: LogPosition?) {
    var backOff = BackOff(within: patience)
    repeat {
      do {
        let session = try await pool.openReplacement()
        let found = try await session.run { connection, _ in try mark.lookUp(connection) }
        await pool.giveBack(session, isLost: session.isLost)
        return found
      } catch is PostgresError {
        // There may be no primary yet, or it is still ending the transaction.
      } catch {
        break
      }
    } while (try? await backOff.pause()) ?? false
    await pool.giveBack(lost, isLost: true)
    throw StoreError.outcomeUnknown(path: "PostgreSQL", reason: cause.message)
  }

  private func untilPatienceEnds<Result>(
    _ attempt: () async throws -> Result
  ) async throws -> Result {
    var backOff = BackOff(within: patience)
    while true {
      try Task.checkCancellation()
      do {
        return try await attempt()
      } catch is IdleLoss {
        continue
      } catch let loss as ConnectionLoss {
        guard try await backOff.pause() else { throw loss.ofStore(after: patience) }
      }
    }
  }
}

/// The end of a write transaction on a connection.
enum TransactionEnd<Result: Sendable>: Sendable {
  /// It was committed, or has changed nothing.
  case committed(Result, LogPosition?)
  /// The connection was lost during the commit.
  case unknown(Result, CommitMark, PostgresError)
}

/// The connection was lost, or could not be made, or its server is no primary any more: nothing was committed.
struct ConnectionLoss: Error {
  let cause: PostgresError
  /// True if it was found out before the transaction had begun.
  let isUnbegun: Bool

  init(_ cause: PostgresError, isUnbegun: Bool = false) {
    self.cause = cause
    self.isUnbegun = isUnbegun
  }

  fileprivate func ofStore(after patience: Duration) -> PostgresStoreError {
    patience > .zero
      ? .noPrimary(after: patience, reason: cause.message) : .connectionLost(cause.message)
  }
}

/// A connection was lost while no task used it, so there is no reason to wait before another one is taken.
private struct IdleLoss: Error {}

/// Pauses between attempts, each twice as long as the one before, up to a second; at random up to a half shorter, so that tasks do not
/// try again at the same moment.
struct BackOff {
  private let patience: Duration
  private var end: ContinuousClock.Instant?
  private var next = Duration.milliseconds(20)

  private static let longest = Duration.seconds(1)

  /// - Parameter patience: The time from the first pause to the last attempt.
  init(within patience: Duration) { self.patience = patience }

  /// Pauses. Returns false, without a pause, if the patience has ended.
  mutating func pause() async throws -> Bool {
    let now = ContinuousClock.now
    let end = end ?? now + patience
    self.end = end
    guard now < end else { return false }
    try await Task.sleep(for: min(next * Double.random(in: 0.5...1), end - now))
    next = min(next * 2, Self.longest)
    return true
  }
}

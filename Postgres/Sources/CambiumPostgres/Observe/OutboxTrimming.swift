import Synchronization

/// Removes rows of the outbox that are older than changes are kept for. The writers do it, now and then, after a commit: so it is done
/// as long as there are new rows.
final class OutboxTrimming: Sendable {
  private let keptFor: Duration
  private let next: Mutex<ContinuousClock.Instant>

  init(keptFor: Duration) {
    self.keptFor = max(keptFor, .milliseconds(1))
    next = Mutex(ContinuousClock.now)
  }

  /// Sets a mark, and removes old rows, sixteen times in the time for which changes are kept. An error is left to the next transaction:
  /// the one before is committed.
  func runIfDue(_ connection: Connection) {
    let now = ContinuousClock.now
    let isDue = next.withLock { next in
      guard now >= next else { return false }
      next = now + keptFor / 16
      return true
    }
    guard isDue else { return }
    do {
      try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED")
      let isAlone = try connection.run(
        "SELECT pg_try_advisory_xact_lock(hashtext('cambium'), hashtext('trim'))")
      if isAlone.first?.first == "t" {
        let age = "interval '1 microsecond' * \(Int64(min(keptFor / .microseconds(1), 1e15)))"
        for statement in Outbox.trimming(age) { try connection.run(statement) }
      }
      try connection.run("COMMIT")
    } catch {
      _ = try? connection.run("ROLLBACK")
    }
  }
}

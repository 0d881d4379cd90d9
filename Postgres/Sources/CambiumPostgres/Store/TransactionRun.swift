import Cambium

/// A write transaction that is run until it does not conflict with others.
struct TransactionRun {
  private let address: String
  private let plan: PostgresPlan
  private let mapping: RecordMapping
  private let durability: Durability?
  private let options: PostgresOptions
  /// Nil if the database has no outbox.
  private let trimming: OutboxTrimming?

  init(
    _ address: String, _ plan: PostgresPlan, _ mapping: RecordMapping, _ durability: Durability?,
    _ options: PostgresOptions, _ trimming: OutboxTrimming?
  ) {
    self.address = address
    self.plan = plan
    self.mapping = mapping
    self.durability = durability
    self.options = options
    self.trimming = trimming
  }

  func write<Result>(
    _ connection: Connection, _ body: (inout PostgresTransaction) throws -> Result
  ) throws -> Result {
    for attempt in 0..<max(1, options.attempts) {
      if attempt > 0 { try Task.checkCancellation() }
      try begin(connection)
      let server = ServerTransaction(plan, mapping, connection)
      do {
        var transaction = PostgresTransaction(server: server)
        let result = try body(&transaction)
        // A body that catches an error of the server and continues would otherwise commit nothing.
        if let failure = server.failure { throw failure.ofStore }
        let (number, isObserved) = try server.finish()
        server.end()
        if try commit(connection, number) {
          // Nothing of this can fail: the transaction is committed.
          if isObserved { _ = try? connection.run(Outbox.notifying) }
          if number != nil { trimming?.runIfDue(connection) }
          return result
        }
      } catch {
        server.end()
        _ = try? connection.run("ROLLBACK")
        guard server.failure?.isConflict == true else { throw error }
      }
    }
    throw PostgresStoreError.conflict(attempts: max(1, options.attempts))
  }

  private func begin(_ connection: Connection) throws {
    try connection.begin("SERIALIZABLE")
    if durability == .relaxed { try connection.runMapped("SET LOCAL synchronous_commit = off") }
  }

  /// Commits. False if the transaction conflicts with another one.
  private func commit(_ connection: Connection, _ number: UInt64?) throws -> Bool {
    do {
      try connection.run("COMMIT")
      return true
    } catch {
      if error.isConflict {
        _ = try? connection.run("ROLLBACK")
        return false
      }
      guard error.isOfConnection, let number else { throw error.ofStore }
      switch try outcome(of: number, after: error) {
      case "committed": return true
      case "aborted": throw PostgresStoreError.connectionLost(error.message)
      default: throw StoreError.outcomeUnknown(path: "PostgreSQL", reason: error.message)
      }
    }
  }

  /// Asks the server for the outcome of a commit whose answer was lost; waits up to five seconds while it is not decided.
  private func outcome(
    of number: UInt64, after failure: PostgresError
  ) throws -> String? {
    do {
      let connection = try Connection(address)
      var outcome: String?
      for attempt in 0..<100 {
        if attempt > 0 { try connection.run("SELECT pg_sleep(0.05)") }
        outcome = try connection.run("SELECT txid_status(\(number))").first?.first.flatMap { $0 }
        if outcome != "in progress" { break }
      }
      return outcome
    } catch {
      throw StoreError.outcomeUnknown(path: "PostgreSQL", reason: failure.message)
    }
  }
}

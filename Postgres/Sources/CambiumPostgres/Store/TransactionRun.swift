import Cambium
import FoundationEssentials

/// A write transaction that is run until it does not conflict with others.
struct TransactionRun: Sendable {
  private let plan: PostgresPlan
  private let mapping: RecordMapping
  private let durability: Durability?
  private let options: PostgresOptions
  /// Nil if the database has no outbox.
  private let trimming: OutboxTrimming?
  private let version: VersionGuard

  init(
    _ plan: PostgresPlan, _ mapping: RecordMapping, _ durability: Durability?,
    _ options: PostgresOptions, _ trimming: OutboxTrimming?, _ version: VersionGuard
  ) {
    self.version = version
    self.plan = plan
    self.mapping = mapping
    self.durability = durability
    self.options = options
    self.trimming = trimming
  }

  /// Runs the transaction on a connection.
  ///
  /// - Parameter writer: The identity of the connection in the marks of its commits.
  /// - Throws: errors of `body`; `ConnectionLoss`, `PostgresStoreError`.
  func write<Result: Sendable>(
    _ connection: Connection, as writer: UUID,
    _ body: (inout PostgresTransaction) throws -> Result
  ) throws -> TransactionEnd<Result> {
    for attempt in 0..<max(1, options.attempts) {
      if attempt > 0 { try Task.checkCancellation() }
      let server = ServerTransaction(plan, mapping, connection, beginningBy: beginning)
      do {
        var transaction = PostgresTransaction(server: server)
        let result = try body(&transaction)
        // A body that catches an error of the server and continues would otherwise commit nothing.
        if let failure = server.failure { throw failure.ofStore }
        // It has asked for nothing.
        guard server.hasBegun else {
          server.end()
          return .committed(result, nil)
        }
        try server.checkReferences()
        try server.checkServers(allowingSeveral: options.writesSeveralServers)
        let mark = try CommitMark(writtenBy: writer, in: server)
        server.end()
        if let end = try commit(connection, mark, server, result) {
          if case .unknown = end { return end }
          // Nothing of this can fail: the transaction is committed.
          if mark?.isObserved == true { _ = try? connection.run(Outbox.notifying) }
          if mark != nil { trimming?.runIfDue(connection) }
          return end
        }
      } catch {
        server.rollBack()
        if let refusal = connection.refusal(of: server, version) { throw refusal }
        if let failure = server.failure, failure.isLoss { throw ConnectionLoss(failure) }
        guard server.failure?.isConflict == true else { throw error }
      }
    }
    throw PostgresStoreError.conflict(attempts: max(1, options.attempts))
  }

  private var beginning: [String] {
    ["BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"]
      + (durability == .relaxed ? ["SET LOCAL synchronous_commit = off"] : []) + version.writing
  }

  /// Commits. Nil if the transaction conflicts with another one.
  private func commit<Result: Sendable>(
    _ connection: Connection, _ mark: CommitMark?, _ server: ServerTransaction, _ result: Result
  ) throws -> TransactionEnd<Result>? {
    do {
      if options.reads != .primary {
        return .committed(result, try LogPosition(committing: connection))
      }
      try connection.run("COMMIT")
      return .committed(result, nil)
    } catch {
      if error.isConflict {
        _ = try? connection.run("ROLLBACK")
        return nil
      }
      // The statement after the commit may have been cancelled.
      guard error.isLoss || error.state == "57014" else {
        throw server.brokenReference(error) ?? error.ofStore
      }
      // The mark says nothing of the commits of other servers.
      if server.changed.hasOthers {
        throw StoreError.outcomeUnknown(path: "PostgreSQL", reason: error.message)
      }
      guard let mark else { throw ConnectionLoss(error) }
      return .unknown(result, mark, error)
    }
  }
}

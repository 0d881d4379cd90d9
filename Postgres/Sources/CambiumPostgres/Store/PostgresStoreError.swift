/// An error of a `PostgresStore` that has no counterpart in an embedded store. Everything else is a `StoreError`.
@nonexhaustive public enum PostgresStoreError: Error, Hashable, Sendable {
  /// A part of a query has no translation with exactly the same meaning. Nothing was run.
  case unsupportedQuery(record: String, part: String, reason: String)
  /// A function is called with an option that a store on a server does not have. Nothing was changed.
  case unsupported(String)
  /// The model needs something that neither the server nor this store does. The database was not changed.
  case unsupportedModel(reasons: [String])
  /// The database has tables of another store, or has no tables and none may be made, or a move into it is not finished.
  case unsuitableDatabase(reason: String)
  /// A value cannot be stored, since PostgreSQL does not have it. The record was not written.
  case impossibleValue(record: String, field: String, reason: String)
  /// The transaction was run again as often as the options allow, and conflicted with others each time. Nothing was committed.
  case conflict(attempts: Int)
  /// The connection was lost, or could not be made. Nothing was committed.
  case connectionLost(String)
  /// The connection was lost, and no server of the address has taken the transaction since, for as long as the options allow. Nothing
  /// was committed.
  case noPrimary(after: Duration, reason: String)
  /// The server refused a statement. Nothing was committed.
  case server(state: String, message: String)
  /// A migration cannot begin, or end: other transactions, or another migration, did not end in time, or other objects of the database
  /// depend on its tables. The database still has the old version.
  case migrationBlocked(reason: String)
  /// A transaction has changed records on several servers, which commit one after the other, and the options do not allow that.
  /// Nothing was committed.
  case severalServers
  /// Changes cannot be observed: the records are divided over several servers, the database has no outbox, or notifications do not reach
  /// the program, as through pgbouncer in its transaction mode. Everything else works.
  case cannotObserve(reason: String)
}

extension PostgresStoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unsupportedQuery(let record, let part, let reason):
      "A query of \(record) cannot be run on PostgreSQL: \(part): \(reason). Ask without it, and decide in the program."
    case .unsupported(let text): "A store on PostgreSQL does not have \(text)."
    case .unsupportedModel(let reasons):
      "The model cannot be kept on PostgreSQL: \(reasons.joined(separator: "; ")). Nothing was changed."
    case .unsuitableDatabase(let reason):
      "The database cannot be opened: \(reason). Nothing was changed."
    case .impossibleValue(let record, let field, let reason):
      "\(record).\(field) \(reason). The record was not written."
    case .conflict(let attempts):
      "The transaction conflicted with others in each of \(attempts) attempts. Try again later; nothing was committed."
    case .connectionLost(let message):
      "The connection to the server was lost: \(message). Try again; nothing was committed."
    case .noPrimary(let patience, let reason):
      "No server of the address has taken the transaction for \(patience): \(reason). Try again later; nothing was committed."
    case .server(let state, let message):
      "The server refused a statement with \(state): \(message). Nothing was committed."
    case .migrationBlocked(let reason):
      "The database was not migrated: \(reason). End what is in the way, or wait for it, and migrate again; the database still has"
        + " the old version."
    case .severalServers:
      "The transaction has changed records on several servers, which commit one after the other: a failure in between would leave a"
        + " part of it. Change the records of one server at a time, or set PostgresOptions.writesSeveralServers; nothing was committed."
    case .cannotObserve(let reason): "Changes cannot be observed: \(reason)."
    }
  }
}

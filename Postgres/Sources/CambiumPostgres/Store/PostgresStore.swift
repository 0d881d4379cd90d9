public import Cambium
import FoundationEssentials

/// How a `PostgresStore` uses its database.
public struct PostgresOptions: Sendable {
  /// The highest number of connections, each used by one transaction at a time.
  public var connections = 8
  /// How often a transaction is run before a conflict with others is an error.
  public var attempts = 6
  /// True to make the tables in a database that has none, and the outbox, from which changes are observed.
  public var createsTables = true
  /// How long the database keeps the changes for observers: one that does not take any for longer is told that everything may have
  /// changed.
  public var keptChanges: Duration = .seconds(3600)
  /// For how long a transaction whose connection was lost is tried again, on another server if the address has several; zero for not
  /// at all. Opening the store does not wait.
  public var patience: Duration = .seconds(60)
  /// True if a transaction may change records on several servers, where some are divided. They commit one after the other: if a server
  /// fails in between, the others keep their changes.
  public var writesSeveralServers = false
  /// The server that reads go to.
  public var reads = ReadServer.primary
  /// The migrations that are allowed. `stepwise` only concerns those that the program has to do itself.
  public var migration = MigrationOptions()
  /// The directory for the records of a migration that the server cannot do by statements; nil for that of temporary files. It has to
  /// have space for all records, and is needed again to resume after an interruption.
  public var migrationDirectory: String?

  /// Creates the default options.
  public init() {}
}

/// A store of records in a PostgreSQL database: in tables that `cambium postgres move` has made of a store, or that it makes itself.
///
/// ```swift
/// let store = try await PostgresStore("postgres://orders@db/orders", model: model)
/// try await store.write { transaction in try transaction.save(order) }
/// let open = try await store.fetch(Order.where { $0.state == .open })
/// ```
///
/// Reads see one state of the database. Writes are serializable: a transaction that conflicts with another one is rolled back, and run
/// again. Validations of the model run in this process; unique constraints, references and delete rules are the server's. Other
/// programs may use the same tables.
///
/// Changes can be observed, of all stores that write the database. For that, triggers note every changed record in a table,
/// `cambium.outbox`, which costs one more row for each, whether or not anything is observed.
///
/// The address may have several hosts, `postgres://orders@one,two,three/orders`: the one that takes writes is found. When another
/// server becomes the primary, transactions are run again there, each exactly once.
public final class PostgresStore: RecordStore {
  public typealias Snapshot = PostgresSnapshot
  public typealias Transaction = PostgresTransaction

  let plan: PostgresPlan
  private let version: VersionGuard
  let mapping: RecordMapping
  private let options: PostgresOptions
  private let pool: SessionPool
  let outbox: Outbox
  private let trimming: OutboxTrimming?
  let listener: OutboxListener
  /// Nil if reads go to the primary.
  private let standbys: StandbyReads?

  /// Opens the store in a database.
  ///
  /// - Parameters:
  ///   - address: The database, as a URL or a connection string of libpq. The rest comes from the environment, `.pgpass` and
  ///     service files. It may have several hosts. Unless it has other values, `target_session_attrs` is `read-write`, and a host that
  ///     does not answer is given up after 3 seconds, or 11 when the connection was in use.
  ///   - model: The model. A database of an older version is migrated.
  ///   - steps: The steps that do not follow from the descriptions.
  ///   - migration: The treatment of a database of an older version: `.deferred` migrates it at once, too.
  /// - Throws: `StoreError.invalidDescription`, `.newerSchema`; `.needsMigration` if the migration is refused, and otherwise the errors
  ///   of `PostgresMigration.run()`; `PostgresStoreError.unsupportedModel`, `.unsuitableDatabase`, `.connectionLost`, `.server`.
  public init(
    _ address: String, model: StoreModel, steps: [MigrationStep] = [],
    migration: MigrationMode = .automatic, options: PostgresOptions = PostgresOptions()
  ) async throws {
    let mapping = try RecordMapping(model)
    self.mapping = mapping
    self.options = options
    pool = SessionPool(ServerAddress(address, .primary), countMax: options.connections)
    standbys =
      if case .standby(let waiting) = options.reads {
        StandbyReads(address, options, waiting: waiting)
      } else {
        nil
      }
    let opening = DatabaseOpening(mapping, try model.schemas(), options)
    let opened = SessionRun(pool, patience: .zero)
    let plan: PostgresPlan
    do {
      (plan, version) = try await opened.run { connection in try opening.open(connection) }
    } catch StoreError.needsMigration where migration != .refuse {
      try await PostgresMigration(address, model, steps, options).run()
      (plan, version) = try await opened.run { connection in try opening.open(connection) }
    }
    self.plan = plan
    outbox = try await opened.run { connection in
      do {
        return try Outbox(connection, plan, options)
      } catch let error as PostgresError {
        throw error.ofStore
      }
    }
    trimming =
      outbox.obstacle == nil ? OutboxTrimming(keptFor: options.keptChanges) : nil
    listener = OutboxListener(
      ServerAddress(address, .primary), keptChanges: options.keptChanges)
  }

  /// The number of reads that went to stand-bys.
  package var standbyReadCount: Int { standbys?.readCount ?? 0 }

  /// Closes the connections that are not in use; the others are closed after their transactions. Later calls throw
  /// `StoreError.closed`, and observations end.
  public func close() async {
    listener.close()
    await pool.close()
    await standbys?.close()
  }

  /// Calls `body` with one state of the database, on the thread of a connection; again if the connection is lost, as long as the
  /// patience of the options lasts.
  ///
  /// - Throws: errors of `body`; `PostgresStoreError.noPrimary`, `.connectionLost`, `.server`; `CancellationError`.
  @concurrent
  public func read<Result: Sendable>(
    _ body: @Sendable (PostgresSnapshot) throws -> Result
  ) async throws -> Result {
    try await read(bySingle: false, body)
  }

  /// - Parameter isSingle: True if `body` asks for one thing by one statement.
  @concurrent
  fileprivate func read<Result: Sendable>(
    bySingle isSingle: Bool, _ body: @Sendable (PostgresSnapshot) throws -> Result
  ) async throws -> Result {
    let (plan, mapping, version) = (plan, mapping, version)
    @Sendable func read(_ connection: Connection, _ beginning: [String]) throws -> Result {
      let server = ServerTransaction(
        plan, mapping, connection, beginningBy: beginning + version.reading, isSingle: isSingle)
      return try connection.read(by: server, version, body)
    }
    let found = try await standbys?.read { connection in
      try read(connection, ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"])
    }
    if let found { return found }
    return try await SessionRun(pool, patience: options.patience).run { connection in
      // After a pooler, the server may be a stand-by meanwhile, where it is an error to ask for writes.
      let beginning = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
      return try read(connection, [beginning, "SET TRANSACTION READ ONLY"])
    }
  }

  /// Calls `body` with a transaction, and commits its changes. If they conflict with those of another transaction, `body` is called
  /// again, as often as the options allow; if the connection is lost and the commit was not made, as long as their patience lasts.
  ///
  /// - Parameters:
  ///   - durability: `.relaxed` acknowledges the commit before the server has flushed it.
  ///   - author: Is not kept: a database has no history of a store.
  /// - Throws: errors of `body`; `StoreError.danglingReference` and `.deleteDenied` if references do not allow the commit;
  ///   `.outcomeUnknown` if the connection was lost during the commit, and no server has said whether it was made while the patience
  ///   lasted. `PostgresStoreError.conflict`, `.noPrimary`, `.connectionLost`, `.server`; `CancellationError`.
  @concurrent
  public func write<Result: Sendable>(
    durability: Durability? = nil, author: String? = nil,
    _ body: @Sendable (inout PostgresTransaction) throws -> Result
  ) async throws -> Result {
    let run = TransactionRun(plan, mapping, durability, options, trimming, version)
    let (result, position) = try await SessionRun(pool, patience: options.patience).write {
      connection, writer in
      try run.write(connection, as: writer, body)
    }
    if let position { standbys?.note(position) }
    return result
  }
}

extension Connection {
  /// The error of a transaction that could not begin; nil if it could.
  ///
  /// - Returns: `ConnectionLoss` if the connection is lost, or the server cannot have such a transaction, since it is no primary any
  ///   more; `StoreError.newerSchema` if the database has been migrated; `PostgresStoreError.server`.
  func refusal(of server: ServerTransaction, _ version: VersionGuard) -> (any Error)? {
    guard server.isUnbegun, let error = server.failure else { return nil }
    if error.isLoss || error.state == "0A000" { return ConnectionLoss(error, isUnbegun: true) }
    if error.isConflict { return ConnectionLoss(error) }
    return error.state == "42P01" ? version.refusal(self) : error.ofStore
  }

  /// Calls `body` with one state of the database.
  ///
  /// - Throws: errors of `body`; `ConnectionLoss`, also if a stand-by has ended the transaction, since it was in the way of its log.
  fileprivate func read<Result>(
    by server: ServerTransaction, _ version: VersionGuard,
    _ body: (PostgresSnapshot) throws -> Result
  ) throws -> Result {
    do {
      let result = try body(PostgresSnapshot(server: server))
      server.rollBack()
      // A body that hides this error has read nothing.
      if server.isUnbegun, let failure = server.failure { throw failure }
      return result
    } catch {
      server.rollBack()
      if let refusal = refusal(of: server, version) { throw refusal }
      guard let failure = server.failure, failure.isLoss || failure.isConflict else { throw error }
      throw ConnectionLoss(failure)
    }
  }
}

// MARK: - Single answers

extension PostgresStore {
  /// Returns the record with a primary key; nil if there is none.
  @concurrent
  public func fetch<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) async throws -> Subject? where Subject.KeyType: FieldValueConvertible {
    try await read(bySingle: true) { snapshot in try snapshot.fetch(type, key: key) }
  }

  /// Returns the records of a query.
  @concurrent
  public func fetch<Subject: Record>(_ query: Query<Subject>) async throws -> [Subject] {
    try await read(bySingle: isSingle(query)) { snapshot in
      try snapshot.fetch(query, after: nil)
    }
  }

  /// False if the query begins after a record, which is looked up before.
  private func isSingle<Subject: Record>(_ query: Query<Subject>) throws -> Bool {
    try mapping.stored(query).after == nil
  }

  /// Returns the number of records of a query.
  @concurrent
  public func count<Subject: Record>(_ query: Query<Subject>) async throws -> Int {
    try await read(bySingle: isSingle(query)) { snapshot in try snapshot.count(query) }
  }

  /// Returns the records of a query, each with related records.
  @concurrent
  public func fetch<Subject: Record, First, each Other>(
    _ query: Query<Subject>, including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) async throws -> [(Subject, First, repeat each Other)]
  where First: Sendable, repeat each Other: Sendable {
    try await read { snapshot in
      try snapshot.fetch(query, including: first, repeat each others)
    }
  }
}

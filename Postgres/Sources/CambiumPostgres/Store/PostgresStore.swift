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
public final class PostgresStore: RecordStore {
  public typealias Snapshot = PostgresSnapshot
  public typealias Transaction = PostgresTransaction

  private let address: String
  private let plan: PostgresPlan
  let mapping: RecordMapping
  private let options: PostgresOptions
  private let pool: SessionPool
  let outbox: Outbox
  private let trimming: OutboxTrimming?
  let listener: OutboxListener

  /// Opens the store in a database.
  ///
  /// - Parameters:
  ///   - address: The database, as a URL or a connection string of libpq. The rest comes from the environment, `.pgpass` and
  ///     service files.
  ///   - model: The model, in the version that the database has: it is not migrated from here.
  /// - Throws: `StoreError.invalidDescription`, `.needsMigration`, `.newerSchema`; `PostgresStoreError.unsupportedModel`,
  ///   `.unsuitableDatabase`, `.connectionLost`, `.server`.
  public init(
    _ address: String, model: StoreModel, options: PostgresOptions = PostgresOptions()
  ) async throws {
    let mapping = try RecordMapping(model)
    self.address = address
    self.mapping = mapping
    self.options = options
    pool = SessionPool(address, countMax: options.connections)
    let opening = DatabaseOpening(mapping, try model.schemas(), options)
    let plan = try await Self.using(pool) { connection in try opening.open(connection) }
    self.plan = plan
    outbox = try await Self.using(pool) { connection in
      do {
        return try Outbox(connection, plan, options)
      } catch let error as PostgresError {
        throw error.ofStore
      }
    }
    trimming =
      outbox.obstacle == nil ? OutboxTrimming(keptFor: options.keptChanges) : nil
    listener = OutboxListener(address, keptChanges: options.keptChanges)
  }

  /// Closes the connections that are not in use; the others are closed after their transactions. Later calls throw
  /// `StoreError.closed`, and observations end.
  public func close() async {
    listener.close()
    await pool.close()
  }

  /// Calls `body` with one state of the database, on the thread of a connection.
  ///
  /// - Throws: errors of `body`; `PostgresStoreError.connectionLost`, `.server`, `.conflict`; `CancellationError`.
  @concurrent
  public func read<Result: Sendable>(
    _ body: @Sendable (PostgresSnapshot) throws -> Result
  ) async throws -> Result {
    let (plan, mapping) = (plan, mapping)
    return try await Self.using(pool) { connection in
      try connection.begin("REPEATABLE READ READ ONLY")
      let server = ServerTransaction(plan, mapping, connection)
      defer {
        server.end()
        _ = try? connection.run("ROLLBACK")
      }
      return try body(PostgresSnapshot(server: server))
    }
  }

  /// Calls `body` with a transaction, and commits its changes. If they conflict with those of another transaction, `body` is called
  /// again, as often as the options allow.
  ///
  /// - Parameters:
  ///   - durability: `.relaxed` acknowledges the commit before the server has flushed it.
  ///   - author: Is not kept: a database has no history of a store.
  /// - Throws: errors of `body`; `StoreError.danglingReference` and `.deleteDenied` if references do not allow the commit;
  ///   `.outcomeUnknown` if the connection was lost during the commit, and the server does not say whether it was made.
  ///   `PostgresStoreError.conflict`, `.connectionLost`, `.server`; `CancellationError`.
  @concurrent
  public func write<Result: Sendable>(
    durability: Durability? = nil, author: String? = nil,
    _ body: @Sendable (inout PostgresTransaction) throws -> Result
  ) async throws -> Result {
    let run = TransactionRun(address, plan, mapping, durability, options, trimming)
    return try await Self.using(pool) { connection in try run.write(connection, body) }
  }

  /// Runs `body` with a connection that no other task uses. If that has broken since its last use, nothing was run, so `body` is
  /// run with another one, or a new one.
  private static func using<Result: Sendable>(
    _ pool: SessionPool, _ body: @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    while true {
      try Task.checkCancellation()
      let session: Session
      do {
        session = try await pool.take()
      } catch let error as PostgresError {
        throw error.ofStore
      }
      let isReused = session.isReused
      do {
        try Task.checkCancellation()
        let result = try await session.run(body)
        await pool.giveBack(session, isLost: session.isLost)
        return result
      } catch let error as UnbegunTransaction {
        await pool.giveBack(session, isLost: true)
        guard isReused else { throw error.cause.ofStore }
      } catch {
        await pool.giveBack(session, isLost: session.isLost)
        throw error
      }
    }
  }
}

/// The connection was lost before a transaction had begun.
struct UnbegunTransaction: Error {
  let cause: PostgresError
}

extension Connection {
  /// Begins a transaction.
  ///
  /// - Throws: `UnbegunTransaction` if the connection is lost; `PostgresStoreError.server`.
  func begin(_ mode: String) throws {
    do {
      try run("BEGIN ISOLATION LEVEL \(mode)")
    } catch {
      if error.isOfConnection { throw UnbegunTransaction(cause: error) }
      throw error.ofStore
    }
  }

  /// Runs statements, with the errors of a store.
  func runMapped(_ sql: String) throws {
    do {
      try run(sql)
    } catch {
      throw error.ofStore
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
    try await read { snapshot in try snapshot.fetch(type, key: key) }
  }

  /// Returns the records of a query.
  @concurrent
  public func fetch<Subject: Record>(_ query: Query<Subject>) async throws -> [Subject] {
    try await read { snapshot in try snapshot.fetch(query, after: nil) }
  }

  /// Returns the number of records of a query.
  @concurrent
  public func count<Subject: Record>(_ query: Query<Subject>) async throws -> Int {
    try await read { snapshot in try snapshot.count(query) }
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

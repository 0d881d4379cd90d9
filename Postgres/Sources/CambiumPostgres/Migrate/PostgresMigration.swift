public import Cambium
import FoundationEssentials
import Synchronization

/// A migration of a database to another version: its plan, a rehearsal, and the run.
///
/// It is created by `PostgresStore.migration(at:to:steps:options:)`. Until the run has ended, the database has the old version for
/// every program; then it has the new one, whole.
public final class PostgresMigration: Sendable {
  /// The steps that the run takes, and why they cannot be taken, if so.
  public let plan: MigrationPlan
  /// The statements by which the server takes the steps, in one transaction; none if the program rewrites the records.
  public let statements: [String]
  private let address: ServerAddress
  private let work: MigrationWork
  private let patience: Duration

  init(
    _ address: String, _ model: StoreModel, _ steps: [MigrationStep], _ options: PostgresOptions
  ) async throws {
    self.address = ServerAddress(address, .primary)
    work = MigrationWork(model, steps, options, self.address)
    patience = options.patience
    let work = work
    let session = try await Self.open(self.address)
    (plan, statements) = try await session.run { connection, _ in
      do {
        return try work.plan(connection)
      } catch let error as PostgresError {
        throw error.ofStore
      }
    }
  }

  fileprivate static func open(_ address: ServerAddress) async throws -> Session {
    do {
      return try await Session.open(address)
    } catch let error as PostgresError {
      throw error.ofStore
    }
  }
}

// MARK: - Running

extension PostgresMigration {
  /// Does everything that the run would do on the real records, except for switching the database to the new version, and
  /// discards the result. Errors and report are those of the run.
  ///
  /// ```swift
  /// let migration = try await PostgresStore.migration(at: address, to: model, steps: steps)
  /// print(try await migration.rehearse())
  /// ```
  ///
  /// Statements of the server run in a transaction that is rolled back. Like the run, it waits for the transactions of other
  /// programs, and these wait for it.
  ///
  /// - Throws: as `run()`.
  @discardableResult
  public func rehearse() async throws -> MigrationReport { try await perform(isRehearsal: true) }

  /// Migrates the database to the model's version.
  ///
  /// ```swift
  /// let migration = try await PostgresStore.migration(at: address, to: model, steps: steps)
  /// print(try await migration.run())
  /// ```
  ///
  /// If the server can take all steps by statements, these are one transaction. Otherwise the program reads all records into a
  /// store in `PostgresOptions.migrationDirectory`, migrates that store, copies its records into new tables in batches, and puts these
  /// in the place of the old ones in one transaction. An interrupted run is resumed if versions, steps, defaults, conversions and
  /// revisions are the same, the directory still exists, and no program has written since; otherwise the migration begins again from
  /// the old version, and `MigrationReport.startedOver` is true.
  ///
  /// Meanwhile writers wait, and readers do not until the last transaction. Two programs that migrate at once do so one after the
  /// other; the second finds the new version.
  ///
  /// - Throws: `StoreError.cannotMigrate` if the steps cannot be taken; `.invalidValue`, `.uniqueConflict`, `.danglingReference` and
  ///   `.stepFailed` for the record at which it failed: the database is then unchanged. `.migrationCancelled`: the next run resumes.
  ///   `PostgresStoreError.migrationBlocked` if other transactions, or another migration, do not end while the patience of the options
  ///   lasts; `.noPrimary`, `.connectionLost`, `.server`; errors of the store that records are read into.
  @discardableResult
  public func run() async throws -> MigrationReport { try await perform(isRehearsal: false) }

  /// Ends the run or rehearsal under way after its current batch or statement; it throws `StoreError.migrationCancelled`. Does nothing
  /// if none is under way.
  ///
  /// ```swift
  /// migration.cancel()
  /// ```
  public func cancel() { work.cancellation.cancel() }

  @concurrent
  private func perform(isRehearsal: Bool) async throws -> MigrationReport {
    work.cancellation.begin()
    defer { work.cancellation.end() }
    return try await withTaskCancellationHandler {
      try await performUntilPatienceEnds(isRehearsal: isRehearsal)
    } onCancel: {
      work.cancellation.cancel()
    }
  }

  private func performUntilPatienceEnds(isRehearsal: Bool) async throws -> MigrationReport {
    let start = ContinuousClock.now
    var backOff = BackOff(within: patience)
    while true {
      do {
        let work = work
        let session = try await Session.open(address)
        let outcome = try await session.run { connection, _ in
          try work.run(connection, isRehearsal: isRehearsal)
        }
        return outcome.report(after: .now - start)
      } catch let error as PostgresError {
        guard error.isTransient || error.isLoss else { throw error.ofStore }
        // A batch that was committed begins the patience again.
        if work.cancellation.takeProgress() { backOff = BackOff(within: patience) }
        guard try await backOff.pause() else {
          throw error.isBlocked
            ? PostgresStoreError.migrationBlocked(reason: error.message) : error.ofStore
        }
      }
    }
  }
}

extension PostgresError {
  /// True if a lock of another transaction was not given up in time, or both waited for each other.
  fileprivate var isBlocked: Bool { state == "55P03" || state == "40P01" }
}

extension PostgresStore {
  /// Plans the migration of a database to the model's version, and returns it to be rehearsed and run.
  ///
  /// ```swift
  /// let migration = try await PostgresStore.migration(at: "postgres://orders@db/orders", to: model, steps: steps)
  /// print(migration.plan)
  /// try await migration.rehearse()
  /// try await migration.run()
  /// ```
  ///
  /// Planning only reads the database.
  ///
  /// - Parameters:
  ///   - address: The database, as `PostgresStore.init` takes it.
  ///   - steps: The steps that do not follow from the descriptions.
  /// - Complexity: Counts the records of the tables that are read, and those that a change of the first step would refuse.
  /// - Throws: `StoreError.invalidDescription` if the model is wrong; `.schemaMismatch` if the database describes its version
  ///   differently than the model; `.newerSchema` if it has a newer version. `PostgresStoreError.unsuitableDatabase` if it has no
  ///   tables of a store; `.unsupportedModel`, `.connectionLost`, `.server`.
  public static func migration(
    at address: String, to model: StoreModel, steps: [MigrationStep] = [],
    options: PostgresOptions = PostgresOptions()
  ) async throws -> PostgresMigration {
    try await PostgresMigration(address, model, steps, options)
  }

  /// Returns the versions that a database has had, as it describes them, each in a lock of its own.
  ///
  /// - Throws: `PostgresStoreError.unsuitableDatabase`, `.connectionLost`, `.server`; `SchemaLockError`.
  package static func locks(at address: String) async throws -> [SchemaLock] {
    let session = try await PostgresMigration.open(ServerAddress(address, .primary))
    return try await session.run { connection, _ in
      do {
        guard try MoveState(from: connection) != nil else {
          throw PostgresStoreError.unsuitableDatabase(reason: StoredDatabase.empty)
        }
        return try connection.run(
          "SELECT lock FROM \(PostgresPlan.stateSchema).schema ORDER BY version"
        ).map { try SchemaLock(parsing: $0[0] ?? "") }
      } catch let error as PostgresError {
        throw error.ofStore
      }
    }
  }
}

/// The request to end a migration, and whether it has made progress.
final class MigrationCancellation: Sendable {
  private let state = Mutex(State())

  private struct State {
    var isUnderWay = false
    var isCancelled = false
    var hasProgress = false
    /// The migration of the store that records were read into.
    var inner: Migration?
  }

  func begin() { state.withLock { $0 = State(isUnderWay: true) } }

  func end() { state.withLock { $0 = State() } }

  func cancel() {
    let inner = state.withLock { state in
      if state.isUnderWay { state.isCancelled = true }
      return state.inner
    }
    inner?.cancel()
  }

  /// Notes that something is done that is not done again.
  func noteProgress() { state.withLock { $0.hasProgress = true } }

  /// Returns true if there was progress since the last call.
  func takeProgress() -> Bool {
    state.withLock { state in
      defer { state.hasProgress = false }
      return state.hasProgress
    }
  }

  /// - Throws: `StoreError.migrationCancelled`.
  func check(_ database: StoredDatabase) throws {
    if state.withLock({ $0.isCancelled }) {
      throw StoreError.migrationCancelled(from: database.from, to: database.to)
    }
  }

  /// Runs the migration of a store, which `cancel()` ends as well.
  func run(_ migration: Migration, _ database: StoredDatabase) throws -> MigrationReport {
    state.withLock { $0.inner = migration }
    defer { state.withLock { $0.inner = nil } }
    try check(database)
    return try migration.run()
  }
}

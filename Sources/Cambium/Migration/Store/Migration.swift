/// A migration of a store to another version: its plan, a rehearsal, and the run.
///
/// It is created by `PersistentStore.migration(at:to:steps:options:)`. Until the run has ended, the store is one of the
/// old version for every program; then it is one of the new version, whole.
public final class Migration: Sendable {
  /// The steps that the run takes, and why they cannot be taken, if so.
  public let plan: MigrationPlan
  private let path: String
  private let model: StoreModel
  private let steps: [MigrationStep]
  private let options: StoreOptions
  private let monitor: MigrationMonitor

  init(
    _ path: String, _ model: StoreModel, _ steps: [MigrationStep], _ options: StoreOptions
  ) throws(StoreError) {
    _ = try model.checked()
    let backend = try ReadingBackend(at: path, options)
    defer { try? backend.close() }
    plan = try MigrationPlan(of: backend, to: model, steps, options)
    self.path = path
    self.model = model
    self.steps = steps
    self.options = options
    monitor = MigrationMonitor(options.logger, options.migrationProgress)
  }
}

// MARK: Running

extension Migration {
  /// Does everything that the run would do on the real records, except for switching the store to the new version, and
  /// discards the result. Errors and report are those of the run.
  ///
  /// ```swift
  /// let migration = try PersistentStore.migration(at: "shop.cambium", to: model, steps: steps)
  /// print(try migration.rehearse())
  /// ```
  ///
  /// - Throws: as `run()`.
  @discardableResult
  public func rehearse() throws(StoreError) -> MigrationReport { try perform(isRehearsal: true) }

  /// Migrates the store to the model's version. An interrupted run is resumed if versions, steps, defaults, conversions and
  /// the steps' revisions are the same; otherwise the migration begins again from the old version, and
  /// ``MigrationReport/startedOver`` is true. Closures cannot be compared: raise a step's `revision` when you change one.
  ///
  /// ```swift
  /// let migration = try PersistentStore.migration(at: "shop.cambium", to: model, steps: steps)
  /// print(try migration.run())
  /// ```
  ///
  /// The calling thread does the work, which may take minutes. In tasks, `try await run()` suspends instead.
  ///
  /// - Throws: `StoreError.cannotMigrate` if the plan has faults, `.locked` if the store is open for writing, `.rolledBack`
  ///   if the store was rolled back from that version and `StoreOptions.allowsMigrationAfterRollback` is not set,
  ///   `.stepFailed` for the record at which it failed: the store is then unchanged. `.migrationCancelled`, `.full`, `.io`: the next run
  ///   resumes. `.corrupt`; `.schemaMismatch` if the store has changed since the plan was made.
  @discardableResult
  public func run() throws(StoreError) -> MigrationReport { try perform(isRehearsal: false) }

  /// Ends the run or rehearsal under way after its current slice; it throws `.migrationCancelled`. Does nothing if none is
  /// under way. The next run, of this object or another, resumes there; a program of the old version that opens the store
  /// for writing discards the finished part.
  ///
  /// ```swift
  /// migration.cancel()
  /// ```
  public func cancel() { monitor.cancel() }

  /// The progress of the run or rehearsal, at most ten times a second, and at its end. Begin to iterate before the run
  /// begins; the stream ends with it.
  public var progress: AsyncStream<MigrationProgress> { monitor.stream() }

  private func perform(isRehearsal: Bool) throws(StoreError) -> MigrationReport {
    monitor.beginRun()
    defer { monitor.endRun() }
    let start = ContinuousClock.now
    var options = options
    options.access = .writingExisting
    let backend = try EngineBackend(at: path, options)
    do throws(StoreError) {
      guard let stored = try StoredSchemas(backend).newest() else { throw .missing(path: path) }
      var report = MigrationReport(from: stored.version, to: model.version)
      let isThere = stored.version == model.version
      if !isThere {
        let route = try MigrationRoute(
          from: stored, history: try StoredSchemas(backend).all(), to: model, steps,
          options.migration)
        try route.check()
        report.isOneCommit = route.countLeft(by: .automatic, options.migration) > 0
        if !isRehearsal, !options.allowsMigrationAfterRollback {
          try RollbackMark.refuse(
            from: stored.storedVersion, to: route.to.storedVersion, in: try backend.trees(),
            backend.names)
        }
        let run = RouteRun(backend, .automatic, options.migration, monitor)
        let tracer = isRehearsal ? nil : options.tracer
        try tracer.following(.migration(from: stored.version, to: model.version)) {
          () throws(StoreError) in try run.run(route, isRehearsal: isRehearsal)
        }
      }
      report.records = monitor.progress.recordsDone
      report.startedOver = monitor.progress.startedOver
      report.blobBytesWritten = Int(clamping: backend.blobs.bin.bytesWritten)
      try backend.close()
      report.elapsed = .now - start
      return report
    } catch {
      try? backend.close()
      throw error
    }
  }
}

/// The result of a migration.
public struct MigrationReport: Hashable, Sendable {
  /// The version that the store had.
  public let from: Int
  /// The version that the store has now.
  public let to: Int
  /// The number of records read, once for every part of the work that reads them; not those of which only the references to
  /// blobs are counted at its end.
  public internal(set) var records = 0
  /// True if it is one commit, whatever the number of records: none was read, and each becomes new when it is written, or by
  /// `PersistentStore.finishMigration(budget:)`.
  public internal(set) var isOneCommit = false
  /// The bytes of blobs that were written: none if no step makes values or moves them out of rows.
  public internal(set) var blobBytesWritten = 0
  /// The time that it took.
  public internal(set) var elapsed = Duration.zero
  /// True if an interrupted run was discarded because its steps, defaults, conversions or revisions differ.
  public internal(set) var startedOver = false

  init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }

  /// Creates the result of a migration of records that are not in a store.
  package init(
    from: Int, to: Int, records: Int, isOneCommit: Bool, elapsed: Duration, startedOver: Bool
  ) {
    self.init(from: from, to: to)
    self.records = records
    self.isOneCommit = isOneCommit
    self.elapsed = elapsed
    self.startedOver = startedOver
  }
}

extension MigrationReport: CustomStringConvertible {
  /// The result as a sentence.
  public var description: String {
    if from == to { return "The store already has version \(to)." }
    let work =
      isOneCommit
      ? "in one commit, which rewrote no record"
      : "\(records) record\(records == 1 ? "" : "s") read, \(blobBytesWritten.byteText) of blobs written"
    return "version \(from) → \(to), \(work), \(elapsed)"
      + (startedOver ? ", begun again since an interrupted run had other definitions" : "")
  }
}

extension PersistentStore {
  /// Plans the migration of the store at `path` to the model's version, and returns it to be rehearsed and run.
  ///
  /// ```swift
  /// let migration = try PersistentStore.migration(at: "shop.cambium", to: model, steps: steps)
  /// print(migration.plan)
  /// try migration.rehearse()
  /// try migration.run()
  /// ```
  ///
  /// Planning only reads the store; another process may have it open.
  ///
  /// - Parameter steps: The steps that do not follow from the descriptions.
  /// - Complexity: Reads the records in which values may be missing or keys may collide, to count them.
  /// - Throws: `StoreError.invalidDescription` if the model is wrong; `.schemaMismatch` if the store describes its version
  ///   differently than the model; `.newerSchema` if it has a newer version; `.missing`, `.corrupt`, `.newerFormat`,
  ///   `.networkFileSystem`, `.io`.
  public static func migration(
    at path: String, to model: StoreModel, steps: [MigrationStep] = [],
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Migration {
    try Migration(path, model, steps, options)
  }
}

/// The treatment of a store that has an older version than the model.
public enum MigrationMode: Hashable, Sendable {
  /// Migrates the store before it is opened. Where fields and records are only added or renamed, that is one commit,
  /// whatever the size: old rows are upgraded when they are read, as with `deferred`.
  case automatic
  /// Migrates the store at once by the last steps if those cannot fail: old rows are upgraded when they are read, and
  /// rewritten when they are saved or by `PersistentStore.finishMigration(budget:)`. Steps up to the last one that can fail
  /// run before, as with `automatic`.
  case deferred
  /// Leaves the store unchanged, and throws `StoreError.needsMigration`.
  case refuse
}

/// The migrations that a program allows, and how they are run.
public struct MigrationOptions: Hashable, Sendable {
  /// The lowest version that is migrated; stores of lower versions are refused.
  public var oldestVersion = 1
  /// Allows stores that are more than one step behind.
  public var allowsSeveralSteps = true
  /// Rewrites all rows in every step by itself, instead of taking them through consecutive steps in one pass, and instead of
  /// leaving them as they are where fields are only added or renamed.
  public var stepwise = false
  /// The highest number of records in a slice, at least one. A crash or a cancellation loses at most one slice of the work.
  package var sliceCount = 200_000
  /// The time after which a slice ends, about. Hooks and indexes are one slice each, however long they take.
  package var sliceTime = Duration.seconds(5)

  /// Creates the default options.
  public init() {}
}

/// The way of a store to another version: its plan, a rehearsal, and the run.
///
/// It is made by `PersistentStore.migration(at:to:steps:options:)`. The store stays one of the old version, for
/// every program, until the run has ended; then it is one of the new version, whole.
public final class Migration: Sendable {
  /// What will be done, and what keeps it from being done.
  public let plan: MigrationPlan
  private let path: String
  private let model: StoreModel
  private let steps: [Step]
  private let options: StoreOptions
  private let monitor: MigrationMonitor
  private let watchers = ProgressWatchers()

  init(
    _ path: String, _ model: StoreModel, _ steps: [Step], _ options: StoreOptions
  ) throws(StoreError) {
    _ = try model.checked()
    let backend = try ReadingBackend(at: path, options)
    defer { try? backend.close() }
    plan = try MigrationPlan(of: backend, to: model, steps, options.migration)
    self.path = path
    self.model = model
    self.steps = steps
    self.options = options
    let watchers = watchers
    monitor = MigrationMonitor(trace: MigrationTrace(options.logger)) { progress in
      watchers.tell(progress)
    }
  }
}

// MARK: Running

extension Migration {
  /// Does all that the run would do on the real records, but for making the store one of the new version, and
  /// throws away what it made. Errors and report are those of the run.
  ///
  /// - Throws: as `run()`.
  @discardableResult
  public func rehearse() throws(StoreError) -> MigrationReport { try perform(isRehearsal: true) }

  /// Makes the store one of the model's version. A run that was interrupted is resumed if versions, steps, defaults,
  /// conversions and the steps' revisions are the same; else the migration begins again from the old version, and
  /// ``MigrationReport/startedOver`` says so. Closures cannot be compared: raise ``Step/revision`` when you change
  /// one.
  ///
  /// The calling thread does the work, which may take minutes; from tasks, call it on a thread of its own.
  ///
  /// - Throws: `StoreError.cannotMigrate` where the plan has faults; `.locked` where the store is open for
  ///   writing; `.stepFailed` for the record at which it failed: then the store is as it was. `.migrationCancelled`, `.full`, `.io`: then the next run goes on. `.corrupt`,
  ///   `.schemaMismatch` where the store has changed since the plan was made.
  @discardableResult
  public func run() throws(StoreError) -> MigrationReport { try perform(isRehearsal: false) }

  /// Ends a run or rehearsal that is under way, after the slice that it is at; it throws `.migrationCancelled`. Does
  /// nothing while none is. The next run, of this object or another, goes on there; a program of the old version that
  /// opens the store throws away what was done.
  public func cancel() { monitor.cancel() }

  /// How far a run or a rehearsal is: at most ten times a second, and at its end. Begin to listen before it
  /// begins. It ends with the run.
  public var progress: AsyncStream<MigrationProgress> { watchers.stream() }

  private func perform(isRehearsal: Bool) throws(StoreError) -> MigrationReport {
    monitor.beginRun()
    defer {
      monitor.endRun()
      watchers.end()
    }
    let start = ContinuousClock.now
    var options = options
    options.access = .writingExisting
    let backend = try EngineBackend(at: path, options)
    do throws(StoreError) {
      guard let stored = try StoredSchemas(backend).newest() else { throw .missing(path: path) }
      var report = MigrationReport(from: Int(stored.version), to: model.version)
      let isThere = Int(stored.version) == model.version
      if !isThere {
        let route = try MigrationRoute(
          from: stored, history: try StoredSchemas(backend).all(), to: model, steps,
          options.migration)
        try route.check()
        try RouteRun(backend, options.migration, monitor).run(route, isRehearsal: isRehearsal)
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

/// What a migration has done.
public struct MigrationReport: Hashable, Sendable {
  public let from: Int
  public let to: Int
  /// Records that were looked at, once for every part of the work that looked at them.
  public internal(set) var records = 0
  /// Bytes of blobs that were written: none where no step makes values, or takes some out of rows.
  public internal(set) var blobBytesWritten = 0
  public internal(set) var elapsed = Duration.zero
  /// Whether an interrupted run was discarded, because its steps, defaults, conversions or revisions of closures
  /// differ.
  public internal(set) var startedOver = false

  init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }
}

extension MigrationReport: CustomStringConvertible {
  public var description: String {
    "version \(from) → \(to), \(records) records looked at, \(blobBytesWritten) bytes of blobs written, \(elapsed)"
      + (startedOver ? ", begun again since an interrupted run had other definitions" : "")
  }
}

internal import Logging
internal import Synchronization

/// Counts what a migration does, tells its watchers and its logger, and ends it if it is cancelled.
final class MigrationMonitor: Sendable {
  private struct State {
    var progress = MigrationProgress()
    var started: ContinuousClock.Instant?
    var reported: ContinuousClock.Instant?
    /// The approximate number of records that each task reads.
    var expected: [Int] = []
    /// The records of the tasks before the current one.
    var before = 0
    /// The number of records of the current task.
    var count = 0
    var versions = (from: 0, to: 0)
    var taskStarted: ContinuousClock.Instant = .now
    /// The number of current runs: of two at once, one finds the store locked.
    var runs = 0
    var watchers: [AsyncStream<MigrationProgress>.Continuation] = []
  }

  private let state = Mutex(State())
  private let isCancelled = Atomic(false)
  private let logger: Logger?
  /// Receives the progress besides its watchers.
  private let listener: (@Sendable (MigrationProgress) -> Void)?

  init(
    _ logger: Logger? = nil, _ listener: (@Sendable (MigrationProgress) -> Void)? = nil
  ) {
    self.logger = logger
    self.listener = listener
  }

  /// Begins a run, which a cancellation of an earlier one does not end.
  func beginRun() {
    state.withLock { state in
      state.runs += 1
      guard state.runs == 1 else { return }
      state.started = .now
      state.progress = MigrationProgress()
      isCancelled.store(false, ordering: .relaxed)
    }
  }

  func endRun() {
    let watchers = state.withLock { state in
      state.runs -= 1
      defer { state.watchers = [] }
      return state.watchers
    }
    for watcher in watchers { watcher.finish() }
  }

  /// Ends the current run, if there is one.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// The progress of the run.
  var progress: MigrationProgress { state.withLock { $0.progress } }

  /// The progress until the run ends. Only the newest waits to be read.
  func stream() -> AsyncStream<MigrationProgress> {
    let (stream, watcher) = AsyncStream.makeStream(
      of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.watchers.append(watcher) }
    return stream
  }
}

// MARK: Runs and tasks

extension MigrationMonitor {
  /// Begins to count a run.
  ///
  /// - Parameters:
  ///   - done: The number of tasks that an interrupted run has done, which count as done.
  ///   - startedOver: True if the work of a run with other definitions was discarded.
  func begin(
    _ tasks: MigrationTasks, skipping done: Int = 0, in backend: any StoreBackend, startedOver: Bool
  ) {
    log(tasks, skipping: done, startedOver)
    // What cannot be counted now fails where it is read.
    let counts = (try? WorkMeasure(tasks, in: backend))?.counts ?? tasks.tasks.map { _ in 0 }
    state.withLock { state in
      state.started = .now
      state.versions = (tasks.route.from.version, tasks.route.to.version)
      state.progress.version = state.versions.to
      state.progress.startedOver = startedOver
      state.expected = counts
      state.progress.records = counts.reduce(0, +)
      state.progress.tasks = counts.count
      state.progress.task = done
      state.before = counts.prefix(done).reduce(0, +)
      state.progress.recordsDone = state.before
    }
    tell()
  }

  private func log(_ tasks: MigrationTasks, skipping done: Int, _ startedOver: Bool) {
    if startedOver {
      logger?.warning(
        "An interrupted migration had other steps, defaults, conversions or revisions of closures; it begins again"
      )
    }
    let route = tasks.route
    logger?.info(
      "\(done == 0 ? "Migrating" : "Going on with migrating") from version \(route.from.version) to \(route.wanted)",
      metadata: ["parts": "\(tasks.tasks.count - done)"])
    for hop in route.hops {
      logger?.debug(
        "Step \(hop.change.from.version) to \(hop.change.to.version)",
        metadata: ["label": "\(hop.step?.label ?? hop.change.to.label ?? "")"])
    }
  }

  func end(isRehearsal: Bool) {
    let progress = progress
    logger?.info(
      isRehearsal ? "Rehearsed; nothing was changed" : "Migrated to version \(progress.version)",
      metadata: ["records": "\(progress.recordsDone)", "elapsed": "\(progress.elapsed)"])
  }

  /// Reports that steps were published without rewriting rows, or would be.
  func publish(_ steps: [SchemaChange], isRehearsal: Bool) {
    guard let from = steps.first?.from.version, let to = steps.last?.to.version else { return }
    state.withLock { state in
      state.progress.version = to
      state.progress.work = "one commit"
      state.progress.tasks += 1
      state.progress.task += 1
    }
    tell()
    if isRehearsal { return }
    logger?.info(
      "Migrated from version \(from) to \(to) by one commit; rows become new when they are written, or by finishMigration"
    )
  }

  func end(_ error: StoreError) { logger?.error("The migration ended: \(error)") }

  /// - Throws: `.migrationCancelled`.
  func begin(_ task: MigrationTask) throws(StoreError) {
    state.withLock { state in
      state.count = 0
      state.taskStarted = .now
      state.progress.work = task.text
      if task.version > 0 { state.progress.version = Int(task.version) }
    }
    try look()
  }

  func end(_ task: MigrationTask) {
    let (count, started) = state.withLock { state in
      let count = state.count
      // Now it is known how many there were.
      state.progress.records += count - state.expected[state.progress.task]
      state.before += count
      state.count = 0
      state.progress.task += 1
      return (count, state.taskStarted)
    }
    logger?.debug(
      "Done: \(task.text)",
      metadata: ["records": "\(count)", "elapsed": "\(ContinuousClock.now - started)"])
    tell()
  }
}

// MARK: Counting

extension MigrationMonitor {
  private static var stepsPerLook: Int { 1024 }

  /// One record is done.
  ///
  /// - Throws: `.migrationCancelled`.
  @inline(__always)
  func step() throws(StoreError) {
    let count = state.withLock { state in
      state.count &+= 1
      return state.count
    }
    if count & (Self.stepsPerLook - 1) == 0 { try look() }
  }

  /// A slice is done.
  ///
  /// - Throws: `.migrationCancelled`.
  func advance(by count: Int) throws(StoreError) {
    state.withLock { state in
      state.count = min(state.count + count, state.expected[state.progress.task])
    }
    try look()
  }

  /// - Throws: `.migrationCancelled`.
  func look() throws(StoreError) {
    if isCancelled.load(ordering: .relaxed) || Task.isCancelled {
      let versions = state.withLock { $0.versions }
      throw .migrationCancelled(from: versions.from, to: versions.to)
    }
    tell()
  }

  /// Tells at most ten times a second.
  private func tell() {
    let now = ContinuousClock.now
    let (isDue, watchers) = state.withLock { state in
      state.progress.recordsDone = min(state.before + state.count, state.progress.records)
      if let started = state.started { state.progress.elapsed = now - started }
      let isEnd = state.progress.task == state.progress.tasks
      let isSoon = state.reported.map { now - $0 < .milliseconds(100) } ?? false
      if !isSoon || isEnd { state.reported = now }
      return (!isSoon || isEnd, state.watchers)
    }
    if !isDue || watchers.isEmpty && listener == nil { return }
    let progress = progress
    listener?(progress)
    for watcher in watchers { watcher.yield(progress) }
  }
}

/// The progress of a migration.
public struct MigrationProgress: Hashable, Sendable {
  /// The version that the step under way leads to.
  public internal(set) var version = 0
  /// The work under way, in words.
  public internal(set) var work = ""
  /// The number of parts of the work that are done.
  public internal(set) var task = 0
  /// The number of parts of the work.
  public internal(set) var tasks = 0
  /// The number of records read, each once for every part of the work that reads it.
  public internal(set) var recordsDone = 0
  /// The approximate number of records to be read.
  public internal(set) var records = 0
  /// The time since the migration began.
  public internal(set) var elapsed = Duration.zero
  /// True if an interrupted run was discarded because its steps, defaults, conversions or revisions differ; the migration
  /// has begun again from the old version.
  public internal(set) var startedOver = false

  /// From 0 to 1.
  public var fraction: Double {
    records > 0 ? Double(recordsDone) / Double(records) : task == tasks ? 1 : 0
  }

  /// The records per second; nil at the beginning.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && recordsDone > 0 ? Double(recordsDone) / seconds : nil
  }

  /// The approximate time that is left; nil if it is not known yet.
  public var remaining: Duration? {
    rate.map { .seconds(Double(records - recordsDone) / $0) }
  }
}

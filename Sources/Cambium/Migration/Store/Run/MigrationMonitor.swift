internal import Synchronization

/// Counts what a migration does, tells who wants to know, and ends it where it is cancelled.
final class MigrationMonitor: Sendable {
  private struct State {
    var progress = MigrationProgress()
    var started: ContinuousClock.Instant?
    var reported: ContinuousClock.Instant?
    /// About how many records each task looks at.
    var expected: [Int] = []
    /// Records of the tasks before the one under way.
    var before = 0
    /// The number of records of the task under way.
    var count = 0
    var versions = (from: 0, to: 0)
    var taskStarted: ContinuousClock.Instant = .now
    /// The number of runs under way: of two at once, one finds the store locked.
    var runs = 0
  }

  private let state = Mutex(State())
  private let isCancelled = Atomic(false)
  private let report: (@Sendable (MigrationProgress) -> Void)?
  let trace: MigrationTrace

  init(
    trace: MigrationTrace = MigrationTrace(nil),
    _ report: (@Sendable (MigrationProgress) -> Void)? = nil
  ) {
    self.trace = trace
    self.report = report
  }

  /// Begins a run, which a cancellation of an earlier one does not end.
  func beginRun() {
    state.withLock { state in
      state.runs += 1
      if state.runs == 1 { isCancelled.store(false, ordering: .relaxed) }
    }
  }

  func endRun() { state.withLock { $0.runs -= 1 } }

  /// Ends the run that is under way, if there is one.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// The progress of the run.
  var progress: MigrationProgress { state.withLock { $0.progress } }
}

// MARK: Counting

extension MigrationMonitor {
  private static var stepsPerLook: Int { 1024 }

  /// - Parameter startedOver: True if the work of a run with other definitions was discarded.
  func begin(_ tasks: MigrationTasks, in backend: any StoreBackend, startedOver: Bool) {
    state.withLock { $0.progress.startedOver = startedOver }
    if startedOver { trace.startOver() }
    start(tasks, skipping: 0, in: backend)
  }

  /// Begins in the middle: what was done before counts as done.
  func resume(_ tasks: MigrationTasks, at task: Int, in backend: any StoreBackend) {
    state.withLock { $0.progress.startedOver = false }
    start(tasks, skipping: task, in: backend)
  }

  private func start(_ tasks: MigrationTasks, skipping done: Int, in backend: any StoreBackend) {
    trace.begin(tasks, skipping: done)
    // What cannot be counted now fails where it is read.
    let counts = (try? WorkMeasure(tasks, in: backend))?.counts ?? tasks.tasks.map { _ in 0 }
    state.withLock { state in
      state.started = .now
      state.versions = (tasks.route.from.version, tasks.route.to.version)
      state.progress.version = state.versions.to
      state.expected = counts
      state.progress.records = counts.reduce(0, +)
      state.progress.tasks = counts.count
      state.progress.task = done
      state.before = counts.prefix(done).reduce(0, +)
      state.progress.recordsDone = state.before
    }
    tell()
  }

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

  func end(_ task: MigrationTask) {
    let (count, started) = state.withLock { ($0.count, $0.taskStarted) }
    trace.end(task, records: count, .now - started)
    state.withLock { state in
      // Now it is known how many there were.
      state.progress.records += state.count - state.expected[state.progress.task]
      state.before += state.count
      state.count = 0
      state.progress.task += 1
    }
    tell()
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
    let progress = state.withLock { state -> MigrationProgress? in
      state.progress.recordsDone = min(state.before + state.count, state.progress.records)
      if let started = state.started { state.progress.elapsed = now - started }
      let isEnd = state.progress.task == state.progress.tasks
      if let last = state.reported, now - last < .milliseconds(100), !isEnd { return nil }
      state.reported = now
      return state.progress
    }
    if let progress { report?(progress) }
  }
}

/// The progress of a migration.
public struct MigrationProgress: Hashable, Sendable {
  /// The version that the step under way leads to.
  public internal(set) var version = 0
  /// The work under way, in words.
  public internal(set) var work = ""
  /// The number of parts of the work that are done, and the number of all.
  public internal(set) var task = 0
  public internal(set) var tasks = 0
  /// The number of records read, each once for every part of the work that reads it.
  public internal(set) var recordsDone = 0
  /// The approximate number of records to be read.
  public internal(set) var records = 0
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

/// The consumers of a migration's progress.
final class ProgressWatchers: Sendable {
  private let watchers = Mutex<[AsyncStream<MigrationProgress>.Continuation]>([])

  /// Only the newest progress waits to be read.
  func stream() -> AsyncStream<MigrationProgress> {
    let (stream, watcher) = AsyncStream.makeStream(
      of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(1))
    watchers.withLock { $0.append(watcher) }
    return stream
  }

  func tell(_ progress: MigrationProgress) {
    for watcher in watchers.withLock({ $0 }) { watcher.yield(progress) }
  }

  func end() {
    let ended = watchers.withLock { watchers in
      defer { watchers = [] }
      return watchers
    }
    for watcher in ended { watcher.finish() }
  }
}

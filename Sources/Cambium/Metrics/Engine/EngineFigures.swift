/// Counts of an engine since it was opened. Requires the engine's lock.
struct EngineFigures {
  var flushes = WorkDurations()
  var folds = WorkDurations()
  /// The threads that wait for the writer's turn; tasks are counted where they wait.
  var waitingThreads = 0
  /// The error that ended the last fold; nil after a fold that was completed.
  var foldFailure: StoreError?
  /// The bytes of all files of the log, and those of the current one up to the end of its last frame.
  var logBytes = 0
  var usedLogBytes = 0

  init(_ log: Log) { note(log) }

  /// Notes the sizes of the log. With the log's turn as well.
  mutating func note(_ log: Log) {
    logBytes = log.blockCount * Layout.blockSize
    usedLogBytes = Int(log.endBlock) * Layout.blockSize
  }
}

extension Engine {
  /// The figures of the present moment.
  ///
  /// - Complexity: O(snapshots + trees + segments), with the engine's lock, which is never held during a call to the system.
  /// - Throws: `.forked`.
  func metrics() throws(StoreError) -> StoreMetrics {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    var metrics = StoreMetrics()
    metrics.state = metricsState
    metrics.sequence = commits.publishedSequence
    metrics.commits = Int(clamping: commits.lastSequence - firstSequence)
    metrics.unflushedCommits = Int(clamping: commits.lastSequence - commits.flushedSequence)
    metrics.waitingWriters = figures.waitingThreads + turnWaiters.count
    (metrics.flushes, metrics.folds) = (figures.flushes, figures.folds)
    metrics.foldBacklogBytes = working.overlays.reduce(0) { $0 + $1.byteCount }
    (metrics.logBytes, metrics.usedLogBytes) = (figures.logBytes, figures.usedLogBytes)
    metrics.setPages(working.base.file.footer)
    metrics.oldestSnapshotAge = snapshotAges.oldest(but: snapshotOfPublished)
    return metrics
  }

  /// With the lock.
  private var metricsState: StoreMetrics.State {
    if life.stage == .closed { return .closed }
    if let failure = life.failure { return .failed(failure) }
    if case .full = figures.foldFailure { return .full }
    return .open
  }
}

// MARK: Flushes and folds

extension Engine {
  /// Forces all that was appended to the log to the disk. With the log's turn, without the lock.
  ///
  /// - Throws: `.io`, `.poisoned`.
  func flushLog() throws(StoreError) {
    if log.isFlushed { return try log.flush() }
    try measuringFlush { () throws(StoreError) in try log.flush() }
  }

  /// Calls `body`, which forces the log to the disk, and keeps the duration until the turn ends. With the log's turn, without
  /// the lock.
  func measuringFlush(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    guard measuresFlushes else { return try body() }
    let end = options.listener?.tracer?.begin(.flush)
    let start = ContinuousClock.now
    do throws(StoreError) {
      try body()
    } catch {
      end?(error)
      throw error
    }
    flushDuration = ContinuousClock.now - start
    end?(nil)
  }

  /// Notes that a fold begins, unless it has begun. With the fold's turn, without the lock.
  func noteFold() {
    if foldUnderWay == nil {
      foldUnderWay = FoldUnderWay(start: .now, end: options.listener?.tracer?.begin(.fold))
    }
  }

  /// Notes that the fold under way has ended, if there is one. With the fold's turn, without the lock.
  func noteFoldEnd(_ error: StoreError?) {
    guard let fold = foldUnderWay.take() else { return }
    if error == nil {
      lock.lock()
      figures.folds.add(ContinuousClock.now - fold.start)
      figures.foldFailure = nil
      lock.unlock()
    }
    fold.end?(error)
  }
}

/// A fold in the background that has begun.
struct FoldUnderWay {
  let start: ContinuousClock.Instant
  /// Receives its end.
  let end: StoreWorkEnd?
}

/// A compaction from its first slice to its last: one that is pending is gone on with.
struct CompactionRun {
  private let engine: Engine
  private let bytesPerSecond: Int?
  private var request: CompactionRequest
  private let started = ContinuousClock.now
  private(set) var progress = CompactionProgress()
  private var report = CompactionReport()

  /// - Throws: `.corrupt`, `.io`, `.closed`, `.forked`.
  init(_ engine: Engine, _ options: CompactionOptions) throws(StoreError) {
    self.engine = engine
    bytesPerSecond = options.bytesPerSecond
    request = options.request
    let usage = try engine.spaceUsage()
    request.below = usage.nextNumber
    report.sizeBefore = Int(clamping: usage.size)
    let live = request.candidates(of: usage).reduce(0) { $0 + $1.liveBytes }
    progress.expectedBytes = Int(clamping: live)
  }

  /// Does the next slice.
  ///
  /// - Returns: false if there is nothing more to do.
  /// - Throws: what `Engine.compact` does.
  mutating func step() throws(StoreError) -> Bool {
    guard let slice = try engine.compact(request) else { return false }
    // What was pending was begun before this: what that wrote is as good as what this would.
    if slice.scope == request.scope { request.below = min(request.below, slice.below) }
    report.slices += 1
    report.entries += slice.entries
    report.releasedFiles += slice.releasedSegments
    progress.writtenBytes += slice.writtenBytes
    progress.releasedBytes += Int(clamping: slice.releasedBytes)
    progress.elapsed = .now - started
    return true
  }

  /// The time to wait before the next slice, to keep the rate.
  var pause: Duration {
    guard let bytesPerSecond, bytesPerSecond > 0 else { return .zero }
    let due = Duration.seconds(Double(progress.writtenBytes) / Double(bytesPerSecond))
    return max(.zero, due - (.now - started))
  }

  /// - Throws: as the initializer.
  func end() throws(StoreError) -> CompactionReport {
    var report = report
    report.sizeAfter = Int(clamping: try engine.spaceUsage().size)
    report.writtenBytes = progress.writtenBytes
    report.elapsed = .now - started
    return report
  }
}

extension CompactionRun {
  /// Does all of it, on this thread.
  ///
  /// - Parameter tell: Is told how far it is after each slice, and ends it by throwing.
  static func run(
    _ engine: Engine, _ options: CompactionOptions, _ pause: Pause,
    _ tell: (CompactionProgress) throws -> Void
  ) throws -> CompactionReport {
    var run = try CompactionRun(engine, options)
    while try run.step() {
      try tell(run.progress)
      try pause.wait(run.pause)
    }
    return try run.end()
  }

  /// Does as much of it as the budget allows.
  ///
  /// - Returns: whether there is more to do.
  static func run(
    _ engine: Engine, _ options: CompactionOptions, within budget: WorkBudget
  ) throws(StoreError) -> Bool {
    var budget = WorkBudget.Remaining(budget)
    var request = options.request
    request.below = try engine.spaceUsage().nextNumber
    while !budget.isSpent {
      request.bytes = max(CompactionOptions.sliceMin, budget.part(of: request.bytes))
      guard let slice = try engine.compact(request) else { return false }
      budget.take(slice.entries, bytes: slice.writtenBytes)
      if slice.endsPass, slice.scope == request.scope {
        let usage = try engine.spaceUsage()
        if request.scope == .whole || request.segments(of: usage).isEmpty { return false }
      }
    }
    return true
  }
}

/// A wait that can be broken off.
final class Pause: Sendable {
  private let lock = ThreadLock()
  private let cancelled: ThreadCondition
  private nonisolated(unsafe) var isCancelled = false

  init() { cancelled = ThreadCondition(lock) }

  func cancel() {
    lock.lock()
    defer { lock.unlock() }
    unsafe isCancelled = true
    cancelled.broadcast()
  }

  /// - Throws: `CancellationError`.
  func wait(_ duration: Duration) throws {
    lock.lock()
    defer { lock.unlock() }
    let deadline = ContinuousClock.now + duration
    while unsafe !isCancelled {
      let rest = deadline - .now
      if rest <= .zero { return }
      _ = cancelled.wait(atMost: rest)
    }
    throw CancellationError()
  }
}

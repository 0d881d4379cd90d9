extension PersistentStore {
  /// Reclaims the space of garbage: moves live pages and blobs to new files, and deletes the old ones. No record changes.
  ///
  /// ```swift
  /// let report = try store.compact()
  /// print(report.sizeBefore - report.sizeAfter)
  /// ```
  ///
  /// The work is done in slices, each committed wholly or not at all; others read and write meanwhile. Written pages are
  /// read back and compared before a slice is committed. If a crash or an error interrupts it, the next compaction
  /// resumes where this one stopped. The calling thread does the work, which may take minutes.
  ///
  /// - Parameter progress: Called after each slice. It ends the compaction by throwing.
  /// - Throws: Errors of `progress`; `StoreError.full` if there is not enough space (`.segments` needs less);
  ///   `.corrupt`, `.io`, `.poisoned`, `.readOnly`, `.closed`, `.forked`. Slices that were committed stay so.
  @discardableResult
  public func compact(
    _ options: CompactionOptions = CompactionOptions(),
    progress: (CompactionProgress) throws -> Void = { _ in }
  ) throws -> CompactionReport {
    try compact(options, Pause(), progress)
  }

  private func compact(
    _ options: CompactionOptions, _ pause: Pause, _ progress: (CompactionProgress) throws -> Void
  ) throws -> CompactionReport {
    do {
      if options.droppingOldVersions { try dropKeptVersions() }
      let blobSize = try blobFileSize()
      try collectBlobs(options, pause, progress)
      var report = try CompactionRun.run(backend.writingEngine(), options, pause, progress)
      (report.blobSizeBefore, report.blobSizeAfter) = (blobSize, try blobFileSize())
      report.heldSpace = try heldSpace()
      log.compacted(report)
      return report
    } catch {
      log.ended("The compaction", error)
      throw error
    }
  }

  /// Moves blobs out of the files of which a share is garbage.
  private func collectBlobs(
    _ options: CompactionOptions, _ pause: Pause, _ progress: (CompactionProgress) throws -> Void
  ) throws {
    let budget = BlobBudget(
      bytes: Int(clamping: options.request.bytes), garbageShare: options.leastBlobGarbage)
    var rest = Duration.zero
    if let rate = options.bytesPerSecond, rate > 0 {
      rest = .seconds(Double(budget.bytes) / Double(rate))
    }
    while try collectBlobs(within: budget) {
      try progress(CompactionProgress())
      try pause.wait(rest)
    }
  }

  /// The size of all files of blobs.
  private func blobFileSize() throws(StoreError) -> Int {
    guard let keeper = backend.blobs.keeper else { return 0 }
    var size = 0
    for segment in keeper.openSegments { size += Int(clamping: try keeper.size(of: segment)) }
    return size
  }

  /// Reclaims the space of garbage on a thread of the library, while the task is suspended. If the task is cancelled, it
  /// ends after a slice.
  ///
  /// ```swift
  /// let report = try await store.compact()
  /// ```
  ///
  /// - Throws: as the other; `CancellationError`.
  @discardableResult
  @concurrent
  public func compact(
    _ options: CompactionOptions = CompactionOptions(),
    progress: @Sendable (CompactionProgress) throws -> Void = { _ in }
  ) async throws -> CompactionReport {
    try await LongWork.run { pause in try compact(options, pause, progress) }
  }

  /// Does a part of a compaction, for programs that do it in their idle moments: resumes the pending one, or begins
  /// another. When it returns false, the compaction is finished, and the next call begins a new one.
  ///
  /// ```swift
  /// while try store.compactionStep() { rest() }
  /// ```
  ///
  /// It compacts files of pages only. `collectBlobs(_:)` does the same for files of blobs, within a budget of its own.
  ///
  /// - Returns: True if there is more to do.
  /// - Throws: as `compact`.
  @discardableResult
  package func compactionStep(
    _ options: CompactionOptions = CompactionOptions(scope: .segments),
    budget: WorkBudget = .bytes(32 << 20)
  ) throws(StoreError) -> Bool {
    try CompactionRun.run(backend.writingEngine(), options, within: budget)
  }

  /// Returns the gain of a compaction by `compact`, without doing it: in files of pages, and in files of blobs.
  ///
  /// ```swift
  /// if try store.predictedGain().gain > 100 << 20 { try store.compact() }
  /// ```
  ///
  /// - Complexity: O(files); no record is read.
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`, `.forked`.
  public func predictedGain(
    of options: CompactionOptions = CompactionOptions()
  ) throws(StoreError) -> CompactionPrediction {
    let usage = try backend.spaceUsage(droppingKept: options.droppingOldVersions)
    let blobs = try predictedBlobGain(options.leastBlobGarbage)
    return CompactionPrediction(usage, blobs, options.request)
  }
}

extension PersistentStore {
  /// Returns the space of deleted files that snapshots still read, in this process and in others, and the age of the oldest
  /// snapshot.
  ///
  /// ```swift
  /// print(try store.heldSpace())
  /// ```
  ///
  /// - Complexity: O(open files of all processes), with a call to the system for each.
  /// - Throws: `StoreError.closed`, `.forked`.
  public func heldSpace() throws(StoreError) -> HeldSpace {
    // A store that was closed has a newest state, but may not be asked.
    _ = try backend.snapshot()
    var held = backend.directory?.heldSpace() ?? HeldSpace()
    held.note(age: backend.oldestSnapshotAge)
    return held
  }
}

/// The files that a compaction rewrites, and how fast.
public struct CompactionOptions: Hashable, Sendable {
  /// The files that a compaction rewrites.
  public enum Scope: Hashable, Sendable {
    /// All files: afterwards pages are full, and there is no garbage. It needs free space for all live bytes.
    case whole
    /// The files of which at least this share is garbage, one after the other, beginning with those that have the
    /// fewest live bytes: so little free space is enough.
    case segments(leastGarbage: Double)

    /// Files of which a fifth is garbage.
    public static var segments: Scope { .segments(leastGarbage: 0.2) }
  }

  /// The files that it rewrites.
  public var scope: Scope
  /// The share of the size of the files of pages that `compact` must gain by ``CompactionPrediction/gain``. If it would gain
  /// less, it moves no page: for jobs that run again and again. By default 0: it moves pages in any case.
  public var leastGainShare = 0.0
  /// Drops the states from before migrations, and reclaims their space: no rollback is possible then.
  public var droppingOldVersions = false
  /// The most bytes that are written in a second; nil for no limit.
  public var bytesPerSecond: Int?
  /// The bytes that are moved in one commit, at least a MiB. A crash or a cancellation loses at most so much of the
  /// work, and folds wait for one such commit.
  package var sliceBytes = 32 << 20

  /// Creates options for some or all files.
  public init(scope: Scope = .whole) {
    self.scope = scope
  }
}

extension CompactionOptions {
  /// Slices of less would write more branches and footers than leaves.
  static var sliceMin: Int { 1 << 20 }

  /// The request to the engine.
  var request: CompactionRequest {
    var request = CompactionRequest()
    switch scope {
    case .whole: request.scope = .whole
    case .segments(let leastGarbage):
      request.scope = .segments
      // Of a segment that is full there is nothing to gain.
      request.leastGarbage = leastGarbage >= 0.01 ? leastGarbage : 0.01
    }
    // So that a rate is kept by many short pauses.
    let bytes = min(sliceBytes, bytesPerSecond.map { $0 / 4 } ?? .max)
    request.bytes = max(bytes, Self.sliceMin)
    return request
  }

  /// The share of a file of blobs that must be garbage so that it is rewritten.
  var leastBlobGarbage: Double { scope == .whole ? 0.01 : request.leastGarbage }
}

/// The gain of a compaction, as far as it is known before it begins.
public struct CompactionPrediction: Hashable, Sendable {
  /// The bytes of the store's files of pages.
  public let size: Int
  /// The bytes in them that the newest state reaches.
  package let liveBytes: Int
  /// The bytes that nothing reaches, in files that can be deleted.
  package let garbage: Int
  /// The bytes that the newest state does not reach, in files that are kept for states from before migrations. They are
  /// not reclaimed until those states are dropped.
  package let keptBytes: Int
  /// The bytes that the files of pages will be smaller by, less the bytes that a compaction writes beside the live
  /// pages. If pages are not full, a whole compaction gains more, which is not known without reading them.
  public let gain: Int
  /// The bytes of the store's files of blobs.
  package let blobSize: Int
  /// The bytes that the files of blobs will be smaller by, approximately. Blobs to which only states from before
  /// migrations refer are not counted, whether those states are dropped or not: `compact` has to look for them.
  public let blobGain: Int
  /// The approximate number of bytes that must be free meanwhile.
  public let roomNeeded: Int
}

extension CompactionPrediction {
  init(_ usage: SpaceUsage, _ blobs: BlobGain, _ request: CompactionRequest) {
    let candidates = request.candidates(of: usage)
    let live = candidates.map(\.liveBytes)
    let moved = live.reduce(0, +)
    let atOnce = (live.max() ?? 0) + CompactionRequest.passBytes
    size = Int(clamping: usage.size)
    liveBytes = Int(clamping: usage.liveBytes)
    garbage = Int(clamping: usage.garbage)
    keptBytes = Int(clamping: usage.keptBytes)
    gain = Int(clamping: request.gain(of: usage))
    blobSize = Int(clamping: blobs.size)
    blobGain = Int(clamping: blobs.bytes)
    // Blobs come first, a file after the other.
    let pages = request.scope == .whole ? moved : min(moved, atOnce)
    roomNeeded = Int(clamping: max(pages, blobs.movedAtOnce))
  }
}

/// The progress of a compaction.
public struct CompactionProgress: Hashable, Sendable {
  /// The bytes of pages that were written.
  package internal(set) var writtenBytes = 0
  /// The approximate number of bytes to be written in all.
  package internal(set) var expectedBytes = 0
  /// The bytes of files that were deleted.
  package internal(set) var releasedBytes = 0
  /// The time since the compaction began.
  public internal(set) var elapsed = Duration.zero

  /// From 0 to 1.
  public var fraction: Double {
    expectedBytes > 0 ? min(1, Double(writtenBytes) / Double(expectedBytes)) : 1
  }

  /// The bytes written per second; nil at the beginning.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && writtenBytes > 0 ? Double(writtenBytes) / seconds : nil
  }

  /// The approximate time that is left; nil if it is not known yet.
  public var remaining: Duration? {
    rate.map { .seconds(Double(max(0, expectedBytes - writtenBytes)) / $0) }
  }
}

/// The work that a compaction has done.
public struct CompactionReport: Hashable, Sendable {
  /// The bytes of the store's files of pages before the compaction.
  public internal(set) var sizeBefore = 0
  /// The bytes of the store's files of pages afterwards.
  public internal(set) var sizeAfter = 0
  /// The bytes of the store's files of blobs before the compaction.
  package internal(set) var blobSizeBefore = 0
  /// The bytes of the store's files of blobs afterwards.
  package internal(set) var blobSizeAfter = 0
  /// The space of deleted files that is not free yet, because snapshots read them.
  public internal(set) var heldSpace = HeldSpace()
  /// The bytes of pages that were written.
  package internal(set) var writtenBytes = 0
  /// The entries of trees that were moved: rows, index entries, and the store's own.
  package internal(set) var entries = 0
  /// The number of commits that it was done in.
  package internal(set) var slices = 0
  /// The number of files that were deleted.
  package internal(set) var releasedFiles = 0
  /// The time that it took.
  public internal(set) var elapsed = Duration.zero
}

/// A compaction from its first slice to its last: one that is pending is resumed.
struct CompactionRun {
  private let engine: Engine
  private let bytesPerSecond: Int?
  private var request: CompactionRequest
  /// False if it would gain too little.
  private let isWanted: Bool
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
    isWanted = Double(request.gain(of: usage)) >= options.leastGainShare * Double(usage.size)
    let live = request.candidates(of: usage).reduce(0) { $0 + $1.liveBytes }
    progress.expectedBytes = Int(clamping: live)
  }

  /// Does the next slice.
  ///
  /// - Returns: false if there is nothing more to do, or it would gain too little.
  /// - Throws: errors of `Engine.compact`.
  mutating func step() throws(StoreError) -> Bool {
    guard isWanted, let slice = try engine.compact(request) else { return false }
    // The pending one was begun before this: its pages are as good as those that this would write.
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
    try foldWhatFits(engine)
    var run = try CompactionRun(engine, options)
    while try run.step() {
      try tell(run.progress)
      try pause.wait(run.pause)
    }
    return try run.end()
  }

  /// Folds all commits first: records that were deleted are not moved, and on a disk that is almost
  /// full there may be space for the others alone. Without space for that, moving may make some.
  private static func foldWhatFits(_ engine: Engine) throws(StoreError) {
    do throws(StoreError) { try engine.foldEverything() } catch {
      guard case .full = error else { throw error }
    }
  }

  /// Does as much of it as the budget allows.
  ///
  /// - Returns: True if there is more to do.
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

/// A wait that can be interrupted.
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

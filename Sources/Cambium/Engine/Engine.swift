/// A store's transactions: one writer, any number of readers, commits that survive.
///
///     write ─▶ Transaction ─▶ GroupCommit ─▶ Log                  the way of a commit (Commit)
///                                 │
///                                 ▼ published
///     snapshot ◀───────────  StoreState                           what is read (State)
///                                 │ frozen
///                                 ▼
///              Fold ─▶ pages, footer ─▶ Log: footer frame         later, in steps (Fold)
///
/// It has no clock and no threads of its own. What is done in the background is `step(budget:)`,
/// `flush()` and `seal()`; production calls them from threads, a test when its seed says so. Any thread
/// may call what says nothing of a lock or a turn; what does is for who holds it.
///
/// There are three turns, each held by one thread at a time. Who holds one touches what it guards without
/// the lock: the writer's turn guards the overlay's editor, the fold's turn the appender, the log's turn the
/// log. Who holds one may wait for those after it in this order, never for one before.
final class Engine: @unchecked Sendable {
  let medium: any FileSystem
  let options: EngineOptions
  let names: TreeNames
  private let spillSupport: SpillSupport
  let snapshotAges = SnapshotAges()
  let reserve: Reserve
  /// What opening found.
  let report: OpenReport
  private let forks = ForkGuard()

  let lock: ThreadLock
  /// The writer's turn is free.
  let writerLeft: ThreadCondition
  /// The log's turn or the fold's is free, something was flushed or folded, or the engine failed.
  let progressed: ThreadCondition
  /// What threads in the background wait for; nobody waits where there are none.
  let background: BackgroundSignals

  // Under `lock`:
  /// Keeps other writers out until the store is closed.
  var writerLock: WriterLock?
  var life = EngineLife()
  var commits: GroupCommit<StoreState>
  /// The newest state that was enqueued: what the next writer begins with.
  var working: StoreState
  /// The commits that the next group will have, as bytes.
  var gathered = FrameBuffer()
  /// The number of commits that shared the last flush.
  var lastGroupCount = 1
  /// What `gathered` is swapped with when a group is taken.
  var spareBuffer = FrameBuffer()
  var writer: ThreadIdentity?
  var hasLogTurn = false
  /// Whether the use of the log that the engine appends to is on the disk. Opening a closed store leaves it to the first
  /// write.
  var hasBegunLog: Bool
  var hasFoldTurn = false
  /// What the last fold failed with, mostly `.full`, until one is tried again.
  var foldFailure: StoreError?
  /// The nanoseconds that writers owe because they are faster than the fold.
  var pressure = 0.0
  /// The size of the log's spare file, in bytes.
  var spareSize: Int
  /// Whether the log is to have another file, so that it can go on without writing again what no tree holds.
  var wantsLogFile = false
  /// Whether a file of the log is being made, or made larger, without the log's turn.
  var isGrowingLog = false
  /// False after that failed, until the log goes over to another file.
  var mayMakeLogFiles = true
  /// The size of the log's smallest free file besides the spare, in bytes; nil if there is none.
  var successorSize: Int?
  /// The log's files, by number.
  var logFiles: [any File]
  /// The use of the log that was last seen.
  var lastUse: UInt64
  /// The size that the log's files should have.
  var logTarget: Int
  var overlayScale: OverlayScale
  var levelPolicy: LevelPolicy
  /// True if the next fold merges all levels into their trees.
  var mergesLevels = false
  /// Tasks that wait for a flush, and for the writer's turn.
  var flushWaiters: [FlushWaiter] = []
  var turnWaiters: [TurnWaiter] = []
  /// The overdue waiter that gets the next writer's turn.
  var turnReservation: TurnWaiter?
  /// The snapshot of what is published, if one was taken of it.
  var snapshotOfPublished: Snapshot?
  /// The buffers of a transaction that is over.
  var spareOperations: FrameBuffer?
  /// What makes entries of older versions new; nil where there are none.
  var upgrades: (any FoldUpgrades)?
  /// What the fold of the frozen overlay makes new besides.
  var sought: SoughtUpgrade?
  /// How many were sought so far, this one included.
  var soughtNumber: UInt64 = 0
  /// Whether segments are being emptied in the background, and since when there was nothing to do.
  var automatic = AutomaticCompactionState()
  /// Counts for monitoring.
  var figures: EngineFigures
  /// The last commit that opening found.
  let firstSequence: UInt64

  // With the log's turn:
  let log: Log
  let makeSalt: @Sendable () -> UInt64
  /// The duration of the turn's flush, until it is counted when the turn ends.
  var flushDuration: Duration?
  /// False in memory, where a flush takes less time than reading a clock.
  let measuresFlushes: Bool

  // With the fold's turn:
  var fold: Fold?
  /// The beginning of the fold, for monitoring.
  var foldUnderWay: FoldUnderWay?
  var appender: PageAppender
  /// I/O errors in a row.
  var failedFolds = 0
  /// Whether commits come while segments are emptied; nil before the first time.
  var commitWatch: CommitWatch?

  init(_ recovered: Recovered, options: EngineOptions, lock: ThreadLock = ThreadLock()) {
    self.lock = lock
    medium = recovered.medium
    names = recovered.names
    report = recovered.report
    writerLock = recovered.writerLock
    log = recovered.log
    makeSalt = recovered.makeSalt
    appender = recovered.appender
    spillSupport = SpillSupport(segmentNumbers: recovered.appender.numbers)
    reserve = recovered.reserve
    working = recovered.state
    firstSequence = recovered.state.sequence
    figures = EngineFigures(recovered.log)
    measuresFlushes = !(recovered.medium is InMemoryFileSystem)
    commits = GroupCommit(recovered.state, sequence: recovered.state.sequence)
    spareSize = recovered.log.spareBlocks * Layout.blockSize
    logFiles = recovered.log.slots.map(\.file)
    lastUse = recovered.log.header.number
    hasBegunLog = recovered.log.isBegun
    logTarget = options.logSize.initial
    overlayScale = OverlayScale(max: options.overlayScaleMax)
    levelPolicy = LevelPolicy(
      least: options.levelRatio, leastSegment: options.leastSegmentOfGarbage,
      usual: options.foldThreshold * options.overlayScaleMax)
    self.options = options
    writerLeft = ThreadCondition(lock)
    progressed = ThreadCondition(lock)
    background = BackgroundSignals(lock)
  }
}

extension Engine {
  /// The numbers and settings with which a transaction spills. The caller holds the lock.
  var spilling: SpillSupport {
    var support = spillSupport
    support.writesBehind = background.areRunning
    return support
  }
}

// MARK: - Life

extension Engine {
  /// Whether the engine was closed, so that nothing is written any more.
  ///
  /// - Complexity: a lock.
  var isClosed: Bool {
    lock.lock()
    defer { lock.unlock() }
    return life.stage == .closed
  }

  /// Throws unless the engine's life permits `activity`. With the lock.
  ///
  /// - Throws: `.closed`, `.poisoned`, `.forked`.
  func check(_ activity: EngineLife.Activity) throws(StoreError) {
    try checkProcess()
    if life.permits(activity) { return }
    if let refusal = life.refusal(of: activity, at: medium.path) { throw refusal }
  }

  /// Waits until `isDone`, for as long as the engine's life permits `activity`. With the lock.
  ///
  /// - Throws: what `check` does, unless it is done.
  func wait(
    for condition: ThreadCondition, to activity: EngineLife.Activity,
    until isDone: @autoclosure () -> Bool
  ) throws(StoreError) {
    while !isDone() {
      try check(activity)
      condition.wait()
    }
  }

  /// Throws in a child of the process that opened the store.
  func checkProcess() throws(StoreError) {
    if forks.isForked { throw .forked(path: medium.path) }
  }

  /// Ends writing for good, and wakes all who wait for it. With the lock.
  func poison(_ cause: StoreError) {
    life.fail(cause)
    writerLeft.broadcast()
    resumeAllWriters()
    background.wakeAll()
    progress()
  }

  /// Refuses all transactions that begin from now on. The caller has the writer's turn.
  func fence(_ refusal: StoreError) {
    lock.lock()
    defer { lock.unlock() }
    life.fence(refusal)
    writerLeft.broadcast()
    resumeAllWriters()
  }

  /// Takes back a fence whose mark was not committed.
  func liftFence() {
    lock.lock()
    defer { lock.unlock() }
    life.liftFence()
  }

  /// Lets nothing more begin, and takes the writer's turn when all that had begun has ended. With the lock, which
  /// it gives up meanwhile.
  ///
  /// - Returns: false if another thread closes the engine: then it is closed when this returns.
  func beginClosing() -> Bool {
    guard life.beginClosing() else {
      while life.stage != .closed { progressed.wait() }
      return false
    }
    writerLeft.broadcast()
    resumeAllWriters()
    while writer != nil { writerLeft.wait() }
    writer = .current
    return true
  }

  /// Ends the engine, once the log's turn is free, and lets others open the store. With the lock, the writer's turn
  /// and the fold's.
  func endClosing() {
    while hasLogTurn { progressed.wait() }
    life.endClosing()
    hasFoldTurn = false
    writerLock = nil
    giveWriterTurn()
    resumeAllWriters()
    progress()
  }

  /// Wakes all who wait for the log, the fold or a flush; they look for themselves what has come. With the
  /// lock.
  func progress() {
    progressed.broadcast()
    if !flushWaiters.isEmpty { background.wakeFlusher() }
    if !turnWaiters.isEmpty, writer == nil { resumeAllWriters() }
  }
}

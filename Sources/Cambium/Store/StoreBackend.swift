/// The base of a store: an engine that writes, or a follower of one in another process.
protocol StoreBackend: AnyObject, Sendable {
  var path: String { get }
  var names: TreeNames { get }
  var report: OpenReport { get }
  var isReadOnly: Bool { get }
  /// The store's directory; nil if it is in none.
  var directory: PosixFileSystem? { get }
  /// The upgrades through which rows of older versions are read.
  var upgrades: OpenedUpgrades { get }

  /// The access to the store's blobs.
  var blobs: OpenedBlobs { get }

  /// The collations that the program has given.
  var collations: OpenedCollations { get }

  /// Returns a keeper of files of blobs on the backend's file system.
  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> BlobKeeper

  /// True if the store has threads of its own for background work.
  var hasThreads: Bool { get }

  /// The blob segments that have files, ascending.
  func blobSegments() throws(StoreError) -> [UInt32]

  /// A random number; in tests the same each time.
  func random() -> UInt64

  /// Takes in the commits since, if another process writes.
  func lookAgain() throws(StoreError)

  /// - Throws: `.closed`, `.forked`.
  func snapshot() throws(StoreError) -> SnapshotTrees

  /// The newest state, also of a store that was closed; nil in a forked child.
  func lastSnapshot() -> SnapshotTrees?

  /// The age of the oldest snapshot of an earlier state; nil if none is held.
  var oldestSnapshotAge: Duration? { get }

  /// The figures of the present moment, without those of blobs and observers.
  ///
  /// - Throws: `.forked`.
  func metrics() throws(StoreError) -> StoreMetrics

  var progress: CommitProgress { get }

  /// The last state that may be published by transactions that have begun by now. Later ones see all that was done
  /// before.
  var begunPublication: UInt64 { get }

  /// Takes in the commits of another process, and tells the observers. False if nothing is new.
  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool
  /// The use of the page segments; as if no state were kept, if that is asked for.
  func spaceUsage(droppingKept: Bool) throws(StoreError) -> SpaceUsage
  /// The engine, for operations that a store that is only read cannot do.
  ///
  /// - Throws: `.readOnly`.
  func writingEngine() throws(StoreError) -> Engine
  func close() throws(StoreError)
}

extension StoreBackend {
  func random() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }

  func lookAgain() throws(StoreError) {}

  /// There are no other writers.
  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool { false }

  /// The trees of the newest state.
  func trees() throws(StoreError) -> TreeAccess { .state(try snapshot()) }
}

// MARK: Writing

extension StoreBackend {
  /// Lends `body` a transaction's trees, and commits when it returns.
  ///
  /// - Throws: errors of `body`; `.readOnly`, and errors of a commit.
  func write(_ durability: Durability, _ body: (TransactionTrees) throws -> Void) throws {
    let engine = try writingEngine()
    let (upgrades, session) = (upgrades.current, blobs.session())
    try engine.write(durability) { transaction in
      try body(TransactionTrees(transaction, upgrades, blobs: session))
      try session?.sync()
    }
    session?.end()
  }

  nonisolated(nonsending)
    func write(
      _ durability: Durability, on threads: TaskThreads, _ body: (TransactionTrees) throws -> Void
    ) async throws
  {
    let engine = try writingEngine()
    let (upgrades, session) = (upgrades.current, blobs.session())
    try await engine.write(durability, on: threads) { transaction in
      try body(TransactionTrees(transaction, upgrades, blobs: session))
      try session?.sync()
    }
    session?.end()
  }

  /// A durable commit of the library's own.
  func commit(_ body: (TransactionTrees) throws(StoreError) -> Void) throws(StoreError) {
    try onlyOwnErrors {
      try write(.durable) { trees in
        try body(trees)
        try OwnCommits.note(in: trees, names)
      }
    }
  }

  /// Commits the kept state of a version, with what `body` changes in it.
  ///
  /// - Throws: errors of `body`; `.notKept`, `.corrupt`, and errors of a commit.
  func restore(
    _ version: UInt32, _ body: (TransactionTrees) throws(StoreError) -> Void
  ) throws(StoreError) {
    let engine = try writingEngine()
    let session = blobs.session()
    try onlyOwnErrors {
      try engine.restore(version, keeping: BlobTrees.names) { transaction in
        try body(TransactionTrees(transaction, blobs: session))
      }
    }
  }

  private func onlyOwnErrors(_ body: () throws -> Void) throws(StoreError) {
    do {
      try body()
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("only the store's own errors come from it: \(error)")
    }
  }

  func flush() throws(StoreError) {
    if isReadOnly { _ = try snapshot() } else { try writingEngine().flush() }
  }

  /// Flushes all commits, and shows them to other processes at once.
  func seal() throws(StoreError) {
    if isReadOnly { _ = try snapshot() } else { try writingEngine().seal() }
  }

  func fold() throws(StoreError) { try writingEngine().foldEverything() }

  /// Has every fold upgrade the rows that it rewrites.
  func foldThrough(_ upgrades: TreeUpgrades) throws(StoreError) {
    if !isReadOnly { try writingEngine().use(upgrades) }
  }

  /// Upgrades the first `count` rows of older versions in a tree, while others commit.
  func upgrade(_ tree: TreeSlot, first count: Int) throws(StoreError) {
    try writingEngine().upgrade(SoughtUpgrade(tree: tree, count: count))
  }
}

/// A store that is only read.
final class ReadingBackend: StoreBackend {
  private let follower: Follower
  let upgrades = OpenedUpgrades()
  let blobs = OpenedBlobs()
  let collations = OpenedCollations()
  private let medium: any FileSystem
  var path: String { medium.path }
  private let closing = ThreadLock()
  private nonisolated(unsafe) var isClosed = false
  private nonisolated(unsafe) var check: VersionCheck?

  convenience init(at path: String, _ options: StoreOptions) throws(StoreError) {
    try self.init(
      on: try PosixFileSystem(at: path, allowingNetwork: options.allowsNetworkFileSystems), options)
  }

  init(on medium: any FileSystem, _ options: StoreOptions) throws(StoreError) {
    self.medium = medium
    follower = try Follower(medium, options: options.engine)
  }

  var isReadOnly: Bool { true }
  var directory: PosixFileSystem? { medium as? PosixFileSystem }
  var names: TreeNames { follower.names }
  var report: OpenReport {
    var report = OpenReport()
    report.sequence = follower.snapshot().state.sequence
    return report
  }

  func snapshot() throws(StoreError) -> SnapshotTrees {
    try checkOpen()
    let upgrades = upgrades.current
    return SnapshotTrees(follower.snapshot(), upgrades, blobs: blobs.keeper?.located())
  }

  func lastSnapshot() -> SnapshotTrees? {
    let upgrades = upgrades.current
    return SnapshotTrees(follower.snapshot(), upgrades, blobs: blobs.keeper?.located())
  }

  var oldestSnapshotAge: Duration? { follower.oldestSnapshotAge }
  var progress: CommitProgress { follower.progress }
  var begunPublication: UInt64 { follower.begunPublication }

  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool {
    try checkOpen()
    let notes = hub.notes()
    let isNew = try follower.refresh(noting: notes, check: currentCheck) { first, last in
      hub.announce(notes, first, last, by: nil)
    }
    try BlobOpening(self).refresh()
    if isNew, hub.isObserved { hub.publish(progress) }
    return isNew
  }

  func lookAgain() throws(StoreError) { _ = try follower.refresh() }

  func blobSegments() throws(StoreError) -> [UInt32] { try medium.blobSegments() }

  var hasThreads: Bool { false }

  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> BlobKeeper {
    BlobKeeper(BlobFiles(in: medium, seed: seed, from: number)) { 0 }
  }

  /// The use of the log when it was last read.
  var logUse: LogUse {
    let (files, end) = follower.log
    let blocks = files.files.reduce(0) { $0 + Int($1.blocks) }
    return LogUse(
      size: blocks * Layout.blockSize, usedBytes: Int(end.block) * Layout.blockSize,
      use: Int(clamping: files.header.number))
  }

  /// Returns true if a process has the store open for writing.
  ///
  /// - Throws: `.io`.
  func isOpenForWriting() throws(StoreError) -> Bool { try follower.isOpenForWriting() }

  /// The pages of the newest state, and the names of its trees.
  var pages: PageFile { follower.snapshot().state.base.file }

  /// Refuses to show states of other versions from now on.
  ///
  /// - Parameters:
  ///   - version: That the store has.
  ///   - supported: The model's.
  func refuseOtherVersions(than version: UInt32, supporting supported: Int) {
    closing.lock()
    defer { closing.unlock() }
    unsafe check = VersionCheck(version: version, supported: supported)
  }

  private var currentCheck: VersionCheck? {
    closing.lock()
    defer { closing.unlock() }
    return unsafe check
  }

  func spaceUsage(droppingKept: Bool) throws(StoreError) -> SpaceUsage {
    try checkOpen()
    return try SpaceUsage(of: follower.snapshot().state.base.file, droppingKept: droppingKept)
  }

  func writingEngine() throws(StoreError) -> Engine { throw .readOnly(path: path) }

  func close() throws(StoreError) {
    closing.lock()
    defer { closing.unlock() }
    unsafe isClosed = true
  }

  private func checkOpen() throws(StoreError) {
    if hasClosed { throw .closed(path: path) }
  }

  var hasClosed: Bool {
    closing.lock()
    defer { closing.unlock() }
    return unsafe isClosed
  }
}

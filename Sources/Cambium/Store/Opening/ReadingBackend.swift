/// A store that is only read, in a directory.
final class ReadingBackend: StoreBackend {
  private let follower: Follower
  let upgrades = OpenedUpgrades()
  let blobs = OpenedBlobs()
  private let medium: PosixFileSystem
  let path: String
  private let closing = ThreadLock()
  private nonisolated(unsafe) var isClosed = false
  private nonisolated(unsafe) var check: VersionCheck?

  init(at path: String, _ options: StoreOptions) throws(StoreError) {
    let medium = try PosixFileSystem(
      at: path, allowingNetwork: options.allowsNetworkFileSystems)
    self.path = medium.path
    self.medium = medium
    follower = try Follower(medium, options: options.engine)
  }

  var isReadOnly: Bool { true }
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

  var progress: CommitProgress { follower.progress }
  var begunSequence: UInt64 { follower.begunSequence }

  func write(_ durability: Durability, _ body: (TransactionTrees) throws -> Void) throws {
    throw StoreError.readOnly(path: path)
  }

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TransactionTrees) throws -> Void) async throws
  {
    throw StoreError.readOnly(path: path)
  }

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

  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> BlobKeeper {
    BlobKeeper(BlobFiles(in: medium, seed: seed, from: number)) { 0 }
  }

  /// The use of the log when it was last read.
  var logUse: LogUse {
    let (files, end) = follower.log
    let blocks = files.files.reduce(0) { $0 + Int($1.blocks) }
    return LogUse(
      size: blocks * Layout.blockSize, usedBytes: Int(end.block) * Layout.blockSize,
      use: Int(clamping: files.header.use))
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

  func flush() throws(StoreError) { try checkOpen() }
  func seal() throws(StoreError) { try checkOpen() }
  func fold() throws(StoreError) { throw .readOnly(path: path) }
  func foldThrough(_ upgrades: TreeUpgrades) {}

  func upgrade(_ tree: TreeSlot, first count: Int) throws(StoreError) {
    throw .readOnly(path: path)
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
    closing.lock()
    defer { closing.unlock() }
    if unsafe isClosed { throw .closed(path: path) }
  }
}

/// A backend with an engine of its own, which writes.
///
/// What is the same on all media stands once, here. The conformers are concrete, so that all of it is compiled
/// for their media.
protocol EngineBackend: StoreBackend {
  associatedtype Medium: FileSystem

  var engine: Engine<Medium> { get }
  var threads: EngineThreads<Medium> { get }

  static func state(_ trees: SnapshotTrees<Medium>) -> StoreSnapshot.StoreState
  static func changes(_ trees: TransactionTrees<Medium>) -> TreeChanges
}

/// A store that is written to, in a directory.
final class WritingBackend: EngineBackend {
  let engine: Engine<PosixFileSystem>
  let upgrades = OpenedUpgrades()
  let blobs = OpenedBlobs()
  let threads: EngineThreads<PosixFileSystem>

  init(
    at path: String, _ options: StoreOptions, check: (any StateCheck)? = nil
  ) throws(StoreError) {
    let creates = options.access == .writing
    let medium = try PosixFileSystem(
      at: path, creating: creates, allowingNetwork: options.allowsNetworkFileSystems)
    engine = try Engine.open(medium, options.engine, creating: creates, check)
    threads = try EngineThreads(for: engine)
  }

  deinit { abandon() }

  static func state(_ trees: SnapshotTrees<PosixFileSystem>) -> StoreSnapshot.StoreState {
    .posix(trees)
  }

  static func changes(_ trees: TransactionTrees<PosixFileSystem>) -> TreeChanges { .posix(trees) }
}

/// A store in memory, gone with its last user.
final class MemoryBackend: EngineBackend {
  let engine: Engine<InMemoryFileSystem>
  let upgrades = OpenedUpgrades()
  let blobs = OpenedBlobs()
  let threads: EngineThreads<InMemoryFileSystem>

  init(_ options: StoreOptions) throws(StoreError) {
    engine = try Engine.open(InMemoryFileSystem(), options.engine, creating: true)
    threads = try EngineThreads(for: engine)
  }

  deinit { abandon() }

  static func state(_ trees: SnapshotTrees<InMemoryFileSystem>) -> StoreSnapshot.StoreState {
    .memory(trees)
  }

  static func changes(_ trees: TransactionTrees<InMemoryFileSystem>) -> TreeChanges {
    .memory(trees)
  }
}

// MARK: -

extension EngineBackend {
  var path: String { engine.medium.path }
  var isReadOnly: Bool { false }
  var names: TreeNames { engine.names }
  var report: OpenReport { engine.report }

  func snapshot() throws(StoreError) -> StoreSnapshot.StoreState {
    Self.state(try engine.trees(upgrades.current, blobs))
  }

  func lastSnapshot() -> StoreSnapshot.StoreState? {
    do throws(StoreError) { try engine.checkProcess() } catch { return nil }
    return Self.state(engine.lastTrees(upgrades.current, blobs))
  }

  var progress: CommitProgress { engine.commitProgress }
  var begunSequence: UInt64 { engine.begunSequence }

  func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) throws {
    let (upgrades, session) = (upgrades.current, blobs.session())
    try engine.write(durability) { transaction in
      try body(Self.changes(TransactionTrees(transaction, upgrades, blobs: session)))
      try session?.sync()
    }
    session?.end()
  }

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) async throws
  {
    let (upgrades, session) = (upgrades.current, blobs.session())
    try await engine.write(durability) { transaction in
      try body(Self.changes(TransactionTrees(transaction, upgrades, blobs: session)))
      try session?.sync()
    }
    session?.end()
  }

  func restore(_ version: UInt32, _ body: (TreeChanges) throws -> Void) throws {
    let session = blobs.session()
    try engine.restore(version, keeping: BlobTrees.names) { transaction in
      try body(Self.changes(TransactionTrees(transaction, blobs: session)))
    }
  }

  func blobSegments() throws(StoreError) -> [UInt32] { try engine.medium.blobSegments() }

  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> any BlobKeeping {
    let files = BlobFiles(
      in: engine.medium, seed: seed, from: number, segmentSize: engine.options.blobSegmentSize,
      gate: engine.makeBlobGate())
    return BlobKeeper(files) {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }

  /// Nobody else commits.
  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool { false }
  func flush() throws(StoreError) { try engine.flush() }
  func seal() throws(StoreError) { try engine.seal() }
  func fold() throws(StoreError) { try engine.foldEverything() }
  func foldThrough(_ upgrades: TreeUpgrades) { engine.use(upgrades) }

  func upgrade(_ tree: TreeSlot, first count: Int) throws(StoreError) {
    try engine.upgrade(SoughtUpgrade(tree: tree, count: count))
  }

  func spaceUsage(droppingKept: Bool) throws(StoreError) -> SpaceUsage {
    try engine.spaceUsage(droppingKept: droppingKept)
  }

  func compact(_ request: CompactionRequest) throws(StoreError) -> CompactedSlice? {
    try engine.compact(request)
  }

  func close() throws(StoreError) {
    try blobs.close { () throws(StoreError) in try threads.close() }
  }

  /// Ends it without putting everything into the trees.
  fileprivate func abandon() {
    threads.end()
    engine.abandon()
    blobs.close()
  }
}

extension Engine {
  fileprivate static func open(
    _ medium: Medium, _ options: EngineOptions, creating: Bool, _ check: (any StateCheck)? = nil
  ) throws(StoreError) -> Engine {
    let recovered = try Recovery.run(
      in: medium, options: options, creating: creating, check: check
    ) {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }
    return Engine(recovered, options: options)
  }
}

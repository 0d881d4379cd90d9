/// A store on a medium of the tests. It has no threads: what is due is done by whoever commits, so that everything
/// happens in the same order each time.
final class MediumBackend<Medium: FileSystem>: StoreBackend {
  private let engine: Engine<Medium>
  private let randoms: Salts
  let upgrades = OpenedUpgrades()
  let blobs = OpenedBlobs()

  /// - Parameter seed: Of the salts of its log.
  init(
    _ medium: Medium, _ options: StoreOptions, _ check: SchemaCheck, seed: UInt64
  ) throws(StoreError) {
    let salts = Salts(seed)
    randoms = Salts(~seed)
    let recovered = try Recovery.run(
      in: medium, options: options.engine, creating: options.access == .writing, check: check
    ) { salts.next() }
    engine = Engine(recovered, options: options.engine)
  }

  deinit {
    engine.abandon()
    blobs.close()
  }

  var path: String { engine.medium.path }
  var isReadOnly: Bool { false }
  var names: TreeNames { engine.names }
  var report: OpenReport { engine.report }
  var progress: CommitProgress { engine.commitProgress }
  var begunSequence: UInt64 { engine.begunSequence }

  func snapshot() throws(StoreError) -> StoreSnapshot.StoreState {
    .other(try engine.trees(upgrades.current, blobs))
  }

  func lastSnapshot() -> StoreSnapshot.StoreState? {
    .other(engine.lastTrees(upgrades.current, blobs))
  }

  func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) throws {
    let session = blobs.session()
    try engine.write(durability) {
      try body(.other(TransactionTrees($0, upgrades.current, blobs: session)))
      try session?.sync()
    }
    session?.end()
  }

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) async throws
  {
    let session = blobs.session()
    try await engine.write(durability) {
      try body(.other(TransactionTrees($0, upgrades.current, blobs: session)))
      try session?.sync()
    }
    session?.end()
  }

  func restore(_ version: UInt32, _ body: (TreeChanges) throws -> Void) throws {
    let session = blobs.session()
    try engine.restore(version, keeping: BlobTrees.names) {
      try body(.other(TransactionTrees($0, blobs: session)))
    }
  }

  func random() -> UInt64 { randoms.next() }

  func blobSegments() throws(StoreError) -> [UInt32] { try engine.medium.blobSegments() }

  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> any BlobKeeping {
    let randoms = randoms
    // Buffers are small, so that what is longer than a few of them goes to the medium while it is made.
    let files = BlobFiles(
      in: engine.medium, seed: seed, from: number, segmentSize: engine.options.blobSegmentSize,
      bufferSize: 64 << 10, crew: BlobCrew(size: 0), gate: engine.makeBlobGate())
    return BlobKeeper(files) { randoms.next() }
  }

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
    try blobs.close { () throws(StoreError) in try engine.close() }
  }
}

/// Numbers that are other each time, and the same for the same seed.
private final class Salts: @unchecked Sendable {
  private let lock = ThreadLock()
  private var last: UInt64

  init(_ seed: UInt64) {
    last = seed
  }

  func next() -> UInt64 {
    lock.lock()
    defer { lock.unlock() }
    last = last &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return last
  }
}

extension PersistentStore {
  /// Opens the store on a medium of the tests, or makes it, for one thread.
  ///
  /// - Throws: as the initializer of stores in directories.
  package convenience init<Medium: FileSystem>(
    on medium: Medium, model: StoreModel, steps: [Step] = [],
    migration: MigrationMode = .automatic, options: StoreOptions = StoreOptions(), seed: UInt64
  ) throws(StoreError) {
    let opening = try StoreOpening(model, steps: steps, migration, options)
    let backend = try MediumBackend(medium, options, opening.check, seed: seed)
    self.init(try opening.open(backend), options)
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A store that is written to, on any file system.
final class EngineBackend: StoreBackend {
  let engine: Engine
  let upgrades = OpenedUpgrades()
  let blobs = OpenedBlobs()
  let collations = OpenedCollations()
  /// Nil in tests that want everything in the same order each time: then each commit does the work that is due.
  private let threads: EngineThreads?
  private let numbers: @Sendable () -> UInt64

  /// Opens the store in a directory; makes it, unless it is only to be migrated.
  ///
  /// - Parameter passingFence: True to open a fenced store, too.
  convenience init(
    at path: String, _ options: StoreOptions, check: (any StateCheck)? = nil,
    passingFence: Bool = false
  ) throws(StoreError) {
    let creates = options.access == .writing
    let medium = try PosixFileSystem(
      at: path, creating: creates, allowingNetwork: options.allowsNetworkFileSystems)
    let check = passingFence ? check : FenceCheck(path: medium.path, next: check)
    try self.init(medium, options.engine, creating: creates, check, options.lock)
  }

  /// Opens the store in a storage of the program's; makes it, unless it is only to be written.
  convenience init(
    on storage: any StorageBackend, _ options: StoreOptions, check: (any StateCheck)?
  ) throws(StoreError) {
    var engine = options.engine
    if engine.readMode == .mapped { engine.readMode = .buffered(cacheSize: 64 << 20) }
    try self.init(
      BackedFileSystem(storage), engine, creating: options.access == .writing,
      FenceCheck(path: storage.path, next: check), options.lock)
  }

  /// A store in memory, gone with its last user.
  convenience init(inMemory options: StoreOptions) throws(StoreError) {
    try self.init(InMemoryFileSystem(), options.engine, creating: true)
  }

  private init(
    _ medium: any FileSystem, _ options: EngineOptions, creating: Bool,
    _ check: (any StateCheck)? = nil, _ lock: StoreOptions.Lock = .refuse
  ) throws(StoreError) {
    let numbers: @Sendable () -> UInt64 = {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
    self.numbers = numbers
    let options = options.fitting(volume: medium.volumeSize)
    let recovered = try lock.waiting { () throws(StoreError) in
      try Recovery.run(
        in: medium, options: options, creating: creating, check: check, makeSalt: numbers)
    }
    engine = Engine(recovered, options: options)
    engine.correctPlanning()
    threads = try EngineThreads(for: engine)
  }

  /// Opens a store for one thread, so that everything happens in the same order each time. Its log says no times.
  ///
  /// - Parameter seed: For numbers that are random elsewhere.
  init(
    alone medium: any FileSystem, _ options: EngineOptions, creating: Bool,
    _ check: (any StateCheck)? = nil, seed: UInt64
  ) throws(StoreError) {
    let salts = SeededNumbers(seed)
    let others = SeededNumbers(~seed)
    numbers = { others.next() }
    engine = Engine(
      try Recovery.run(
        in: medium, options: options, creating: creating,
        check: FenceCheck(path: medium.path, next: check), makeSalt: { salts.next() },
        clock: { 0 }),
      options: options)
    engine.correctPlanning()
    threads = nil
  }

  /// Ends it without putting everything into the trees.
  deinit {
    threads?.end()
    engine.abandon()
    blobs.close()
  }

  func close() throws(StoreError) {
    try blobs.close { () throws(StoreError) in
      if let threads { try threads.close() } else { try engine.close() }
    }
  }
}

// MARK: The engine's events

extension EngineBackend {
  var path: String { engine.medium.path }
  var isReadOnly: Bool { false }
  var directory: PosixFileSystem? { engine.medium as? PosixFileSystem }
  var names: TreeNames { engine.names }
  var report: OpenReport { engine.report }
  var oldestSnapshotAge: Duration? { engine.oldestSnapshotAge }
  func metrics() throws(StoreError) -> StoreMetrics { try engine.metrics() }
  var progress: CommitProgress { engine.commitProgress }
  var begunPublication: UInt64 { engine.begunPublication }
  func random() -> UInt64 { numbers() }

  func snapshot() throws(StoreError) -> SnapshotTrees {
    try engine.trees(upgrades.current, blobs)
  }

  func lastSnapshot() -> SnapshotTrees? {
    do throws(StoreError) { try engine.checkProcess() } catch { return nil }
    return engine.lastTrees(upgrades.current, blobs)
  }
}

extension EngineBackend {
  func spaceUsage(droppingKept: Bool) throws(StoreError) -> SpaceUsage {
    try engine.spaceUsage(droppingKept: droppingKept)
  }

  func writingEngine() -> Engine { engine }
}

// MARK: Blobs

extension EngineBackend {
  func blobSegments() throws(StoreError) -> [UInt32] { try engine.medium.blobSegments() }

  var hasThreads: Bool { threads != nil }

  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> BlobKeeper {
    BlobKeeper(blobFiles(seed, from: number), random: numbers)
  }

  private func blobFiles(_ seed: BlobSeed, from number: UInt32) -> BlobFiles {
    let (medium, size, gate) = (
      engine.medium, engine.options.blobSegmentSize, engine.makeBlobGate()
    )
    if threads != nil {
      return BlobFiles(in: medium, seed: seed, from: number, segmentSize: size, gate: gate)
    }
    // Buffers are small, so that a value longer than a few of them goes to the disk while it is made.
    return BlobFiles(
      in: medium, seed: seed, from: number, segmentSize: size, bufferSize: 64 << 10,
      crew: BlobCrew(size: 0), gate: gate)
  }
}

// MARK: Setting aside

extension EngineBackend {
  /// Moves the store at `path` out of the way, under its name with the date after it.
  ///
  /// - Returns: where it is then.
  /// - Throws: `.locked`, `.io`.
  static func setAside(
    _ path: String, _ options: StoreOptions
  ) throws(StoreError) -> String {
    let medium = try PosixFileSystem(
      at: path, allowingNetwork: options.allowsNetworkFileSystems)
    let lock = try WriterLock(in: medium)
    defer { withExtendedLifetime(lock) {} }
    let second = Date(
      timeIntervalSinceReferenceDate: Date.now.timeIntervalSinceReferenceDate.rounded(.down))
    return try medium.setAside("." + second.isoText.replacing(":", with: "-"))
  }
}

// MARK: For tests

/// Numbers that are other each time, and the same for the same seed.
private final class SeededNumbers: @unchecked Sendable {
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
  /// Opens the store on a simulated disk, or makes it, for one thread.
  ///
  /// - Throws: as the initializer of stores in directories.
  package convenience init(
    on medium: any FileSystem, model: StoreModel, steps: [MigrationStep] = [],
    migration: MigrationMode = .automatic, options: StoreOptions = StoreOptions(), seed: UInt64
  ) throws(StoreError) {
    let opening = try StoreOpening(model, steps: steps, migration, options)
    let backend = try EngineBackend(
      alone: medium, options.engine, creating: options.access == .writing, opening, seed: seed
    )
    self.init(try opening.open(backend), options)
  }
}

import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A store on a medium that may fail, without threads of its own.
final class SimulatedBackend: StoreBackend {
  let engine: SimulatedEngine
  let upgrades = OpenedUpgrades()
  let blobs = OpenedBlobs()

  init(_ medium: SimulatedFileSystem, seed: UInt64) throws(StoreError) {
    var options = EngineOptions.small(foldThreshold: 8 << 10)
    options.nodeSizes = .forLongKeys
    engine = try SimulatedEngine.open(medium, options: options, seed: seed)
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

  func blobSegments() throws(StoreError) -> [UInt32] { try engine.medium.blobSegments() }

  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> any BlobKeeping {
    BlobKeeper(BlobFiles(in: engine.medium, seed: seed, from: number)) {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
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
  func close() throws(StoreError) { try engine.close() }
}

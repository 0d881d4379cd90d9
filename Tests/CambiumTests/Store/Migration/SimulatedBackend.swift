import TestSupport

@testable import Cambium

/// A store on a medium that may fail, without threads of its own.
final class SimulatedBackend: StoreBackend {
  let engine: SimulatedEngine
  let upgrades = OpenedUpgrades()

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
    .other(SnapshotTrees(try engine.snapshot(), upgrades.current))
  }

  func lastSnapshot() -> StoreSnapshot.StoreState? {
    .other(SnapshotTrees(engine.lastSnapshot(), upgrades.current))
  }

  func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) throws {
    try engine.write(durability) { try body(.other(TransactionTrees($0, upgrades.current))) }
  }

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) async throws
  {
    try await engine.write(durability) { try body(.other(TransactionTrees($0, upgrades.current))) }
  }

  func restore(_ version: UInt32, _ body: (TreeChanges) throws -> Void) throws {
    try engine.restore(version) { try body(.other(TransactionTrees($0))) }
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
  func backUp(
    to medium: PosixFileSystem, _ monitor: BackupMonitor
  ) throws(StoreError) -> BackupContents {
    try Backup(of: engine.snapshot(), engine.names, monitor).run(into: medium)
  }
  func close() throws(StoreError) { try engine.close() }
}

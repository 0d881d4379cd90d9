/// What is under a store: an engine that writes, or what follows one in another process.
protocol StoreBackend: AnyObject, Sendable {
  var path: String { get }
  var names: TreeNames { get }
  var report: OpenReport { get }
  var isReadOnly: Bool { get }
  /// The upgrades through which rows of older versions are read.
  var upgrades: OpenedUpgrades { get }

  /// The access to the store's blobs.
  var blobs: OpenedBlobs { get }

  /// Returns a keeper of files of blobs on the backend's file system.
  func makeBlobKeeper(_ seed: BlobSeed, from number: UInt32) -> BlobKeeper

  /// The blob segments that have files, ascending.
  func blobSegments() throws(StoreError) -> [UInt32]

  /// A number that nobody knows; in tests the same each time.
  func random() -> UInt64

  /// Takes in what was committed since, where another process writes.
  func lookAgain() throws(StoreError)

  /// - Throws: `.closed`, `.forked`.
  func snapshot() throws(StoreError) -> SnapshotTrees

  /// The newest state, also of a store that was closed; nil in a forked child.
  func lastSnapshot() -> SnapshotTrees?

  var progress: CommitProgress { get }

  /// The last commit that may have been begun by now. Who begins one later sees what was done before.
  var begunSequence: UInt64 { get }

  /// Lends `body` a transaction's trees, and commits when it returns.
  func write(_ durability: Durability, _ body: (TransactionTrees) throws -> Void) throws

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TransactionTrees) throws -> Void) async throws

  /// Takes in what another process committed, and says so to those who observe. False where nothing is new.
  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool
  func flush() throws(StoreError)
  /// Flushes all commits, and shows them to other processes at once.
  func seal() throws(StoreError)
  func fold() throws(StoreError)
  /// Makes the first so many rows of older versions in a tree new, while others commit.
  func upgrade(_ tree: TreeSlot, first count: Int) throws(StoreError)
  /// What the page segments hold; as if no state were kept, if that is asked for.
  func spaceUsage(droppingKept: Bool) throws(StoreError) -> SpaceUsage
  /// The engine, for what a store that is only read cannot do.
  ///
  /// - Throws: `.readOnly`.
  func writingEngine() throws(StoreError) -> Engine
  /// Has every fold make new what it rewrites.
  func foldThrough(_ upgrades: TreeUpgrades)
  func close() throws(StoreError)

  /// Commits the kept state of a version, with what `body` changes in it.
  ///
  /// - Throws: what `body` throws; `.notKept`, `.corrupt`, and what a commit throws.
  func restore(_ version: UInt32, _ body: (TransactionTrees) throws -> Void) throws
}

extension StoreBackend {
  func random() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }

  func lookAgain() throws(StoreError) {}

  func restore(_ version: UInt32, _ body: (TransactionTrees) throws -> Void) throws {
    throw StoreError.readOnly(path: path)
  }

  /// The trees of the newest state.
  func trees() throws(StoreError) -> TreeAccess { .state(try snapshot()) }

  /// A durable commit of the library's own.
  func commit(_ body: (TransactionTrees) throws(StoreError) -> Void) throws(StoreError) {
    do {
      try write(.durable) { trees in try body(trees) }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("only the store's own errors come from it: \(error)")
    }
  }
}

internal import Synchronization

/// The blobs of an open store, which its backend hands to whoever reads and writes.
final class OpenedBlobs: Sendable {
  private let isOpen = Atomic(false)
  // Set once, before it is said to be.
  private nonisolated(unsafe) var opened: BlobKeeper?
  /// Segments that may be garbage.
  let bin = BlobBin()

  /// Nil if the store has no blobs and cannot get any.
  var keeper: BlobKeeper? {
    isOpen.load(ordering: .acquiring) ? unsafe opened : nil
  }

  /// Once, by whoever opens the store.
  func open(_ keeper: BlobKeeper) {
    unsafe opened = keeper
    isOpen.store(true, ordering: .releasing)
  }

  /// Closes the engine by `closeEngine`, and ends all writing of blobs with it, unless the store stays open.
  ///
  /// The files of blobs keep the directory locked until the last write has ended.
  ///
  /// - Throws: what `closeEngine` does.
  func close(with closeEngine: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) {
      try closeEngine()
    } catch {
      if case .reentrant = error { throw error }
      close()
      throw error
    }
    close()
  }

  func close() { keeper?.close() }

  /// Returns the session of a transaction with files of blobs.
  func session() -> BlobSession? {
    keeper.map { BlobSession($0, bin) }
  }
}

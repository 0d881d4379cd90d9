internal import Synchronization

/// The blobs of an open store, which its backend hands to whoever reads and writes.
final class OpenedBlobs: Sendable {
  private let isOpen = Atomic(false)
  // Set once, before it is said to be.
  private nonisolated(unsafe) var opened: (any BlobKeeping)?
  /// Segments that may be garbage.
  let bin = BlobBin()

  /// Nil where the store has no blobs and cannot get any.
  var keeper: (any BlobKeeping)? {
    isOpen.load(ordering: .acquiring) ? unsafe opened : nil
  }

  /// Once, by whoever opens the store.
  func open(_ keeper: any BlobKeeping) {
    unsafe opened = keeper
    isOpen.store(true, ordering: .releasing)
  }

  /// What a transaction does with files of blobs.
  func session() -> BlobSession? {
    keeper.map { BlobSession($0, bin) }
  }
}

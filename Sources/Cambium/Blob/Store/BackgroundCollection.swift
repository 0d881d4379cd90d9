internal import Synchronization

/// Collects the blobs of an open store in the background when enough of their files is garbage. Each collection has a thread of
/// its own, which then ends.
final class BackgroundCollection: @unchecked Sendable {
  private let conditions: AutomaticCompaction
  private let isEnding = Atomic(false)
  private let lock = ThreadLock()
  // Under `lock`:
  private var isRunning = false
  private var thread: BackgroundThread?

  init(_ conditions: AutomaticCompaction) {
    self.conditions = conditions
  }

  /// Begins a collection if one is due and none is under way.
  ///
  /// - Complexity: O(1); O(segments) the first time, and after commits that have dropped some megabytes of blobs.
  func beginIfDue(in store: PersistentStore) {
    let blobs = store.backend.blobs
    guard let keeper = blobs.keeper, blobs.bin.takeGarbage(atLeast: leastGain / 8) else { return }
    lock.lock()
    defer { lock.unlock() }
    if isRunning || isEnding.load(ordering: .relaxed) { return }
    do throws(StoreError) {
      guard try isDue(store, keeper) else { return }
      thread = try BackgroundThread(name: "cambium-blobs") { [weak store, self] in
        while !isEnding.load(ordering: .relaxed), let store, collectSome(of: store) {}
        noteEnd()
      }
      isRunning = true
    } catch {
      store.log.ended("The collection of blobs", error)
    }
  }

  /// Interrupts a collection and waits until it has ended. Called when the store is closed, so nothing is committed any more.
  func end() {
    isEnding.store(true, ordering: .relaxed)
    lock.lock()
    let thread = thread
    lock.unlock()
    thread?.join()
  }

  private var leastGain: UInt64 { UInt64(clamping: conditions.leastGain) }

  /// Returns true if there is enough garbage in the files of blobs.
  private func isDue(
    _ store: PersistentStore, _ keeper: BlobKeeper
  ) throws(StoreError) -> Bool {
    var (size, live): (UInt64, UInt64) = (0, 0)
    for (segment, account) in try store.entities.blobs.accounts(in: try store.backend.trees()) {
      size &+= try keeper.size(of: segment)
      live &+= account.live
    }
    let garbage = size > live ? size - live : 0
    return garbage >= leastGain && Double(garbage) >= conditions.beginsAt * Double(size)
  }

  /// Moves some blobs. Returns false if nothing is left to do.
  private func collectSome(of store: PersistentStore) -> Bool {
    do throws(StoreError) {
      return try store.collectBlobs(
        BlobBudget(bytes: conditions.sliceBytes, garbageShare: conditions.endsAt))
    } catch {
      if case .closed = error { return false }
      store.log.ended("The collection of blobs", error)
      return false
    }
  }

  private func noteEnd() {
    lock.lock()
    defer { lock.unlock() }
    isRunning = false
  }
}

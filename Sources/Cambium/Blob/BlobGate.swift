/// Admits writes to a store's files of blobs until the store is closed, and keeps the store locked until the last of
/// them has ended.
///
/// Blob writers, uploads and the crew's threads can outlive the store. Each of their writes, truncations and unlinks
/// passes here, so that none reaches a directory that another writer may have by then. A forked child, which has
/// neither the lock nor the threads, never passes.
final class BlobGate: Sendable {
  private let path: String
  private let forks = ForkGuard()
  private let lock = ThreadLock()
  private let ended: ThreadCondition
  // Under `lock`:
  private nonisolated(unsafe) var isClosed = false
  /// The number of writes under way.
  private nonisolated(unsafe) var writeCount = 0
  /// Set if the last write that needed space found the disk full.
  private nonisolated(unsafe) var shortage: DiskShortage?
  /// The engine has it too, and releases it first.
  private nonisolated(unsafe) var storeLock: (any AnyObject & Sendable)?

  /// - Parameters:
  ///   - path: The store's, for errors.
  ///   - storeLock: Keeps other writers out of the directory.
  init(_ path: String, holding storeLock: (any AnyObject & Sendable)? = nil) {
    self.path = path
    unsafe self.storeLock = storeLock
    ended = ThreadCondition(lock)
  }

  /// Begins a write. Call `leave()` when it has ended.
  ///
  /// - Throws: `.closed`, `.forked`.
  func enter() throws(StoreError) {
    // Before the lock, which a child may find taken for good.
    if forks.isForked { throw .forked(path: path) }
    lock.lock()
    defer { lock.unlock() }
    if unsafe isClosed { throw .closed(path: path) }
    unsafe writeCount += 1
  }

  func leave() {
    lock.lock()
    defer { lock.unlock() }
    unsafe writeCount -= 1
    if unsafe writeCount == 0 { ended.broadcast() }
  }

  /// Makes a write that needs space, and notes whether there was any.
  ///
  /// - Throws: `.closed`, `.forked`; what `write` throws.
  func admit<Result>(_ write: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try enter()
    defer { leave() }
    do throws(StoreError) {
      let result = try write()
      note(nil)
      return result
    } catch {
      note(error)
      throw error
    }
  }

  /// Notes how a write that needs space ended: by an error, or by none.
  func note(_ error: StoreError?) {
    lock.lock()
    defer { lock.unlock() }
    switch error {
    case nil: unsafe shortage = nil
    case .full?: unsafe shortage = DiskShortage()
    default: break
    }
  }

  /// Returns true if a write found the disk full, none has found space since, and as far as the system says there is none.
  ///
  /// - Parameter free: The bytes that are free; not asked for unless a write found none.
  func isFull(_ free: @autoclosure () -> Int?) -> Bool {
    guard let shortage = lastShortage else { return false }
    return shortage.lasts(free())
  }

  private var lastShortage: DiskShortage? {
    lock.lock()
    defer { lock.unlock() }
    return unsafe shortage
  }

  /// Throws the error that a write would throw.
  func check() throws(StoreError) {
    try enter()
    leave()
  }

  /// Refuses all further writes, waits for those under way, and releases the store's lock.
  func close() {
    if forks.isForked { return }
    lock.lock()
    defer { lock.unlock() }
    unsafe isClosed = true
    while unsafe writeCount > 0 { ended.wait() }
    unsafe storeLock = nil
  }
}

extension Engine {
  /// Makes the gate of the store's blobs, which shares the engine's lock on the directory.
  func makeBlobGate() -> BlobGate {
    lock.lock()
    defer { lock.unlock() }
    return BlobGate(medium.path, holding: writerLock)
  }
}

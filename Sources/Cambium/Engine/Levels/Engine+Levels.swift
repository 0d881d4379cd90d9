extension Engine {
  /// Merges all levels into their trees, by a fold: it is there as a whole or not at all, and transactions go on meanwhile. Nothing is
  /// committed by it.
  ///
  /// - Throws: `.corrupt`, `.limitExceeded`, `.full`, `.io`, `.poisoned`, `.reentrant`, `.closed`, `.forked`: then it was not done.
  func mergeLevels() throws(StoreError) {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    if working.base.levelCount == 0 { return }
    try takeTurnToFreeze()
    mergesLevels = true
    freezeWhatIsPublished()
    giveWriterTurn()
    do throws(StoreError) {
      try waitForFold()
    } catch {
      mergesLevels = false
      throw error
    }
  }
}

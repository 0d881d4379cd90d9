// The log begins small. When the overlays come to more than a use in the spare file could begin with, a
// committer doubles it, up to a bound; the other file follows when it is the spare. Up to `logTarget` the spare
// grows in the background, a piece at a time, as nobody can write to the log meanwhile.

extension Engine {
  /// What the log grows by at once.
  private static var piece: Int { 1 << 20 }

  /// Makes the log's spare file larger, if it is to be.
  ///
  /// - Returns: whether there was anything to do.
  /// - Throws: `.poisoned`, `.closed`. A spare that cannot grow stays as it is.
  func growLog() throws(StoreError) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard life.permits(.starting), hasBegunLog, spareSize < logTarget else { return false }
    let before = spareSize
    do throws(StoreError) {
      try growSpare(to: min(logTarget, spareSize + Self.piece))
    } catch {
      if !life.permits(.finishing) { throw error }
      logTarget = before
    }
    return true
  }

  /// Sees to it that the log can begin anew, when it is full, with all that a transaction would leave in
  /// memory: waits for a fold if that is too much, and makes the spare file larger if that is too small.
  ///
  /// With the lock and the writer's turn, before the transaction is enqueued: from there on it cannot be
  /// refused any more.
  ///
  /// - Throws: what a fold does, `.full`, `.io`: then nothing has changed.
  func makeLogHold(_ transaction: Transaction) throws(StoreError) {
    if mustFold(before: transaction) {
      try waitForFold()
      try check(.finishing)
    }
    do throws(StoreError) {
      try growSpare(for: transaction)
    } catch {
      guard case .full = error else { throw error }
      // What is frozen is folded before the log takes space of the reserve: then it may do without.
      do throws(StoreError) {
        try waitForFold()
      } catch {
        guard case .full = error else { throw error }
      }
      try check(.finishing)
      try growSpare(for: transaction, lending: transaction.isShrinking ? reserve : nil)
    }
  }

  /// Whether `makeLogHold` has nothing to do. With the lock.
  func doesLogHold(_ transaction: Transaction) -> Bool {
    !mustFold(before: transaction) && spareSize(for: transaction) <= spareSize
  }

  /// Whether no file of the log would hold what is frozen and what the transaction leaves.
  private func mustFold(before transaction: Transaction) -> Bool {
    guard let frozen = working.frozen?.overlay else { return false }
    return frozen.byteCount + transaction.byteCount
      > options.openingMax(ofFile: logMax)
  }

  /// The size that the spare file must have to begin with what is frozen and what the transaction leaves.
  private func spareSize(for transaction: Transaction) -> Int {
    let byteCount = transaction.byteCount + (working.frozen?.overlay.byteCount ?? 0)
    var size = spareSize
    while byteCount > options.openingMax(ofFile: size), size < logMax { size *= 2 }
    return size
  }

  /// Makes the spare file as large as the transaction needs it. With the lock.
  private func growSpare(
    for transaction: Transaction, lending reserve: Reserve? = nil
  ) throws(StoreError) {
    let size = spareSize(for: transaction)
    if size > spareSize { try growSpare(to: size, lending: reserve) }
  }

  private func growSpare(to size: Int, lending reserve: Reserve? = nil) throws(StoreError) {
    try takeLogTurn()
    lock.unlock()
    let blocks = size / Layout.blockSize
    let grown: Result<Void, StoreError>
    do throws(StoreError) {
      if let reserve {
        defer { reserve.hold() }
        try reserve.lending { () throws(StoreError) in try log.growSpare(to: blocks) }
      } else {
        try log.growSpare(to: blocks)
      }
      grown = .success(())
    } catch {
      grown = .failure(error)
    }
    lock.lock()
    leaveLogTurn(.success(nil))
    try grown.get()
  }
}

// An empty frame that says of the last commit that it was flushed: without it, damage to that commit's frame
// would look like a tail that was torn.

extension Engine {
  /// Whether the last frames have nobody to say that they were flushed. With the lock.
  var needsSeal: Bool {
    guard !hasLogTurn, life.permits(.finishing) else { return false }
    return log.needsSeal && !commits.hasGathered && commits.flushedSequence == commits.lastSequence
  }

  /// Seals the log if nothing is under way. With the lock, which it gives up meanwhile. A failure poisons.
  func sealIfNeeded() {
    guard needsSeal else { return }
    hasLogTurn = true
    lock.unlock()
    let result: Result<UInt64?, StoreError>
    do throws(StoreError) {
      try log.appendSeal()
      try flushLog()
      result = .success(nil)
    } catch {
      result = .failure(error)
    }
    lock.lock()
    leaveLogTurn(result)
  }

  /// Flushes all commits and says in the log that they are: from then on readers in other processes see them.
  ///
  /// A frame of later commits serves as well as a seal.
  ///
  /// - Throws: what `flush` does; `.poisoned` if the seal could not be written.
  func seal() throws(StoreError) {
    try flush()
    lock.lock()
    defer { lock.unlock() }
    try wait(for: progressed, to: .finishing, until: !hasLogTurn)
    let (use, end) = (log.header.number, log.contentEnd)
    while log.header.number == use, log.statedEnd < end {
      try check(.finishing)
      if hasLogTurn {
        progressed.wait()
      } else if needsSeal {
        sealIfNeeded()
      } else {
        writeGathered(flushing: true)
      }
    }
    try check(.finishing)
  }

  /// Puts everything that was committed before into the trees.
  ///
  /// - Throws: what `takeWriterTurn` and `waitForFold` do.
  func foldEverything() throws(StoreError) {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    try takeWriterTurn()
    defer { giveWriterTurn() }
    try foldAll()
  }

  /// With the lock and the writer's turn.
  private func foldAll() throws(StoreError) {
    try check(.finishing)
    if working.frozen != nil {
      retryFold()
      try waitForFold()
    }
    if working.sequence > working.base.coveredSequence {
      freeze()
      try waitForFold()
    }
  }

  /// Puts everything into the trees, empties files that are mostly garbage, seals the log, cuts it to its first size, and takes no more
  /// transactions.
  ///
  /// Transactions that have begun end first; those that wait for their turn are refused. Snapshots that are held
  /// stay as they are. Other writers may open the store when this returns, however it does, unless it throws
  /// `.reentrant` or `.forked`: then nothing has changed. An engine that is closed stays so, and if another thread
  /// is closing it, this waits for that.
  ///
  /// Where the system has too little space, memory or descriptors for the trees, everything is flushed and sealed
  /// in the log, from which the next open goes on.
  ///
  /// - Throws: `.io`, `.corrupt`, `.limitExceeded`, `.poisoned`, `.outcomeUnknown`: then the log still holds what the
  ///   trees do not. `.filesGone`: nothing of that is found. `.reentrant`, `.forked`.
  func close() throws(StoreError) {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    if let writer, writer.isCurrent { throw .reentrant(path: medium.path) }
    guard beginClosing() else { return }
    let failure: StoreError?
    do throws(StoreError) {
      try foldAll()
      failure = nil
    } catch {
      failure = error
    }
    takeFoldTurnForGood()
    defer { endClosing() }
    // If files are gone, that is why the fold failed.
    try checkFiles()
    try check(.finishing)
    if failure == nil { emptySegmentsToClose() }
    // What could not be folded is in the log, if that is well.
    try flushAndSeal()
    if let failure {
      if failure.isShortage { return }
      throw failure
    }
    try shrinkLog()
  }

  /// Waits until nobody publishes roots, and lets nobody begin. With the lock.
  private func takeFoldTurnForGood() {
    while hasFoldTurn || isGrowingLog { progressed.wait() }
    hasFoldTurn = true
  }

  /// With the lock and the writer's turn, after everything was folded and flushed.
  private func shrinkLog() throws(StoreError) {
    try takeLogTurn()
    lock.unlock()
    let shrunk: Result<Void, StoreError>
    do throws(StoreError) {
      shrunk = .success(try log.shrink(salt: makeSalt()))
    } catch {
      shrunk = .failure(error)
    }
    lock.lock()
    leaveLogTurn(.success(nil))
    try shrunk.get()
  }

  /// Takes no more transactions, and leaves to the next open what no tree holds: it is in the log. For who lets
  /// go of a store without closing it.
  ///
  /// Nobody may fold any more: whoever opens the store next writes to the same log.
  func abandon() {
    do throws(StoreError) { try checkProcess() } catch { return }
    lock.lock()
    defer { lock.unlock() }
    guard beginClosing() else { return }
    takeFoldTurnForGood()
    // What cannot be flushed was not acknowledged as durable, or its writer was told.
    try? flushAndSeal()
    endClosing()
  }

  /// With the lock.
  private func flushAndSeal() throws(StoreError) {
    lock.unlock()
    defer { lock.lock() }
    try seal()
  }
}

// A transaction too large for the log is not written there at all: it is merged into the trees or the levels over them at
// once, with the runs that it spilled, and the footer of that is its commit.

extension Engine {
  /// Whether a transaction's operations would take too much of the log, or leave an overlay that does. Without the lock.
  func isTooLarge(_ transaction: Transaction) -> Bool {
    if transaction.spill != nil || !transaction.treeWork.isEmpty { return true }
    if transaction.operations.payloadCount > options.frameMax { return true }
    if transaction.byteCount <= options.openingMax(ofFile: options.logSize.max) { return false }
    lock.lock()
    defer { lock.unlock() }
    return transaction.byteCount > options.openingMax(ofFile: logMax)
  }

  /// Commits a transaction by a footer, and ends the writer's turn.
  ///
  /// - Returns: its sequence, which is on the medium.
  /// - Throws: `.full`, `.io`, `.corrupt`, `.limitExceeded`, `.poisoned`: then it is not committed.
  ///   `.outcomeUnknown`.
  func commitByFooter(_ transaction: Transaction) throws(StoreError) -> UInt64 {
    do throws(StoreError) {
      try transaction.spill?.checkUsable()
      try waitUntilFlushed(through: transaction.base.sequence)
      try takeFoldTurnForCommit()
    } catch {
      _ = leave(transaction)
      throw error
    }
    do throws(StoreError) {
      let sequence = try fold(transaction)
      leaveFoldTurn(nil)
      _ = leave(transaction)
      return sequence
    } catch {
      _ = abandonFold(error)
      leaveFoldTurn(nil)
      _ = leave(transaction)
      throw error
    }
  }

  /// Waits until nothing is frozen, so that the base and the fresh overlay are all there is, and takes the
  /// fold's turn.
  func takeFoldTurnForCommit() throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    background.wakeFolder()
    repeat {
      try waitForFold()
      try wait(for: progressed, to: .finishing, until: !hasFoldTurn)
    } while working.frozen != nil
    try check(.finishing)
    hasFoldTurn = true
    leaveSegmentOfGarbage()
  }

  private func fold(_ transaction: Transaction) throws(StoreError) -> UInt64 {
    let base = working.base
    let sequence = working.sequence + 1
    let present = transaction.treeWork.keepsPresent ? try foldPresent() : nil
    try transaction.spill?.giveLoads(to: appender)
    let layers = transaction.layers
    var work = transaction.treeWork
    if upgrades != nil { work.add(upgrades, of: layers.slots) }
    let policy = planLevels(ofSpill: transaction.spill != nil)
    var fold = Fold(
      layers, work, into: base, keeping: present, levels: policy, covering: sequence,
      names: names, sizes: options.nodeSizes, appendingTo: appender)
    let published = try run(&fold)
    if policy.makesLevels { note(fold.outcomes) }
    try commit(published, as: sequence, transaction.unstored)
    return sequence
  }

  private func planLevels(ofSpill isSpilled: Bool) -> LevelPolicy {
    lock.lock()
    defer { lock.unlock() }
    return policyOfLevels(ofSpill: isSpilled)
  }

  private func note(_ outcomes: [FoldOutcome]) {
    lock.lock()
    defer { lock.unlock() }
    levelPolicy.note(outcomes)
  }

  func run(_ fold: inout Fold) throws(StoreError) -> Fold.Published {
    try beginLog()
    while true {
      guard let published = try fold.step() else { continue }
      failedFolds = 0
      return published
    }
  }

  /// Writes a footer of the state that the commit is made on, so that it can be kept: without what is in no tree
  /// yet, it would not be that state. It need not become true for that.
  ///
  /// - Returns: nil where all of it is in the base.
  private func foldPresent() throws(StoreError) -> PageFile? {
    if working.sequence == working.base.coveredSequence { return nil }
    var fold = Fold(
      FoldLayers(working.fresh), into: working.base, covering: working.sequence, names: names,
      sizes: options.nodeSizes, appendingTo: appender)
    return try run(&fold).file
  }

  /// Makes a footer true that holds one commit more than the log.
  func commit(
    _ published: Fold.Published, as sequence: UInt64,
    _ unstored: UnstoredValues
  ) throws(StoreError) {
    let base = try Base(published.file, names: names)
    let state = StoreState(
      sequence: sequence, base: base, frozen: nil,
      fresh: Overlay(OverlayArena(capacity: options.foldThreshold)), unstored: unstored)
    lock.lock()
    defer { lock.unlock() }
    try takeLogTurn()
    working = state
    _ = commits.enqueue(state, isDurable: true)
    let result = flushTaken(state) { (_, buffer) throws(StoreError) in
      try self.point(published.file.reference, behind: nil, buffer, or: state)
    }
    leaveLogTurn(result)
    if case .failure(let cause) = result { throw outcome(of: sequence, cause) }
    appender.settle()
    remove(published.released)
  }
}

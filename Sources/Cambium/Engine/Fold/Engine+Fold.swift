// The fold's turn: one publisher of roots. A fold merges the frozen overlay into the trees, in steps, and
// makes the new footer true by the log.

extension Engine {
  /// Does some of what is to be done in the background: folds, makes the log larger, and empties segments.
  ///
  /// - Parameter budget: How many parts of the work to do. A part is the merge of one tree, the writing of a
  ///   footer with what makes it true, a growth of the log, or a slice of a compaction.
  /// - Returns: whether there may be more to do.
  /// - Throws: what `stepFold` and `growLog` do.
  func step(budget: Int = 1) throws(StoreError) -> Bool {
    for _ in 0..<budget {
      if try stepFold() { continue }
      if try growLog() { continue }
      if !stepCompaction() { return false }
    }
    return true
  }

  /// Does the next part of the fold, and begins one if there is something frozen.
  ///
  /// - Returns: whether it did anything; false also while another thread has the turn.
  /// - Throws: `.full`, if more is removed than added after a second attempt with the reserve, and `.io` of a call that
  ///   writes nothing, which are over when the system has space, memory or descriptors again; `.corrupt`,
  ///   `.limitExceeded`, `.poisoned`; `.filesGone`, which poisons. A first `.io` of a write or flush is not
  ///   thrown: the fold begins again, in another segment. A second in a row is, and poisons.
  func stepFold() throws(StoreError) -> Bool {
    guard try takeFoldTurn() else { return false }
    do throws(StoreError) {
      try continueFold()
    } catch {
      let isOver = abandonFold(error) && !(isFoldShrinking && releaseReserve(after: error))
      leaveFoldTurn(isOver ? error : nil)
      if isOver { throw error }
      return true
    }
    leaveFoldTurn(nil)
    return true
  }

  /// Takes the turn, if it is free and there is something to fold.
  ///
  /// - Throws: `.filesGone`.
  private func takeFoldTurn() throws(StoreError) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !hasFoldTurn, life.permits(.finishing) else { return false }
    if fold == nil {
      guard let frozen = working.frozen else { return false }
      try checkFiles()
      leaveSegmentOfGarbage(folding: frozen.overlay.byteCount)
      let layers = FoldLayers(frozen.overlay)
      var work = TreeWork()
      work.add(upgrades, of: upgrades == nil ? [] : layers.slots, sought)
      fold = Fold(
        layers, work, into: working.base, adoption: adoption(folding: frozen.overlay.byteCount),
        levels: policyOfLevels(ofSpill: false), covering: frozen.sequence, names: names,
        sizes: options.nodeSizes, appendingTo: appender)
      if mergesLevels { fold?.mergeLevels() }
    }
    hasFoldTurn = true
    return true
  }

  /// Which trees get levels. Before overlays are as large as they become, an overlay's changes begin none, as that costs less. With the lock.
  func policyOfLevels(ofSpill isSpilled: Bool) -> LevelPolicy {
    if mergesLevels { return .none }
    var policy = levelPolicy
    policy.makesNew = isSpilled || overlayScale.isLargest
    return policy
  }

  func leaveFoldTurn(_ failure: StoreError?) {
    lock.lock()
    defer { lock.unlock() }
    hasFoldTurn = false
    foldFailure = failure
    if let failure { figures.foldFailure = failure }
    progress()
  }

  /// With the fold's turn.
  private func continueFold() throws(StoreError) {
    try beginLog()
    noteFold()
    guard let published = try fold?.step() else { return }
    let outcomes = fold?.outcomes ?? []
    fold = nil
    failedFolds = 0
    noteWritten(published, outcomes)
    try makeTrue(published) { $0.settle(on: $1) }
    noteFoldEnd(nil)
    holdReserve(for: published.file)
  }

  /// Has the next overlays be as large as what a fold wrote asks for. Not of an overlay that was folded before it was full, nor of
  /// a fold that a deferred migration gave other rows besides.
  private func noteWritten(_ published: PublishedFooter, _ outcomes: [FoldOutcome]) {
    lock.lock()
    defer { lock.unlock() }
    if sought == nil, !mergesLevels { levelPolicy.note(outcomes) }
    mergesLevels = false
    guard let folded = working.frozen?.overlay.byteCount, folded >= foldThreshold, sought == nil
    else { return }
    let blocks = published.appended.reduce(0) { $0 + $1.blocks.count }
    overlayScale.note(
      folded: folded, written: blocks * Layout.blockSize,
      isIntoTrees: outcomes.allSatisfy { $0.target == .tree })
  }

  /// Gives back what a fold wrote before `error`: the next begins in a segment of its own, and never flushes
  /// again what failed to be flushed. With the fold's turn.
  ///
  /// - Returns: whether trying again at once is of no use.
  func abandonFold(_ error: StoreError) -> Bool {
    fold = nil
    abandonAppended()
    noteFoldEnd(error)
    guard error.isOfWriting else { return true }
    failedFolds += 1
    if failedFolds < 2 { return false }
    lock.lock()
    defer { lock.unlock() }
    poison(error)
    return true
  }

  /// With the fold's turn.
  func abandonAppended() {
    lock.lock()
    // If the log failed, a footer behind the newest one may be on the medium.
    let isNobodys = life.permits(.finishing)
    lock.unlock()
    if isNobodys { appender.giveBack() }
    appender = appender.successor()
  }
}

// MARK: - Making a footer true

extension Engine {
  /// Makes what was published the base of all states, once the log on the medium names it.
  ///
  /// With the fold's turn. The commits that it covers need not have been flushed before: now they are.
  ///
  /// - Parameter place: Puts a state on the new base.
  /// - Throws: `.poisoned`, and what the log does, which poisons; `.limitExceeded`.
  func makeTrue(
    _ published: PublishedFooter,
    _ place: (inout StoreState, Base) -> Void
  ) throws(StoreError) {
    let base = try Base(published.file, names: names)
    lock.lock()
    defer { lock.unlock() }
    try takeLogTurn()
    var state = working
    place(&state, base)
    let result = flushTaken(state) { (group, buffer) throws(StoreError) in
      try self.point(published.file.reference, behind: group, buffer, or: state)
    }
    if case .success = result {
      appender.settle()
      commits.update { place(&$0, base) }
      place(&working, base)
      snapshotOfPublished = nil
      if working.frozen == nil { sought = nil }
    }
    leaveLogTurn(result)
    try result.map { _ in }.get()
    remove(published.released)
  }

  /// Writes a group of commits to the log, if there is one, and points it to `footer`: by a frame; or by the
  /// header of the next use, which begins with `state`, the group included.
  ///
  /// With the log's turn, without the lock.
  ///
  /// - Returns: the last sequence that is on the medium then.
  func point(
    _ footer: FooterReference, behind group: ClosedRange<UInt64>?, _ buffer: FrameBuffer,
    or state: StoreState
  ) throws(StoreError) -> UInt64? {
    let isFull = !log.hasRoomForFooter || (group != nil && buffer.payloadCount > log.room)
    // If little is left to carry over, the next use begins with that: the longer it is put off, the more there is.
    let isLittle = log.usedShare > 0.5 && state.carriedSize <= options.carriedMax
    if isLittle || isFull, try !advance(with: state, for: buffer.payloadCount) {
      try beginUse(with: state)
      return state.sequence
    }
    if let group { try log.append(.commits, sequences: group, buffer) }
    try log.appendFooter(footer)
    try flushLog()
    return state.sequence
  }

  /// Unlinks page segments that the newest footer does not name. Who reads an older state has them open; what
  /// cannot be removed now is at the next open. With the lock, which it gives up meanwhile.
  func remove(_ segments: [UInt32]) {
    lock.unlock()
    for number in segments { try? medium.unlink(.pages(number), at: .segmentUnlink) }
    lock.lock()
  }
}

extension StoreState {
  /// Replaces the base by one that holds what is frozen.
  mutating func settle(on base: Base) {
    guard frozen?.sequence == base.coveredSequence else { return }
    self.base = base
    frozen = nil
  }
}

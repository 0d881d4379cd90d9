// Going back to a state that is kept: a commit whose trees are those of that state, with what the commit changes
// in them. It is one by a footer, and comes behind all commits before it: sequences never go back.

extension Engine {
  /// Commits the kept state of a version, with what `body` changes in it.
  ///
  /// Nothing is copied: its pages are still there, and become those of the newest state. It is kept no more, nor
  /// are states of later versions.
  ///
  /// - Parameters:
  ///   - kept: The names of trees that stay as they are, as far as they are folded.
  ///   - body: Reads and changes the kept state.
  /// - Throws: what `body` throws; `.notKept`; `.corrupt` where the kept footer is damaged; what `commitByFooter`
  ///   does. Then nothing has changed, but for `.outcomeUnknown`.
  func restore(
    _ version: UInt32, keeping kept: [String] = [], _ body: (Transaction) throws -> Void
  ) throws {
    let last = try takeWriterTurnToRestore()
    defer { endRestoring() }
    try waitUntilFlushed(through: last)
    try takeFoldTurnForCommit()
    do {
      let base = try restored(version, keeping: kept)
      let transaction = transaction(on: base)
      defer { transaction.abort() }
      try body(transaction)
      transaction.treeWork.keeping.append(.dropFrom(version: version))
      let sequence = working.sequence + 1
      try transaction.spill?.giveLoads(to: appender)
      var fold = Fold(
        transaction.layers, transaction.treeWork, into: base, covering: sequence, names: names,
        sizes: options.nodeSizes, appendingTo: appender)
      var unstored = working.unstored
      unstored.removeAll()
      try commit(try run(&fold), as: sequence, unstored)
      leaveFoldTurn(nil)
    } catch {
      if let error = error as? StoreError { _ = abandonFold(error) }
      leaveFoldTurn(nil)
      throw error
    }
  }

  /// - Returns: the last commit.
  private func takeWriterTurnToRestore() throws(StoreError) -> UInt64 {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    try takeWriterTurn()
    return working.sequence
  }

  private func endRestoring() {
    lock.lock()
    defer { lock.unlock() }
    giveWriterTurn()
  }

  /// The present state with the trees of a kept one.
  private func restored(
    _ version: UInt32, keeping names: [String]
  ) throws(StoreError) -> Base {
    let present = working.base.file
    let states = present.footer.keptStates
    guard let state = states.last(where: { $0.version == version }) else {
      throw .notKept(version: Int(version), kept: states.map { Int($0.version) })
    }
    let old = try PageFile.footer(state.footer, from: present.pages).0
    var footer = present.footer
    footer.trees = old.trees.filter { !names.contains(LevelLayer.treeName(of: $0.name)) }
    footer.trees += present.footer.trees.filter {
      names.contains(LevelLayer.treeName(of: $0.name))
    }
    footer.trees = footer.trees.sortedRarely {
      $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
    }
    // Where a compaction is says nothing of these trees.
    footer.pendingWork = old.pendingWork.filter { $0.kind != CompactionPlace.kind }
    footer.setLiveBytes(try present.pages.liveBytes(of: footer.trees))
    return try Base(PageFile(after: present, present.reference, footer), names: self.names)
  }

  private func transaction(on base: Base) -> Transaction {
    let state = StoreState(
      sequence: working.sequence, base: base, frozen: nil,
      fresh: Overlay(OverlayArena(capacity: options.foldThreshold)))
    lock.lock()
    defer { lock.unlock() }
    return Transaction(
      on: state, names: names, operations: FrameBuffer(), options: options, spilling: spilling)
  }
}

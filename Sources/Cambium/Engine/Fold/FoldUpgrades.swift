/// Makes entries of older versions new when a fold rewrites the leaf that they are in: what is read through a
/// conversion until then.
protocol FoldUpgrades: Sendable {
  /// Nil for a tree that has nothing of older versions.
  func transform(_ tree: TreeSlot, _ scope: TransformScope) -> TreeTransform?
}

/// Entries that a fold is to make new though nothing falls into their leaves.
struct SoughtUpgrade: Equatable {
  let tree: TreeSlot
  /// How many at most, and the rest of the last one's leaf.
  let count: Int
}

extension TreeWork {
  /// Has what is rewritten anyway made new, and what is sought.
  mutating func add(
    _ upgrades: (any FoldUpgrades)?, of trees: [TreeSlot], _ sought: SoughtUpgrade? = nil
  ) {
    guard let upgrades else { return }
    for tree in trees where transforms[tree] == nil {
      transforms[tree] = upgrades.transform(tree, .touchedLeaves)
    }
    if let sought {
      transforms[sought.tree] = upgrades.transform(sought.tree, .first(sought.count))
    }
  }
}

// MARK: -

extension Engine {
  /// Has all folds from now on make entries of older versions new.
  func use(_ upgrades: (any FoldUpgrades)?) {
    lock.lock()
    defer { lock.unlock() }
    self.upgrades = upgrades
  }

  /// Makes the first so many entries of older versions in a tree new, by a fold: it is there as a whole or not
  /// at all, and transactions go on meanwhile.
  ///
  /// Nothing is committed by it: what is read is the same before and after.
  ///
  /// - Throws: `.corrupt`, `.limitExceeded` where an entry cannot be made new, `.full`, `.io`, `.poisoned`,
  ///   `.reentrant`, `.closed`, `.forked`: then it was not done.
  func upgrade(_ sought: SoughtUpgrade) throws(StoreError) {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    try takeTurnToFreeze()
    self.sought = sought
    soughtNumber += 1
    let number = soughtNumber
    // Another's is sought when this one is done.
    let isDone = { self.sought == nil || self.soughtNumber != number }
    freezeWhatIsPublished()
    giveWriterTurn()
    do throws(StoreError) {
      try waitForFold(until: isDone)
    } catch {
      // Who folds for itself folds what others froze too.
      if isDone() { return }
      self.sought = nil
      background.wakeFolder()
      throw error
    }
  }

  /// Takes the writer's turn when nothing is frozen. With the lock, which it gives up meanwhile.
  func takeTurnToFreeze() throws(StoreError) {
    while true {
      if working.frozen != nil {
        background.wakeFolder()
        try waitForFold()
      }
      try takeWriterTurn()
      if working.frozen == nil { return }
      giveWriterTurn()
    }
  }

  /// Freezes the overlay, and has it frozen in the states too that commits have left: so the fold that ends with
  /// it replaces their trees, though no commit comes. With the lock and the writer's turn.
  func freezeWhatIsPublished() {
    freeze()
    let state = working
    commits.update { if $0.sequence == state.sequence { $0 = state } }
    snapshotOfPublished = nil
  }
}

/// One committed state, which stays as it is for as long as it is held.
///
/// It keeps its segments on disk and its overlays in memory. Any number of threads may read it.
final class Snapshot: Sendable {
  let state: StoreState
  private let pin: OverlayPin
  private let ages: SnapshotAges?

  /// - Parameter ages: Where it is known for as long as it is held.
  /// - Precondition: `state` is known to be alive, as that which is published is under the engine's lock.
  init(_ state: StoreState, _ ages: SnapshotAges? = nil) {
    self.state = state
    self.ages = ages
    pin = state.fresh.pin()
    ages?.add(ObjectIdentifier(self))
  }

  deinit {
    ages?.remove(ObjectIdentifier(self))
  }

  func tree(_ slot: TreeSlot) -> LayeredTree { state.tree(slot) }
}

extension Engine {
  /// The newest published state.
  ///
  /// - Complexity: a lock, and a small object if a commit came since the last snapshot.
  /// - Throws: `.forked` in a child process, `.closed`.
  func snapshot() throws(StoreError) -> Snapshot {
    try checkProcess()
    lock.lock()
    defer { lock.unlock() }
    try check(.reading)
    return newestSnapshot()
  }

  /// The newest published state, of a store that was closed the last.
  func lastSnapshot() -> Snapshot {
    lock.lock()
    defer { lock.unlock() }
    return newestSnapshot()
  }

  /// With the lock.
  private func newestSnapshot() -> Snapshot {
    if let snapshotOfPublished { return snapshotOfPublished }
    let snapshot = Snapshot(commits.published, snapshotAges)
    snapshotOfPublished = snapshot
    return snapshot
  }

  /// The age of the oldest snapshot of an earlier state; nil if none is held.
  var oldestSnapshotAge: Duration? {
    lock.lock()
    defer { lock.unlock() }
    return snapshotAges.oldest(but: snapshotOfPublished)
  }

  /// How far commits are published, and which of them are in the trees.
  var commitProgress: CommitProgress {
    lock.lock()
    defer { lock.unlock() }
    return CommitProgress(
      published: commits.published.publication, folded: commits.published.base.coveredSequence)
  }

  /// The last state that may be published by what has begun by now. Who begins one later sees what was done before this
  /// was asked for.
  var begunPublication: UInt64 {
    lock.lock()
    defer { lock.unlock() }
    return working.publication + (writer == nil ? 0 : 1)
  }
}

/// How far a store has come.
struct CommitProgress: Sendable {
  /// The number of the last published state.
  let published: UInt64
  /// The last commit that is in the trees.
  let folded: UInt64
}

/// Reads a store that another process may be writing to, without writing a byte and without a lock.
///
///     headers ─▶ frames ─▶ newest footer ─▶ replay ─▶ StoreState
///        ▲          ▲
///        │          └─ refresh: goes on behind the last frame
///        └─ the log went over to another use, or a segment is gone: from the beginning
///
/// While there is a writer, only what is known to be on the medium is shown: nothing that was seen is gone
/// after a power cut. That a commit was flushed is said by the next frame, at the latest by the seal when
/// the writer is idle. Without a writer all is shown that the next one will find.
///
/// Whoever removes `LOCK` while a writer runs hides the writer: then what is not flushed yet is shown, too.
///
/// Any thread may call any method. A forked child opens one of its own.
final class Follower: @unchecked Sendable {
  let names: TreeNames
  private let reading: FollowedReading
  private let forks = ForkGuard()
  private let snapshotAges = SnapshotAges()

  /// Held while the log is read, by one thread at a time.
  private let turn = ThreadLock()
  /// For the moment that it takes to look at the state or to replace it. Taken after `turn`.
  private let lock = ThreadLock()
  /// Replaced with both.
  private var followed: FollowedState
  /// The snapshot of the state, if one was taken of it. Under `lock`.
  private var snapshotOfState: Snapshot?

  /// Opens the store in `medium`.
  ///
  /// - Throws: `.missing` if there is no store or something of it is not there, `.corrupt`, `.newerFormat`,
  ///   `.io`, also where a writer is so fast that the log cannot be read.
  init(_ medium: any FileSystem, options: EngineOptions = EngineOptions()) throws(StoreError) {
    names = TreeNames()
    reading = FollowedReading(medium: medium, options: options, names: names)
    followed = try reading.open(after: nil)
  }

  /// The state that the last refresh found, which stays as it is for as long as it is held.
  func snapshot() -> Snapshot {
    lock.lock()
    defer { lock.unlock() }
    if let snapshotOfState { return snapshotOfState }
    let snapshot = Snapshot(followed.state, snapshotAges)
    snapshotOfState = snapshot
    return snapshot
  }

  /// The age of the oldest snapshot of an earlier state; nil if none is held.
  var oldestSnapshotAge: Duration? {
    lock.lock()
    defer { lock.unlock() }
    return snapshotAges.oldest(but: snapshotOfState)
  }

  /// How far the last refresh has come.
  var progress: CommitProgress {
    lock.lock()
    defer { lock.unlock() }
    let state = followed.state
    return CommitProgress(published: state.sequence, folded: state.base.coveredSequence)
  }

  /// The files of the log, and where its last frame ended, when it was read last.
  var log: (files: LogFiles, end: LogPosition) {
    lock.lock()
    defer { lock.unlock() }
    return (followed.log.files, followed.log.end)
  }

  /// - Throws: `.io`.
  func isOpenForWriting() throws(StoreError) -> Bool {
    try WriterLock.isHeld(in: reading.medium)
  }

  /// The last commit of the state, while no refresh is under way.
  var begunPublication: UInt64 {
    turn.lock()
    defer { turn.unlock() }
    return followed.state.sequence
  }

  /// Takes in what was committed since. Snapshots taken before stay as they are.
  ///
  /// - Complexity: linear in the bytes of the new commits. After a fold, in those of the log, and a few
  ///   reads of a block where nothing is new.
  /// - Parameters:
  ///   - keys: Gets all keys that were changed since, and perhaps others.
  ///   - check: Is asked about what is to be shown, where the trees are others.
  ///   - willShow: Called before new commits are shown, with the first and the last of them.
  /// - Returns: whether there are new commits.
  /// - Throws: as `init`, what `check` does, `.corrupt` where the store has lost what was shown, `.forked` in a
  ///   child process. Then what was there before is still shown.
  func refresh(
    noting keys: KeyNotes? = nil, check: (any StateCheck)? = nil,
    willShow: (_ first: UInt64, _ last: UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> Bool {
    if forks.isForked { throw .forked(path: reading.medium.path) }
    turn.lock()
    defer { turn.unlock() }
    let next = try reading.refresh(followed, noting: keys)
    if let check, next.state.base !== followed.state.base {
      try check.check(Snapshot(next.state), names)
    }
    let (shown, sequence) = (followed.state.sequence, next.state.sequence)
    if sequence > shown { willShow(shown + 1, sequence) }
    lock.lock()
    defer { lock.unlock() }
    let before = followed.state
    followed = next
    if before.sequence != next.state.sequence || before.base !== next.state.base {
      snapshotOfState = nil
      next.state.fresh.arena.recycle(below: next.state.fresh.stamp)
    }
    return before.sequence != next.state.sequence
  }
}

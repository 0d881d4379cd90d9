/// Tells work in the background whether commits come: it asks little of the disk at once then, as a commit's flush
/// waits after that.
final class CommitWatch: @unchecked Sendable {
  /// How often there must have been none, so that they are not expected any more.
  private static var patience: Int { 64 }

  private let lock: ThreadLock
  private let signals: BackgroundSignals
  // Under the engine's lock:
  private var activity: UInt64
  /// The number of looks in a row that found no new commit.
  private var quietCount = patience

  /// With the engine's lock.
  init(_ lock: ThreadLock, _ signals: BackgroundSignals) {
    self.lock = lock
    self.signals = signals
    activity = signals.activity
  }

  /// True if there were commits lately.
  func areFrequent() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    quietCount = signals.activity == activity ? quietCount + 1 : 0
    activity = signals.activity
    return quietCount < Self.patience
  }
}

extension Engine {
  /// The watch that tells a slice whether commits come; nil if no threads work for the engine: there all is done in one
  /// order. With the fold's turn.
  func watchCommits() -> CommitWatch? {
    lock.lock()
    defer { lock.unlock() }
    guard background.areRunning else { return nil }
    let watch = commitWatch ?? CommitWatch(lock, background)
    commitWatch = watch
    return watch
  }
}

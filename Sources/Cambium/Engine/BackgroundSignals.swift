/// What an engine tells the threads that work for it, if there are any.
///
/// All under the engine's lock. Without threads nobody listens, and whoever drives the engine calls its
/// steps when it likes.
final class BackgroundSignals: @unchecked Sendable {
  /// There is something for the thread that flushes.
  let flusher: ThreadCondition
  /// There is something for the thread that folds.
  let folder: ThreadCondition
  /// Whether threads are running.
  var areRunning = false
  /// The threads are to end.
  var isEnding = false
  /// Somebody waits for a flush who does not flush.
  var wantsFlush = false
  /// With how many gathered commits the flusher wants to be woken; 0 if it does not wait for any.
  var awaitedCount = 0
  /// The shortest time that a relaxed commit may wait for its flush, of those since the flusher last kept
  /// one; nil where there are none. Somebody else may have flushed them meanwhile.
  var relaxedDelay: Duration?
  /// Something was frozen, or the log wants to be larger.
  var wantsFold = false
  /// A fold that has failed is to be tried again without waiting any longer.
  var retriesFold = false
  /// The last frames have nobody to say that they were flushed.
  var wantsSeal = false
  /// Changes with every commit: the log is sealed when it has stopped doing so.
  var activity: UInt64 = 0

  init(_ lock: ThreadLock) {
    flusher = ThreadCondition(lock)
    folder = ThreadCondition(lock)
  }

  func wakeFlusher() {
    if wantsFlush { return }
    wantsFlush = true
    flusher.signal()
  }

  /// Wakes the flusher if it waited for that many commits.
  func noteGathered(_ count: Int) {
    if awaitedCount > 0, count >= awaitedCount { flusher.signal() }
  }

  func wakeFolder() {
    if wantsFold { return }
    wantsFold = true
    folder.signal()
  }

  /// A relaxed commit may wait for `delay`.
  func limitDelay(to delay: Duration) {
    if let relaxedDelay, relaxedDelay <= delay { return }
    relaxedDelay = delay
    flusher.signal()
  }

  /// The log needs a seal, when nothing else comes. Wakes the flusher once for all commits until then.
  func wakeForSeal() {
    if wantsSeal { return }
    wantsSeal = true
    flusher.signal()
  }

  func wakeAll() {
    flusher.broadcast()
    folder.broadcast()
  }
}

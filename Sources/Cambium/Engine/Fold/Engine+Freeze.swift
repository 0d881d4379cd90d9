// Where the overlay becomes too large, writers make room: they freeze it for a fold and begin another, and
// where both are full they wait for the fold.

extension Engine {
  /// Whether a transaction has to wait until a fold has ended. With the lock.
  var isFull: Bool { working.frozen != nil && working.fresh.byteCount >= freshMax }

  /// The size of an overlay from which on it is folded. With the lock.
  var foldThreshold: Int { options.foldThreshold * overlayScale.factor }

  /// The size that each of the log's files may come to. With the lock.
  var logMax: Int { options.logSize.max * overlayScale.factor }

  /// The size that the fresh overlay may reach while another is folded: both must fit into a file of the log.
  var freshMax: Int {
    let frozen = working.frozen?.overlay.byteCount ?? 0
    return max(1, min(foldThreshold, options.openingMax(ofFile: logMax) - frozen))
  }

  /// Sees to it that the fresh overlay takes another transaction. With the lock, and the writer's turn.
  ///
  /// - Throws: what `waitForFold` and `check` do.
  func makeRoom() throws(StoreError) {
    if isFull {
      try waitForFold()
      try check(.starting)
    }
    if working.fresh.byteCount >= foldThreshold { freeze() }
  }

  /// Makes the fresh overlay the frozen one, to be folded. Constant time. With the lock, and the writer's
  /// turn or none at work.
  func freeze() {
    working.frozen = .init(overlay: working.fresh, sequence: working.sequence)
    working.fresh = Overlay(OverlayArena(capacity: foldThreshold))
    background.wakeFolder()
  }

  /// Waits until nothing is frozen; where no thread folds, folds. With the lock, which it gives up meanwhile.
  ///
  /// - Throws: what kept the fold from ending: `.full` until there is room on the medium; what poisoned the
  ///   engine.
  func waitForFold() throws(StoreError) {
    try waitForFold(until: { self.working.frozen == nil })
  }

  /// Waits until `isDone`, which a fold makes true. With the lock, which it gives up meanwhile.
  func waitForFold(until isDone: () -> Bool) throws(StoreError) {
    while !isDone() {
      try check(.finishing)
      if !background.areRunning {
        try foldHere()
      } else if let foldFailure {
        throw foldFailure
      } else {
        progressed.wait()
      }
    }
  }

  /// Has a fold that failed tried again at once, as the cause may be gone. With the lock.
  func retryFold() {
    foldFailure = nil
    background.retriesFold = true
    background.wantsFold = true
    background.folder.signal()
  }

  /// Folds on this thread, to the end. With the lock, which it gives up meanwhile.
  private func foldHere() throws(StoreError) {
    lock.unlock()
    defer { lock.lock() }
    while try stepFold() {}
  }
}

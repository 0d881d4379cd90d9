/// The two threads that work for a store in production: one flushes, the other folds.
///
/// They wait where a task must not, as the threads of Swift's cooperative pool are few: the flusher flushes for
/// tasks. A task is resumed by whichever thread ends what it waits for.
final class EngineThreads: Sendable {
  private let engine: Engine
  private let flusher: BackgroundThread
  private let folder: BackgroundThread

  /// How long a store is idle before its log is sealed.
  private static var idle: Duration { .milliseconds(100) }
  /// The space that somebody else must have given back for a fold to be tried again before its pause is over.
  private static var spaceGained: Int { 1 << 20 }

  /// - Throws: `.io` if the system has no more threads.
  init(for engine: Engine) throws(StoreError) {
    self.engine = engine
    flusher = try BackgroundThread(name: "cambium-flush") { Self.flush(engine) }
    do throws(StoreError) {
      folder = try BackgroundThread(name: "cambium-fold") { Self.fold(engine) }
    } catch {
      engine.endThreads()
      flusher.join()
      throw error
    }
    engine.beginThreads()
  }

  /// Closes the engine, and ends both threads if it is closed then, whatever was thrown.
  ///
  /// - Throws: what `Engine.close` does.
  func close() throws(StoreError) {
    try engine.checkProcess()
    defer { if engine.isClosed { end() } }
    try engine.close()
  }

  /// Ends both threads, when what they are doing is done.
  ///
  /// In a forked child, where they are not, there is nothing to end.
  func end() {
    do { try engine.checkProcess() } catch { return }
    engine.endThreads()
    flusher.join()
    folder.join()
  }
}

extension Engine {
  fileprivate func beginThreads() {
    lock.lock()
    background.areRunning = true
    lock.unlock()
  }

  fileprivate func endThreads() {
    lock.lock()
    background.areRunning = false
    background.isEnding = true
    background.wakeAll()
    progressed.broadcast()
    lock.unlock()
  }
}

// MARK: - Flushing

extension EngineThreads {
  /// Flushes for those who wait without a thread of their own, keeps the delay of relaxed commits, and
  /// seals the log when nothing happens.
  private static func flush(_ engine: Engine) {
    let signals = engine.background
    engine.lock.lock()
    defer { engine.lock.unlock() }
    while !signals.isEnding {
      if signals.wantsFlush {
        signals.wantsFlush = false
        engine.flushForWaiters()
      } else if let delay = signals.relaxedDelay {
        keep(delay, of: engine)
      } else if signals.wantsSeal {
        sealWhenIdle(engine)
      } else {
        signals.flusher.wait()
      }
    }
    engine.resumeFlushWaiters()
  }

  /// Flushes after `delay`, or sooner if somebody asks.
  private static func keep(_ delay: Duration, of engine: Engine) {
    let signals = engine.background
    let deadline = ContinuousClock.now + delay
    while !signals.isEnding, !signals.wantsFlush, let now = signals.relaxedDelay {
      // A commit that may wait less came meanwhile.
      if now < delay { return keep(now, of: engine) }
      let rest = deadline - .now
      if rest <= .zero { break }
      _ = signals.flusher.wait(atMost: rest)
    }
    signals.relaxedDelay = nil
    engine.flushForWaiters()
  }

  private static func sealWhenIdle(_ engine: Engine) {
    let signals = engine.background
    let before = signals.activity
    _ = signals.flusher.wait(atMost: idle)
    guard signals.activity == before, !signals.wantsFlush, !signals.isEnding else { return }
    // If somebody has the log's turn, it is asked for again when that is left.
    signals.wantsSeal = false
    engine.sealIfNeeded()
  }
}

// MARK: - Folding

extension EngineThreads {
  private static func fold(_ engine: Engine) {
    let signals = engine.background
    var pauses = RetryPauses()
    while true {
      engine.lock.lock()
      while !signals.wantsFold, !signals.isEnding { signals.folder.wait() }
      let isEnding = signals.isEnding
      signals.wantsFold = false
      engine.lock.unlock()
      if isEnding { return }
      do throws(StoreError) {
        while try engine.step() {}
        pauses = RetryPauses()
      } catch {
        wait(pauses.next(after: error), before: engine)
      }
    }
  }

  /// Waits before a fold is tried again, until space comes back or somebody asks for it. A store that is poisoned has
  /// nothing to try.
  private static func wait(_ pause: Duration, before engine: Engine) {
    let signals = engine.background
    let deadline = ContinuousClock.now + pause
    let free = engine.medium.bytesFree
    engine.lock.lock()
    defer { engine.lock.unlock() }
    while engine.life.permits(.finishing), !signals.isEnding, !signals.retriesFold {
      let rest = deadline - .now
      if rest <= .zero { break }
      _ = signals.folder.wait(atMost: min(rest, RetryPauses.first))
      engine.lock.unlock()
      let now = engine.medium.bytesFree
      engine.lock.lock()
      if let free, let now, now - free >= spaceGained { break }
    }
    signals.retriesFold = false
    signals.wantsFold = engine.life.permits(.finishing)
  }
}

/// The pauses before a fold that failed is tried again: each is twice as long as the one before, up to a bound.
struct RetryPauses {
  static var first: Duration { .milliseconds(500) }
  private var pause = first

  /// A fold that failed for want of space has written all that there was; one that failed otherwise, nothing.
  private static func longest(after error: StoreError) -> Duration {
    if case .full = error { .seconds(32) } else { .seconds(2) }
  }

  /// The pause after one more failure.
  mutating func next(after error: StoreError) -> Duration {
    let next = min(pause, Self.longest(after: error))
    pause = next * 2
    return next
  }
}

/// Takes in what another process commits, while somebody observes a store that is only read.
///
/// A thread that sleeps most of the time: a look at the log takes 25 µs where nothing is new, a thousandth of a
/// processor's time. The kernel could tell when the log is written to, but that a commit is on the medium, and
/// may be shown, is said by the frame after it, a tenth of a second later where the writer is idle: it would
/// gain nothing for who waits.
final class StoreWatch: @unchecked Sendable {
  private let lock = ThreadLock()
  private let ending: ThreadCondition
  // Under `lock`:
  private var isRunning = false
  private var isEnding = false

  /// The time between two looks.
  static var interval: Duration { .milliseconds(20) }
  /// The number of failures in a row after which observers receive the error.
  private static var failuresMax: Int { 50 }

  init() { ending = ThreadCondition(lock) }

  /// Begins to watch, unless it does. It ends when nobody observes any more.
  ///
  /// - Throws: `.io` if the system has no more threads.
  func begin(for store: PersistentStore) throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    if isRunning || isEnding { return }
    let hub = store.hub
    _ = try BackgroundThread(name: "cambium-watch") { [self, weak store] in
      var failures = 0
      while sleep(while: hub) {
        guard let store else { return }
        failures = store.look(failures, max: Self.failuresMax)
      }
    }
    isRunning = true
  }

  /// Sleeps for a while. False when the thread is to end.
  private func sleep(while hub: ObservationHub) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if !isEnding, hub.isObserved { _ = ending.wait(atMost: Self.interval) }
    isRunning = !isEnding && hub.isObserved
    return isRunning
  }

  /// Ends for good. Does not wait for the thread: it may be the one that lets go of the store.
  func end() {
    lock.lock()
    isEnding = true
    lock.unlock()
    ending.broadcast()
  }
}

extension PersistentStore {
  /// Returns how many looks in a row have failed.
  fileprivate func look(_ failures: Int, max: Int) -> Int {
    do throws(StoreError) {
      try refresh()
      return 0
    } catch {
      if failures == max { hub.fail(error) }
      return failures + 1
    }
  }
}

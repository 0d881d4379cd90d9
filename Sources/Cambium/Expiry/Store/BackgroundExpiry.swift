/// Collects the expired records of an open store in the background, on a thread of its own, which sleeps in between.
///
/// The thread keeps the store only while it collects, so a store that is released without being closed ends it, too.
final class BackgroundExpiry: @unchecked Sendable {
  private let interval: Duration
  private let lock = ThreadLock()
  private let wakeUp: ThreadCondition
  // Under `lock`:
  private var isEnding = false
  private var thread: BackgroundThread?

  /// - Parameter interval: The time from one collection to the next; less than 10 ms counts as that, more than thirty years as
  ///   those.
  init(every interval: Duration) {
    self.interval = min(max(interval, .milliseconds(10)), .seconds(1_000_000_000))
    wakeUp = ThreadCondition(lock)
  }

  /// Begins with a first collection.
  func begin(in store: PersistentStore) {
    do throws(StoreError) {
      let thread = try BackgroundThread(name: "cambium-expiry") { [weak store, self] in
        repeat {
          guard let store else { return }
          collect(in: store)
        } while waitForNext()
      }
      lock.lock()
      self.thread = thread
      lock.unlock()
    } catch {
      store.log.ended("The collection of expired records", error)
    }
  }

  private func collect(in store: PersistentStore) {
    do {
      let report = try store.collectExpired(endsWhen: { self.isOver })
      if report.deleted + report.kept > 0 { store.log.expired(report) }
    } catch StoreError.closed(_) {
      return
    } catch {
      store.log.ended("The collection of expired records", error)
    }
  }

  private var isOver: Bool {
    lock.lock()
    defer { lock.unlock() }
    return isEnding
  }

  /// Sleeps for the interval. Returns false if the store is closed.
  private func waitForNext() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    let deadline = ContinuousClock.now + interval
    while !isEnding {
      let left = deadline - ContinuousClock.now
      if left <= .zero { return true }
      _ = wakeUp.wait(atMost: left)
    }
    return false
  }

  /// Ends it after the present transaction. The store may be released on its thread, so this does not wait.
  func end() {
    lock.lock()
    isEnding = true
    lock.unlock()
    wakeUp.broadcast()
  }

  /// Ends it, and waits until it has ended. Not to be called on its thread.
  func endAndWait() {
    end()
    lock.lock()
    let thread = thread
    lock.unlock()
    thread?.join()
  }
}

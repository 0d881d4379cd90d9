internal import CCambium

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Something that threads wait for while they hold one `ThreadLock`.
///
/// A pthread condition. A wait may end without a signal, so a waiter looks whether
/// its condition is true, and waits again if it is not. Time is that of the monotonic clock:
/// setting the clock on the wall moves no deadline.
@safe package final class ThreadCondition: @unchecked Sendable {
  /// Kept, as waiting unlocks it.
  private let lock: ThreadLock
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init(_ lock: ThreadLock) {
    self.lock = lock
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe cambium_make_condition(condition)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
  }

  /// Releases the lock, which the caller holds, until there is a signal; then takes it again.
  package func wait() {
    unsafe pthread_cond_wait(condition, lock.mutex)
    #if DEBUG
      lock.retakeIfHeld()
    #endif
  }

  /// Releases the lock until there is a signal, for no longer than `duration`; then takes it again.
  ///
  /// - Returns: false if the time ran out.
  package func wait(atMost duration: Duration) -> Bool {
    unsafe cambium_wait(condition, lock.mutex, duration.nanosecondsToWait) != 0
  }

  /// Wakes one waiter, if there is any. The caller need not hold the lock.
  package func signal() {
    unsafe pthread_cond_signal(condition)
  }

  /// Wakes all waiters. The caller need not hold the lock.
  package func broadcast() {
    unsafe pthread_cond_broadcast(condition)
  }
}

extension Duration {
  /// Nothing if it is negative, and thirty years if it is longer.
  fileprivate var nanosecondsToWait: Int64 {
    if self <= .zero { return 0 }
    let (seconds, attoseconds) = components
    if seconds >= 1_000_000_000 { return 1_000_000_000 * 1_000_000_000 }
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

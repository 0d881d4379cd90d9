internal import Glibc

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
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
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
    var deadline = timespec.monotonic(in: duration)
    return unsafe pthread_cond_timedwait(condition, lock.mutex, &deadline) != ETIMEDOUT
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

extension timespec {
  /// The moment that comes after `duration`, or is there where that is negative.
  fileprivate static func monotonic(in duration: Duration) -> timespec {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let (seconds, attoseconds) = duration.components
    // A wait of more than thirty years is one of thirty years.
    if seconds >= 1_000_000_000 { return timespec(tv_sec: now.tv_sec + 1_000_000_000, tv_nsec: 0) }
    if duration <= .zero { return now }
    let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
    return timespec(
      tv_sec: now.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000,
      tv_nsec: nanoseconds % 1_000_000_000)
  }
}

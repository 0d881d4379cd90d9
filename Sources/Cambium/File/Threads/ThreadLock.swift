internal import CCambium

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Keeps threads out of each other's way for a moment.
///
/// A pthread mutex: ThreadSanitizer understands it, and reports races that are none on
/// `Synchronization.Mutex`. It is not for the hot path.
@safe package final class ThreadLock: @unchecked Sendable {
  let mutex: UnsafeMutablePointer<pthread_mutex_t>
  #if DEBUG
    /// Called by tests before a thread takes the lock, to hold it there; set before the lock is shared. Only
    /// in debug builds.
    package var beforeLocking: (@Sendable () -> Void)?

    /// Lets a test hold a thread that was woken, before it has the lock again.
    func retakeIfHeld() {
      if beforeLocking == nil { return }
      unlock()
      lock()
    }
  #endif

  package init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe cambium_make_mutex(mutex)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  package func lock() {
    #if DEBUG
      beforeLocking?()
    #endif
    unsafe pthread_mutex_lock(mutex)
  }

  package func unlock() {
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Releases the lock for as long as it takes other threads that could run to do so.
  package func yield() {
    unlock()
    sched_yield()
    lock()
  }
}

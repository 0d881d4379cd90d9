internal import CCambium
internal import Glibc

/// A thread of the library's own, with a name that debuggers show.
///
/// Signals that are sent to the process never run their handlers on it: those belong to the program.
@safe package final class BackgroundThread: @unchecked Sendable {
  /// Of the kernel's, without the terminating zero.
  private static let nameLengthMax = 15

  private let thread: pthread_t
  private let forks = ForkGuard()
  private let state = ThreadLock()
  /// Touched only while holding `state`.
  private var isJoined = false

  /// Starts a thread that runs `body`.
  ///
  /// - Parameter name: Of which the first 15 bytes are shown.
  /// - Throws: `.io` if the system gives out no more threads.
  package init(
    name: String, _ body: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    let start = unsafe Unmanaged.passRetained(ThreadBody(name: name, body))
    var thread = pthread_t()
    let failure = unsafe pthread_create(&thread, nil, runThread, start.toOpaque())
    guard failure == 0 else {
      unsafe start.release()
      throw .failed("start a thread", Errno(rawValue: failure), path: name)
    }
    self.thread = thread
  }

  /// Waits until the thread has ended. May be called again, but not on the thread itself, and by one
  /// thread at a time. In a forked child, where the thread is not, it returns at once.
  package func join() {
    precondition(!isCurrent, "a thread cannot wait for its own end")
    if !forks.isForked, takeJoin() { _ = pthread_join(thread, nil) }
  }

  /// Whether the caller runs on this thread.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  private func takeJoin() -> Bool {
    state.lock()
    defer { state.unlock() }
    if isJoined { return false }
    isJoined = true
    return true
  }

  deinit {
    if !isJoined, !forks.isForked { pthread_detach(thread) }
  }
}

/// What a new thread is to do, on its way there.
private final class ThreadBody: Sendable {
  let name: String
  let run: @Sendable () -> Void

  init(name: String, _ run: @escaping @Sendable () -> Void) {
    self.name = name
    self.run = run
  }
}

private func runThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let start = unsafe start else { return nil }
  let body = unsafe Unmanaged<ThreadBody>.fromOpaque(start).takeRetainedValue()
  cambium_block_signals()
  unsafe cambium_name_thread(body.name)
  body.run()
  return nil
}

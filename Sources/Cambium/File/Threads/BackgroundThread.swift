internal import CCambium

/// A thread of the library's own, with a name that debuggers show.
///
/// Signals that are sent to the process never run their handlers on it: those belong to the program.
@safe package final class BackgroundThread: @unchecked Sendable {
  /// Of the kernel's, without the terminating zero.
  private static let nameLengthMax = 15

  private let thread: UInt
  private let forks = ForkGuard()
  private let state = ThreadLock()
  /// Touched only while holding `state`, which is kept while joining.
  private var isJoined = false

  /// Starts a thread that runs `body`.
  ///
  /// - Parameter name: Of which the first 15 bytes are shown.
  /// - Throws: `.io` if the system gives out no more threads.
  package init(
    name: String, _ body: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    let start = unsafe Unmanaged.passRetained(ThreadBody(name: name, body))
    var thread: UInt = 0
    let failure = unsafe cambium_start_thread(&thread, runThread, start.toOpaque())
    guard failure == 0 else {
      unsafe start.release()
      throw .failed("start a thread", SystemErrorCode(rawValue: failure), path: name)
    }
    self.thread = thread
  }

  /// Waits until the thread has ended. Any number of threads may call this, as often as they like, but not the
  /// thread itself. In a forked child, where the thread is not, it returns at once.
  package func join() {
    if forks.isForked { return }
    state.lock()
    defer { state.unlock() }
    // The system gives the identity of a thread that was joined to a new one, which may be the caller.
    if isJoined { return }
    precondition(thread != cambium_current_thread(), "a thread cannot wait for its own end")
    cambium_join_thread(thread)
    isJoined = true
  }

  deinit {
    if !isJoined, !forks.isForked { cambium_detach_thread(thread) }
  }
}

/// The work of a new thread, on its way there.
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

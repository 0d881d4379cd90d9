import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Ctrl-C and a request to end, which commands that write answer when they are at a place to stop at.
///
/// A thread waits for the signals; no handler runs in the middle of something.
enum Interruption {
  private static let requested = Atomic<Bool>(false)
  private static let action = Mutex<(@Sendable () -> Void)?>(nil)

  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// Takes signals from now on. To be called before other threads are made.
  ///
  /// - Parameter action: Called at the first signal, on another thread. At the second one the command ends at once.
  static func begin(_ action: (@Sendable () -> Void)? = nil) {
    Self.action.withLock { $0 = action }
    var signals = watched
    guard unsafe pthread_sigmask(SIG_BLOCK, &signals, nil) == 0 else { return }
    var thread = pthread_t()
    _ = unsafe pthread_create(&thread, nil, { _ in unsafe Interruption.wait() }, nil)
  }

  /// - Throws: `CommandFailure` if the user wants it to end.
  static func check(_ message: @autoclosure () -> String) throws {
    if isRequested { throw CommandFailure.interrupted(message()) }
  }

  /// The response to the first signal from now on.
  static func onRequest(_ action: @escaping @Sendable () -> Void) {
    Self.action.withLock { $0 = action }
    if isRequested { action() }
  }

  private static var watched: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, signal) }
    return signals
  }

  private static func wait() -> UnsafeMutableRawPointer? {
    var signals = watched
    while true {
      var signal: Int32 = 0
      guard unsafe sigwait(&signals, &signal) == 0 else { continue }
      // A store is whole at any moment: uncommitted changes are not there.
      if requested.exchange(true, ordering: .relaxed) { _exit(ExitStatus.interrupted.rawValue) }
      action.withLock { $0 }?()
    }
  }
}

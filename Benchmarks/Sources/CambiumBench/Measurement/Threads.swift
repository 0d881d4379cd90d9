import Glibc
import Synchronization

/// Runs `body` on `count` threads at once, and returns when all have ended.
///
/// Threads of the operating system's: a commit blocks, and tasks share as many threads as there are
/// cores.
/// - Throws: the first error of `body`.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void) throws {
  if count == 1 { return try body(0) }
  let failure = FirstFailure()
  let threads = (0..<count).map { index in
    startThread { failure.keep { try body(index) } }
  }
  for thread in threads { pthread_join(thread, nil) }
  try failure.rethrow()
}

func sleepMilliseconds(_ count: Int) {
  usleep(UInt32(count) * 1_000)
}

/// A thread that does something again and again.
final class RepeatingThread: @unchecked Sendable {
  private let isEnding = Atomic(false)
  private let failure = FirstFailure()
  private var thread = pthread_t()

  /// - Parameter delay: Between the end of one call of `body` and the next.
  init(each delay: Duration, _ body: @escaping @Sendable () throws -> Void) throws {
    let milliseconds = max(1, Int(delay / .milliseconds(1)))
    thread = startThread { [self] in
      while !isEnding.load(ordering: .relaxed) {
        // In short steps, so that its end is not delayed.
        for _ in 0..<(milliseconds + 9) / 10 where !isEnding.load(ordering: .relaxed) {
          sleepMilliseconds(min(milliseconds, 10))
        }
        failure.keep(body)
      }
    }
  }

  /// - Throws: the first error of `body`.
  func check() throws { try failure.rethrow() }

  /// Returns when `body` runs no more.
  func end() {
    isEnding.store(true, ordering: .relaxed)
    pthread_join(thread, nil)
  }
}

private final class FirstFailure: Sendable {
  private let first = Mutex<(any Error)?>(nil)

  func keep(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      first.withLock { $0 = $0 ?? error }
    }
  }

  func rethrow() throws {
    if let error = first.withLock({ $0 }) { throw error }
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

private func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  var thread = pthread_t()
  let start = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  let failure = unsafe pthread_create(
    &thread, nil,
    { start in
      if let start = unsafe start {
        unsafe Unmanaged<ThreadBody>.fromOpaque(start).takeRetainedValue().run()
      }
      return nil
    }, start)
  precondition(failure == 0, "the system gives out no more threads")
  return thread
}

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Cambium

struct BackgroundThreadTests {
  @Test func `a thread runs once, under its name, without the program's signals`() throws {
    let runs = Atomic(0)
    let name = Guarded("")
    let blocked = Guarded<[Int32: Bool]>([:])
    let thread = try BackgroundThread(name: "cambium flusher") {
      runs.add(1, ordering: .relaxed)
      name.withLock { $0 = nameOfThread() }
      blocked.withLock { $0 = Self.blockedSignals([SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGSEGV]) }
    }
    thread.join()
    thread.join()
    #expect(runs.load(ordering: .relaxed) == 1)
    #expect(name.withLock { $0 } == "cambium flusher")
    #expect(
      blocked.withLock { $0 } == [
        SIGINT: true, SIGTERM: true, SIGUSR1: true, SIGCHLD: true, SIGSEGV: false,
      ])
  }

  @Test func `a name that is too long is cut`() throws {
    let name = Guarded("")
    let thread = try BackgroundThread(name: "a name that the kernel has no room for") {
      name.withLock { $0 = nameOfThread() }
    }
    thread.join()
    #expect(name.withLock { $0 } == "a name that the")
  }

  @Test func `a thread that nobody joins goes on`() throws {
    let lock = ThreadLock()
    let ended = ThreadCondition(lock)
    let hasEnded = Guarded(false)
    lock.lock()
    _ = try BackgroundThread(name: "nobody's") {
      lock.lock()
      hasEnded.withLock { $0 = true }
      lock.unlock()
      ended.signal()
    }
    while !hasEnded.withLock({ $0 }) { ended.wait() }
    lock.unlock()
  }

  /// The system gives the identity of a thread that was joined to the next one.
  @Test func `a thread that has ended can be joined again on any thread`() throws {
    let ended = try BackgroundThread(name: "ended") {}
    ended.join()
    for _ in 0..<8 {
      let next = try BackgroundThread(name: "next") { ended.join() }
      next.join()
    }
  }

  @Test func `all threads that join one wait for its end`() throws {
    let gate = ThreadLock()
    gate.lock()
    let hasEnded = Atomic(false)
    let thread = try BackgroundThread(name: "joined") {
      gate.lock()
      gate.unlock()
      hasEnded.store(true, ordering: .sequentiallyConsistent)
    }
    let early = Atomic(0)
    let joiners = try (0..<3).map { _ in
      try BackgroundThread(name: "joining") {
        thread.join()
        if !hasEnded.load(ordering: .sequentiallyConsistent) {
          early.add(1, ordering: .sequentiallyConsistent)
        }
      }
    }
    usleep(20_000)
    gate.unlock()
    for joiner in joiners { joiner.join() }
    #expect(early.load(ordering: .sequentiallyConsistent) == 0)
  }

  // MARK: Forks

  @Test(.timeLimit(.minutes(60)))
  func `a forked child knows that it is one, and waits for no thread of its parent's`() async {
    await #expect(processExitsWith: .success) {
      let before = ForkGuard()
      let gate = ThreadLock()
      gate.lock()
      let thread = try BackgroundThread(name: "parent's") {
        gate.lock()
        gate.unlock()
      }
      let status = inForkedChild {
        let own = ForkGuard()
        thread.join()
        let inGrandchild = inForkedChild { before.isForked && own.isForked ? 0 : 1 }
        return before.isForked && !own.isForked && inGrandchild == 0 ? 0 : 1
      }
      gate.unlock()
      thread.join()
      exit(status == 0 && !before.isForked ? 0 : 1)
    }
  }

  private static func blockedSignals(_ signals: [Int32]) -> [Int32: Bool] {
    var set = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &set)
    return Dictionary(
      uniqueKeysWithValues: signals.map { ($0, unsafe sigismember(&set, $0) == 1) })
  }
}

import Cambium
import Synchronization
import Testing

struct ThreadConditionTests {
  /// Numbers on their way from one thread to others, at most one at a time.
  private final class Mailbox: @unchecked Sendable {
    let lock = ThreadLock()
    let filled: ThreadCondition
    let emptied: ThreadCondition
    private var number: Int?
    private var isClosed = false

    init() {
      filled = ThreadCondition(lock)
      emptied = ThreadCondition(lock)
    }

    func put(_ new: Int) {
      lock.lock()
      defer { lock.unlock() }
      while number != nil { emptied.wait() }
      number = new
      filled.signal()
    }

    func close() {
      lock.lock()
      defer { lock.unlock() }
      while number != nil { emptied.wait() }
      isClosed = true
      filled.broadcast()
    }

    func take() -> Int? {
      lock.lock()
      defer { lock.unlock() }
      while number == nil && !isClosed { filled.wait() }
      defer {
        number = nil
        emptied.signal()
      }
      return number
    }
  }

  @Test(.timeLimit(.minutes(60)))
  func `everything that is signalled arrives, once`() throws {
    let mailbox = Mailbox()
    let sum = Atomic(0)
    let receivers = try (0..<3).map { index in
      try BackgroundThread(name: "receiver \(index)") {
        while let number = mailbox.take() { sum.add(number, ordering: .relaxed) }
      }
    }
    for number in 1...1_000 { mailbox.put(number) }
    mailbox.close()
    for receiver in receivers { receiver.join() }
    #expect(sum.load(ordering: .relaxed) == 500_500)
  }

  @Test(arguments: [-1_000, 0, 1, 20])
  func `a wait ends when its time is over, and not before`(milliseconds: Int) {
    let lock = ThreadLock()
    let condition = ThreadCondition(lock)
    let duration = Duration.milliseconds(milliseconds)
    lock.lock()
    let start = SuspendingClock.now
    // It may end early without a signal, so ask until it says that the time is over.
    while condition.wait(atMost: duration) {}
    #expect(start.duration(to: .now) >= duration)
    lock.unlock()
  }

  @Test(.timeLimit(.minutes(60)), arguments: [Duration.seconds(30), .seconds(Int64.max)])
  func `a signal ends a wait before its time is over`(duration: Duration) throws {
    let lock = ThreadLock()
    let condition = ThreadCondition(lock)
    lock.lock()
    let thread = try BackgroundThread(name: "signals") {
      lock.lock()
      lock.unlock()
      condition.signal()
    }
    #expect(condition.wait(atMost: duration))
    lock.unlock()
    thread.join()
  }
}

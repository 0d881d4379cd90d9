@testable import Cambium

/// The moments that threads pass: calls of the medium, and in debug builds, where `ThreadLock` tells, takings of the
/// engine's lock. One thread is held at one of them, while others go on.
final class Moments: @unchecked Sendable {
  private let lock = ThreadLock()
  private let changed: ThreadCondition
  // Under `lock`:
  private var isCounting = false
  private var count = 0
  private var target = 0
  private var name = ""
  private var isHolding = false
  private var isOver = false

  init() { changed = ThreadCondition(lock) }

  /// Counts from now on, and holds the thread that comes to the moment of that number, the first being 1.
  func begin(holdingAt number: Int) {
    lock.lock()
    defer { lock.unlock() }
    (isCounting, count, target) = (true, 0, number)
  }

  /// A thread comes to a moment. It leaves it when it may.
  func pass(_ moment: @autoclosure () -> String) {
    lock.lock()
    defer { lock.unlock() }
    guard isCounting else { return }
    count += 1
    guard count == target else { return }
    name = moment()
    isHolding = true
    changed.broadcast()
    while isCounting { changed.wait() }
  }

  /// Says that what is counted has ended.
  func end() {
    lock.lock()
    defer { lock.unlock() }
    isOver = true
    changed.broadcast()
  }

  /// Waits until a thread is held, or until what is counted has ended.
  ///
  /// - Returns: the moment; nil if none is held there, also after far too long.
  func waitForHold() -> String? {
    let deadline = ContinuousClock.now + .seconds(60)
    lock.lock()
    defer { lock.unlock() }
    while !isHolding, !isOver, ContinuousClock.now < deadline {
      _ = changed.wait(atMost: .seconds(1))
    }
    return isHolding ? name : nil
  }

  /// Lets go of the thread that is held, and holds none any more.
  ///
  /// - Returns: how many moments there were.
  @discardableResult
  func goOn() -> Int {
    lock.lock()
    defer { lock.unlock() }
    isCounting = false
    changed.broadcast()
    return count
  }
}

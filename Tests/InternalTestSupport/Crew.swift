@testable import Cambium

/// The threads and tasks of a test, which fails rather than waits if they do not end.
final class Crew: @unchecked Sendable {
  private let lock = ThreadLock()
  // Under `lock`:
  private var running = 0

  /// Starts threads that run `body`, each with its number.
  func start(_ count: Int = 1, _ body: @escaping @Sendable (Int) -> Void) throws {
    for number in 0..<count {
      enter()
      _ = try BackgroundThread(name: "crew") {
        body(number)
        self.leave()
      }
    }
  }

  /// Starts tasks that run `body`, each with its number.
  func startTasks(_ count: Int = 1, _ body: @escaping @Sendable (Int) async -> Void) {
    for number in 0..<count {
      enter()
      Task.detached {
        await body(number)
        self.leave()
      }
    }
  }

  /// Waits until all have ended, and says whether they did in time. Suspends: tasks need the pool's threads.
  func ends(within limit: Duration = .seconds(60)) async -> Bool {
    await comesTrue(within: limit) { self.count == 0 }
  }

  private var count: Int {
    lock.lock()
    defer { lock.unlock() }
    return running
  }

  private func enter() {
    lock.lock()
    defer { lock.unlock() }
    running += 1
  }

  private func leave() {
    lock.lock()
    defer { lock.unlock() }
    running -= 1
  }
}

extension Engine {
  /// Runs `body` with the lock.
  func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  /// True if `condition` comes true in time. It is evaluated with the lock.
  func reaches(_ condition: @autoclosure () -> Bool) async -> Bool {
    await comesTrue { locked(condition) }
  }
}

/// True if `condition` comes true in time. Suspends meanwhile.
func comesTrue(
  within limit: Duration = .seconds(60), _ condition: () -> Bool
) async -> Bool {
  let deadline = ContinuousClock.now + limit
  while !condition() {
    if ContinuousClock.now >= deadline { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}

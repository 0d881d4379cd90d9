import Synchronization

/// Watches how far this process's anonymous memory grows while something runs.
///
/// Looks every five milliseconds, so memory that is taken and released between two looks is missed.
final class MemoryWatch: Sendable {
  private let start: Int
  private let highest: Mutex<Int>

  private init() {
    ProcessMemory.restartPeak()
    start = ProcessMemory.anonymous
    highest = Mutex(start)
  }

  /// Begins, and looks until `end` is called.
  static func begin() -> (watch: MemoryWatch, task: Task<Void, Never>) {
    let watch = MemoryWatch()
    let task = Task.detached {
      while !Task.isCancelled {
        watch.look()
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
    return (watch, task)
  }

  /// The growth at its highest, in bytes.
  var growth: Int {
    look()
    return highest.withLock { $0 } - start
  }

  private func look() {
    let anonymous = ProcessMemory.anonymous
    highest.withLock { $0 = max($0, anonymous) }
  }
}

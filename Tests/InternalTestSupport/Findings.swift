import TestSupport

/// Counts the cases that a test tried, and keeps the faults that it found. Of one thread.
struct Findings {
  var count = 0
  private(set) var violations: [String] = []

  /// A violation, and the line that replays it.
  mutating func add(_ violation: String, _ replay: some CustomStringConvertible) {
    violations.append("\(violation)\n  \(replay)")
  }

  mutating func add(_ other: Findings) {
    count += other.count
    violations += other.violations
  }
}

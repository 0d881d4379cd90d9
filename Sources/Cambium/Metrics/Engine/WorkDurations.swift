/// The number of times that a piece of work was done since the store was opened, and how long it took.
public struct WorkDurations: Hashable, Sendable {
  /// The number of times that it was done without an error.
  public private(set) var count = 0
  /// The durations of all of them together.
  public private(set) var total = Duration.zero
  /// The duration of the last one.
  public private(set) var last = Duration.zero
  /// The longest duration.
  public private(set) var longest = Duration.zero

  /// The mean duration; zero if it was never done.
  public var mean: Duration { count == 0 ? .zero : total / count }

  mutating func add(_ duration: Duration) {
    count += 1
    total += duration
    last = duration
    longest = max(longest, duration)
  }
}

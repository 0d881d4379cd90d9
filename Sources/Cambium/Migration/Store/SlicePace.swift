/// The number of records in the next slice of a migration: at first some, then as many as the time of a slice is enough for.
///
/// The slice is one merge, which does not end before it has that many.
struct SlicePace: Equatable {
  private(set) var count: Int
  private let most: Int
  private let time: Duration

  /// The number of records in the first slice, from which the speed is measured.
  private static var first: Int { 10_000 }
  /// The fewest that are worth a commit.
  private static var least: Int { 256 }
  /// Few records say little of many.
  private static var growth: Double { 20 }

  init(atMost most: Int, _ time: Duration) {
    self.most = most
    self.time = time
    count = min(most, Self.first)
  }

  /// Notes the time that a slice has taken.
  mutating func note(_ elapsed: Duration) {
    let share = min(time / max(elapsed, .nanoseconds(1)), Self.growth)
    count = min(most, max(Self.least, Int(Double(count) * share)))
  }
}

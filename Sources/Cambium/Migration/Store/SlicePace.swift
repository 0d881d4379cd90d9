/// The number of records in the next slice of a migration that converts rows in their places: as many as are converted in the time of a
/// slice, by the speed of the slice before.
///
/// Such a slice is one merge, which has to know the number when it begins.
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

/// A limit of the work that one call does of a pending migration or a compaction. The call ends with the slice in which
/// the first of the bounds is reached; slices of records are cut to the time that is left.
public struct WorkBudget: Hashable, Sendable {
  /// The number of records, or of tree entries in a compaction; nil for no limit.
  package var records: Int?
  /// The bytes of rows, or of pages that are written; nil for no limit.
  package var bytes: Int?
  /// The time; nil for no limit.
  package var time: Duration?

  /// Creates a limit of records, bytes and time; without any, there is none.
  public init(records: Int? = nil, bytes: Int? = nil, time: Duration? = nil) {
    self.records = records
    self.bytes = bytes
    self.time = time
  }

  /// No limit.
  public static var unlimited: Self { Self() }
  /// A limit of the number of records, or of tree entries in a compaction.
  public static func records(_ count: Int) -> Self { Self(records: count) }
  /// A limit of the bytes of rows, or of pages that are written.
  public static func bytes(_ count: Int) -> Self { Self(bytes: count) }
  /// A limit of the time.
  public static func time(_ duration: Duration) -> Self { Self(time: duration) }
}

extension WorkBudget {
  /// The part of a budget that is left.
  struct Remaining {
    private var records: Int
    private var bytes: Int
    /// When it began, and when its time is over.
    private let time: Range<ContinuousClock.Instant>?
    /// The number of records done since it began.
    private var done = 0
    /// True if nothing is left when the task is cancelled.
    private let endsWhenCancelled: Bool
    /// The bytes of rows that a slice has at most: transactions wait for the disk meanwhile.
    private static var sliceBytes: Int { 2 << 20 }
    /// The number of records in the first slice if time is bounded, from which the speed is measured.
    private static var firstCount: Int { 256 }
    /// The fewest that are worth a commit.
    private static var leastCount: Int { 32 }

    init(_ budget: WorkBudget, endsWhenCancelled: Bool = false) {
      self.endsWhenCancelled = endsWhenCancelled
      records = budget.records ?? .max
      bytes = budget.bytes ?? .max
      let now = ContinuousClock.now
      time = budget.time.map { now..<now + max($0, .zero) }
    }

    var isSpent: Bool {
      records <= 0 || bytes <= 0 || time.map { ContinuousClock.now >= $0.upperBound } ?? false
        || endsWhenCancelled && Task.isCancelled
    }

    /// Returns the number of records of the next slice, of about `recordSize` bytes each: no more than the time that is left
    /// is likely to be enough for, at the speed so far.
    func slice(atMost limit: Int, recordSize: Int) -> Int {
      max(1, min(limit, records, bytes / recordSize, Self.sliceBytes / recordSize, countInTime))
    }

    private var countInTime: Int {
      guard let time else { return .max }
      if done == 0 { return Self.firstCount }
      let now = ContinuousClock.now
      let share = (time.upperBound - now) / max(now - time.lowerBound, .nanoseconds(1))
      // As many as until now at most: the cost of few records says little of many.
      return max(Self.leastCount, Int(Double(done) * min(max(share, 0), 1)))
    }

    mutating func take(_ count: Int, size: Int) { take(count, bytes: count * size) }

    /// The bytes that the next slice has, of at most so many.
    func part(of limit: Int) -> Int { max(1, min(limit, bytes)) }

    mutating func take(_ count: Int, bytes size: Int) {
      done += count
      if records != .max { records -= count }
      if bytes != .max { bytes -= size }
    }
  }
}

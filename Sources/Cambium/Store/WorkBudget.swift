/// How much of long work, such as a pending migration or a compaction, is done at once. It ends at whichever bound comes
/// first, and with the slice that it is in.
public struct WorkBudget: Hashable, Sendable {
  /// Records, or entries of trees where those are moved; nil for all.
  public var records: Int?
  /// Of rows, or of the pages that are written; nil for all.
  public var bytes: Int?
  /// Nil for as long as it takes.
  public var time: Duration?

  public init(records: Int? = nil, bytes: Int? = nil, time: Duration? = nil) {
    self.records = records
    self.bytes = bytes
    self.time = time
  }

  /// All that there is.
  public static var unlimited: Self { Self() }
  public static func records(_ count: Int) -> Self { Self(records: count) }
  public static func bytes(_ count: Int) -> Self { Self(bytes: count) }
  public static func time(_ duration: Duration) -> Self { Self(time: duration) }
}

extension WorkBudget {
  /// What is left of a budget.
  struct Remaining {
    private var records: Int
    private var bytes: Int
    private let deadline: ContinuousClock.Instant?
    /// The bytes of rows that a slice has at most: transactions wait for the medium meanwhile.
    private static var sliceBytes: Int { 2 << 20 }

    init(_ budget: WorkBudget) {
      records = budget.records ?? .max
      bytes = budget.bytes ?? .max
      deadline = budget.time.map { ContinuousClock.now + $0 }
    }

    var isSpent: Bool {
      records <= 0 || bytes <= 0 || deadline.map { ContinuousClock.now >= $0 } ?? false
    }

    /// How many records the next slice has, of about so many bytes each.
    func slice(atMost limit: Int, recordSize: Int) -> Int {
      max(1, min(limit, records, bytes / recordSize, Self.sliceBytes / recordSize))
    }

    mutating func take(_ count: Int, size: Int) { take(count, bytes: count * size) }

    /// The bytes that the next slice has, of at most so many.
    func part(of limit: Int) -> Int { max(1, min(limit, bytes)) }

    mutating func take(_ count: Int, bytes size: Int) {
      if records != .max { records -= count }
      if bytes != .max { bytes -= size }
    }
  }
}

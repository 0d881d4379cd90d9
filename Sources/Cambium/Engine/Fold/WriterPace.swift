/// The pace of writers that are faster than the fold under way: they fill their overlay as fast as the fold gets on, so that it is nearly full
/// when the fold ends. They pause often and shortly from early on, and not long at the end.
///
/// The fold is expected to take as long for a byte as the last one.
struct WriterPace {
  /// The time that the last fold took for a byte of its overlay, in nanoseconds; nil before the first has ended.
  private(set) var nanosecondsPerByte: Double?
  /// When the overlay was frozen that is folded now.
  private var start = ContinuousClock.now
  /// The bytes of transactions since the clock was last read.
  private var unseen = 0

  /// The share of the overlay that is filled without pauses, and the share that may be full when the fold ends.
  static var shares: ClosedRange<Double> { 0.25...0.95 }
  /// The bytes after which the clock is read again.
  private static var lookBytes: Int { 8 << 10 }

  /// Notes that a full overlay was frozen.
  mutating func begin(_ now: ContinuousClock.Instant = .now) {
    start = now
    unseen = 0
  }

  /// Notes that a fold has ended.
  mutating func end(folded byteCount: Int, _ now: ContinuousClock.Instant = .now) {
    guard byteCount >= Self.lookBytes else { return }
    nanosecondsPerByte = (now - start) / .nanoseconds(1) / Double(byteCount)
  }

  /// Notes that a transaction was added to the overlay beside the one that is folded.
  ///
  /// - Parameters:
  ///   - byteCount: The bytes of the transaction.
  ///   - fill: The share of its overlay that is full with it.
  ///   - folded: The bytes that the fold under way has in all.
  /// - Returns: The time that writers are ahead of the fold, in nanoseconds; 0 if they are not, or it was not looked at; nil if it is not
  ///   known, or the fold is late.
  mutating func lead(
    after byteCount: Int, fill: Double, folded: Int,
    _ now: @autoclosure () -> ContinuousClock.Instant = .now
  ) -> Double? {
    guard let nanosecondsPerByte, fill <= Self.shares.upperBound else { return nil }
    unseen += byteCount
    guard fill > Self.shares.lowerBound, unseen >= Self.lookBytes else { return 0 }
    unseen = 0
    let part = (fill - Self.shares.lowerBound) / (Self.shares.upperBound - Self.shares.lowerBound)
    let planned = nanosecondsPerByte * Double(folded) * part
    return max(0, planned - (now() - start) / .nanoseconds(1))
  }
}

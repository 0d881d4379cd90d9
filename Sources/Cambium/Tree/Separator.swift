/// Keys that stand in branches to tell children apart.
enum Separator {
  /// The shortest key above `low` and not above `high`.
  ///
  /// - Precondition: `low` is below `high`.
  static func shortest(between low: RawSpan, and high: RawSpan) -> [UInt8] {
    let shared = low.commonPrefix(with: high, atMost: high.byteCount)
    return high.part(0, min(shared + 1, high.byteCount)).array()
  }
}

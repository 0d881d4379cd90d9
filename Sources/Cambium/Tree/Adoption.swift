/// Which subtrees of the base a merge may take over by reference where no operation falls into them.
enum Adoption: Equatable, Sendable {
  /// All of them.
  case all
  /// Those without a page in any of these segments, so that afterwards nothing refers to them.
  case outside(SegmentSet)
  /// All but leaves in these segments, and values that are in them. No branch is read to find more of them: so a fold empties
  /// segments a little as it passes, at the cost of what it moves.
  case passing(SegmentSet)
}

/// The part of a tree in which a merge looks at what it may not adopt: from a key on, as far as a budget goes.
/// Outside it everything may stay.
final class MergeRange {
  /// The first key.
  let start: [UInt8]
  /// The bytes of pages that may still be written anew.
  private(set) var bytes: Int
  /// The key from which on the next range is to begin; nil if nothing is left behind this one.
  private(set) var end: [UInt8]?

  init(from start: [UInt8], bytes: Int) {
    self.start = start
    self.bytes = bytes
  }

  /// Whether the keys from `low` on and below `high` are looked at. Those for which the budget is not enough any
  /// more are where the next range begins.
  func covers(_ low: [UInt8], _ high: [UInt8]?) -> Bool {
    let start = start
    if let high, high.rawSpan.compare(start.rawSpan) <= 0 { return false }
    return covers(low)
  }

  /// The same of one key, or of what begins with it.
  func covers(key: [UInt8]) -> Bool {
    let start = start
    return key.rawSpan.compare(start.rawSpan) >= 0 && covers(key)
  }

  private func covers(_ key: [UInt8]) -> Bool {
    if bytes > 0 { return true }
    if end == nil { end = key }
    return false
  }

  /// Takes what a page costs from the budget.
  func take(bytes: UInt64) { self.bytes -= Int(clamping: bytes) }
}

/// When something was made in an overlay's arena: every version has a stamp of its own, and later
/// ones are greater.
struct Stamp: Equatable, Sendable, Comparable, BitwiseCopyable {
  private(set) var number: UInt64 = 0

  /// Before everything. Also the stamp of a node that waits in the pool.
  static let none = Stamp()

  @inline(__always)
  static func < (one: Stamp, other: Stamp) -> Bool { one.number < other.number }

  /// The stamp after the latest so far, which becomes the latest.
  static func next(after latest: inout Stamp) -> Stamp {
    latest.number += 1
    return latest
  }
}

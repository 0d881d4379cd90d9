internal import Synchronization

/// Gives out the numbers of a store's page segments, each once, to all appenders of the store.
///
/// A fold and a transaction that loads a tree begin segments at the same time.
final class SegmentNumbers: Sendable {
  private let next: Atomic<UInt64>

  /// - Parameter number: The first number to give out, above those of all segments that there are.
  init(from number: UInt32) {
    next = Atomic(UInt64(number))
  }

  /// The number that is given out next; beyond 32 bits after the last one.
  var upcoming: UInt64 { next.load(ordering: .relaxed) }

  /// Returns a number above all others so far. It is not given out again, whatever becomes of its segment.
  ///
  /// - Throws: `.limitExceeded` after the last one.
  func take() throws(StoreError) -> UInt32 {
    let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
    guard let number = UInt32(exactly: number) else {
      throw .limitExceeded(.segmentNumber, found: Int(clamping: number))
    }
    return number
  }
}

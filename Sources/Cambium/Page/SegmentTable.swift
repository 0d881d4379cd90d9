/// The page segments of one published state, and how far each is published.
///
/// Immutable: publishing makes a new table that shares the segments.
final class SegmentTable<Medium: FileSystem>: Sendable {
  struct Entry: Sendable {
    let segment: PageSegment<Medium>
    /// The block behind the last published one.
    let endBlock: UInt32
  }

  /// Ascending by number.
  let entries: [Entry]
  private let firstNumber: UInt32

  /// - Precondition: `entries` ascend by segment number.
  init(_ entries: [Entry]) {
    self.entries = entries
    firstNumber = entries.first?.segment.number ?? 0
  }

  /// The entry of segment `number`. Constant time where no number is missing in between.
  @inline(__always)
  func entry(_ number: UInt32) -> Entry? {
    let guess = Int(number &- firstNumber)
    if guess < entries.count, entries[guess].segment.number == number { return entries[guess] }
    return search(number)
  }

  @inline(never)
  private func search(_ number: UInt32) -> Entry? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].segment.number < number { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].segment.number == number else { return nil }
    return entries[low]
  }
}

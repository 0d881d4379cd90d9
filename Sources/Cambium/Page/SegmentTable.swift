internal import Synchronization

/// The page segments of one published state, and how far each is published.
///
/// Immutable: publishing makes a new table that shares the segments. Verified pages are noted by
/// segment, for all tables: a page that one of them may reach is the same page for all.
@safe final class SegmentTable: @unchecked Sendable {
  struct Entry: Sendable {
    let segment: PageSegment
    /// The block after the last published one.
    var endBlock: UInt32
  }

  /// Ascending by number.
  let entries: [Entry]
  /// The parts of each entry that a reader needs, in the same order, without touching a reference count.
  private let slots: UnsafeMutablePointer<MappedSegment>
  private let firstNumber: UInt32

  /// - Precondition: `entries` ascend by segment number.
  init(_ entries: [Entry]) {
    self.entries = entries
    firstNumber = entries.first?.segment.number ?? 0
    unsafe slots = .allocate(capacity: entries.count)
    for (index, entry) in entries.enumerated() {
      unsafe (slots + index).initialize(to: MappedSegment(entry))
    }
  }

  deinit {
    unsafe slots.deallocate()
  }

  /// The entry of segment `number`. Constant time where no number is missing in between.
  func entry(_ number: UInt32) -> Entry? {
    index(number).map { entries[$0] }
  }

  /// The page at `position` if it lies within the published part, is mapped, and was verified.
  @inline(__always)
  func verifiedPage(at position: PagePosition, blocks: UInt8) -> Page? {
    guard let index = index(position.segment) else { return nil }
    return unsafe slots[index].verifiedPage(at: position.block, blocks: blocks)
  }

  /// Asks the processor for the first `count` bytes of a page, if it is mapped.
  @inline(__always)
  func prefetch(_ position: PagePosition, blocks: UInt8, from offset: Int = 0, count: Int) {
    guard let index = index(position.segment) else { return }
    unsafe slots[index].prefetch(position.block, blocks: blocks, from: offset, count: count)
  }

  @inline(__always)
  private func index(_ number: UInt32) -> Int? {
    let guess = Int(number &- firstNumber)
    if guess < entries.count, unsafe slots[guess].number == number { return guess }
    return search(number)
  }

  @inline(never)
  private func search(_ number: UInt32) -> Int? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].segment.number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].segment.number == number ? low : nil
  }
}

/// A segment as the table's slots keep it: pointers into objects that the table's entries own.
@unsafe private struct MappedSegment {
  let number: UInt32
  private let endBlock: UInt32
  /// Nil if pages are read into a cache.
  private let base: UnsafeRawPointer?
  private let verified: Unmanaged<BlockSet>

  init(_ entry: SegmentTable.Entry) {
    unsafe number = entry.segment.number
    unsafe endBlock = entry.endBlock
    unsafe base = entry.segment.mapping?.pointer(at: 0)
    unsafe verified = .passUnretained(entry.segment.verified)
  }

  @inline(__always)
  func verifiedPage(at block: UInt32, blocks: UInt8) -> Page? {
    guard let base = unsafe base, unsafe UInt64(block) &+ UInt64(blocks) <= UInt64(endBlock),
      unsafe verified._withUnsafeGuaranteedRef({ $0.contains(block) })
    else { return nil }
    return unsafe Page(
      mapped: base + Int(block) &* Layout.blockSize, count: Int(blocks) &* Layout.blockSize)
  }

  @inline(__always)
  func prefetch(_ block: UInt32, blocks: UInt8, from offset: Int, count: Int) {
    guard let base = unsafe base, unsafe UInt64(block) &+ UInt64(blocks) <= UInt64(endBlock)
    else { return }
    let start = unsafe base + Int(block) &* Layout.blockSize
    let size = Int(blocks) &* Layout.blockSize
    let first = min(max(offset, 0), size)
    unsafe RawSpan(_unsafeStart: start, byteCount: size).prefetch(first, min(count, size &- first))
  }
}

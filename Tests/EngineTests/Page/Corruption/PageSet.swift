@testable import Cambium

/// A set of the fixture's pages, by their number in its `PageMap`. It has at most 64.
struct PageSet: Hashable, Sendable {
  private var bits: UInt64 = 0

  init() {}

  init(_ page: Int) { insert(page) }

  var isEmpty: Bool { bits == 0 }

  mutating func insert(_ page: Int) {
    precondition(page < 64, "the fixture has at most 64 pages")
    bits |= 1 << UInt64(page)
  }

  func contains(_ page: Int) -> Bool { bits & (1 << UInt64(page)) != 0 }

  func union(_ other: PageSet) -> PageSet {
    var union = self
    union.bits |= other.bits
    return union
  }

  func intersects(_ other: PageSet) -> Bool { bits & other.bits != 0 }

  func isSubset(of other: PageSet) -> Bool { bits & ~other.bits == 0 }
}

/// Every page of the fixture's files, and which blocks it has. A segment's header counts as the page
/// at block 0.
struct PageMap: Sendable {
  private(set) var positions: [PagePosition] = []
  private var numbers: [PagePosition: Int] = [:]
  private var owners: [PagePosition: Int] = [:]

  /// The number of a page, which is noted if it was not known yet.
  mutating func add(_ position: PagePosition, blocks: Int) -> Int {
    if let number = numbers[position] { return number }
    let number = positions.count
    positions.append(position)
    numbers[position] = number
    for block in 0..<UInt32(blocks) {
      owners[PagePosition(segment: position.segment, block: position.block + block)] = number
    }
    return number
  }

  func number(of position: PagePosition) -> Int? { numbers[position] }

  /// The page that has this block.
  func owner(of block: PagePosition) -> Int? { owners[block] }

  /// Where an error about a page must say that it is.
  func place(of page: Int) -> StoreError.CorruptPlace {
    let position = positions[page]
    return position.block == 0 ? .segment(position.segment) : .page(position)
  }
}

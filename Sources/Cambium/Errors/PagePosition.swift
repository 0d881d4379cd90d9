/// The place at which a page begins: a block of a page segment.
///
/// Positions are ordered as pages are appended: a child's is always below its parent's.
public struct PagePosition: Hashable, Sendable {
  /// The number of the page segment, as in its file's name.
  public let segment: UInt32
  /// The first block of the page, counted from the segment's beginning in units of 4 KiB.
  public let block: UInt32

  package init(segment: UInt32, block: UInt32) {
    self.segment = segment
    self.block = block
  }
}

extension PagePosition: Comparable {
  public static func < (one: PagePosition, other: PagePosition) -> Bool {
    (UInt64(one.segment) << 32 | UInt64(one.block))
      < (UInt64(other.segment) << 32 | UInt64(other.block))
  }
}

extension PagePosition: CustomStringConvertible {
  public var description: String { "segment \(segment), block \(block)" }
}

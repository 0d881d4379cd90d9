/// The sizes that the format is built on.
enum Layout {
  /// The unit in which segments grow, in bytes.
  static let blockSize = 4096
  /// The most blocks a page has.
  static let pageBlocksMax = 64
  /// The most blocks a page segment has, since 24 bits say where a page begins: 64 GiB.
  static let segmentBlocksMax = 1 << 24 - 1
  /// The most blocks that a segment gets in a store of up to 16 GiB: 1 GiB. The space of a segment is
  /// freed as a whole.
  static let usualSegmentBlocks = 1 << 18

  /// The most blocks that a segment gets in a store with so many blocks in segments: a sixteenth of them,
  /// so that a terabyte takes a hundred open files and not a thousand.
  static func segmentBlocks(inStoreOf blocks: UInt64) -> Int {
    min(max(Int(blocks / 16), usualSegmentBlocks), segmentBlocksMax)
  }
  /// The highest level of a branch, which ends a descent whatever a file says. No tree comes near it:
  /// positions tell 2^56 pages apart, and with three children in each branch those make 36 levels.
  static let levelMax: UInt8 = 48
}

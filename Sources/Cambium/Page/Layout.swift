/// The sizes that the format is built on.
enum Layout {
  /// The unit in which segments grow, in bytes.
  static let blockSize = 4096
  /// The most blocks a page has.
  static let pageBlocksMax = 64
  /// The most blocks a page segment has: 1 GiB.
  static let segmentBlocksMax = (1 << 30) / blockSize
  /// The highest level of a branch. Even if every branch has only two children, 2^48 leaves lie below
  /// one there: 2^60 bytes.
  static let levelMax: UInt8 = 48
}

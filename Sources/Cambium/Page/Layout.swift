/// The sizes that the format is built on.
enum Layout {
  /// The unit in which segments grow, in bytes.
  static let blockSize = 4096
  /// The most blocks a page has.
  static let pageBlocksMax = 64
  /// The most blocks a page segment has: 1 GiB.
  static let segmentBlocksMax = (1 << 30) / blockSize
  /// The highest level of a branch, which ends a descent whatever a file says. No tree comes near it:
  /// positions tell 2^50 pages apart, and with three children in each branch those make 32 levels.
  static let levelMax: UInt8 = 48
}

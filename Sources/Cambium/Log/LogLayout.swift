/// The sizes that the log is built on, in blocks.
enum LogLayout {
  /// The numbers in the names of the files that every log has.
  static let fileNumbers: Range<UInt32> = 0..<2
  /// The most files that a log is read from.
  static let filesMax = 64
  /// The blocks of the header's two copies. Between them lie 64 KiB, so that damage to neighboring blocks, as of a flash
  /// page or of a chunk of an array of disks, does not reach both.
  static let copyBlocks: [UInt32] = [0, 16]
  /// The block of the first frame, right after the second copy. The blocks between the copies are not used.
  static let firstFrameBlock = 17
  /// The blocks of a new file: 128 KiB.
  static let blocksMin = 32
  /// The most blocks of a file: 256 MiB.
  static let blocksMax = StoreError.Limit.logSize.bound / Layout.blockSize
  /// The blocks that commits leave free after them: for the frame of a footer, and for a seal.
  static let reservedBlocks = 2

  /// The highest sequence, number of a use and epoch that are read, so that the next one is a number too, whatever a file
  /// says.
  static let sequenceMax: UInt64 = 1 << 62

  /// The blocks of a frame with a payload of `count` bytes.
  static func blocks(payload count: Int) -> Int {
    (FrameHeader.size + count + Layout.blockSize - 1) / Layout.blockSize
  }
}

/// The sizes that the log is built on, in blocks.
enum LogLayout {
  /// The numbers of the log's files: there are these two for ever.
  static let fileNumbers: Range<UInt32> = 0..<2
  /// The header's copies, blocks 0 and 1. The first frame is right behind them.
  static let headerBlocks = 2
  /// What a file has at first: 64 KiB.
  static let blocksMin = 16
  /// What a file has at most: 32 MiB.
  static let blocksMax = StoreError.Limit.logSize.bound / Layout.blockSize
  /// What commits leave free behind them: for the frame of a footer, and for a seal.
  static let reservedBlocks = 2

  /// What a sequence or a use is at most, so that the next one is a number too, whatever a file says.
  static let sequenceMax: UInt64 = 1 << 62

  /// The blocks of a frame with a payload of so many bytes.
  static func blocks(payload count: Int) -> Int {
    (FrameHeader.size + count + Layout.blockSize - 1) / Layout.blockSize
  }
}

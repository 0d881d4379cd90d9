/// The sizes that blobs are built on.
///
///     ┌ header block ┬ blob ─────────────────────────────────────┬ blob ─┄
///     │              │ frame │ frame │ … │ checksums │ seek table │
///     └──────────────┴───────┴───────┴───┴───────────┴────────────┴─────┄
///                                        └─────── tail ──────────┘
enum BlobLayout {
  /// The content of a frame but for the last of a blob, in bytes.
  static let frameLength = 256 << 10
  /// Streams up to this length are held in memory until it is known whether they stay in a row. There they do if their field says
  /// nothing.
  static let inRowLength = 64 << 10
  /// The size after which a segment takes no further blob.
  static let segmentSize = 1 << 30
  /// The first byte of the first blob in a segment.
  static let firstOffset = Layout.blockSize
  /// The size of the tail of a blob without content.
  static let tailSizeMin = 33
  /// The bytes that each frame adds to the tail: its checksum and its entry in the seek table.
  static let tailSizePerFrame = 12

  /// Returns where the block ends in which the bytes before `offset` end.
  static func blockEnd(of offset: UInt64) -> UInt64 {
    let size = UInt64(Layout.blockSize)
    return (offset &+ size - 1) / size * size
  }

  /// How many frames hold `length` bytes of content.
  static func frameCount(length: Int) -> Int {
    length / frameLength + (length % frameLength > 0 ? 1 : 0)
  }

  /// The size of the tail after so many frames.
  static func tailSize(frames: Int) -> Int {
    tailSizeMin + tailSizePerFrame * frames
  }

  /// The most bytes that zstd makes of so much content, as `ZSTD_COMPRESSBOUND` has it.
  static func frameSizeMax(length: Int) -> Int {
    let margin = length < 128 << 10 ? ((128 << 10) - length) >> 11 : 0
    return length + length >> 8 + margin
  }
}

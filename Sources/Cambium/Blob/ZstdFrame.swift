/// The first bytes of a zstd frame, as blobs have them (RFC 8878).
///
///     ┌ magic ────────┬ descriptor ┬ content size ┬ blocks …
///     │ fd2fb528 (le) │ 1          │ 1, 2, 4 or 8 │
///     └───────────────┴────────────┴──────────────┴──────────
///
/// Frames of blobs say how long their content is and are of one segment, so that no window is needed: the
/// memory it takes to decompress them is known before, and small.
enum ZstdFrame {
  static let magic: UInt32 = 0xfd2f_b528
  /// The most content of a block.
  static let blockLengthMax = 128 << 10
  /// Of one segment; no checksum of zstd's own, no dictionary, and reserved bits are zero.
  private static let singleSegment: UInt8 = 0b0010_0000

  /// How much content a frame says that it has; nil if it does not begin as those of blobs do.
  static func contentLength(of frame: RawSpan) -> UInt64? {
    guard frame.byteCount >= 5, frame.load(0, as: UInt32.self) == magic else { return nil }
    let descriptor = frame.load(4, as: UInt8.self)
    guard descriptor & 0b0011_1111 == singleSegment else { return nil }
    let width = 1 << Int(descriptor >> 6)
    guard frame.byteCount >= 5 + width else { return nil }
    return switch width {
    case 1: UInt64(frame.load(5, as: UInt8.self))
    case 2: UInt64(frame.load(5, as: UInt16.self)) + 256
    case 4: UInt64(frame.load(5, as: UInt32.self))
    default: frame.load(5, as: UInt64.self)
    }
  }
}

// MARK: - Content as it is

extension ZstdFrame {
  /// The most bytes that a frame of raw blocks has more than its content.
  static let rawOverheadMax = 5 + 4 + 3 * (BlobLayout.frameLength / blockLengthMax)

  /// Writes a frame whose blocks are the content as it is, and returns the frame's size.
  ///
  /// - Precondition: There is content, and `frame` has room for it and `rawOverheadMax`.
  static func encodeRaw(_ content: RawSpan, to frame: inout MutableRawSpan) -> Int {
    precondition(content.byteCount > 0, "a frame has content")
    var end = encodeHeader(length: content.byteCount, to: &frame)
    for start in stride(from: 0, to: content.byteCount, by: blockLengthMax) {
      let length = min(blockLengthMax, content.byteCount - start)
      let isLast = start + length == content.byteCount
      let header = UInt32(length) << 3 | (isLast ? 1 : 0)
      frame.store(UInt16(truncatingIfNeeded: header), at: end)
      frame.store(UInt8(truncatingIfNeeded: header >> 16), at: end + 2)
      frame.copy(content.part(start, length), to: end + 3)
      end += 3 + length
    }
    return end
  }

  private static func encodeHeader(length: Int, to frame: inout MutableRawSpan) -> Int {
    frame.store(magic, at: 0)
    if length < 256 {
      frame.store(singleSegment, at: 4)
      frame.store(UInt8(length), at: 5)
      return 6
    }
    if length < 256 + 65536 {
      frame.store(singleSegment | 1 << 6, at: 4)
      frame.store(UInt16(length - 256), at: 5)
      return 7
    }
    frame.store(singleSegment | 2 << 6, at: 4)
    frame.store(UInt32(length), at: 5)
    return 9
  }
}

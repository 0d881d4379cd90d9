internal import CCambium

/// A CRC-32C (Castagnoli), as headers of segments and blobs carry it.
struct Checksum: Hashable, Sendable {
  private(set) var rawValue: UInt32

  init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The checksum of no bytes, to be updated with some.
  init() {
    rawValue = 0
  }

  /// The checksum of the bytes so far, followed by `bytes`.
  mutating func update(_ bytes: RawSpan) {
    rawValue = unsafe bytes.withUnsafeBytes {
      unsafe cambium_crc32c(rawValue, $0.baseAddress, $0.count)
    }
  }

  /// The checksum of the bytes so far, followed by the eight bytes of `word`, lowest first.
  mutating func update(_ word: UInt64) {
    let word: [1 of UInt64] = [word.littleEndian]
    unsafe update(word.span.bytes)
  }
}

extension Checksum {
  /// The size of the field that holds it.
  static let size = 4

  /// The checksum of the block at a file's beginning, which holds it at `offset`: of all bytes but those.
  static func ofBlock(_ block: RawSpan, but offset: Int) -> Checksum {
    var checksum = Checksum()
    checksum.update(block.part(0, offset))
    checksum.update(block.part(offset + size, Layout.blockSize - offset - size))
    return checksum
  }
}

extension Checksum: CustomStringConvertible {
  /// Eight hexadecimal digits.
  var description: String {
    let digits = String(rawValue, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

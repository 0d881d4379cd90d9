internal import CCambium

/// A CRC-64/NVMe, as pages and the log carry it, and as references to pages repeat it.
struct PageChecksum: Hashable, Sendable {
  private(set) var rawValue: UInt64

  init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The checksum of no bytes, to be updated with some.
  init() {
    rawValue = 0
  }

  /// The checksum of the bytes so far, followed by `bytes`.
  mutating func update(_ bytes: RawSpan) {
    rawValue = unsafe bytes.withUnsafeBytes {
      unsafe cambium_crc64(rawValue, $0.baseAddress, $0.count)
    }
  }

  /// The checksum of the bytes so far, followed by the eight bytes of `word`, lowest first.
  mutating func update(_ word: UInt64) {
    let word: [1 of UInt64] = [word.littleEndian]
    unsafe update(word.span.bytes)
  }
}

extension PageChecksum {
  /// The size of the field at a page's beginning that holds its checksum and is not part of it.
  static let size = 8

  /// The checksum that `page` has to carry at `position` in `store`.
  ///
  ///     ┌ store identity ─┬ segment ─┬ block ─┐┌ checksum ┬ page ────┄
  ///     │ 16              │ 4        │ 4      ││ 8 (not)  │ the rest
  ///     └─────────────────┴──────────┴────────┘└──────────┴──────────┄
  ///
  /// Identity and position come first so that a whole, valid page is still refused where it does
  /// not belong: written to the wrong place, or left by another store.
  static func of(
    _ page: RawSpan, at position: PagePosition, in store: StoreIdentity
  ) -> PageChecksum {
    var checksum = store.pageChecksum
    checksum.update(UInt64(position.block) << 32 | UInt64(position.segment))
    checksum.update(page.extracting(droppingFirst: size))
    return checksum
  }
}

extension PageChecksum {
  /// The checksum of a block that holds it at `offset`: of all bytes but those.
  static func ofBlock(_ block: RawSpan, but offset: Int) -> PageChecksum {
    var checksum = PageChecksum()
    checksum.update(block.part(0, offset))
    checksum.update(block.part(offset + size, Layout.blockSize - offset - size))
    return checksum
  }
}

extension PageChecksum: CustomStringConvertible {
  /// Sixteen hexadecimal digits.
  var description: String {
    let digits = String(rawValue, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The content of a page.
enum PageKind: UInt8, Sendable, CaseIterable {
  case leaf = 1
  case branch = 2
  /// A part of a value too large for a leaf.
  case value = 3
  /// The references to the parts of a value too large for one page.
  case valueList = 4
  case footer = 5
}

/// The first 24 bytes of every page.
///
///     offset  0         8     9      10      11     12        24
///             ┌─────────┬─────┬──────┬───────┬──────┬─────────┐
///             │checksum │kind │level │blocks │flags │reserved │
///             └─────────┴─────┴──────┴───────┴──────┴─────────┘
///
/// The checksum covers the store's identity, the page's position and the page from byte 8 on.
struct PageHeader: Equatable, Sendable {
  static let size = 24

  let checksum: PageChecksum
  private let word: UInt32

  init(kind: PageKind, level: UInt8, blocks: UInt8, flags: UInt8 = 0, checksum: PageChecksum) {
    self.checksum = checksum
    word =
      UInt32(kind.rawValue) | UInt32(level) << 8 | UInt32(blocks) << 16 | UInt32(flags) << 24
  }

  @inline(__always)
  init(_ page: RawSpan) {
    checksum = PageChecksum(rawValue: page.load(0, as: UInt64.self))
    word = page.load(8, as: UInt32.self)
  }

  var kind: UInt8 { UInt8(truncatingIfNeeded: word) }
  var level: UInt8 { UInt8(truncatingIfNeeded: word >> 8) }
  var blocks: UInt8 { UInt8(truncatingIfNeeded: word >> 16) }
  var flags: UInt8 { UInt8(truncatingIfNeeded: word >> 24) }

  /// True if this is the header of the page that `reference` means, whatever its flags. Two comparisons.
  @inline(__always)
  func matches(_ reference: PageReference, kind: PageKind, level: UInt8) -> Bool {
    let expected = PageHeader(
      kind: kind, level: level, blocks: reference.blocks, checksum: reference.checksum)
    return checksum == expected.checksum && word & 0x00ff_ffff == expected.word
  }

  func encode(to page: inout MutableRawSpan) {
    page.store(checksum.rawValue, at: 0)
    page.store(word, at: 8)
    page.zero(12..<Self.size)
  }
}

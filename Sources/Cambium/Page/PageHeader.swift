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

/// The first eight bytes of every page.
///
///     offset  0         4     5      6       7
///             ┌─────────┬─────┬──────┬───────┬──────┐
///             │checksum │kind │level │blocks │flags │
///             └─────────┴─────┴──────┴───────┴──────┘
///
/// The checksum covers the store's identity, the page's position and the page from byte 4 on.
struct PageHeader: Equatable, Sendable {
  static let size = 8

  private let word: UInt64

  init(kind: PageKind, level: UInt8, blocks: UInt8, flags: UInt8 = 0, checksum: Checksum) {
    word =
      UInt64(checksum.rawValue) | UInt64(kind.rawValue) << 32 | UInt64(level) << 40
      | UInt64(blocks) << 48 | UInt64(flags) << 56
  }

  @inline(__always)
  init(_ page: RawSpan) {
    word = page.load(0, as: UInt64.self)
  }

  var checksum: Checksum { Checksum(rawValue: UInt32(truncatingIfNeeded: word)) }
  var kind: UInt8 { UInt8(truncatingIfNeeded: word >> 32) }
  var level: UInt8 { UInt8(truncatingIfNeeded: word >> 40) }
  var blocks: UInt8 { UInt8(truncatingIfNeeded: word >> 48) }
  var flags: UInt8 { UInt8(truncatingIfNeeded: word >> 56) }

  /// True if this is the header of the page that `reference` means, whatever its flags. One comparison.
  @inline(__always)
  func matches(_ reference: PageReference, kind: PageKind, level: UInt8) -> Bool {
    let expected = PageHeader(
      kind: kind, level: level, blocks: reference.blocks, checksum: reference.checksum)
    return word & 0x00ff_ffff_ffff_ffff == expected.word
  }

  func encode(to page: inout MutableRawSpan) {
    page.store(word, at: 0)
  }
}

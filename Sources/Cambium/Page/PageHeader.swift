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
///     offset  0         8     9      10      11     12             16         17    20        24
///             ┌─────────┬─────┬──────┬───────┬──────┬──────────────┬──────────┬─────┬─────────┐
///             │checksum │kind │level │blocks │flags │stored length │algorithm │zero │reserved │
///             └─────────┴─────┴──────┴───────┴──────┴──────────────┴──────────┴─────┴─────────┘
///
/// The checksum covers the store's identity, the page's position and the page from byte 8 on. Later versions may
/// compress or encrypt what follows the header; this one writes plain pages and refuses all others.
struct PageHeader: Equatable, Sendable {
  static let size = 24
  /// The flag of a page that is encrypted. A tag of 16 bytes follows its header.
  static let encryptedFlag: UInt8 = 0x80

  let checksum: PageChecksum
  private let word: UInt32
  /// The algorithm by which the page is compressed, and the three bytes after it: 0 for a plain page.
  private let encoding: UInt32

  init(kind: PageKind, level: UInt8, blocks: UInt8, flags: UInt8 = 0, checksum: PageChecksum) {
    self.checksum = checksum
    word =
      UInt32(kind.rawValue) | UInt32(level) << 8 | UInt32(blocks) << 16 | UInt32(flags) << 24
    encoding = 0
  }

  @inline(__always)
  init(_ page: RawSpan) {
    checksum = PageChecksum(rawValue: page.load(0, as: UInt64.self))
    word = page.load(8, as: UInt32.self)
    encoding = page.load(16, as: UInt32.self)
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

  /// True if the bytes after the header are the page's content as it is: neither compressed nor encrypted.
  var isPlain: Bool { encoding == 0 && flags & Self.encryptedFlag == 0 }

  /// Throws if only a newer program can read the page.
  ///
  /// - Parameters:
  ///   - position: The page's.
  ///   - path: The store's.
  /// - Throws: `.newerFormat`.
  func checkPlain(at position: PagePosition, path: String) throws(StoreError) {
    if isPlain { return }
    let algorithm = UInt8(truncatingIfNeeded: encoding)
    throw .newerFormat(
      path: path,
      reason: flags & Self.encryptedFlag != 0
        ? "the page at \(position) is encrypted"
        : "the page at \(position) is compressed by algorithm \(algorithm)")
  }

  func encode(to page: inout MutableRawSpan) {
    page.store(checksum.rawValue, at: 0)
    page.store(word, at: 8)
    page.store(UInt32(0), at: 12)
    page.store(encoding, at: 16)
    page.store(UInt32(0), at: 20)
  }
}

/// The place of a page, its checksum, and the aggregates of its subtree.
///
/// A parent vouches for its child: a page that does not match the reference that led to it is not
/// used. The aggregates answer "how many", "how much of this is garbage" and "what is still old"
/// without reading what is below.
///
///     offset  0        4      7        8          16              20      26
///             ┌────────┬──────┬────────┬──────────┬───────────────┬───────┬────────────┐
///             │segment │block │blocks  │checksum  │lowest version │count  │live blocks │ 32 bytes
///             └────────┴──────┴────────┴──────────┴───────────────┴───────┴────────────┘
struct PageReference: Equatable, Sendable {
  static let size = 32
  /// The highest count, and the highest number of live blocks: what 48 bits can say, and far more
  /// than a store can hold.
  static let aggregateMax: UInt64 = 1 << 48 - 1
  /// The highest live bytes: little enough that two can be added.
  static let liveBytesMax = aggregateMax * UInt64(Layout.blockSize)

  var position: PagePosition
  /// The page's size in blocks, 1 to 64.
  var blocks: UInt8
  var checksum: PageChecksum
  /// The lowest schema version of a leaf at or below the page; 0 for pages of a value.
  var lowestVersion: UInt32
  /// The entries at or below the page; 0 for pages of a value.
  var count: UInt64
  /// The bytes of the page and of all pages below it: whole blocks, and so they are stored.
  var liveBytes: UInt64

  /// The page's size in bytes.
  var size: Int { Int(blocks) * Layout.blockSize }
  /// The block after the page's last one.
  var endBlock: UInt32 { position.block + UInt32(blocks) }
}

extension PageReference {
  /// The aggregates of a reference to a page of `blocks` blocks, before the page has a position.
  static func unplaced(blocks: Int) -> PageReference {
    PageReference(
      position: PagePosition(segment: 0, block: 0), blocks: UInt8(blocks), checksum: PageChecksum(),
      lowestVersion: 0, count: 0, liveBytes: UInt64(blocks * Layout.blockSize))
  }

  /// Copies the aggregates of another reference.
  mutating func state(_ other: PageReference) {
    lowestVersion = other.lowestVersion
    count = other.count
    liveBytes = other.liveBytes
  }
}

extension PageReference {
  /// Reads a reference that may hold anything. `check(below:)` says whether it can be one.
  @inline(__always)
  init(decoding bytes: RawSpan, at offset: Int) {
    let place = bytes.load(offset + 4, as: UInt32.self)
    position = PagePosition(
      segment: bytes.load(offset, as: UInt32.self), block: place & 0xff_ffff)
    blocks = UInt8(truncatingIfNeeded: place >> 24)
    checksum = PageChecksum(rawValue: bytes.load(offset + 8, as: UInt64.self))
    lowestVersion = bytes.load(offset + 16, as: UInt32.self)
    // Of each of these words, 16 bits are another field's.
    count = bytes.load(offset + 20, as: UInt64.self) & Self.aggregateMax
    liveBytes = (bytes.load(offset + 24, as: UInt64.self) >> 16) &* UInt64(Layout.blockSize)
  }

  func encode(to bytes: inout MutableRawSpan, at offset: Int) {
    bytes.store(position.segment, at: offset)
    bytes.store(position.block | UInt32(blocks) << 24, at: offset + 4)
    bytes.store(checksum.rawValue, at: offset + 8)
    bytes.store(lowestVersion, at: offset + 16)
    bytes.store(UInt32(truncatingIfNeeded: count), at: offset + 20)
    bytes.store(countAndLiveBlocks, at: offset + 24)
  }

  /// The last eight bytes: the highest 16 bits of the count, and the number of live blocks.
  private var countAndLiveBlocks: UInt64 {
    count >> 32 & 0xffff | (liveBytes / UInt64(Layout.blockSize)) << 16
  }

  /// Appends the 32 bytes to `bytes`.
  func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: position.segment)
    bytes.append(integer: position.block | UInt32(blocks) << 24)
    bytes.append(integer: checksum.rawValue)
    bytes.append(integer: lowestVersion)
    bytes.append(integer: UInt32(truncatingIfNeeded: count))
    bytes.append(integer: countAndLiveBlocks)
  }

  /// Throws unless this can be a reference in the page at `parent`.
  func check(below parent: PagePosition) throws(StoreError) {
    guard blocks >= 1, blocks <= Layout.pageBlocksMax else {
      throw .corrupt(
        .page(parent), invariant: .referenceBounds,
        reason: "it refers to a page of \(blocks) blocks")
    }
    guard position < parent else {
      throw .corrupt(
        .page(parent), invariant: .childBeforeParent,
        reason: "it refers to a page after itself, at \(position)")
    }
    guard liveBytes >= size else {
      throw .corrupt(
        .page(parent), invariant: .referenceBounds,
        reason: "it refers to \(count) entries in \(liveBytes) bytes at \(position)")
    }
  }
}

extension UInt64 {
  mutating func addClamping(_ other: UInt64) {
    let (sum, overflow) = addingReportingOverflow(other)
    self = overflow ? .max : sum
  }
}

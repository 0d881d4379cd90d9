/// A reference that opens a store at one moment: the places of its footer's two copies, and their checksums.
///
///     offset  0        4      7       8          16              24
///             ┌────────┬──────┬───────┬──────────┬───────────────┬─────────────────┐
///             │segment │block │blocks │checksum  │copy's checksum│covered sequence │ 32 bytes
///             └────────┴──────┴───────┴──────────┴───────────────┴─────────────────┘
///
/// The copy lies right after the first.
struct FooterReference: Hashable, Sendable {
  static let size = 32

  let position: PagePosition
  let blocks: UInt8
  let checksum: PageChecksum
  let copyChecksum: PageChecksum
  /// Every commit up to this one is in the footer's trees.
  let coveredSequence: UInt64

  /// The block after both copies.
  var endBlock: UInt32 { position.block &+ 2 &* UInt32(blocks) }

  /// The two places to look, the first first.
  var copies: [PageReference] {
    let copyPosition = PagePosition(
      segment: position.segment, block: position.block &+ UInt32(blocks))
    return [(position, checksum), (copyPosition, copyChecksum)].map { position, checksum in
      PageReference(
        position: position, blocks: blocks, checksum: checksum, lowestVersion: 0, count: 0,
        liveBytes: UInt64(blocks) * UInt64(Layout.blockSize))
    }
  }
}

extension FooterReference {
  init(reading reader: inout ByteReader) throws(StoreError) {
    let segment = try reader.integer(UInt32.self)
    let place = try reader.integer(UInt32.self)
    position = PagePosition(segment: segment, block: place & 0xff_ffff)
    blocks = UInt8(truncatingIfNeeded: place >> 24)
    checksum = PageChecksum(rawValue: try reader.integer(UInt64.self))
    copyChecksum = PageChecksum(rawValue: try reader.integer(UInt64.self))
    coveredSequence = try reader.integer(UInt64.self)
    guard blocks >= 1, blocks <= Layout.pageBlocksMax else {
      throw reader.fault("a footer of \(blocks) blocks")
    }
  }

  func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: position.segment)
    bytes.append(integer: position.block | UInt32(blocks) << 24)
    bytes.append(integer: checksum.rawValue)
    bytes.append(integer: copyChecksum.rawValue)
    bytes.append(integer: coveredSequence)
  }
}

import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The tables of blobs in `FORMAT.md` against what the code writes.
@Suite struct BlobTableTests {
  private let document: FormatDocument
  private let world = BlobWorld()

  init() throws {
    document = try FormatDocument()
  }

  private func table(_ heading: String) throws -> ByteTable {
    try ByteTable(heading, in: document)
  }

  @Test func `a blob segment's header is laid out as the table says`() throws {
    _ = try world.write([1])
    let block = Bytes(try world.medium.contents(of: .blobs(1)).prefix(Layout.blockSize))
    let checksum = Checksum.ofBlock(block.rawSpan, but: 24)
    try table("Blob segment header").verify(
      Bytes(block.prefix(BlobSegmentHeader.size)),
      [
        "magic": Bytes("CAMBLOB\0".utf8), "format version": little(1, 4), "number": little(1, 4),
        "blob seed": little(0x5eed_5eed_1234, 8),
        "checksum": little(UInt64(checksum.rawValue), 4), "reserved": little(0, 4),
        "compatible": little(0, 8), "read compatible": little(0, 8), "incompatible": little(0, 8),
        "key": Bytes(repeating: 0, count: 16), "created": little(0, 8),
      ])
    #expect(block.dropFirst(BlobSegmentHeader.size).allSatisfy { $0 == 0 })
  }

  @Test func `a blob's tail is laid out as the tables say`() throws {
    let blob = try world.write(.text(300_000))
    let bytes = try world.bytes(of: blob.place)
    let tail = Bytes(bytes.suffix(BlobLayout.tailSize(frames: 2)))
    let checksums = Bytes(tail[8..<16])
    try table("Checksums of frames").verify(
      Bytes(tail[..<16]),
      ["magic": little(0x184d_2a5c, 4), "size": little(8, 4), "checksums": checksums])
    let entries = Bytes(tail[24..<48])
    try table("Seek table").verify(
      Bytes(tail[16...]),
      [
        "magic": little(0x184d_2a5e, 4), "size": little(24 + 9, 4), "entries": entries,
        "count": little(3, 4), "descriptor": [0], "end magic": little(0x8f92_eab1, 4),
      ])
    var offset = 0
    for (index, length) in [262_144, 37_856].enumerated() {
      let size = Int(entries.rawSpan.load(8 * index, as: UInt32.self))
      try table("Seek table entry").verify(
        Bytes(entries[8 * index..<8 * index + 8]),
        ["size": little(UInt64(size), 4), "length": little(UInt64(length), 4)])
      let frame = Bytes(bytes[offset..<offset + size])
      #expect(Bytes(checksums[4 * index..<4 * index + 4]) == checksum(of: frame, UInt64(index)))
      offset += size
    }
    #expect(Bytes(entries[16...]) == little(16, 4) + little(0, 4))
    #expect(offset + tail.count == bytes.count)
    #expect(
      little(UInt64(blob.place.checksum.rawValue), 4) == checksum(of: tail, .max))
  }

  /// By the words of the document.
  private func checksum(of bytes: Bytes, _ index: UInt64) -> Bytes {
    let start =
      little(0x5eed_5eed_1234, 8) + little(1, 8) + little(0x1d00_0000_0000_0001, 8)
      + little(index, 8)
    var checksum = Checksum()
    checksum.update((start + bytes).rawSpan)
    return little(UInt64(checksum.rawValue), 4)
  }

  @Test func `a place is laid out as the table says`() throws {
    let place = BlobPlace(
      segment: 0x1413_1211, offset: 0x2827, size: 0x3837, length: 0x4847,
      checksum: Checksum(rawValue: 0x5453_5251))
    var bytes = Bytes()
    place.encode(to: &bytes)
    try table("Blob place").verify(
      bytes,
      [
        "segment": little(0x1413_1211, 4), "offset": little(0x2827, 8), "size": little(0x3837, 8),
        "length": little(0x4847, 8), "checksum": little(0x5453_5251, 4),
      ])
  }
}

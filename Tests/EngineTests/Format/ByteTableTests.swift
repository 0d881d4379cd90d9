import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The byte tables of `FORMAT.md` against structures whose fields all differ.
@Suite struct ByteTableTests {
  private let document: FormatDocument
  private let reference = PageReference(
    position: PagePosition(segment: 0x0403_0201, block: 0x03_0605), blocks: 9,
    checksum: PageChecksum(rawValue: 0x1110_0f0e_0d0c_0b0a), lowestVersion: 0x1514_1312,
    count: 0x1b1a_1918_1716, liveBytes: 0x2120_1f1e_1d1c << 12)
  private let footerReference = FooterReference(
    position: PagePosition(segment: 0x3433_3231, block: 0x02_3635), blocks: 0x37,
    checksum: PageChecksum(rawValue: 0x3f3e_3d3c_3b3a_3938),
    copyChecksum: PageChecksum(rawValue: 0x4f4e_4d4c_4b4a_4948),
    coveredSequence: 0x4746_4544_4342_4140)

  init() throws {
    document = try FormatDocument()
  }

  private func table(_ heading: String) throws -> ByteTable {
    try ByteTable(heading, in: document)
  }

  private var referenceBytes: Bytes {
    var bytes: Bytes = []
    reference.encode(to: &bytes)
    return bytes
  }

  private var footerReferenceBytes: Bytes {
    var bytes: Bytes = []
    footerReference.encode(to: &bytes)
    return bytes
  }

  @Test func `a segment header is laid out as the table says`() throws {
    let header = SegmentHeader(
      identity: StoreIdentity(low: 0x2827_2625_2423_2221, high: 0x3837_3635_3433_3231),
      number: 0x1413_1211,
      features: Features(compatible: 0x4241, readCompatible: 0x4443, incompatible: 0x4645))
    let block = encoded(Layout.blockSize, fill: 0xa5) { header.encode(to: &$0) }
    let checksum = Checksum.ofBlock(block.rawSpan, but: 36)
    try table("Segment header").verify(
      Bytes(block.prefix(SegmentHeader.size)),
      [
        "magic": Bytes("CAMBIUM\0".utf8), "format version": little(1, 4),
        "number": little(0x1413_1211, 4),
        "identity": little(0x2827_2625_2423_2221, 8) + little(0x3837_3635_3433_3231, 8),
        "reserved": little(0, 4), "checksum": little(UInt64(checksum.rawValue), 4),
        "compatible": little(0x4241, 8), "read compatible": little(0x4443, 8),
        "incompatible": little(0x4645, 8), "key": Bytes(repeating: 0, count: 16),
        "created": little(0, 8),
      ])
    #expect(block.dropFirst(SegmentHeader.size).allSatisfy { $0 == 0 })
  }

  @Test func `a page header is laid out as the table says`() throws {
    let header = PageHeader(
      kind: .valueList, level: 17, blocks: 33, flags: 49,
      checksum: PageChecksum(rawValue: 0x5857_5655_5453_5251))
    try table("Page header").verify(
      encoded(PageHeader.size, fill: 0xa5) { header.encode(to: &$0) },
      [
        "checksum": little(0x5857_5655_5453_5251, 8), "kind": [4], "level": [17], "blocks": [33],
        "flags": [49], "stored length": little(0, 4), "algorithm": [0], "zero": little(0, 3),
        "reserved": little(0, 4),
      ])
  }

  @Test func `references are laid out as the tables say`() throws {
    let span = encoded(PageReference.size) { reference.encode(to: &$0, at: 0) }
    for bytes in [referenceBytes, span] {
      try table("Page reference").verify(
        bytes,
        [
          "segment": little(0x0403_0201, 4), "block": little(0x03_0605, 3), "blocks": [9],
          "checksum": little(0x1110_0f0e_0d0c_0b0a, 8), "lowest version": little(0x1514_1312, 4),
          "count": little(0x1b1a_1918_1716, 6),
          "live blocks": little(0x2120_1f1e_1d1c, 6),
        ])
    }
    try table("Footer reference").verify(
      footerReferenceBytes,
      [
        "segment": little(0x3433_3231, 4), "block": little(0x02_3635, 3), "blocks": [0x37],
        "checksum": little(0x3f3e_3d3c_3b3a_3938, 8),
        "checksum of the copy": little(0x4f4e_4d4c_4b4a_4948, 8),
        "covered sequence": little(0x4746_4544_4342_4140, 8),
      ])
  }

  @Test func `a footer's fixed part is laid out as the table says`() throws {
    var footer = Footer(identity: StoreIdentity(low: 0x0807_0605, high: 0x1817_1615))
    footer.features = Features(compatible: 0x2827, readCompatible: 0x3837, incompatible: 0x4847)
    footer.coveredSequence = 0x5857_5655
    footer.logUse = 0x6867_6665
    footer.epoch = 0x7877_7675
    footer.nextSegment = 0x8887_8685
    let noRoot = [0xff] + Bytes(repeating: 0, count: 32)
    let page = encoded(Footer.fixedSize + 3, fill: 0xa5) { footer.encode([1, 2, 3], to: &$0) }
    try table("Footer, fixed part").verify(
      Bytes(page.prefix(Footer.fixedSize)),
      [
        "page header": Bytes(repeating: 0xa5, count: 24), "length": little(3, 4),
        "log use": little(0x6867_6665, 4),
        "identity": little(0x0807_0605, 8) + little(0x1817_1615, 8),
        "compatible": little(0x2827, 8), "read compatible": little(0x3837, 8),
        "incompatible": little(0x4847, 8), "covered sequence": little(0x5857_5655, 8),
        "epoch": little(0x7877_7675, 8), "next segment": little(0x8887_8685, 4),
        "reserved": little(0, 4), "catalog root": noRoot, "segment root": noRoot,
        "reserved, too": little(0, 6),
      ])
    #expect(page.suffix(3) == [1, 2, 3])
  }

  @Test func `pages of large values are laid out as the tables say`() throws {
    let medium = InMemoryFileSystem()
    let appender = PageAppender(to: medium, of: .ofFixtures, from: 1, output: .buffered)
    let value = Bytes((0..<LargeValue.partLengthMax + 5).map { UInt8($0 % 251) })
    let list = try appender.append(largeValue: value.rawSpan)
    try appender.sync()
    let file = try medium.contents(of: .pages(1))
    let listPage = Bytes(file[Int(list.position.block) * 4096..<Int(list.endBlock) * 4096])
    let parts = Bytes(listPage[40..<40 + 64])
    try table("Value list page").verify(
      Bytes(listPage.prefix(40 + 64)),
      [
        "page header": Bytes(listPage.prefix(24)), "length": little(UInt64(value.count), 8),
        "count": little(2, 4), "reserved": little(0, 4), "parts": parts,
      ])
    #expect(listPage[8] == 4)
    let part = PageReference(decoding: parts.rawSpan, at: 32)
    let partPage = Bytes(file[Int(part.position.block) * 4096..<Int(part.endBlock) * 4096])
    try table("Value page").verify(
      Bytes(partPage.prefix(32 + 5)),
      [
        "page header": Bytes(partPage.prefix(24)), "length": little(5, 4),
        "reserved": little(0, 4), "bytes": Bytes(value.suffix(5)),
      ])
    #expect(partPage[8] == 3)
  }
}

// MARK: Sections

extension ByteTableTests {
  /// The bytes of the only section of a footer, which has one element.
  private func section(_ fill: (inout Footer) -> Void) throws -> Bytes {
    var footer = Footer(identity: .ofFixtures)
    fill(&footer)
    return try footer.encodedSections()
  }

  /// Verifies the section's own fields, and returns its element.
  private func element(_ kind: String, _ section: Bytes) throws -> Bytes {
    let kinds = try document.table("Section kinds")
    let number = try #require(kinds.first { $0["name"] == "`\(kind)`" }?["kind"])
    let payload = Bytes(section.dropFirst(8))
    try table("Section").verify(
      section,
      [
        "kind": little(try #require(UInt64(number)), 2), "flags": little(1, 2),
        "length": little(UInt64(payload.count), 4), "payload": payload,
      ])
    #expect(payload.prefix(4) == [1, 0, 0, 0])
    return Bytes(payload.dropFirst(4))
  }

  @Test func `lines of the catalog are laid out as the table says`() throws {
    let root = TreeRoot(reference: reference, level: 5)
    for (root, layers) in [(root, [0, 5] + referenceBytes), (nil, [])] as [(TreeRoot?, Bytes)] {
      try table("Tree").verify(
        element("trees", section { $0.trees = [NamedTree(name: "tree", root: root)] }),
        [
          "name length": [4], "name": Bytes("tree".utf8), "layer count": [root == nil ? 0 : 1],
          "layers": layers, "options length": [0, 0], "options": [],
        ])
    }
    try table("Layer").verify(
      [0, 5] + referenceBytes,
      ["flags": [0], "level": [5], "root": referenceBytes])
  }

  @Test func `lines of the segment table are laid out as the table says`() throws {
    for (kind, number) in [(SegmentExtent.Kind.pages, 1), (.blobs, 2)]
      as [(
        SegmentExtent.Kind, UInt8
      )]
    {
      let extent = SegmentExtent(
        kind: kind, number: 0x1413_1211, end: 0x0003_2221, liveBytes: 0x3231)
      try table("Segment").verify(
        element("segments", section { $0.segments = [extent] }),
        [
          "kind": [number], "number": little(0x1413_1211, 4), "end": little(0x0003_2221, 8),
          "live bytes": little(0x3231, 8),
        ])
    }
  }

  @Test func `states and work are laid out as the tables say`() throws {
    let state = KeptState(version: 0x1211, label: "two", footer: footerReference)
    try table("Kept state").verify(
      element("keptStates", section { $0.keptStates = [state] }),
      [
        "version": little(0x1211, 4), "label length": [3], "label": Bytes("two".utf8),
        "footer": footerReferenceBytes,
      ])
    let work = PendingWork(kind: 0x1211, cursor: [9, 8], trees: [NamedTree(name: "t")])
    try table("Pending work").verify(
      element("pendingWork", section { $0.pendingWork = [work] }),
      [
        "kind": little(0x1211, 2), "cursor length": little(2, 2), "cursor": [9, 8],
        "tree count": little(1, 4), "trees": [1] + Bytes("t".utf8) + [0, 0, 0],
      ])
    var place = CompactionPlace(
      scope: .segments, below: 0x1413_1211, segments: SegmentSet([0x2423_2221, 0x3433_3231]))
    place.tree = "two"
    place.key = [9, 8]
    try table("Place of a compaction").verify(
      try place.encoded(),
      [
        "scope": [2], "below": little(0x1413_1211, 4), "segment count": little(2, 2),
        "segments": little(0x2423_2221, 4) + little(0x3433_3231, 4), "tree length": [3],
        "tree": Bytes("two".utf8), "key length": little(2, 2), "key": [9, 8],
      ])
    try table("Previous").verify(
      element("previous", section { $0.previous = footerReference }),
      ["footer": footerReferenceBytes])
  }
}

/// What `encode` writes to a span of `count` bytes.
private func encoded(
  _ count: Int, fill: UInt8 = 0, _ encode: (inout MutableRawSpan) -> Void
) -> Bytes {
  var bytes = Bytes(repeating: fill, count: count)
  var span = bytes.mutableSpan
  var raw = unsafe span.mutableBytes
  encode(&raw)
  return bytes
}

import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The log's tables in `FORMAT.md` against structures whose fields all differ.
@Suite struct LogTableTests {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument()
  }

  private func table(_ heading: String) throws -> ByteTable {
    try ByteTable(heading, in: document)
  }

  @Test func `a log header is laid out as the table says`() throws {
    let footer = FooterReference(
      position: PagePosition(segment: 0x3433_3231, block: 0x02_3635), blocks: 0x37,
      checksum: PageChecksum(rawValue: 0x3f3e_3d3c_3b3a_3938),
      copyChecksum: PageChecksum(rawValue: 0x4f4e_4d4c_4b4a_4948),
      coveredSequence: 0x4746_4544_4342_4140)
    var footerBytes: Bytes = []
    footer.encode(to: &footerBytes)
    let header = LogHeader(
      identity: StoreIdentity(low: 0x2827_2625_2423_2221, high: 0x3837_3635_3433_3231),
      number: 0x1817_1615_1413_1211, epoch: 0x9897_9695_9493_9291, blocks: 0x0807_0605,
      salt: 0x5857_5655_5453_5251, firstSequence: 0x6867_6665_6463_6261, footer: footer,
      features: Features(compatible: 0x71, readCompatible: 0x72, incompatible: 0x73),
      time: 0xa8a7_a6a5_a4a3_a2a1, openingBlocks: 0x8483_8281, earlierUses: 0x8887_8685,
      before: PageChecksum(rawValue: 0xb8b7_b6b5_b4b3_b2b1), file: 3)
    var block = Bytes(repeating: 0xa5, count: Layout.blockSize)
    var span = block.mutableSpan
    var raw = unsafe span.mutableBytes
    header.encode(to: &raw)
    var checksum = PageChecksum()
    checksum.update(block.rawSpan.part(0, 32))
    checksum.update(block.rawSpan.part(40, 4056))
    try table("Log header").verify(
      Bytes(block.prefix(LogHeader.size)),
      [
        "magic": Bytes("CAMBLOG\0".utf8), "format version": little(1, 4),
        "blocks": little(0x0807_0605, 4),
        "identity": little(0x2827_2625_2423_2221, 8) + little(0x3837_3635_3433_3231, 8),
        "checksum": little(checksum.rawValue, 8), "compatible": little(0x71, 8),
        "read compatible": little(0x72, 8), "incompatible": little(0x73, 8),
        "number": little(0x1817_1615_1413_1211, 8), "epoch": little(0x9897_9695_9493_9291, 8),
        "first sequence": little(0x6867_6665_6463_6261, 8),
        "salt": little(0x5857_5655_5453_5251, 8), "footer": footerBytes,
        "time": little(0xa8a7_a6a5_a4a3_a2a1, 8), "opening blocks": little(0x8483_8281, 4),
        "earlier uses": little(0x8887_8685, 4), "before": little(0xb8b7_b6b5_b4b3_b2b1, 8),
        "file": little(4, 4),
      ])
    #expect(block.dropFirst(LogHeader.size).allSatisfy { $0 == 0 })
  }

  @Test func `a frame header is laid out as the table says`() throws {
    let buffer = FrameBuffer()
    buffer.appendTree(Bytes("t".utf8).rawSpan)
    let identity = StoreIdentity(low: 3, high: 4)
    var header = FrameHeader(
      .overlay, sequences: 0x1111_2222_3333_4444...0x5555_6666_7777_7888, length: 3,
      previous: PageChecksum(rawValue: 0x0807_0605_0403_0201), salt: 0x1817_1615_1413_1211,
      block: 0x2423_2221, flushedThrough: 0x3433_3231, time: 0x4847_4645_4443_4241)
    header.flags = 0x51
    _ = buffer.seal(header, in: identity)
    let frame = buffer.frame.array()
    #expect(frame.count == Layout.blockSize)
    let covered = little(3, 8) + little(4, 8) + frame[8..<67]
    var checksum = PageChecksum()
    checksum.update(covered.rawSpan)
    try table("Frame header").verify(
      Bytes(frame.prefix(FrameHeader.size)),
      [
        "checksum": little(checksum.rawValue, 8),
        "previous": little(0x0807_0605_0403_0201, 8),
        "salt": little(0x1817_1615_1413_1211, 8), "block": little(0x2423_2221, 4),
        "flushed through": little(0x3433_3231, 4), "length": little(3, 4), "kind": [2],
        "flags": [0x51], "reserved": little(0, 2), "first": little(0x1111_2222_3333_4444, 8),
        "last": little(0x5555_6666_7777_7888, 8), "time": little(0x4847_4645_4443_4241, 8),
      ])
    #expect(frame[64..<67] == [1, 1, UInt8(ascii: "t")])
    #expect(frame.dropFirst(67).allSatisfy { $0 == 0 })
  }

  @Test func `commits and operations are laid out as the tables say`() throws {
    func bytes(_ append: (FrameBuffer) -> Void) -> Bytes {
      let buffer = FrameBuffer()
      append(buffer)
      return buffer.payload.array()
    }
    let (key, value) = (Bytes("key".utf8), Bytes("a value".utf8))
    try table("Tree operation").verify(
      bytes { $0.appendTree(key.rawSpan) }, ["kind": [1], "name length": [3], "name": key])
    try table("Version operation").verify(
      bytes { $0.appendSchemaVersion(0x0403_0201) },
      ["kind": [2], "version": little(0x0403_0201, 4)])
    for (kind, operation) in [
      (3 as UInt8, bytes { $0.appendAdd(key: key.rawSpan, value: value.rawSpan) }),
      (4, bytes { $0.appendReplace(key: key.rawSpan, value: value.rawSpan) }),
    ] {
      try table("Entry operation").verify(
        operation,
        [
          "kind": [kind], "key length": little(3, 2), "value length": little(7, 4), "key": key,
          "value": value,
        ])
    }
    try table("Remove operation").verify(
      bytes { $0.appendRemove(key: key.rawSpan) },
      ["kind": [5], "key length": little(3, 2), "key": key])
    #expect(bytes { $0.appendClear() } == [6])
    try table("Commit").verify(
      bytes { $0.appendCommit(value.rawSpan) }, ["size": little(7, 4), "operations": value])
  }

  @Test func `every kind of frame and of operation has its number`() throws {
    let frames = try zip(
      document.column("kind", of: "Frame kinds"), document.column("name", of: "Frame kinds"))
    #expect(frames.map { "\($0) \($1)" } == FrameKind.allCases.map { "\($0.rawValue) \($0)" })
    let operations = try zip(
      document.column("kind", of: "Operation kinds"),
      document.column("name", of: "Operation kinds"))
    #expect(
      operations.map { "\($0) \($1)" }
        == LogOperation.Kind.allCases.map { "\($0.rawValue) \($0)" })
  }
}

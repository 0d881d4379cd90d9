import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct SegmentHeaderTests {
  private static let header = SegmentHeader(
    identity: StoreIdentity(low: 0x1122_3344_5566_7788, high: 9), number: 0xfedc_ba98)

  @Test func `a header reads as it was written`() throws {
    let read = try SegmentHeader(
      decoding: bytes().rawSpan, number: Self.header.number, path: "here")
    #expect(read == Self.header)
    #expect(Array(bytes().prefix(8)) == Array("CAMBIUM\0".utf8))
  }

  @Test func `every bit of it is checked, and of its block`() {
    for bit in 0..<Layout.blockSize * 8 {
      var changed = bytes()
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(isCorrupt(changed), "bit \(bit)")
    }
  }

  @Test func `a file too short for one has none`() {
    for count in 0..<Layout.blockSize { #expect(isCorrupt(Array(bytes().prefix(count)))) }
  }

  @Test func `a header under another number is refused`() {
    #expect(isCorrupt(bytes(), number: 1))
  }

  @Test func `a newer version is refused as newer, one that never was as damage`() {
    guard case .newerFormat = error(resealed(version: 2), number: Self.header.number) else {
      Issue.record("version 2 was taken")
      return
    }
    #expect(isCorrupt(resealed(version: 0)))
  }

  @Test func `a feature that must be known is refused as newer, and others are read`() throws {
    guard case .newerFormat("here", _) = error(changed(63, to: 0x80), number: Self.header.number)
    else {
      Issue.record("the feature was taken")
      return
    }
    for (offset, access) in [(40, Features.Access.writing), (48, .reading)] {
      let header = try SegmentHeader(
        decoding: changed(offset, to: 1).rawSpan, number: Self.header.number, path: "here")
      #expect(header.features.access == access)
    }
  }

  @Test(arguments: [32, 64, 79, 80, 87, 88, 4095])
  func `bytes without a meaning may be anything`(offset: Int) {
    #expect(error(changed(offset, to: 0xff), number: Self.header.number) == nil)
  }

  private func bytes() -> Bytes {
    var block = AlignedBuffer(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    Self.header.encode(to: &span)
    return block.bytes.array()
  }

  private func resealed(version: UInt8) -> Bytes { changed(8, to: version) }

  /// The header with one byte changed, and its checksum right.
  private func changed(_ offset: Int, to byte: UInt8) -> Bytes {
    var changed = bytes()
    changed[offset] = byte
    let checksum = Checksum.ofBlock(changed.rawSpan, but: 36)
    changed.replaceSubrange(
      36..<40, with: (0..<4).map { UInt8(truncatingIfNeeded: checksum.rawValue >> ($0 * 8)) })
    return changed
  }

  private func error(_ bytes: Bytes, number: UInt32) -> StoreError? {
    storeError { () throws(StoreError) in
      _ = try SegmentHeader(decoding: bytes.rawSpan, number: number, path: "here")
    }
  }

  private func isCorrupt(_ bytes: Bytes, number: UInt32 = header.number) -> Bool {
    error(bytes, number: number).map {
      if case .corrupt(.segment(number), .segmentHeader, _) = $0 { true } else { false }
    } ?? false
  }
}

@Suite struct SegmentOpeningTests {
  private let medium = InMemoryFileSystem()
  private let identity = FooterFixtures.identity

  init() throws {
    let appender = PageAppender(
      to: medium, of: identity, from: 1, output: .buffered, segmentBlocks: 256)
    _ = try appender.append(.value, blocks: 3) { _ in 0 }
    try appender.sync()
  }

  @Test func `a segment opens as far as it is published`() throws {
    for blocks in 0...4 as ClosedRange<UInt32> { #expect(error(blocks: blocks) == nil) }
  }

  @Test func `one shorter than published is refused`() {
    guard case .corrupt(.segment(1), .segmentEnd, _) = error(blocks: 5) else {
      Issue.record("it opened")
      return
    }
  }

  @Test func `one that is not there is missing`() {
    guard case .missing(let path) = error(number: 2) else {
      Issue.record("it opened")
      return
    }
    #expect(path.hasSuffix("pages-0000000002"))
  }

  @Test func `another store's is refused`() {
    expectHeaderFault(error(identity: .ofStrangers))
  }

  @Test func `another segment's file under its name is refused`() throws {
    try medium.rename(.pages(1), to: .pages(3), at: .test)
    expectHeaderFault(error(number: 3), number: 3)
  }

  @Test func `a file that is no segment is refused`() throws {
    try medium.unlink(.pages(1), at: .test)
    for bytes in [[], [1], Bytes(repeating: 0x5a, count: 9000)] as [Bytes] {
      _ = try medium.create(.pages(1), bytes)
      expectHeaderFault(error(blocks: 0))
      try medium.unlink(.pages(1), at: .test)
    }
  }

  private func error(
    number: UInt32 = 1, blocks: UInt32 = 4, identity: StoreIdentity = FooterFixtures.identity
  ) -> StoreError? {
    storeError { () throws(StoreError) in
      _ = try PageSegment(
        opening: number, blocks: blocks, of: identity, in: medium, mapped: true)
    }
  }

  private func expectHeaderFault(
    _ error: StoreError?, number: UInt32 = 1, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard case .corrupt(.segment(number), .segmentHeader, _) = error else {
      Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
  }
}

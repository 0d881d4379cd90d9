import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The hexadecimal in `FORMAT.md` is the fixture's, and shows all of it.
@Suite struct FormatHexTests {
  /// Blocks shown as "the same as" another, and the byte from which on they are.
  private static let copies: [FileName: (block: Int, of: Int, from: Int)] = [
    .pages(1): (7, 6, 8), .pages(2): (4, 3, 8), .log(0): (16, 0, 0), .log(1): (16, 0, 0),
  ]

  @Test(arguments: FormatFixture.names)
  func `every byte shown is there, and all others are zero`(name: FileName) throws {
    let file = try #require(try FormatFixture.files()[name])
    var shown = Bytes(repeating: 0, count: file.count)
    var last = -1
    for line in try FormatDocument().hex("\(name)") {
      let end = line.offset + line.bytes.count
      try #require(line.offset > last && end <= file.count, "\(line)")
      last = end - 1
      shown.replaceSubrange(line.offset..<end, with: line.bytes)
    }
    let (block, original, from) = try #require(Self.copies[name])
    let size = Layout.blockSize
    shown.replaceSubrange(
      block * size + from..<(block + 1) * size,
      with: shown[original * size + from..<(original + 1) * size])
    let difference = zip(shown, file).enumerated().first { $1.0 != $1.1 }
    #expect(difference == nil, "\(difference.map { String($0.offset, radix: 16) } ?? "")")
  }

  @Test func `the worked checksums are right`() throws {
    let document = try FormatDocument()
    let page = try #require(try FormatFixture.files()[.pages(2)])[4096..<8192]
    let covered: [Bytes] = [
      Bytes("123456789".utf8), Bytes(0..<16), Bytes(0..<16) + [2, 0, 0, 0, 1, 0, 0, 0],
      Bytes(0..<16) + [2, 0, 0, 0, 1, 0, 0, 0] + page.dropFirst(8),
    ]
    let stated = try document.column("is", of: "Checksum, worked")
    let computed = covered.map { bytes in
      var checksum = PageChecksum()
      checksum.update(bytes.rawSpan)
      return "\(checksum)"
    }
    #expect(stated == computed)
    let independent = covered.map { bytes in
      let checksum = UInt64(bitPattern: Int64(IndependentReader.pageChecksum(of: bytes)))
      return "\(PageChecksum(rawValue: checksum))"
    }
    #expect(independent == computed)
    let last = try #require(UInt64(computed[3], radix: 16))
    #expect((0..<8).map { UInt8(truncatingIfNeeded: last >> (8 * $0)) } == Bytes(page.prefix(8)))
  }
}

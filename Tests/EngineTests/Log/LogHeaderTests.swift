import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Which header counts, as tables to be read across.
@Suite struct LogHeaderTests {
  private static func header(use: UInt64, number: UInt32 = 1, salt: UInt64 = 9) -> LogHeader {
    LogHeader(
      identity: LogWorld.identity, number: number, blocks: 16, use: use, salt: salt,
      openingSequence: 8, footer: LogWorld.footer(5), openingBlocks: 3)
  }

  private static func encoded(_ header: LogHeader) -> Bytes {
    var bytes = Bytes(repeating: 0xa5, count: Layout.blockSize)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    header.encode(to: &raw)
    return bytes
  }

  private func decode(_ block: Bytes, number: UInt32 = 1) throws(StoreError) -> LogHeader {
    try LogHeader(decoding: block.rawSpan, number: number, copy: 0, path: "here")
  }

  // MARK: One copy

  @Test func `a header is read as it was written`() throws {
    var header = Self.header(use: 6)
    header.features = Features(compatible: 1, readCompatible: 2, incompatible: 0)
    #expect(try decode(Self.encoded(header)) == header)
    #expect(header.openingEnd == 5)
  }

  @Test func `a header with any bit wrong is refused, as damaged`() throws {
    let block = Self.encoded(Self.header(use: 6))
    for bit in stride(from: 0, to: block.count * 8, by: scaled(1, debug: 7)) {
      var damaged = block
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      let error = storeError { () throws(StoreError) in _ = try decode(damaged) }
      guard case .corrupt(.log(file: 1, block: 0), .logHeader, _) = error else {
        Issue.record("bit \(bit): \(String(describing: error))")
        continue
      }
    }
  }

  @Test func `what a header cannot say is refused, and what a newer one says is left alone`() throws
  {
    func change(_ offset: Int, to bytes: Bytes) throws -> StoreError? {
      var block = Self.encoded(Self.header(use: 6))
      block.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      block.mendHeader()
      return storeError { () throws(StoreError) in _ = try decode(block) }
    }
    func isNewer(_ error: StoreError?) -> Bool {
      if case .newerFormat = error { true } else { false }
    }
    func isCorrupt(_ error: StoreError?) -> Bool {
      if case .corrupt(.log(file: 1, block: 0), .logHeader, _) = error { true } else { false }
    }
    #expect(try change(0, to: Bytes("CAMBLOG\0".utf8)) == nil)
    #expect(isCorrupt(try change(0, to: Bytes("CAMBIUM\0".utf8))))
    #expect(isNewer(try change(8, to: little(2, 4))))
    #expect(isCorrupt(try change(8, to: little(0, 4))))
    #expect(isCorrupt(try change(32, to: little(0, 4))))
    #expect(isCorrupt(try change(36, to: little(15, 4))))
    #expect(isCorrupt(try change(36, to: little(8193, 4))))
    #expect(isCorrupt(try change(40, to: little(1 << 63, 8))))
    #expect(isCorrupt(try change(56, to: little(5, 8))))
    #expect(isCorrupt(try change(56, to: little(1 << 63, 8))))
    #expect(isNewer(try change(80, to: little(1, 8))))
    #expect(isCorrupt(try change(95, to: [0])))
    #expect(isCorrupt(try change(120, to: little(0, 4))))
    #expect(isCorrupt(try change(120, to: little(15, 4))))
    #expect(isCorrupt(try change(120, to: little(1 << 31, 4))))
    #expect(isCorrupt(try change(4095, to: [1])))
    // What is new in a newer version may be anywhere, and damage there is no new version.
    #expect(
      isNewer(try change(8, to: little(2, 4) + little(0, 4) + Bytes(repeating: 7, count: 99))))
    var damaged = Self.encoded(Self.header(use: 6))
    damaged[8] = 2
    #expect(isCorrupt(storeError { () throws(StoreError) in _ = try decode(damaged) }))
  }

  // MARK: Two copies

  private enum Copy: CaseIterable {
    /// Whole, of use 6, of use 4; of use 6 and another salt; damaged; of a newer version.
    case new, old, other, bad, newer
  }

  private enum Choice: Equatable {
    case new, old, corrupt, newer
  }

  private func choice(_ one: Copy, _ two: Copy) -> Choice {
    let copies = [one, two].enumerated().map { number, copy -> Result<LogHeader, StoreError> in
      switch copy {
      case .new: .success(Self.header(use: 6))
      case .old: .success(Self.header(use: 4))
      case .other: .success(Self.header(use: 6, salt: 8))
      case .bad:
        .failure(
          .corrupt(.log(file: 1, block: UInt32(number)), invariant: .logHeader, reason: "bad"))
      case .newer: .failure(.newerFormat(path: "here", reason: "newer"))
      }
    }
    do throws(StoreError) {
      return try LogHeaderCopies(copies: copies).newest().use == 6 ? .new : .old
    } catch {
      if case .newerFormat = error { return .newer }
      return .corrupt
    }
  }

  @Test func `of two copies the whole one of the higher use counts`() {
    #expect(choice(.new, .new) == .new)
    #expect(choice(.new, .old) == .new)
    #expect(choice(.old, .new) == .new)
    #expect(choice(.old, .old) == .old)
    #expect(choice(.new, .bad) == .new)
    #expect(choice(.bad, .new) == .new)
    #expect(choice(.old, .bad) == .old)
    #expect(choice(.bad, .old) == .old)
    #expect(choice(.bad, .bad) == .corrupt)
    #expect(choice(.new, .other) == .corrupt)
    #expect(choice(.other, .new) == .corrupt)
    for copy in Copy.allCases {
      #expect(choice(.newer, copy) == .newer)
      #expect(choice(copy, .newer) == .newer)
    }
  }

  // MARK: Two files

  @Test func `of two files the one of the higher use is in use, and uses differ by one`() throws {
    func inUse(_ one: UInt64, _ two: UInt64) -> Int? {
      try? LogFiles.inUse([
        Self.header(use: one, number: 0), Self.header(use: two, number: 1),
      ])
    }
    #expect(inUse(1, 0) == 0)
    #expect(inUse(1, 2) == 1)
    #expect(inUse(3, 2) == 0)
    #expect(inUse(3, 4) == 1)
    #expect(inUse(0, 0) == nil)
    #expect(inUse(2, 2) == nil)
    #expect(inUse(1, 3) == nil)
    #expect(inUse(4, 2) == nil)
    #expect(inUse(1 << 62, 0) == nil)
  }

  @Test func `files that do not belong together are refused`() throws {
    let one = InMemoryFileSystem()
    let two = InMemoryFileSystem()
    _ = try Log.create(in: one, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
    _ = try Log.create(
      in: two, of: StoreIdentity(low: 1, high: 2), footer: LogWorld.footer(0), salt: 1)
    #expect(throws: StoreError.self) {
      try LogFiles(opening: one, writing: false, of: StoreIdentity(low: 1, high: 2))
    }
    try one.unlink(.log(1), at: .test)
    #expect(throws: StoreError.missing(path: "memory/log-1")) {
      try LogFiles(opening: one, writing: false)
    }
    _ = try one.create(.log(1), two.contents(of: .log(1)))
    let error = storeError { () throws(StoreError) in
      _ = try LogFiles(opening: one, writing: false)
    }
    guard case .corrupt(.log(file: 1, block: 0), .logHeader, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try one.unlink(.log(0), at: .test)
    #expect(throws: StoreError.missing(path: "memory/log-0")) {
      try LogFiles(opening: one, writing: false)
    }
  }
}

extension [UInt8] {
  /// Gives a header that was tampered with a checksum that is right.
  mutating func mendHeader() {
    var checksum = Checksum()
    checksum.update(rawSpan.part(0, 12))
    checksum.update(rawSpan.part(16, Layout.blockSize - 16))
    replaceSubrange(12..<16, with: little(UInt64(checksum.rawValue), 4))
  }
}

import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Which header counts, as tables to be read across.
@Suite struct LogHeaderTests {
  private static func header(use: UInt64, epoch: UInt64 = 4, salt: UInt64 = 9) -> LogHeader {
    LogHeader(
      identity: LogWorld.identity, number: use, epoch: epoch, blocks: 32, salt: salt,
      firstSequence: 9, footer: LogWorld.footer(5), time: 70, openingBlocks: 3,
      file: UInt32((use & 1) ^ 1))
  }

  private static func encoded(_ header: LogHeader) -> Bytes {
    var bytes = Bytes(repeating: 0xa5, count: Layout.blockSize)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    header.encode(to: &raw)
    return bytes
  }

  private func decode(_ block: Bytes, file: UInt32 = 1) throws(StoreError) -> LogHeader {
    try LogHeader(decoding: block.rawSpan, file: file, copy: 0, path: "here")
  }

  // MARK: One copy

  @Test func `a header is read as it was written`() throws {
    var header = Self.header(use: 6)
    header.features = Features(compatible: 1, readCompatible: 2, incompatible: 0)
    #expect(try decode(Self.encoded(header)) == header)
    #expect(header.openingEnd == 20)
    #expect(header.file == 1)
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
    #expect(isCorrupt(try change(8, to: little(0, 4))))
    #expect(isCorrupt(try change(12, to: little(31, 4))))
    #expect(isCorrupt(try change(12, to: little(65_537, 4))))
    #expect(isNewer(try change(56, to: little(1, 8))))
    // Any file may hold any use.
    #expect(try change(64, to: little(7, 8)) == nil)
    #expect(isCorrupt(try change(64, to: little(1 << 63, 8))))
    #expect(isCorrupt(try change(72, to: little(1 << 63, 8))))
    #expect(isCorrupt(try change(80, to: little(0, 8))))
    #expect(isCorrupt(try change(80, to: little(6, 8))))
    #expect(isCorrupt(try change(80, to: little(1 << 63, 8))))
    #expect(isCorrupt(try change(103, to: [0])))
    #expect(isCorrupt(try change(120, to: little(1 << 63, 8))))
    #expect(isCorrupt(try change(136, to: little(0, 4))))
    #expect(isCorrupt(try change(136, to: little(16, 4))))
    #expect(isCorrupt(try change(136, to: little(1 << 31, 4))))
    // An opening, or earlier uses that there were.
    #expect(isCorrupt(try change(140, to: little(1, 4))))
    #expect(try change(136, to: little(0, 4) + little(1, 4)) == nil)
    #expect(try change(136, to: little(0, 4) + little(5, 4)) == nil)
    #expect(isCorrupt(try change(136, to: little(0, 4) + little(6, 4))))
    #expect(isCorrupt(try change(136, to: little(0, 4) + little(.max, 4))))
    // That of another file, and one of before headers named theirs.
    #expect(isCorrupt(try change(152, to: little(1, 4))))
    #expect(isCorrupt(try change(152, to: little(.max, 4))))
    #expect(try change(152, to: little(0, 4)) == nil)
    #expect(try change(144, to: little(5, 8)) == nil)
    // Reserved bytes are not looked at.
    #expect(try change(LogHeader.size, to: [1]) == nil)
    #expect(try change(4095, to: [1]) == nil)
    // What is new in a newer version may be anywhere, and damage there is no new version.
    #expect(isNewer(try change(8, to: little(2, 4) + Bytes(repeating: 7, count: 20))))
    #expect(isNewer(try change(8, to: little(2, 4))))
    var damaged = Self.encoded(Self.header(use: 6))
    damaged[8] = 2
    #expect(isCorrupt(storeError { () throws(StoreError) in _ = try decode(damaged) }))
  }

  @Test func `reserved bytes are kept, and are in the checksum that the first frame has`() throws {
    for offset in [LogHeader.size, 4095] {
      var block = Self.encoded(Self.header(use: 6))
      block[offset] = 1
      block.mendHeader()
      let header = try decode(block)
      let checksum = block.rawSpan.load(LogHeader.checksumOffset, as: UInt64.self)
      #expect(header.checksum.rawValue == checksum)
      #expect(Self.encoded(header) == block)
      #expect(header != Self.header(use: 6))
    }
    #expect(try decode(Self.encoded(Self.header(use: 6))).reserved.isEmpty)
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
          .corrupt(
            .log(file: 1, block: LogLayout.copyBlocks[number]), invariant: .logHeader,
            reason: "bad"))
      case .newer: .failure(.newerFormat(path: "here", reason: "newer"))
      }
    }
    do throws(StoreError) {
      return try LogHeaderCopies(copies: copies).newest().number == 6 ? .new : .old
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
      try? LogFiles.inUse([Self.header(use: one), Self.header(use: two)])
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

  @Test func `of more files the uses are there that the last one needs, and the one before it`()
    throws
  {
    func inUse(_ uses: [UInt64], earlier: UInt32 = 0, epochs: [UInt64]? = nil) -> Int? {
      let headers = zip(uses, epochs ?? uses.map { _ in 4 }).map { use, epoch in
        var header = Self.header(use: use, epoch: epoch)
        if use == uses.max(), earlier > 0 {
          (header.openingBlocks, header.earlierUses) = (0, earlier)
        }
        return header
      }
      return try? LogFiles.inUse(headers)
    }
    #expect(inUse([1, 2, 0]) == 1)
    #expect(inUse([4, 2, 3]) == 0)
    #expect(inUse([1, 8, 7]) == 1)
    #expect(inUse([4, 6, 3]) == nil)
    #expect(inUse([4, 3, 4]) == nil)
    #expect(inUse([4, 5, 6], earlier: 2) == 2)
    #expect(inUse([3, 5, 6], earlier: 1) == 2)
    #expect(inUse([3, 5, 6], earlier: 2) == nil)
    #expect(inUse([6, 5], earlier: 1) == 0)
    #expect(inUse([6, 5], earlier: 2) == nil)
    #expect(inUse([4, 5, 6], earlier: 3) == nil)
    #expect(inUse([4, 5, 6], earlier: 2, epochs: [1, 1, 2]) == 2)
    #expect(inUse([4, 5, 6], earlier: 2, epochs: [2, 1, 1]) == nil)
    #expect(inUse([4, 5, 6], earlier: 1, epochs: [2, 1, 1]) == 2)
  }

  @Test func `a use of a lower epoch than the one before it is refused`() throws {
    func inUse(_ one: UInt64, _ two: UInt64) -> Int? {
      try? LogFiles.inUse([Self.header(use: 7, epoch: one), Self.header(use: 6, epoch: two)])
    }
    #expect(inUse(0, 0) == 0)
    #expect(inUse(3, 3) == 0)
    #expect(inUse(3, 2) == 0)
    #expect(inUse(2, 3) == nil)
    #expect(inUse(0, 1 << 62) == nil)
  }

  @Test func `a log of a lower epoch than its newest footer is refused`() throws {
    func check(_ log: UInt64, _ footer: UInt64) -> StoreError? {
      var newest = Footer(identity: LogWorld.identity)
      newest.epoch = footer
      return storeError { () throws(StoreError) in
        try LogAge.check(Self.header(use: 6, epoch: log), newest)
      }
    }
    #expect(check(0, 0) == nil)
    #expect(check(5, 5) == nil)
    #expect(check(5, 4) == nil)
    guard case .corrupt(.log(file: 1, block: 0), .logAge, _) = check(4, 5) else {
      Issue.record("it was not refused")
      return
    }
  }

  @Test func `a log keeps its epoch from use to use`() throws {
    let medium = InMemoryFileSystem()
    let log = try Log.create(
      in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), epoch: 3, salt: 1)
    try log.commit(1...1)
    try log.begin(salt: 2)
    #expect(log.header.number == 2)
    #expect(try LogFiles(opening: medium, writing: false).header.epoch == 3)
    #expect(try medium.recoverLog(salt: 3).header.epoch == 3)
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
    let offset = LogHeader.checksumOffset
    let checksum = PageChecksum.ofBlock(rawSpan, but: offset)
    replaceSubrange(offset..<offset + 8, with: little(checksum.rawValue, 8))
  }
}

import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Room: how much there is, how it is made, and what becomes of it when making it fails.
@Suite struct LogGrowthTests {
  private func created(in medium: some FileSystem) throws -> Log {
    try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
  }

  /// Puts a frame of `count` bytes in the log, which stands for one sequence.
  private func append(_ count: Int, to log: Log) throws {
    let buffer = FrameBuffer()
    buffer.appendCommit { commit in
      commit.appendTree(Bytes("t".utf8).rawSpan)
      // The commit's size takes four bytes, the operation's head seven.
      let left = count - 4 - commit.payloadCount - 7
      commit.appendAdd(key: RawSpan(), value: Bytes(repeating: 1, count: left).rawSpan)
    }
    #expect(buffer.payloadCount == count)
    let next = log.lastSequence + 1
    try log.append(.commits, sequences: next...next, buffer)
  }

  @Test func `behind the longest commits a footer and a seal still fit`() throws {
    let medium = InMemoryFileSystem()
    let log = try created(in: medium)
    #expect(log.room == 13 * 4096 - 64)
    try append(log.room, to: log)
    #expect(log.room < 0)
    #expect(log.hasRoomForFooter)
    try log.appendFooter(LogWorld.footer(1))
    #expect(!log.hasRoomForFooter && log.hasRoomForSeal)
    try log.appendSeal()
    #expect(!log.hasRoomForSeal)
    #expect(log.usedShare == 1)
    var reader = LogReader(try LogFiles(opening: medium, writing: false))
    var kinds: [FrameKind] = []
    while let frame = try reader.next() { kinds.append(frame.kind) }
    #expect(kinds == [.commits, .footer, .seal])
    #expect(reader.end == .clean(block: 32))
  }

  @Test func `the spare grows, is begun, and the other file follows`() throws {
    let medium = InMemoryFileSystem()
    let log = try created(in: medium)
    try log.growSpare(to: 64)
    #expect(log.usableBlocks == 32)
    try log.begin(salt: 2)
    #expect(log.header.blocks == 64)
    #expect(log.usableBlocks == 32)
    try log.growSpare(to: 64)
    try log.commit(1...1)
    #expect(log.usableBlocks == 64)
    try append(log.room, to: log)
    try log.flush()
    try log.begin(
      opening: [], footer: LogWorld.footer(2), reserving: 1 << 20, salt: 3)
    #expect(log.header.blocks == 512)
    #expect(try medium.contents(of: .log(0)).count == 512 * 4096)
    #expect(try medium.contents(of: .log(1)).count == 64 * 4096)
  }

  @Test func `a log whose content is in trees gives back what it grew by, and can grow again`()
    throws
  {
    let medium = InMemoryFileSystem()
    let log = try created(in: medium)
    try log.growSpare(to: 64)
    try log.begin(salt: 2)
    try log.growSpare(to: 64)
    try append(log.room, to: log)
    try log.appendFooter(LogWorld.footer(1))
    try log.shrink(salt: 3)
    #expect(log.usableBlocks == 32)
    for number in LogLayout.fileNumbers {
      #expect(try medium.contents(of: .log(number)).count == 32 * 4096)
    }
    let use = log.header.number
    try log.shrink(salt: 4)
    #expect(log.header.number == use, "there is nothing to give back")
    let files = try LogFiles(opening: medium, writing: true)
    #expect(files.header.footer == LogWorld.footer(1) && files.faults.isEmpty)
    try log.growSpare(to: 64)
    try log.begin(salt: 5)
    #expect(log.header.blocks == 64)
  }

  @Test func `no file grows beyond its limit, and what needs more is refused`() throws {
    let log = try created(in: InMemoryFileSystem())
    try log.growSpare(to: 1 << 20)
    try log.begin(salt: 2)
    #expect(log.header.blocks == 65_536)
    #expect(throws: StoreError.limitExceeded(.logSize, found: (17 + 65_537 + 2) * 4096)) {
      try log.begin(opening: [], footer: log.footer, reserving: 256 << 20, salt: 3)
    }
    #expect(!log.isPoisoned)
    try log.commit(1...1)
  }

  @Test(arguments: FlushFailure.allCases)
  func `a growth that fails takes no commit with it`(failure: FlushFailure) throws {
    let history = LogHistory()
    try history.create()
    try history.commit()
    let log = try history.open()
    history.medium.inject(.flush(failure), at: .site(.logGrowSync, 0))
    let isGrown = (try? log.growSpare(to: 64)) != nil
    #expect(isGrown == (failure == .errorOneCallLate))
    try history.commit()
    try history.flush()
    #expect(history.violation(in: history.medium.crashed(.none)) == nil)
    // A sync that lied fails the next one of the file, which is the opening's.
    if isGrown { return }
    try history.begin()
    try history.commit()
    try history.flush()
    #expect(history.violation(in: history.medium.crashed(.none)) == nil)
  }

  @Test func `a full disk stops growth, and nothing else`() throws {
    let history = LogHistory()
    try history.create()
    history.medium.limitDisk(to: history.medium.diskUsage + 5 * 4096)
    #expect(throws: StoreError.full(path: "simulated/log-1.new")) { try history.grow() }
    try history.commit()
    try history.flush()
    try history.begin()
    try history.commit()
    try history.flush()
    #expect(history.violation(in: history.medium.crashed(.none)) == nil)
    history.medium.limitDisk(to: nil)
    try history.grow()
  }

  @Test func `a use is refused whose file was cut, and a spare that was cut grows again`() throws {
    for name in [FileName.log(0), .log(1)] {
      let history = LogHistory()
      try history.live()
      let medium = history.medium
      let whole = try medium.logContents()
      let used = try LogFiles(opening: medium, writing: false).inUse
      let bytes = try #require(medium.bytes(of: name))
      for length in stride(from: 0, to: bytes.count, by: scaled(1_021, debug: 8_167)) {
        let cut = medium.crashed(.all)
        cut.replaceBytes(of: name, with: Bytes(bytes.prefix(length)))
        if name == .log(UInt32(used)) || length < Layout.blockSize {
          #expect(throws: StoreError.self, "\(name) cut to \(length)") { try cut.logContents() }
        } else {
          #expect(try cut.logContents().served == whole.served)
          let log = try cut.recoverLog(salt: UInt64(length))
          #expect(log.lastSequence == whole.lastSequence)
          #expect(log.header.blocks >= 32)
          #expect(try cut.logContents().served == whole.served)
          // The other way round: the file that was in use is the spare now.
          #expect(try cut.recoverLog(salt: 1 + UInt64(length)).lastSequence == whole.lastSequence)
          #expect(try cut.logContents().served == whole.served)
        }
      }
    }
  }
}

import TestSupport
import Testing

@testable import Cambium

/// What is appended to a log is read from it, in memory and on a real file system alike.
@Suite struct LogTests {
  @Test func `a new log is empty, and begins with the footer it was given`() throws {
    let medium = InMemoryFileSystem()
    let log = try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(5), salt: 1)
    #expect(log.lastSequence == 5)
    #expect(log.isFlushed && !log.needsSeal)
    #expect(log.usableBlocks == 32)
    #expect(log.usedShare == 0)
    let found = try medium.logContents()
    #expect(found.frames == [])
    #expect(found.end == .clean(block: 17))
    #expect(found.footer == LogWorld.footer(5))
    #expect(found.lastSequence == 5)
    #expect(found.isSealed && found.faults == [])
    #expect(try Set(medium.list(at: .test)) == [.log(0), .log(1)])
  }

  @Test func `every kind of frame is read as it was appended`() throws {
    let directory = try TemporaryDirectory()
    try everyKindOfFrame(in: PosixFileSystem(at: directory.path))
    try everyKindOfFrame(in: InMemoryFileSystem())
  }

  private func everyKindOfFrame(in medium: some FileSystem) throws {
    let log = try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
    try log.commit(1...2)
    try log.append(.overlay, sequences: 3...5, LogWorld.overlay(3...5))
    try log.flush()
    #expect(log.needsSeal)
    try log.appendFooter(LogWorld.footer(2))
    try log.flush()
    try log.commit(6...6)
    try log.flush()
    try log.appendSeal()
    #expect(!log.needsSeal)
    let found = try medium.logContents()
    #expect(found.frames.map(\.kind) == [.commits, .overlay, .footer, .commits, .seal])
    #expect(found.frames.map(\.sequences) == [1...2, 3...5, 2...2, 6...6, 6...6])
    #expect(found.frames.map(\.footer) == [nil, nil, LogWorld.footer(2), nil, nil])
    #expect(found.frames.first?.blocks == 17..<19)
    #expect(found.footer == LogWorld.footer(2))
    #expect(found.lastSequence == 6)
    #expect(found.isSealed)
  }

  @Test func `frames have the time of the writer's clock, which never goes back`() throws {
    let medium = InMemoryFileSystem()
    let clock = SetClock(100)
    let log = try Log.create(
      in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1, clock: clock.read)
    try log.commit(1...1)
    clock.time = 250
    try log.commit(2...2)
    clock.time = 90
    try log.appendSeal()
    func times() throws -> [UInt64] {
      var reader = LogReader(try LogFiles(opening: medium, writing: false))
      var times: [UInt64] = []
      while try reader.next() != nil { times.append(reader.position.time) }
      return times
    }
    #expect(try times() == [100, 250, 250])
    // What is carried over was committed no later than that.
    clock.time = 300
    try log.begin(salt: 2)
    #expect(try times() == [250])
    clock.time = 200
    try log.commit(3...3)
    #expect(try times() == [250, 250])
    // Opening the log again does not set it back.
    let reopened = try medium.recoverLog(salt: 3, clock: clock.read)
    try reopened.commit(4...4)
    clock.time = 400
    try reopened.commit(5...5)
    #expect(try times() == [250, 250, 400])
    try reopened.flush()
    try reopened.begin(LogWorld.footer(5), salt: 4)
    #expect(try LogFiles(opening: medium, writing: false).header.time == 400)
    let closed = try medium.recoverLog(salt: 5, clock: clock.read)
    clock.time = 1
    try closed.commit(6...6)
    #expect(try times() == [400])
  }

  @Test func `a use goes on in the spare with all that no footer covers`() throws {
    let medium = InMemoryFileSystem()
    let log = try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
    for sequence in 1...20 as ClosedRange<UInt64> {
      if LogWorld.commits(sequence...sequence).payloadCount > log.room {
        try log.begin(LogWorld.footer(sequence - 3), salt: 100 + sequence)
        #expect(log.isFlushed && !log.needsSeal)
        let opening = try #require(try medium.logContents().frames.first)
        #expect(opening.kind == .overlay && opening.sequences == sequence - 2...sequence - 1)
      }
      try log.commit(sequence...sequence)
    }
    #expect(log.header.number > 2)
    #expect(try medium.logContents().lastSequence == 20)
    let recovered = try medium.recoverLog(salt: 7)
    #expect(recovered.lastSequence == 20)
    #expect(recovered.header.number == log.header.number + 1)
    #expect(try medium.logContents().frames.map(\.kind) == [.overlay])
  }

  @Test(arguments: [(1 << 62, 7), (1 << 61 + 1, 7), (7, 1 << 62)] as [(UInt64, UInt64)])
  func `a log whose numbers are nearly used up is read, and not written`(
    use: UInt64, sequence: UInt64
  ) throws {
    let medium = InMemoryFileSystem()
    _ = try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
    for number in LogLayout.fileNumbers {
      var footer = LogWorld.footer(0)
      footer = FooterReference(
        position: footer.position, blocks: 1, checksum: footer.checksum,
        copyChecksum: footer.copyChecksum, coveredSequence: sequence)
      let header = LogHeader(
        identity: LogWorld.identity, number: use - UInt64(number), blocks: 32, salt: 3,
        firstSequence: sequence + 1, footer: footer, file: number)
      let file = try medium.open(.log(header.file), .readWrite, at: .test)
      for copy in 0...1 { try file.write(header, copy: copy, at: .test) }
    }
    let files = try LogFiles(opening: medium, writing: true)
    var reader = LogReader(files)
    #expect(try reader.next() == nil)
    let before = [try medium.contents(of: .log(0)), try medium.contents(of: .log(1))]
    let position = reader.position
    #expect(throws: StoreError.self) {
      _ = try Log(
        recovering: files, readTo: (position, reader.end), opening: [], footer: position.footer,
        salt: 4)
    }
    #expect([try medium.contents(of: .log(0)), try medium.contents(of: .log(1))] == before)
  }
}

/// A clock that a test sets.
private final class SetClock: Sendable {
  private let now: Guarded<UInt64>

  init(_ time: UInt64) {
    now = Guarded(time)
  }

  var time: UInt64 {
    get { now.withLock { $0 } }
    set { now.withLock { $0 = newValue } }
  }

  var read: LogClock { { self.time } }
}

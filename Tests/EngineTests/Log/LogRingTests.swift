import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A log that goes on in another file, and still needs the one before.
@Suite struct LogRingTests {
  /// A log of three files in its second use, which needs the first: commits 1 to 3, and 4 and 5 after them.
  private struct Ring {
    let medium = InMemoryFileSystem()
    let log: Log

    init(files: Int = 3) throws {
      log = try Log.create(
        in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
      while log.slots.count < files { try log.addFile() }
      try log.commit(1...2)
      try log.commit(3...3)
      try log.advance(salt: 2)
      try log.commit(4...5)
      try log.flush()
    }

    func file(_ number: UInt32) throws -> any File {
      try medium.open(.log(number), .readWrite, at: .test)
    }

    /// Changes the header of a file's use, in both copies.
    func change(_ number: UInt32, _ change: (inout LogHeader) -> Void) throws {
      var header = try LogFiles(opening: medium, writing: false).files[Int(number)].header
      change(&header)
      for copy in LogLayout.copyBlocks.indices {
        try file(number).write(header, copy: copy, at: .test)
      }
    }

    /// The rule that reading finds broken, and where; nil if none is.
    func fault() throws -> (file: UInt32, block: UInt32, invariant: Invariant)? {
      do {
        _ = try medium.logContents()
        return nil
      } catch StoreError.corrupt(.log(let file, let block), let invariant, _) {
        return (file, block, invariant)
      }
    }
  }

  // MARK: Going on

  @Test func `a use goes on after the one before, and nothing is written again`() throws {
    let ring = try Ring()
    let header = ring.log.header
    #expect(header.number == 2 && header.earlierUses == 1 && header.openingBlocks == 0)
    #expect(header.firstSequence == 4 && header.footer == LogWorld.footer(0))
    #expect(ring.log.isFlushed)
    let found = try ring.medium.logContents()
    #expect(found.frames.map(\.kind) == [.commits, .commits, .commits])
    #expect(found.frames.map(\.sequences) == [1...2, 3...3, 4...5])
    #expect(found.lastSequence == 5)
    #expect(!ring.log.canAdvance(), "the first file is needed, and the third is the spare")
    let recovered = try ring.medium.recoverLog(salt: 9)
    #expect(recovered.header.number == 3 && recovered.header.earlierUses == 0)
    #expect(try ring.medium.logContents().frames.map(\.sequences) == [1...5])
  }

  @Test func `several uses are read in their order, from the first that is needed`() throws {
    let ring = try Ring(files: 5)
    try ring.log.advance(salt: 3)
    try ring.log.commit(6...6)
    try ring.log.advance(salt: 4)
    #expect(ring.log.header.earlierUses == 3)
    #expect(!ring.log.canAdvance())
    #expect(try ring.medium.logContents().lastSequence == 6)
    try ring.log.appendFooter(LogWorld.footer(4))
    try ring.log.commit(7...7)
    try ring.log.flush()
    // The second use has commit 5, which the footer does not cover.
    let found = try ring.medium.logContents()
    #expect(found.frames.map(\.sequences) == [4...5, 6...6, 4...4, 7...7])
    #expect(ring.log.canAdvance())
    try ring.log.advance(salt: 5)
    #expect(ring.log.header.earlierUses == 3)
    #expect(try ring.medium.logContents().lastSequence == 7)
    #expect(try ring.medium.recoverLog(salt: 9).lastSequence == 7)
  }

  @Test func `a use that a footer covers as a whole needs none before`() throws {
    let ring = try Ring()
    try ring.log.appendFooter(LogWorld.footer(5))
    try ring.log.flush()
    try ring.log.advance(salt: 3)
    #expect(ring.log.header.earlierUses == 0)
    #expect(ring.log.header.firstSequence == 6)
    #expect(try ring.medium.logContents().frames == [])
  }

  @Test func `a footer frees files when it is flushed, and not before`() throws {
    let ring = try Ring()
    try ring.log.appendFooter(LogWorld.footer(3))
    #expect(!ring.log.canAdvance())
    try ring.log.flush()
    #expect(ring.log.canAdvance())
    let before = try ring.medium.contents(of: .log(0))
    try ring.log.advance(salt: 3)
    #expect(ring.log.header.earlierUses == 1)
    #expect(ring.log.spare == 0)
    try ring.log.commit(6...6)
    try ring.log.flush()
    #expect(try ring.medium.contents(of: .log(0)) == before)
    try ring.log.begin(salt: 4)
    #expect(ring.log.header.file == 0)
    #expect(try ring.medium.logContents().lastSequence == 6)
  }

  @Test func `a file that grows is no spare, and a larger one is`() throws {
    let ring = try Ring(files: 4)
    #expect(ring.log.canAdvance())
    let growth = try #require(
      ring.log.takeGrowth(to: 64, piece: 16, filesMax: 4, wantsFile: false))
    guard case .larger(let number, let file, from: 32, to: 48) = growth else {
      Issue.record("\(growth)")
      return
    }
    #expect(number != ring.log.spare && !ring.log.canAdvance())
    try ring.log.begin(salt: 3)
    #expect(ring.log.header.file != number)
    try file.grow(from: 32, to: 48)
    ring.log.end(growth, isDone: true)
    #expect(ring.log.spare == number)
    #expect(!ring.log.canAdvance(), "no other file is as large")
    // A growth that failed changes nothing.
    let other = try #require(ring.log.takeGrowth(to: 64, piece: 99, filesMax: 4, wantsFile: true))
    ring.log.end(other, isDone: false)
    #expect(ring.log.slots.map(\.blocks).sorted() == [32, 32, 32, 48])
    #expect(try ring.medium.logContents().lastSequence == 5)
  }

  @Test func `a log of more files that is closed has two, and is read at each step`() throws {
    let ring = try Ring(files: 5)
    try ring.log.advance(salt: 3)
    try ring.log.appendFooter(LogWorld.footer(5))
    #expect(ring.log.header.file > 1)
    try ring.log.shrink(salt: 7)
    #expect(try Set(ring.medium.list(at: .test)) == [.log(0), .log(1)])
    let found = try ring.medium.logContents()
    #expect(found.lastSequence == 5 && found.footer == LogWorld.footer(5))
    #expect(ring.log.usableBlocks == 32)
    try ring.log.commit(6...6)
    try ring.log.begin(salt: 8)
    #expect(try ring.medium.logContents().lastSequence == 6)
  }

  @Test func `a file that a footer has freed may be shorter than its header says`() throws {
    let ring = try Ring()
    try ring.log.appendFooter(LogWorld.footer(5))
    try ring.log.flush()
    // No frame says yet that the footer was flushed, and by what the log says the file is needed.
    try ring.file(0).truncate(to: 20 * 4096, at: .test)
    #expect(try ring.medium.logContents().lastSequence == 5)
    let recovered = try ring.medium.recoverLog(salt: 9)
    #expect(recovered.lastSequence == 5)
    try recovered.commit(6...6)
    try recovered.begin(salt: 10)
    #expect(try ring.medium.logContents().lastSequence == 6)
  }

  // MARK: Damage

  @Test func `damage to a use that is needed is found wherever it is`() throws {
    let ring = try Ring()
    let file = try ring.file(0)
    let whole = try ring.medium.logContents()
    let frames = Array(whole.frames.prefix(2))
    for bit in stride(from: 17 * 32_768, to: 22 * 32_768, by: scaled(7, debug: 1_009)) {
      var byte = try file.read(bit / 8..<bit / 8 + 1)
      byte[0] ^= 1 << UInt8(bit % 8)
      try file.write(byte, from: bit / 8)
      let fault = try ring.fault()
      if let fault {
        let frame = frames.first { $0.blocks.contains(UInt32(bit / 32_768)) }
        try agree(
          fault.file == 0 && fault.block == frame?.blocks.lowerBound
            && fault.invariant == .logChain, "\(fault), bit \(bit)")
      } else {
        // Padding, or what comes after the last frame.
        try agree(try ring.medium.logContents().served == whole.served, "bit \(bit)")
      }
      byte[0] ^= 1 << UInt8(bit % 8)
      try file.write(byte, from: bit / 8)
    }
    #expect(try ring.fault() == nil)
    try file.write(Bytes(repeating: 0, count: 4096), from: 17 * 4096)
    #expect(try ring.fault()?.invariant == .logChain)
  }

  @Test func `a file that is needed and shorter than its header says is refused`() throws {
    for number in [0, 1] as [UInt32] {
      let ring = try Ring()
      try ring.file(number).truncate(to: 31 * 4096, at: .test)
      let fault = try ring.fault()
      #expect(fault?.file == number && fault?.invariant == .logEnd, "\(number)")
    }
  }

  @Test func `what follows the last frame of an earlier use was never part of the log`() throws {
    let ring = try Ring()
    let first = try LogFiles(opening: ring.medium, writing: false).files[0].header
    let payload = LogWorld.commits(4...4)
    let header = try LogFiles(opening: ring.medium, writing: false).header
    let frame = FrameHeader(
      .commits, sequences: 4...4, length: payload.payloadCount, previous: header.before,
      salt: first.salt, block: 20, flushedThrough: 17, time: 0)
    _ = payload.seal(frame, in: LogWorld.identity)
    try ring.file(0).write(payload.frame.array(), from: 20 * 4096)
    #expect(try ring.medium.logContents().frames.map(\.sequences) == [1...2, 3...3, 4...5])
  }

  @Test func `a use that does not go on where the one before ends is refused`() throws {
    let changes: [(inout LogHeader) -> Void] = [
      { $0.before = PageChecksum(rawValue: 1) },
      { $0.number = 3 },
    ]
    for (number, change) in changes.enumerated() {
      let ring = try Ring()
      try ring.change(1, change)
      #expect(try ring.fault() != nil, "\(number)")
    }
    // Its first frame has the checksum of the header, so this is found without that.
    let empty = try Ring(files: 4)
    try empty.log.advance(salt: 3)
    try empty.change(empty.log.header.file) { $0.firstSequence = 7 }
    #expect(try empty.fault()?.invariant == .logChain)
    let later = try Ring(files: 4)
    try later.log.advance(salt: 3)
    try later.change(later.log.header.file) { $0.time = 0 }
    #expect(try later.fault()?.invariant == .logChain)
  }

  @Test func `a log without a file that is needed is refused, and without a free one recovered`()
    throws
  {
    let ring = try Ring()
    try ring.medium.unlink(.log(2), at: .test)
    #expect(try ring.medium.logContents().lastSequence == 5)
    let recovered = try ring.medium.recoverLog(salt: 9)
    #expect(recovered.lastSequence == 5)
    #expect(recovered.slots.count == 3)
    #expect(try ring.medium.logContents().lastSequence == 5)

    let other = try Ring(files: 4)
    try other.log.advance(salt: 3)
    try other.log.commit(6...6)
    try other.log.flush()
    #expect(other.log.header.file > 1)
    try other.medium.unlink(.log(2), at: .test)
    // The older uses alone are a state that was true: pages of later ones tell (L8).
    let found = try? other.medium.logContents()
    #expect(found == nil || (found?.lastSequence ?? 0) < 6)
  }

  @Test func `a copy of a header that lies in another file is damage, and healed`() throws {
    for (file, copy, source) in [(0, 0, 1), (0, 1, 1), (1, 0, 0), (2, 1, 1)]
      as [(UInt32, Int, UInt32)]
    {
      let ring = try Ring()
      let whole = try ring.medium.logContents()
      let header = try ring.file(source).read(0..<4096)
      try ring.file(file).write(header, from: Int(LogLayout.copyBlocks[copy]) * 4096)
      let found = try ring.medium.logContents()
      #expect(found.served == whole.served, "\(file) \(copy)")
      #expect(found.faults.count == 1, "\(file) \(copy)")
      #expect(try ring.medium.recoverLog(salt: 9).lastSequence == 5)
    }
  }

  @Test func `an older file that is back after a crash is free`() throws {
    let ring = try Ring()
    let bytes = try ring.medium.contents(of: .log(2))
    try ring.log.appendFooter(LogWorld.footer(5))
    try ring.log.shrink(salt: 7)
    try ring.log.commit(6...6)
    try ring.log.flush()
    _ = try ring.medium.create(.log(2), bytes)
    #expect(try ring.medium.logContents().lastSequence == 6)
    #expect(try ring.medium.recoverLog(salt: 9).lastSequence == 6)
    #expect(try ring.medium.logContents().lastSequence == 6)
  }
}

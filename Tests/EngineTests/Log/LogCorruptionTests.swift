import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Damages a small log with every kind of frame in every way there is, and reads it each time: what was
/// flushed and stated to be is found damaged, or read from another copy, or not read. It never ends
/// early without a word.
@Suite struct LogCorruptionTests {
  /// A log in its second use: an opening of two overlays, then every kind of frame.
  private struct Fixture {
    let medium = InMemoryFileSystem()
    let file: any File
    let other: any File
    let whole: LogContents
    /// Of the frames that no later one states to be flushed.
    var unstated: [LogFrame] = []

    init(isSealed: Bool) throws {
      let log = try Log.create(
        in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 0x1111)
      try log.commit(1...1)
      try log.commit(2...2)
      try log.begin(
        opening: [(1...1, LogWorld.overlay(1...1)), (2...2, LogWorld.overlay(2...2))],
        footer: LogWorld.footer(0), salt: 0x2222)
      try log.commit(3...4)
      try log.flush()
      try log.appendFooter(LogWorld.footer(2))
      try log.append(.overlay, sequences: 5...5, LogWorld.overlay(5...5))
      try log.flush()
      try log.appendSeal()
      try log.commit(6...6)
      try log.flush()
      if isSealed { try log.appendSeal() }
      #expect(log.needsSeal != isSealed)
      file = try medium.open(.log(1), .readWrite, at: .test)
      other = try medium.open(.log(0), .readWrite, at: .test)
      whole = try medium.logContents()
      #expect(whole.isSealed == isSealed)
      var reader = LogReader(try LogFiles(opening: medium, writing: false))
      while try reader.next() != nil {}
      let flushed = reader.position.flushedThrough
      unstated = whole.frames.filter { $0.blocks.lowerBound >= flushed }
      #expect(unstated.map(\.kind) == (isSealed ? [.seal] : [.seal, .commits]))
    }

    /// What reading may do when the bytes of `block` are not as they were.
    func verify(_ block: UInt32, _ what: @autoclosure () -> String) throws {
      do {
        let found = try medium.logContents()
        if found.served == whole.served { return }
        try agree(
          unstated.contains { $0.blocks.contains(block) }
            && found.lastSequence == whole.lastSequence - 1,
          "\(what()): \(found.lastSequence) is the last")
      } catch let error as StoreError {
        guard case .corrupt(.log(file: 1, let place), let invariant, _) = error else {
          throw error
        }
        let frame = whole.frames.first { $0.blocks.contains(block) }
        try agree(place == frame?.blocks.lowerBound, "\(what()): \(error)")
        let isOpening = block < 20
        try agree(invariant == (isOpening ? .logOpening : .logFlushed), "\(what()): \(error)")
      }
    }

    func flip(_ bit: Int, of file: any File) throws {
      var byte = try file.read(bit / 8..<bit / 8 + 1)
      byte[0] ^= 1 << UInt8(bit % 8)
      try file.write(byte, from: bit / 8)
    }
  }

  /// True of the bits of either copy of a header.
  private static func isOfHeader(_ bit: Int) -> Bool {
    LogLayout.copyBlocks.contains(UInt32(bit / 32_768))
  }

  @Test func `the fixture has every kind of frame, and an opening`() throws {
    let fixture = try Fixture(isSealed: true)
    #expect(Set(fixture.whole.frames.map(\.kind)) == Set(FrameKind.allCases))
    #expect(fixture.whole.frames.prefix(2).map(\.kind) == [.overlay, .overlay])
    #expect(fixture.whole.frames[1].blocks == 18..<20)
    #expect(fixture.whole.frames.contains { $0.blocks.count > 1 })
    #expect(fixture.whole.lastSequence == 6)
  }

  @Test(arguments: [true, false])
  func `every bit flipped of the file in use is found, or healed, or not read`(
    isSealed: Bool
  ) throws {
    let fixture = try Fixture(isSealed: isSealed)
    let end = try #require(fixture.whole.frames.last).blocks.upperBound + 1
    for bit in stride(from: 0, to: Int(end) * 32_768, by: scaled(1, debug: 997)) {
      try fixture.flip(bit, of: fixture.file)
      try fixture.verify(UInt32(bit / 32_768), "bit \(bit)")
      if Self.isOfHeader(bit) {
        try agree(try fixture.medium.logContents().faults.count == 1, "\(bit)")
      }
      try fixture.flip(bit, of: fixture.file)
    }
  }

  @Test func `no bit of the spare matters but those of its header, of which one copy will do`()
    throws
  {
    let fixture = try Fixture(isSealed: true)
    for bit in stride(from: 0, to: 32 * 32_768, by: scaled(13, debug: 9_973)) {
      try fixture.flip(bit, of: fixture.other)
      let found = try fixture.medium.logContents()
      try agree(found.served == fixture.whole.served, "bit \(bit)")
      try agree(found.faults.count == (Self.isOfHeader(bit) ? 1 : 0), "bit \(bit)")
      try fixture.flip(bit, of: fixture.other)
    }
  }

  @Test func `two copies of a header that are damaged are no torn write`() throws {
    for number in 0...1 as ClosedRange<UInt32> {
      let fixture = try Fixture(isSealed: true)
      let file = number == 1 ? fixture.file : fixture.other
      try fixture.flip(300, of: file)
      try fixture.flip(16 * 32_768 + 300, of: file)
      let error = storeError { () throws(StoreError) in
        _ = try LogFiles(opening: fixture.medium, writing: false)
      }
      guard case .corrupt(.log(file: number, block: 0), .logHeader, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test func `every block zeroed, filled, or replaced by any other is found, or not read`() throws {
    let fixture = try Fixture(isSealed: true)
    let stranger = try Fixture(isSealed: false)
    let size = 32 * 4096
    let whole = try fixture.file.read(0..<size)
    let sources =
      [whole, try fixture.other.read(0..<size)]
      + [try stranger.other.read(0..<size)]
    var blocks = [Bytes(repeating: 0, count: 4096), Bytes(repeating: 0xff, count: 4096)]
    for source in sources {
      for block in 0..<32 { blocks.append(Bytes(source[block * 4096..<(block + 1) * 4096])) }
    }
    for target in stride(from: 17, to: 32, by: scaled(1, debug: 3)) {
      for (number, block) in blocks.enumerated() {
        try fixture.file.write(block, from: target * 4096)
        try fixture.verify(UInt32(target), "block \(target) is \(number)")
      }
      try fixture.file.write(
        Bytes(whole[target * 4096..<(target + 1) * 4096]), from: target * 4096)
    }
  }
}

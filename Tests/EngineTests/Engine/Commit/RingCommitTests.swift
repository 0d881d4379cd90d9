import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Commits that fill one file of the log after the other, while what came before is in no tree.
@Suite struct RingCommitTests {
  private static func options(files: Int = 4) -> EngineOptions {
    var options = EngineOptions.small(foldThreshold: 200 << 10)
    options.logSize = .init(initial: 128 << 10, max: 512 << 10)
    options.carriedMax = 0
    options.logFilesMax = files
    return options
  }

  /// Commits so many entries of 3,000 bytes, each under a key of its own, with the work in the background after some.
  private func write(_ keys: Range<UInt16>, to engine: Engine, steps: Int = 4) throws {
    for key in keys {
      try engine.put(
        [UInt8(key >> 8), UInt8(key & 255)],
        Bytes(repeating: UInt8(truncatingIfNeeded: key), count: 3000))
      if Int(key) % steps == 0 { _ = try engine.step() }
    }
  }

  private func check(_ keys: Range<UInt16>, in engine: Engine) throws {
    for key in keys {
      let value = try engine.value([UInt8(key >> 8), UInt8(key & 255)])
      #expect(value == Bytes(repeating: UInt8(truncatingIfNeeded: key), count: 3000), "\(key)")
    }
  }

  private func logs(of medium: SimulatedFileSystem) -> Int {
    medium.names.count { if case .log = $0.kind { true } else { false } }
  }

  @Test func `go on in files that are made and freed, and are not written again`() throws {
    let medium = SimulatedFileSystem()
    let engine = try Engine.open(medium, options: Self.options())
    try write(0..<100, to: engine)
    #expect((3...4).contains(logs(of: medium)))
    let use = engine.log.header.number
    let openings = medium.bytesWritten(at: .logOpeningWrite)
    try write(100..<400, to: engine)
    #expect(engine.log.header.number > use + 2)
    #expect(engine.log.header.openingBlocks == 0)
    // No more than the last block of each file.
    let written = medium.bytesWritten(at: .logOpeningWrite) - openings
    #expect(written <= Int(engine.log.header.number - use) * Layout.blockSize)
    #expect((3...4).contains(logs(of: medium)))
    let image = try Engine.open(medium.crashed(.none), options: Self.options(), seed: 2)
    try check(0..<400, in: image)
    try check(0..<400, in: engine)
    try engine.close()
    #expect(logs(of: medium) == 2)
    try check(0..<400, in: try Engine.open(medium, options: Self.options(), seed: 3))
  }

  @Test func `begin with what no tree holds where no file can be made`() throws {
    for site in [Site.logCreate, .logRename, .logDirectorySync] {
      let medium = SimulatedFileSystem()
      let engine = try Engine.open(medium, options: Self.options())
      try write(0..<4, to: engine)
      medium.inject(
        .error(.noSpace), at: .site(site, medium.callCount(at: site)), .forGood)
      try write(4..<120, to: engine)
      #expect(engine.log.slots.count == 2, "\(site)")
      medium.heal()
      #expect(!medium.names.contains(FileName.log(2).temporary), "\(site)")
      try check(0..<120, in: engine)
      let image = try Engine.open(medium.crashed(.none), options: Self.options(), seed: 2)
      try check(0..<120, in: image)
      try engine.close()
      #expect(logs(of: medium) == 2, "\(site)")
    }
  }

  @Test func `of two files begin with what no tree holds`() throws {
    let medium = SimulatedFileSystem()
    let engine = try Engine.open(medium, options: Self.options(files: 2))
    try write(0..<200, to: engine)
    #expect(logs(of: medium) == 2)
    try check(0..<200, in: engine)
    try engine.close()
  }

  @Test func `are kept by a salvage up to damage in a use that is needed`() throws {
    let medium = SimulatedFileSystem()
    let engine = try Engine.open(medium, options: Self.options())
    try write(0..<60, to: engine)
    // Without folds from here on, so that several uses are needed.
    try write(60..<110, to: engine, steps: .max)
    let files = try LogFiles(opening: medium, writing: false)
    #expect(files.header.earlierUses > 0)
    let image = medium.crashed(.none)
    let before = try #require(files.file(ofUse: files.header.number - 1))
    image.flipBit((17 * 4096 + 100) * 8, of: .log(UInt32(before)))
    #expect(throws: StoreError.self) { _ = try Engine.open(image, options: Self.options()) }
    let log = try #require(SalvagedLog(of: image) { _ in })
    #expect(!log.isWhole && log.wasFlushed)
    #expect(log.sequence < 110)
    #expect(log.remains.lastSequence == 110)
    var count = 0
    try log.forEachCommit(after: log.footer.coveredSequence) { _, _ in count += 1 }
    #expect(UInt64(count) == log.sequence - log.footer.coveredSequence)
    withExtendedLifetime(engine) {}
  }
}

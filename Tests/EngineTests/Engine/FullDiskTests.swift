import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X11 on simulated disks of every size, with a reserve.
@Suite struct FullDiskTests {
  private static var options: EngineOptions {
    var options = EngineOptions.small()
    options.reserveSize = 128 << 10
    return options
  }

  /// Of a store with few pages.
  private static let firstReserve = 64 << 10

  /// The blocks of a new store with its reserve.
  private static let leastBlocks = 38 + 32

  /// The reserve takes a fold of what is left and its compaction.
  @Test(arguments: [20, 200, 900, 4000])
  func `a store that ran full closes, opens, deletes and compacts, on a disk of any size`(
    length: Int
  ) throws {
    for blocks in stride(from: Self.leastBlocks + length / 20 % 7, to: 200, by: 7) {
      let life = FullLife(Self.options, blocks: blocks, valueLength: length)
      do { try life.run() } catch {
        Issue.record("\(blocks) blocks, values of \(length) bytes, \(life.place): \(error)")
      }
    }
  }

  @Test(arguments: [200, 900])
  func `a store whose log has more files runs full as well`(length: Int) throws {
    var options = Self.options
    options.carriedMax = 0
    for blocks in stride(from: 3 * Self.leastBlocks, to: 400, by: 29) {
      let life = FullLife(options, blocks: blocks, valueLength: length)
      do { try life.run() } catch {
        Issue.record("\(blocks) blocks, values of \(length) bytes, \(life.place): \(error)")
      }
    }
  }

  @Test func `a full disk without space for a reserve takes nothing that was promised`() throws {
    for blocks in stride(from: 30, to: Self.leastBlocks, by: 3) {
      let life = FullLife(Self.options, blocks: blocks, valueLength: 900)
      do { try life.run() } catch StoreError.full {} catch {
        Issue.record("\(blocks) blocks, \(life.place): \(error)")
      }
      try life.check()
    }
  }

  @Test(arguments: [Site.logFrameWrite, .logOpeningWrite, .logHeaderWrite])
  func `a write to the log that finds the disk full is made again with the reserve`(
    site: Site
  ) throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium, options: Self.options)
    let value = Bytes(repeating: 1, count: 1000)
    var count = 0
    for number in 0..<4 {
      let next = medium.callCount(at: site)
      medium.inject(.errorAfter(bytes: 100, .noSpace), at: .site(site, next))
      while medium.callCount(at: site) <= next {
        try engine.put([UInt8(number), UInt8(count % 256)], value)
        count += 1
      }
      // A fold takes the reserve again.
      try engine.foldEverything()
      #expect((medium.bytes(of: .reserve)?.count ?? 0) >= Self.firstReserve)
    }
    let image = medium.crashed(.none)
    for engine in [engine, try SimulatedEngine.open(image, options: Self.options)] {
      #expect(try engine.snapshot().tree(engine.names.slot(of: "t")).count == count)
    }
    try engine.close()
  }

  @Test
  func `a fold that removes entries has the reserve on a full disk, and one that adds has not`()
    throws
  {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium, options: Self.options)
    for key in 0..<60 as Range<UInt8> { try engine.put([key, 1], [1], .relaxed) }
    medium.limitDisk(to: medium.diskUsage)
    for _ in 0..<3 {
      guard case .full = storeError({ try engine.foldEverything() }) else {
        Issue.record("it was folded")
        return
      }
      #expect(medium.bytes(of: .reserve)?.count == Self.firstReserve)
    }
    medium.limitDisk(to: nil)
    try engine.foldEverything()
    medium.limitDisk(to: medium.diskUsage)
    for key in 0..<30 as Range<UInt8> { try engine.remove([key, 1]) }
    try engine.foldEverything()
    #expect((medium.bytes(of: .reserve)?.count ?? 0) < Self.firstReserve)
    try engine.close()
    medium.limitDisk(to: nil)
    // Opening takes it again.
    try SimulatedEngine.open(medium, options: Self.options).close()
    #expect((medium.bytes(of: .reserve)?.count ?? 0) >= Self.firstReserve)
  }

  @Test func `the reserve is held again after a fold for which it did not suffice`() throws {
    let medium = SimulatedFileSystem()
    var options = Self.options
    options.foldThreshold = 256 << 10
    options.logSize = .init(initial: 256 << 10, max: 256 << 10)
    options.reserveSize = 16 << 10
    let engine = try SimulatedEngine.open(medium, options: options)
    for key in 0..<250 as Range<UInt8> {
      try engine.put([key, 1], Bytes(repeating: key, count: 60), .relaxed)
    }
    try engine.foldEverything()
    medium.limitDisk(to: medium.diskUsage)
    for key in 0..<250 as Range<UInt8> where key % 3 == 0 { try engine.remove([key, 1]) }
    for _ in 0..<3 {
      guard case .full = storeError({ try engine.foldEverything() }) else {
        Issue.record("it was folded")
        return
      }
      #expect(medium.bytes(of: .reserve)?.count == 16 << 10)
    }
    try engine.close()
    #expect(engine.working.sequence > engine.working.base.coveredSequence)
  }
}

/// A store that writes until its disk is full, and everything that must be possible then.
private final class FullLife {
  private let medium = SimulatedFileSystem()
  private let options: EngineOptions
  private let valueLength: Int
  private var present: Set<UInt16> = []
  private var openings: UInt64 = 0
  /// The step that it is at, for messages.
  private(set) var place = "opening"

  init(_ options: EngineOptions, blocks: Int, valueLength: Int) {
    self.options = options
    self.valueLength = valueLength
    medium.limitDisk(to: blocks * Layout.blockSize)
  }

  private static func key(_ number: UInt16) -> Bytes {
    [UInt8(number >> 8), UInt8(number & 255)]
  }

  private func value(of number: UInt16) -> Bytes {
    Bytes(repeating: UInt8(number % 251), count: valueLength)
  }

  /// The bytes of all page segments.
  private var pagesSize: Int {
    medium.names.reduce(0) { sum, name in
      if case .pages = name.kind { sum + (medium.bytes(of: name)?.count ?? 0) } else { sum }
    }
  }

  private func open() throws -> Engine {
    openings += 1
    return try Engine.open(medium, options: options, seed: openings)
  }

  func run() throws {
    var engine = try open()
    for round in 0..<2 {
      place = "filling, round \(round)"
      try fill(engine)
      let full = pagesSize
      place = "closing the full store, round \(round)"
      try engine.close()
      place = "opening the full store, round \(round)"
      engine = try open()
      try check(engine)
      place = "deleting, round \(round)"
      for number in present.sorted() where number % 16 != UInt16(round) {
        do {
          try engine.remove(Self.key(number))
        } catch StoreError.full {
          // Too much waits for a fold for which there is no space. Opening puts it together: then less is to be written.
          place = "deleting after opening again, round \(round)"
          try engine.close()
          engine = try open()
          try engine.remove(Self.key(number))
        }
        present.remove(number)
      }
      place = "opening what is left, round \(round)"
      try engine.close()
      engine = try open()
      place = "folding, round \(round)"
      try engine.foldEverything()
      place = "compacting, round \(round)"
      var request = CompactionRequest(scope: .segments)
      request.below = try engine.spaceUsage().nextNumber
      while try engine.compact(request) != nil {}
      #expect(pagesSize <= max(full / 2, 8 * Layout.blockSize), "\(place): of \(full) bytes")
      try check(engine)
      place = "closing, round \(round)"
      try engine.close()
      #expect(engine.working.sequence == engine.working.base.coveredSequence)
      engine = try open()
    }
    try engine.close()
  }

  /// Writes until the disk is full.
  private func fill(_ engine: Engine) throws {
    for step in 0..<2000 {
      let number = UInt16(truncatingIfNeeded: step &* 7919)
      do {
        try engine.put(
          Self.key(number), value(of: number), step % 3 == 0 ? .durable : .relaxed)
      } catch StoreError.full {
        return
      }
      present.insert(number)
    }
  }

  /// Opens it once more, and reads everything.
  func check() throws {
    medium.restart()
    do { try check(open()) } catch StoreError.full {}
  }

  private func check(_ engine: Engine) throws {
    #expect(try engine.snapshot().tree(engine.names.slot(of: "t")).count == present.count)
    for number in present {
      let value = try engine.value(Self.key(number))
      if value != self.value(of: number) { Issue.record("\(number) is not what was written") }
    }
  }
}

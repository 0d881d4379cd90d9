import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The disk is full, or the system has no descriptors or memory left, and later it has again.
@Suite struct ShortageTests {
  private static let value = Bytes(repeating: 7, count: 60)

  /// A store with some trees' pages, and a frozen overlay that is to be folded.
  private static func engine(
    in medium: SimulatedFileSystem, options: EngineOptions = .small()
  ) throws -> SimulatedEngine {
    let engine = try SimulatedEngine.open(medium, options: options)
    for round in 0..<2 as Range<UInt8> {
      for key in 0..<60 as Range<UInt8> { try engine.put([key, 1], [round], .relaxed) }
      try engine.foldEverything()
    }
    for key in 0..<40 as Range<UInt8> { try engine.put([key, 9], value, .relaxed) }
    try engine.flush()
    engine.freezeIfPossible()
    return engine
  }

  private static func check(_ engine: SimulatedEngine) throws {
    for key in 0..<60 as Range<UInt8> { #expect(try engine.value([key, 1]) == [1]) }
    for key in 0..<40 as Range<UInt8> { #expect(try engine.value([key, 9]) == value) }
  }

  private static func isFull(_ error: StoreError?) -> Bool {
    if case .full = error { true } else { false }
  }

  // MARK: Space

  @Test func `a fold without space leaves nothing behind, however often it is tried`() throws {
    let medium = SimulatedFileSystem()
    let engine = try Self.engine(in: medium)
    let (names, usage) = (medium.names, medium.diskUsage)
    for room in 0..<12 {
      medium.limitDisk(to: usage + room * Layout.blockSize)
      for _ in 0..<3 {
        #expect(Self.isFull(storeError { while try engine.step() {} }), "\(room) blocks of room")
        #expect(medium.names == names, "\(room) blocks of room")
        // Names that are gone for good no longer hold blocks.
        try medium.syncDirectory(at: .test)
        #expect(medium.diskUsage == usage, "\(room) blocks of room")
      }
    }
    medium.limitDisk(to: nil)
    while try engine.step() {}
    #expect(engine.working.frozen == nil)
    try engine.close()
    try Self.check(SimulatedEngine.open(medium))
  }

  /// By the blocks of room: too few for any page, for the rest of the segment, and for what follows in the next.
  @Test(arguments: [0, 1, 100, 126, 130, 140, 150])
  func `a fold without space leaves nothing in the segment that it went on with`(room: Int) throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium, options: .small(foldThreshold: 1 << 20))
    try engine.put([0], Self.value, .relaxed)
    try engine.foldEverything()
    // Some 200 pages, of which the segment has room for 120.
    let keys = (0..<600).map { [UInt8($0 / 256), UInt8($0 % 256)] as Bytes }
    for key in keys { try engine.put(key, Self.value, .relaxed) }
    try engine.flush()
    engine.freezeIfPossible()
    let (names, usage) = (medium.names, medium.diskUsage)
    medium.limitDisk(to: usage + room * Layout.blockSize)
    #expect(Self.isFull(storeError { while try engine.step() {} }))
    try medium.syncDirectory(at: .test)
    #expect(medium.names == names && medium.diskUsage == usage)
    medium.limitDisk(to: nil)
    while try engine.step() {}
    try engine.close()
    let reopened = try SimulatedEngine.open(medium)
    for key in keys { #expect(try reopened.value(key) == Self.value) }
  }

  @Test func `a large transaction without space leaves nothing behind`() throws {
    let medium = SimulatedFileSystem()
    let engine = try Self.engine(in: medium)
    // Otherwise a full disk would begin with a fold of what was committed before, which may succeed.
    try engine.foldEverything()
    // Too much for any file of the log, so a footer commits it.
    func commitMuch() throws {
      let slot = try engine.names.slot(of: "t")
      try engine.write(.durable) { transaction in
        for number in 0..<2000 {
          let key: Bytes = [UInt8(number % 256), UInt8(number / 256), 3]
          let value = Bytes(repeating: UInt8(number % 256), count: 200)
          try transaction.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
        }
      }
    }
    let (names, usage) = (medium.names, medium.diskUsage)
    for room in [0, 1, 2, 5, 11, 20, 200] {
      let calls = medium.calls.count
      medium.limitDisk(to: usage + room * Layout.blockSize)
      #expect(Self.isFull(storeError { try commitMuch() }), "\(room) blocks of room")
      let sites = Set(medium.calls[calls...].map(\.site))
      #expect(sites.isDisjoint(with: [.logGrowWrite, .logFrameWrite]), "\(room) blocks of room")
      #expect(medium.names == names, "\(room) blocks of room")
      try medium.syncDirectory(at: .test)
      #expect(medium.diskUsage == usage, "\(room) blocks of room")
    }
    try engine.put([0, 1], [1])
    medium.limitDisk(to: nil)
    try commitMuch()
    try engine.close()
    try Self.check(SimulatedEngine.open(medium))
  }

  @Test func `a store is closed on a full disk, and opened with everything`() throws {
    let medium = SimulatedFileSystem()
    let engine = try Self.engine(in: medium)
    medium.limitDisk(to: medium.diskUsage)
    try engine.close()
    for isLimited in [true, true, false] {
      if !isLimited { medium.limitDisk(to: nil) }
      let engine = try SimulatedEngine.open(medium)
      try Self.check(engine)
      try engine.close()
      #expect(isLimited == (engine.working.base.coveredSequence < engine.working.sequence))
    }
  }

  @Test func `a log that has to grow on a full disk refuses the commit, and nothing is poisoned`()
    throws
  {
    for length in stride(from: 1000, through: 60_000, by: 1000) {
      let medium = SimulatedFileSystem()
      let engine = try SimulatedEngine.open(medium, options: .small(foldThreshold: 256 << 10))
      medium.limitDisk(to: medium.diskUsage)
      let value = Bytes(repeating: 1, count: length)
      for number in 0..<200 as Range<UInt8> {
        let error = storeError { try engine.put([number], value) }
        guard let error else { continue }
        guard case .full = error else {
          Issue.record("value \(number) of \(length) bytes: \(error)")
          break
        }
        break
      }
      try engine.close()
    }
  }

  @Test func `the pauses before a fold is tried again grow and are bounded`() {
    func pauses(after error: StoreError) -> [Duration] {
      var pauses = RetryPauses()
      return (0..<10).map { _ in pauses.next(after: error) }
    }
    #expect(
      pauses(after: .full(path: "store"))
        == [0.5, 1, 2, 4, 8, 16, 32, 32, 32, 32].map { .seconds($0) })
    #expect(
      pauses(after: .failed("create", .tooManyOpenFiles, path: "store"))
        == [0.5, 1, 2, 2, 2, 2, 2, 2, 2, 2].map { .seconds($0) })
  }

  // MARK: Descriptors and memory

  @Test(arguments: [
    (Site.segmentCreate, SystemErrorCode.tooManyOpenFiles),
    (.segmentCreate, .tooManyOpenFilesInSystem), (.segmentCreate, .outOfMemory),
    (.segmentOpen, .tooManyOpenFiles), (.segmentMap, .outOfMemory),
  ])
  func `a shortage of descriptors or memory is over when it is over`(
    site: Site, errno: SystemErrorCode
  ) throws {
    let medium = SimulatedFileSystem()
    var options = EngineOptions.small()
    options.readMode = .mapped
    let engine = try Self.engine(in: medium, options: options)
    // The next fold begins a segment.
    engine.appender = engine.appender.successor()
    medium.inject(.error(errno), at: .site(site, medium.callCount(at: site)), .forGood)
    for _ in 0..<3 {
      let error = storeError { while try engine.step() {} }
      guard case .io(errno, _, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      try engine.put([0, 1], [1])
    }
    let error = storeError { _ = try engine.compact(.whole, slices: 1) }
    if case .io(errno, _, _) = error {} else { Issue.record("\(String(describing: error))") }
    medium.heal()
    while try engine.step() {}
    #expect(engine.working.frozen == nil)
    try engine.compact(.whole, slices: 10)
    try engine.close()
    try Self.check(SimulatedEngine.open(medium))
  }

  @Test func `a store is closed without descriptors, and opened with everything`() throws {
    let medium = SimulatedFileSystem()
    let engine = try Self.engine(in: medium)
    engine.appender = engine.appender.successor()
    let next = medium.callCount(at: .segmentCreate)
    medium.inject(.error(.tooManyOpenFiles), at: .site(.segmentCreate, next), .forGood)
    try engine.close()
    medium.heal()
    try Self.check(SimulatedEngine.open(medium))
  }

  @Test func `a compaction in the background begins again after a shortage`() throws {
    let medium = SimulatedFileSystem()
    var options = EngineOptions.small()
    options.automaticCompaction = AutomaticCompaction()
    options.automaticCompaction?.leastGain = 1
    let engine = try Self.engine(in: medium, options: options)
    let next = medium.callCount(at: .segmentCreate)
    medium.inject(.error(.tooManyOpenFiles), at: .site(.segmentCreate, next), .forGood)
    engine.appender = engine.appender.successor()
    _ = storeError { while try engine.step() {} }
    medium.heal()
    for round in 0..<3 * AutomaticCompactionState.retry {
      try engine.put([0, 1], [UInt8(round % 2)])
      try engine.foldEverything()
      while try engine.step() {}
    }
    #expect(try engine.spaceUsage().garbageShare <= 0.5)
    try engine.close()
  }
}

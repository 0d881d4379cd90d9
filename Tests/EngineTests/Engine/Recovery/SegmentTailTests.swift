import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What interrupted writers leave behind the published ends of segments.
@Suite struct SegmentTailTests {
  /// Writes `blocks` blocks of garbage behind a segment.
  private static func appendTail(
    _ blocks: Int, to number: UInt32, in medium: SimulatedFileSystem
  ) throws {
    let file = try medium.open(.pages(number), .readWrite, at: .test)
    let size = try file.size(at: .test)
    try file.write(
      Bytes(repeating: 0xa5, count: blocks * Layout.blockSize).rawSpan, from: size, at: .test)
    try file.sync(at: .test)
  }

  private static func size(_ number: UInt32, in medium: SimulatedFileSystem) throws -> Int {
    try medium.open(.pages(number), .read, at: .test).size(at: .test)
  }

  /// A store with pages in several segments, and its values by key.
  private static func fill(_ medium: SimulatedFileSystem) throws -> [Bytes: Bytes] {
    let engine = try SimulatedEngine.open(medium)
    var values: [Bytes: Bytes] = [:]
    for round in 0..<4 as Range<UInt8> {
      for key in 0..<30 as Range<UInt8> {
        let value = Bytes(repeating: round, count: 40)
        try engine.put([round, key], value, .relaxed)
        values[[round, key]] = value
      }
      try engine.foldEverything()
      engine.appender = engine.appender.successor()
    }
    try engine.write(.durable) { $0.treeWork.keeping = [.keep(version: 1, label: "old")] }
    engine.appender = engine.appender.successor()
    try engine.put([9], [9])
    try engine.close()
    values[[9]] = [9]
    return values
  }

  private static func check(_ engine: SimulatedEngine, holds values: [Bytes: Bytes]) throws {
    for (key, value) in values { #expect(try engine.value(key) == value) }
    let file = engine.working.base.file
    #expect(file.check(sizes: engine.options.nodeSizes).isEmpty)
    // A state that is kept can be read.
    for state in file.footer.keptStates { _ = try PageFile.footer(state.footer, from: file.pages) }
  }

  @Test func `a number of a segment does not come again after its file is removed`() throws {
    let medium = SimulatedFileSystem()
    try SimulatedEngine.open(medium).close()
    // A writer that was interrupted leaves a segment that no footer names: opening removes it.
    let file = try medium.open(.pages(9), .create, at: .test)
    try file.write(Bytes(repeating: 0xa5, count: Layout.blockSize).rawSpan, from: 0, at: .test)
    try file.sync(at: .test)
    var engine = try SimulatedEngine.open(medium)
    #expect(!medium.names.contains(.pages(9)))
    #expect(engine.appender.numbers.upcoming == 10)
    try engine.put([1], [1])
    try engine.foldEverything()
    #expect(engine.working.base.file.footer.nextSegment == 10)
    try engine.close()
    engine = try SimulatedEngine.open(medium)
    #expect(engine.appender.numbers.upcoming == 10)
    try engine.close()
  }

  @Test func `a tail behind any segment is counted, and given back when the store is opened`()
    throws
  {
    let medium = SimulatedFileSystem()
    let values = try Self.fill(medium)
    let numbers = medium.names.compactMap { name in
      if case .pages(let number) = name.kind { number } else { nil }
    }.sorted()
    #expect(numbers.count > 3)
    let sizes = try numbers.map { try Self.size($0, in: medium) }
    for number in numbers { try Self.appendTail(400, to: number, in: medium) }

    let follower = try Follower(medium, options: .small())
    let counted = try SpaceUsage(of: follower.snapshot().state.base.file)
    #expect(counted.size == UInt64(sizes.reduce(0, +) + numbers.count * 400 * Layout.blockSize))
    #expect(counted.garbage + counted.keptBytes >= UInt64(numbers.count * 300 * Layout.blockSize))

    let engine = try SimulatedEngine.open(medium)
    let slack = 2 * Layout.pageBlocksMax * Layout.blockSize
    for (number, size) in zip(numbers, sizes) {
      let now = try Self.size(number, in: medium)
      #expect(now >= size, "segment \(number)")
      #expect(now <= (number == numbers.last ? size : size + slack), "segment \(number)")
    }
    try Self.check(engine, holds: values)
    // What was opened before sees what it saw.
    let tree = try follower.snapshot().tree(follower.names.slot(of: "t"))
    #expect(tree.count == values.count)
    // Pages go on in the last segment.
    try engine.put([10], [10])
    try engine.close()
    let last = medium.names.compactMap { name in
      if case .pages(let number) = name.kind { number } else { nil }
    }.max()
    #expect(last == numbers.last)
    try Self.check(SimulatedEngine.open(medium), holds: values)
  }

  @Test func `a tail that cannot be cut off keeps nobody from opening`() throws {
    let medium = SimulatedFileSystem()
    let values = try Self.fill(medium)
    let last = try #require(
      medium.names.compactMap { name in
        if case .pages(let number) = name.kind { number } else { nil }
      }.max())
    try Self.appendTail(10, to: last, in: medium)
    let next = medium.callCount(at: .segmentCutTruncate)
    medium.inject(.error(.ioError), at: .site(.segmentCutTruncate, next), .forGood)
    let engine = try SimulatedEngine.open(medium)
    try Self.check(engine, holds: values)
    try engine.put([11], [11])
    try engine.close()
    medium.heal()
    try Self.check(SimulatedEngine.open(medium), holds: values)
  }
}

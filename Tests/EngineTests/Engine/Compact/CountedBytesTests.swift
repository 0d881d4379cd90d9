import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Footers state the live bytes of segments by what changed, and not by a walk over all that there is.
@Suite struct CountedBytesTests {
  private static let names = ["a", "b", "c"]

  private func key(_ number: Int) -> Bytes { [UInt8(number / 256), UInt8(number % 256), 3] }

  /// Some values have pages of their own, a few of them several.
  private func value(_ random: inout SplitMix64) -> Bytes {
    let length =
      switch random.next() % 64 {
      case 0: 300_000
      case 1..<12: Int.random(in: 200...6_000, using: &random)
      default: Int.random(in: 0...50, using: &random)
      }
    return Bytes(repeating: UInt8(random.next() % 256), count: length)
  }

  /// A store whose pages are in two segments, and of which one entry in seven has a value in pages of its own.
  private func filled(_ medium: SimulatedFileSystem, count: Int) throws -> SimulatedEngine {
    let engine = try SimulatedEngine.open(medium)
    for number in 0..<count {
      try engine.put(
        key(number), Bytes(repeating: 1, count: number % 7 == 0 ? 300 : 20), in: "a", .relaxed)
    }
    try engine.foldEverything()
    medium.inject(.error(.ioError), at: .site(.pageWrite, medium.callCount(at: .pageWrite)))
    for number in 0..<count where number % 40 == 0 {
      try engine.put(key(number), [2], in: "a", .relaxed)
    }
    try engine.foldEverything()
    return engine
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `the bytes that are counted are those that a walk finds, whatever a footer changes`(
    seed: UInt64
  ) throws {
    let medium = SimulatedFileSystem()
    var options = EngineOptions.small()
    options.transactionBudget = 8 << 10
    var engine = try SimulatedEngine.open(medium, options: options)
    var random = SplitMix64(seed: seed)
    for step in 0..<scaled(300, debug: 120) {
      let slots = try Self.names.map { try engine.names.slot(of: $0) }
      let (tree, other) = (slots[Int(random.next() % 3)], slots[Int(random.next() % 3)])
      let kind = random.next() % 20
      switch kind {
      case 0: try engine.write(.durable) { $0.removeAll(in: tree) }
      case 1 where tree != other:
        try engine.write(.durable) { $0.treeWork.operations = [.copy(tree, to: other)] }
      case 2 where tree != other:
        try engine.write(.durable) {
          $0.treeWork.operations = [.copy(tree, to: other), .move(other, to: tree)]
        }
      case 3 where tree != other:
        try engine.write(.durable) { $0.treeWork.operations = [.move(tree, to: other)] }
      case 4: try engine.write(.durable) { $0.treeWork.keeping = [.keep(version: 1, label: "")] }
      case 5 where !engine.working.base.file.footer.keptStates.isEmpty:
        try engine.restore(1, keeping: random.next() % 2 == 0 ? ["a"] : []) { transaction in
          try transaction.put(key(1).rawSpan, key(2).rawSpan, schemaVersion: 1, in: tree)
        }
      case 6: try engine.write(.durable) { $0.treeWork.keeping = [.dropBefore(version: .max)] }
      case 7, 8:
        try engine.compact(random.next() % 2 == 0 ? .whole : .segments, slices: Int(step % 5 + 1))
      case 9:
        try engine.close()
        engine = try SimulatedEngine.open(medium, options: options, seed: UInt64(step))
      case 10:
        try engine.put(key(step), [4], in: "c", .relaxed)
        medium.inject(.error(.ioError), at: .site(.pageWrite, medium.callCount(at: .pageWrite)))
        try engine.foldEverything()
      default:
        try engine.write(.relaxed) { transaction in
          if kind == 11 { transaction.removeAll(in: other) }
          for _ in 0..<random.next() % 60 {
            let key = key(Int(random.next() % 500))
            if random.next() % 3 == 0 {
              _ = try transaction.remove(key.rawSpan, in: tree)
            } else {
              try transaction.put(
                key.rawSpan, value(&random).rawSpan, schemaVersion: 1, in: tree)
            }
          }
        }
        if random.next() % 2 == 0 { try engine.foldEverything() }
      }
      let faults = try engine.working.base.file.liveBytesFaults()
      try #require(faults.isEmpty, "seed \(seed), step \(step) of kind \(kind): \(faults)")
    }
    #expect(engine.working.base.file.check(sizes: options.nodeSizes).isEmpty)
  }

  @Test func `a fold reads what it changes, however large the store is, also after opening`() throws
  {
    let medium = SimulatedFileSystem()
    try filled(medium, count: 3_000).close()
    let engine = try SimulatedEngine.open(medium, creating: false)
    for number in [700, 2_100] {
      let reads = medium.callCount(at: .pageRead)
      try engine.put(key(number), [9], in: "a")
      try engine.foldEverything()
      #expect(medium.callCount(at: .pageRead) - reads < 24)
    }
    #expect(try engine.working.base.file.liveBytesFaults().isEmpty)
  }

  @Test func `a tree that is cleared is subtracted, and a larger one is not read for it`() throws {
    let medium = SimulatedFileSystem()
    let engine = try filled(medium, count: 2_000)
    for number in 0..<20 { try engine.put(key(number), [5], in: "b", .relaxed) }
    try engine.foldEverything()
    let slot = try engine.names.slot(of: "b")
    try engine.write(.durable) { $0.removeAll(in: slot) }
    let reads = medium.callCount(at: .pageRead)
    try engine.foldEverything()
    #expect(medium.callCount(at: .pageRead) - reads < 24)
    #expect(try engine.working.base.file.liveBytesFaults().isEmpty)
  }

  /// Makes a footer true that says that bytes live in one segment that live in another.
  private func misplace(_ engine: SimulatedEngine, _ body: (inout [UInt64]) -> Void) throws {
    try engine.takeFoldTurnToCompact()
    let base = engine.working.base.file
    var footer = base.footer
    try #require(footer.segments.count > 1)
    var live = footer.segments.map(\.liveBytes)
    body(&live)
    for index in live.indices { footer.segments[index].liveBytes = live[index] }
    #expect(footer.hasLikelyLiveBytes)
    let reference = try engine.appender.publish(footer)
    let file = try PageFile(after: base, reference, footer)
    try engine.makeTrue(PublishedFooter(file: file, released: [], appended: [], merged: [])) {
      $0.move(to: $1)
    }
    engine.giveFoldTurn()
    #expect(try !engine.working.base.file.liveBytesFaults().isEmpty)
  }

  @Test func `a segment is given up because nothing reaches it, not because a number says so`()
    throws
  {
    let medium = SimulatedFileSystem()
    let engine = try filled(medium, count: 500)
    try misplace(engine) { live in
      live[live.count - 1] += live[0]
      live[0] = 0
    }
    try engine.put(key(200), [7], in: "c")
    try engine.foldEverything()
    #expect(try engine.working.base.file.liveBytesFaults().isEmpty)
    #expect(engine.working.base.file.check(sizes: engine.options.nodeSizes).isEmpty)
    #expect(try engine.value(key(499), in: "a")?.count == 20)
  }

  /// By the segments of which too much and too little is said. The compaction empties the first one.
  @Test(arguments: [[0, 2], [1, 2]])
  func `a compaction ends, and leaves no wrong number, though all of them add up`(places: [Int])
    throws
  {
    let medium = SimulatedFileSystem()
    let engine = try filled(medium, count: 500)
    try #require(engine.working.base.file.footer.segments.count > 2)
    let block = UInt64(Layout.blockSize)
    try misplace(engine) { live in
      live[places[0]] += block
      live[places[1]] -= block
    }
    var request = CompactionRequest(scope: .segments)
    request.below = engine.working.base.file.footer.segments[1].number
    request.leastGarbage = 0
    request.bytes = 16 << 10
    var slices = 0
    while slices < 500, try engine.compact(request) != nil { slices += 1 }
    #expect(slices < 500)
    #expect(try engine.working.base.file.liveBytesFaults().isEmpty)
  }
}

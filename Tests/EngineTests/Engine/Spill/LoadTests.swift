import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("A large transaction of ascending keys")
struct LoadTests {
  private let medium = SimulatedFileSystem()
  private let engine: SimulatedEngine
  private let slot: TreeSlot

  init() throws {
    engine = try SimulatedEngine.open(medium, options: .spilling(budget: 8_000))
    slot = try engine.names.slot(of: "t")
  }

  private func put(_ keys: Range<Int>, _ transaction: Transaction) throws(StoreError) {
    for key in keys {
      try transaction.put(
        Content.key(key).rawSpan, Bytes(repeating: UInt8(key % 251), count: 40).rawSpan,
        schemaVersion: 1, in: slot)
    }
  }

  private func checkHolds(_ keys: [Range<Int>]) throws {
    let count = keys.reduce(0) { $0 + $1.count }
    #expect(try engine.snapshot().tree(slot).count == count)
    for key in keys.joined() {
      #expect(
        try engine.value(Content.key(key)) == Bytes(repeating: UInt8(key % 251), count: 40))
    }
    #expect(engine.working.base.file.check(sizes: engine.options.nodeSizes).isEmpty)
  }

  @Test(arguments: [0, 5, 200])
  func `makes no run, and its segments become the store's`(before: Int) throws {
    try engine.write(.durable) { try put(0..<before, $0) }
    while try engine.step() {}
    let runs = medium.callCount(at: .runCreate)
    let sizeBefore = engine.working.base.file.publishedSize
    try engine.write(.durable) { try put(before..<3_000, $0) }
    #expect(medium.callCount(at: .runCreate) == runs)
    let base = engine.working.base
    let written = base.file.publishedSize - sizeBefore
    // Of a few leaves that each of the loaded trees has here, the commit writes the first and the last again.
    #expect(written <= base.tree(slot).liveBytes * 3 / 2)
    try checkHolds([0..<3_000])
    try engine.close()
  }

  @Test func `goes on in order after keys that were not`() throws {
    try engine.write(.durable) { transaction in
      try put(1_000..<2_000, transaction)
      try put(0..<300, transaction)
      try put(2_000..<3_000, transaction)
      #expect(try transaction.tree(slot).count() == 2_300)
      #expect(try transaction.remove(Content.key(2_500).rawSpan, in: slot))
      #expect(try transaction.remove(Content.key(1_000).rawSpan, in: slot))
      #expect(try !transaction.remove(Content.key(1_000).rawSpan, in: slot))
      try put(3_000..<3_500, transaction)
    }
    try checkHolds([0..<300, 1_001..<2_000, 2_000..<2_500, 2_501..<3_500])
    try engine.close()
  }

  @Test func `puts a key that it removed before`() throws {
    try engine.write(.durable) { try put(0..<300, $0) }
    while try engine.step() {}
    try engine.write(.durable) { transaction in
      for key in 290..<300 {
        #expect(try transaction.remove(Content.key(key).rawSpan, in: slot))
      }
      // The removals stay where they are.
      transaction.expectMany()
      try put(290..<2_000, transaction)
    }
    try checkHolds([0..<2_000])
    try engine.close()
  }

  @Test func `is taken back to a savepoint, with the segments that it began`() throws {
    let names = medium.names
    try engine.write(.durable) { transaction in
      let start = try transaction.savepoint()
      try put(0..<2_000, transaction)
      #expect(medium.names != names)
      transaction.rollBack(to: start)
      #expect(medium.names == names)
      try put(0..<1_000, transaction)
      let middle = try transaction.savepoint()
      try put(1_000..<2_000, transaction)
      transaction.rollBack(to: middle)
      try put(1_000..<1_500, transaction)
    }
    try checkHolds([0..<1_500])
    try engine.close()
  }

  @Test func `goes on after the disk was full, from a savepoint before that`() throws {
    try engine.write(.durable) { transaction in
      try put(0..<1_000, transaction)
      let savepoint = try transaction.savepoint()
      medium.limitDisk(to: 0)
      #expect(throws: StoreError.self) { try put(1_000..<3_000, transaction) }
      transaction.rollBack(to: savepoint)
      medium.limitDisk(to: nil)
      #expect(try transaction.tree(slot).count() == 1_000)
      try put(1_000..<2_500, transaction)
    }
    try checkHolds([0..<2_500])
    try engine.close()
    let again = try SimulatedEngine.open(medium.crashed(.none), options: .spilling(budget: 8_000))
    #expect(try again.snapshot().tree(slot).count == 2_500)
    try again.close()
  }

  @Test func `comes before a fold that ended meanwhile in a later segment`() throws {
    try engine.write(.durable) { try put(0..<50, $0) }
    engine.freezeIfPossible()
    try engine.write(.durable) { transaction in
      try put(50..<2_000, transaction)
      // The fold begins a segment, whose number is above those of the load.
      engine.abandonAppended()
      while try engine.stepFold() {}
      #expect(engine.working.frozen == nil)
      try put(2_000..<3_000, transaction)
    }
    try checkHolds([0..<3_000])
    try engine.write(.durable) { try put(3_000..<3_100, $0) }
    engine.freezeIfPossible()
    while try engine.stepFold() {}
    try checkHolds([0..<3_100])
    try engine.close()
  }

  @Test func `leaves no run and no segment when it is given up`() throws {
    struct Abort: Error {}
    let (names, openCount) = (medium.names, medium.openFileCount)
    #expect(throws: Abort.self) {
      try engine.write(.durable) { transaction in
        try put(0..<3_000, transaction)
        throw Abort()
      }
    }
    #expect(medium.names == names)
    #expect(medium.openFileCount == openCount)
    try checkHolds([])
    try engine.close()
  }
}

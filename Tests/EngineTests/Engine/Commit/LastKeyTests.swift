import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("The last key of the tree that a transaction puts into")
struct LastKeyTests {
  private let engine: SimulatedEngine
  private let slot: TreeSlot
  private let other: TreeSlot

  init() throws {
    engine = try SimulatedEngine.open(SimulatedFileSystem(), options: EngineOptions())
    slot = try engine.names.slot(of: "t")
    other = try engine.names.slot(of: "other")
  }

  private func put(
    _ keys: some Sequence<UInt8>, _ value: Bytes, _ transaction: Transaction
  ) throws(StoreError) {
    for key in keys {
      try transaction.put([key].rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
    }
  }

  /// Fails unless the tree has `keys`, each with `value`.
  private func checkHolds(_ keys: [UInt8], _ value: Bytes) throws {
    #expect(try engine.snapshot().tree(slot).count == keys.count)
    for key in keys { #expect(try engine.value([key]) == value, "\(key)") }
    try engine.close()
  }

  @Test func `is not one from before a removal was taken back`() throws {
    try engine.write(.durable) { try put(0..<20, [1], $0) }
    try engine.write(.durable) { transaction in
      let savepoint = try transaction.savepoint()
      for key in 9..<20 as Range<UInt8> {
        #expect(try transaction.remove([key].rawSpan, in: slot))
      }
      try put(0..<7, [3], transaction)
      // The eighth put, after a last key of 8.
      try put([9], [3], transaction)
      transaction.rollBack(to: savepoint)
      try put(0..<20, [2], transaction)
    }
    try checkHolds(Array(0..<20), [2])
  }

  @Test func `is not one from before a tree that was cleared came back`() throws {
    try engine.write(.durable) { try put(0..<20, [1], $0) }
    while try engine.step() {}
    try engine.write(.durable) { transaction in
      let savepoint = try transaction.savepoint()
      transaction.removeAll(in: slot)
      try put(0..<10, [3], transaction)
      transaction.rollBack(to: savepoint)
      try put(10..<20, [2], transaction)
      try put(0..<10, [2], transaction)
    }
    try checkHolds(Array(0..<20), [2])
  }

  @Test func `is looked for at the eighth put, and known from then on`() throws {
    var lastKey = LastKey()
    var asked = 0
    for key in 0..<100 as Range<UInt8> {
      let isBelow = try lastKey.isBelow([key].rawSpan, in: slot) { () throws(StoreError) in
        asked += 1
        return key > 0 ? [key - 1] : nil
      }
      #expect(isBelow == (key >= 7))
    }
    #expect(asked == 1)
    #expect(try !lastKey.isBelow([99].rawSpan, in: slot) { () throws(StoreError) in nil })
    // It is another one of each tree.
    #expect(try !lastKey.isBelow([100].rawSpan, in: other) { () throws(StoreError) in nil })
    #expect(try !lastKey.isBelow([100].rawSpan, in: slot) { () throws(StoreError) in nil })
  }

  @Test func `is looked for ever more rarely among keys that are not above it`() throws {
    var lastKey = LastKey()
    var asked = 0
    for _ in 0..<1_000 {
      let isBelow = try lastKey.isBelow([1].rawSpan, in: slot) { () throws(StoreError) in
        asked += 1
        return [1]
      }
      #expect(!isBelow)
    }
    // At 8, 16, …, 512.
    #expect(asked == 7)
  }
}

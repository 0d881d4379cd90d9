import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("A spill that fails")
struct SpillFailureTests {
  private let medium = SimulatedFileSystem()
  private let engine: SimulatedEngine
  private let slot: TreeSlot

  init() throws {
    engine = try SimulatedEngine.open(medium, options: .spilling())
    slot = try engine.names.slot(of: "t")
    try engine.put([0], [7])
  }

  private func put(
    _ keys: Range<UInt8>, _ transaction: Transaction
  ) throws(StoreError) {
    for key in keys {
      try transaction.put(
        [key].rawSpan, Bytes(repeating: key, count: 20).rawSpan, schemaVersion: 1, in: slot)
    }
  }

  @Test func `makes every change and the commit throw what it threw, also when there is room`()
    throws
  {
    #expect(throws: StoreError.self) {
      try engine.write(.durable) { transaction in
        medium.limitDisk(to: 0)
        var failures: [StoreError] = []
        for _ in 0..<3 {
          do throws(StoreError) { try put(1..<100, transaction) } catch { failures.append(error) }
        }
        medium.limitDisk(to: nil)
        do throws(StoreError) {
          _ = try transaction.remove([0].rawSpan, in: slot)
        } catch { failures.append(error) }
        do throws(StoreError) { _ = try transaction.tree(slot) } catch { failures.append(error) }
        #expect(failures.count == 5)
        for failure in failures {
          guard case .full = failure else { throw failure }
        }
      }
    }
    #expect(try engine.value([0]) == [7])
    #expect(try engine.value([3]) == nil)
    try engine.write(.durable) { try put(1..<100, $0) }
    #expect(try engine.value([3]) == Bytes(repeating: 3, count: 20))
    try engine.close()
  }

  @Test(arguments: [5, 60] as [UInt8])
  func `is forgotten by going back to a savepoint before it`(before: UInt8) throws {
    try engine.write(.durable) { transaction in
      try put(1..<before, transaction)
      let savepoint = try transaction.savepoint()
      medium.limitDisk(to: 0)
      #expect(throws: StoreError.self) { try put(before..<200, transaction) }
      transaction.rollBack(to: savepoint)
      medium.limitDisk(to: nil)
      #expect(try transaction.tree(slot).count() == Int(before))
      try put(200..<250, transaction)
    }
    #expect(try engine.snapshot().tree(slot).count == Int(before) + 50)
    #expect(try engine.value([150]) == nil)
    #expect(try engine.value([220]) == Bytes(repeating: 220, count: 20))
    try engine.close()
  }
}

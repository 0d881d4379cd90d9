import Glibc
import TestSupport
import Testing

@testable import Cambium

/// Commits that are flushed by themselves, F10: seen by what a power cut would leave.
@Suite struct FlushDelayTests {
  private struct Tick: Record {
    var id: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }

  private static let model = StoreModel(records: [Tick.self])

  private static func survivors(_ storage: MemoryStorage) throws -> [Int] {
    try PersistentStore(on: storage.afterPowerCut(), model: model).fetch(Tick.self).map(\.id)
  }

  @Test func `a relaxed commit is flushed by itself within its delay, F10`() throws {
    let storage = MemoryStorage()
    let store = try PersistentStore(on: storage, model: Self.model)
    for id in 1...3 {
      let begin = ContinuousClock.now
      try store.save(Tick(id: id), durability: .relaxed(flushWithin: .milliseconds(20)))
      // A busy machine may let threads wait much longer than the delay.
      while try Self.survivors(storage) != Array(1...id) {
        try #require(ContinuousClock.now - begin < .seconds(120), "it was not flushed")
        usleep(2_000)
      }
    }
    // Without a delay, the next flush takes it along.
    try store.save(Tick(id: 4), durability: .relaxed)
    usleep(100_000)
    #expect(try Self.survivors(storage) == [1, 2, 3])
    try store.save(Tick(id: 5), durability: .durable)
    #expect(try Self.survivors(storage) == [1, 2, 3, 4, 5])
  }
}

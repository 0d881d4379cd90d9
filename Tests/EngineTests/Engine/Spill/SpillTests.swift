import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("A transaction larger than its memory budget")
struct SpillTests {
  @Test func `agrees with a dictionary, whatever is done and read`() {
    replaying(Seeds.range(scaled(100, debug: 30), shard: 0)) { seed in
      var history = try SpillHistory(seed: seed)
      try history.run(transactions: 4, steps: 220)
      try agree(history.medium.names.allSatisfy { !$0.isTemporary }, "\(history.medium.names)")
    }
  }

  @Test func `agrees with a dictionary where many keys come in order`() {
    var loading = 0
    replaying(Seeds.range(scaled(100, debug: 30), shard: 0)) { seed in
      var history = try SpillHistory(seed: seed, isAscending: true)
      try history.run(transactions: 4, steps: 60)
      try agree(history.medium.names.allSatisfy { !$0.isTemporary }, "\(history.medium.names)")
      loading += history.loading
    }
    #expect(loading > 10)
  }

  @Test func `needs no memory for savepoints that are released`() throws {
    let engine = try SimulatedEngine.open(SimulatedFileSystem(), options: EngineOptions())
    let slot = try engine.names.slot(of: "t")
    try engine.write(.durable) { transaction in
      for index in 0..<2_000 {
        let savepoint = try transaction.savepoint()
        let key = Bytes(String(index % 10).utf8)
        try transaction.put(key.rawSpan, [1, 2, 3].rawSpan, schemaVersion: 1, in: slot)
        transaction.release(savepoint)
      }
      #expect(transaction.spill == nil)
    }
    // A copy of a node for each savepoint would be two megabytes.
    #expect(engine.working.fresh.arena.statistics.nodeBytes < 64 << 10)
    try engine.close()
  }

  @Test func `leaves no file open, however it ends`() throws {
    let medium = SimulatedFileSystem()
    struct Abort: Error {}
    do {
      let engine = try SimulatedEngine.open(medium, options: .spilling())
      let slot = try engine.names.slot(of: "t")
      let before = medium.openFileCount
      for isAborted in [true, false] {
        do {
          try engine.write(.durable) { transaction in
            for index in 0..<200 as Range<UInt8> {
              try transaction.put(
                [index].rawSpan, Bytes(repeating: index, count: 20).rawSpan, schemaVersion: 1,
                in: slot)
            }
            #expect(medium.callCount(at: .runCreate) > 3)
            #expect(medium.openFileCount > before)
            #expect(medium.names.allSatisfy { !$0.isTemporary })
            if isAborted { throw Abort() }
          }
        } catch is Abort {}
        #expect(isAborted == (try engine.value([3]) == nil))
      }
      #expect(medium.openFileCount <= before + 2)
      try engine.close()
    }
    #expect(medium.openFileCount == 0)
  }

  @Test func `cursors stay where they are while another tree is read and all becomes runs`() throws
  {
    let medium = SimulatedFileSystem()
    var options = EngineOptions()
    options.transactionBudget = 1 << 20
    let engine = try Engine.open(medium, options: options)
    let (read, other) = (try engine.names.slot(of: "read"), try engine.names.slot(of: "other"))
    try engine.write(.durable) { transaction in
      transaction.expectMany()
      for key in 0..<200 {
        try transaction.put(Content.key(key).rawSpan, [1].rawSpan, schemaVersion: 1, in: read)
      }
      // Takes them over to the overlay.
      #expect(try transaction.tree(read).contains(Content.key(0).rawSpan))
      for key in 0..<400 {
        let value = Bytes(repeating: 2, count: 1000)
        try transaction.put(Content.key(key).rawSpan, value.rawSpan, schemaVersion: 1, in: other)
      }
      let cursor = try transaction.tree(read).cursor()
      var isOn = try cursor.first()
      let before = medium.callCount(at: .runCreate)
      #expect(try transaction.tree(other).contains(Content.key(0).rawSpan))
      #expect(medium.callCount(at: .runCreate) > before)
      var keys: [Bytes] = []
      while isOn {
        keys.append(cursor.key.array())
        isOn = try cursor.next()
      }
      #expect(keys == (0..<200).map { Content.key($0) }.sorted { $0.lexicographicallyPrecedes($1) })
    }
    try engine.close()
  }

  @Test func `takes values of every size, and gives them back`() throws {
    let medium = InMemoryFileSystem()
    var options = EngineOptions()
    options.transactionBudget = 3 << 20
    options.runsMax = 2
    let engine = try Engine.open(medium, options: options)
    let slot = try engine.names.slot(of: "t")
    let sizes = [0, 1, 2_000, 3_000, 300_000, (1 << 20) - 1, 1 << 20, 9 << 20, 16 << 20]
    func value(_ key: Int) -> Bytes {
      Bytes(repeating: UInt8(key % 251), count: sizes[key % sizes.count])
    }
    let count = 4 * sizes.count
    try engine.write(.durable) { transaction in
      for key in 0..<count {
        try transaction.put(
          Content.key(key).rawSpan, value(key).rawSpan, schemaVersion: 1, in: slot)
        var found: Bytes = []
        let tree = key % 5 == 0 ? try transaction.tree(slot) : nil
        for read in 0...key {
          guard let tree else { break }
          let isFound = try tree.copyValue(for: Content.key(read).rawSpan, to: &found)
          #expect(isFound && found == value(read), "\(read) after \(key)")
        }
      }
    }
    for key in 0..<count { #expect(try engine.snapshotValue(key, in: slot) == value(key)) }
    try engine.close()
  }
}

extension Engine {
  fileprivate func snapshotValue(_ key: Int, in slot: TreeSlot) throws -> Bytes? {
    var value: Bytes = []
    let tree = try snapshot().tree(slot)
    return try tree.copyValue(for: Content.key(key).rawSpan, to: &value) ? value : nil
  }
}

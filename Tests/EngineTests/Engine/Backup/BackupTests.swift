import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A copy of a state is a store, whole, or it is none.
@Suite struct BackupTests {
  /// A store with something in its trees, something frozen and something newer, one tree cleared and one new.
  private static func engine(
    in medium: SimulatedFileSystem
  ) throws -> (SimulatedEngine, History) {
    var scenario = Scenario(name: "backup", seed: 1)
    var random = SplitMix64(seed: 9)
    var changes: [Change] = []
    for _ in 0..<40 {
      changes.append(
        .put(
          tree: Int(random.next() % 2), key: Int(random.next() % 60),
          length: [3, 50, 300, 5_000][Int(random.next() % 4)]))
    }
    scenario.steps = [
      .open, .commit(changes, .durable), .freeze, .settle,
      .commit([.clear(tree: 0), .put(tree: 1, key: 3, length: 9)], .durable), .freeze,
      .commit([.remove(tree: 1, key: 3), .put(tree: 2, key: 1, length: 700)], .durable),
    ]
    let run = ScenarioRun(scenario, in: medium)
    try run.run()
    return (try #require(run.engine), run.history)
  }

  private static func backUp(
    _ engine: SimulatedEngine, into target: SimulatedFileSystem
  ) throws(StoreError) -> BackupContents {
    try Backup(
      of: engine.snapshot(), engine.names, BackupMonitor(), sizes: engine.options.nodeSizes
    ).run(into: target, salt: 5)
  }

  private static func check(
    _ target: SimulatedFileSystem, holds history: History
  ) throws {
    let copy = try SimulatedEngine.open(target, options: .small(), creating: false)
    #expect(Int(copy.report.sequence) == history.last)
    #expect(copy.report.replayedCommits == 0)
    try copy.checkHolds(history.newest)
    #expect(copy.working.base.file.check(sizes: copy.options.nodeSizes).isEmpty)
    let usage = try copy.spaceUsage()
    let live = copy.working.base.file.footer.trees.reduce(0) {
      $0 + ($1.root?.reference.liveBytes ?? 0)
    }
    #expect(usage.liveBytes == live, "it has no garbage")
    // It is a store to go on with.
    try copy.put([1], [2])
    try copy.close()
  }

  @Test func `a copy holds what the state does, and goes on`() throws {
    let (engine, history) = try Self.engine(in: SimulatedFileSystem())
    let target = SimulatedFileSystem()
    let contents = try Self.backUp(engine, into: target)
    #expect(Int(contents.sequence) == history.last)
    #expect(contents.entries == history.newest.trees.reduce(0) { $0 + $1.count })
    #expect(target.openFileCount == 0)
    try Self.check(target, holds: history)
    // The source goes on, too.
    try engine.put([9], [9])
    try engine.close()
  }

  @Test func `what is committed while it is made is not in it`() throws {
    let medium = SimulatedFileSystem()
    let (engine, history) = try Self.engine(in: medium)
    let target = SimulatedFileSystem()
    var calls = 0
    target.beforeEachCall { _ in
      calls += 1
      try? engine.put([UInt8(calls % 50), 1], [1], in: Content.treeNames[1])
      if calls % 3 == 0 { while (try? engine.step()) == true {} }
      if calls == 4 { try? engine.compact(.whole, slices: 100) }
    }
    _ = try Self.backUp(engine, into: target)
    target.beforeEachCall(nil)
    #expect(calls > 10)
    try Self.check(target, holds: history)
  }

  @Test func `an empty store is copied`() throws {
    let engine = try SimulatedEngine.open(SimulatedFileSystem())
    let target = SimulatedFileSystem()
    #expect(try Self.backUp(engine, into: target).entries == 0)
    try Self.check(target, holds: History())
  }

  @Test func `a followed store is copied as it is shown`() throws {
    let medium = SimulatedFileSystem()
    let (engine, history) = try Self.engine(in: medium)
    try engine.seal()
    let follower = try Follower(medium, options: .small())
    let target = SimulatedFileSystem()
    let backup = Backup(
      of: follower.snapshot(), follower.names, BackupMonitor(), sizes: engine.options.nodeSizes)
    _ = try backup.run(into: target, salt: 5)
    try Self.check(target, holds: history)
  }

  @Test func `a crash leaves the whole copy, or nothing that opens`() throws {
    let (engine, history) = try Self.engine(in: SimulatedFileSystem())
    let target = SimulatedFileSystem()
    var images = 0
    func look(_ call: Int) {
      for policy in CrashPolicy.some(8, pending: target.pendingCount, seed: UInt64(call)) {
        images += 1
        let image = target.crashed(policy)
        do {
          let copy = try SimulatedEngine.open(image, options: .small(), creating: false)
          try copy.checkHolds(history.newest)
        } catch StoreError.missing {
          // There is none.
        } catch {
          Issue.record("call \(call), \(policy): \(error)")
        }
      }
    }
    target.beforeEachCall(look)
    _ = try Self.backUp(engine, into: target)
    target.beforeEachCall(nil)
    // When it has ended it is there, whatever comes.
    for policy in CrashPolicy.some(8, pending: target.pendingCount, seed: 1) {
      try Self.check(target.crashed(policy), holds: history)
    }
    print("backup: \(images) crash images")
  }

  @Test func `a call that fails leaves nothing that opens, and the source as it was`() throws {
    let medium = SimulatedFileSystem()
    let (engine, history) = try Self.engine(in: medium)
    let whole = SimulatedFileSystem()
    _ = try Self.backUp(engine, into: whole)
    var failures = 0
    for call in 0..<whole.callCount {
      for errno in [SystemErrorCode.ioError, .noSpace] {
        let target = SimulatedFileSystem()
        target.inject(.error(errno), at: .call(call))
        do {
          _ = try Self.backUp(engine, into: target)
        } catch {
          failures += 1
          target.heal()
          let image = target.crashed(.all)
          #expect(throws: StoreError.self, "call \(call)") {
            try SimulatedEngine.open(image, options: .small(), creating: false)
          }
        }
        #expect(target.openFileCount == 0)
      }
    }
    #expect(failures > whole.callCount)
    try engine.checkHolds(history.newest)
  }

  @Test func `damage in the source ends it`() throws {
    let medium = SimulatedFileSystem()
    let (engine, _) = try Self.engine(in: medium)
    medium.inject(.error(.ioError), at: .operation(.read, medium.callCount(of: .read)), .forGood)
    let target = SimulatedFileSystem()
    #expect(throws: StoreError.self) { try Self.backUp(engine, into: target) }
    #expect(!target.names.contains(.log(0)))
  }
}

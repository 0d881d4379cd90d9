import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Spilled transactions that are folded into levels.
@Suite struct SpilledLevelTests {
  private typealias Small = LayeredReadingTests
  private typealias Levels = LevelReadingTests

  @Test func `every tree of three keys agrees with a dictionary after every transaction`() {
    Small.everyTree(beside: [[1]: [1], [9]: [9]]) { world, number in
      try world.add(Small.changes(number % 54))
      try world.fold(into: .level(merging: nil))
      if number % 4 == 0 { try world.add(Small.changes(number / 11 % 54)) }
      try world.fold(
        into: .level(merging: Levels.merge(number / 54 % 11)),
        spilling: Small.changes(number / 54), capacity: number % 3 == 0 ? 8 : 200)
      try world.verify(asking: Small.asked, turns: 20, seed: UInt64(number))
      try world.fold(into: .tree)
      try world.verify(asking: Small.asked, turns: 20, seed: UInt64(number))
    }
  }

  @Test(arguments: TreeReadingTests.modes)
  func `random lives of a tree and its level agree with a dictionary`(mode: ReadMode) {
    let levels = Mutex(0)
    replaying(0..<UInt64(scaled(40, debug: 6))) { seed in
      var random = SplitMix64(seed: seed)
      let space = UInt64([30, 400, 2_000][Int(seed % 3)])
      let (tree, asked) = try Small.randomTree(
        beside: [[0]: [0], [255]: [255]], below: space, mode: mode, &random)
      var world = tree
      for round in 0..<2 + random.next() % 6 {
        if random.next() % 2 == 0 { try world.add(Small.changes(space, &random)) }
        let merge = Levels.merge(space, &random)
        let changes = Small.changes(space, &random)
        try world.fold(
          into: random.next() % 6 == 0 ? .tree : .level(merging: merge),
          spilling: random.next() % 4 == 0 ? nil : changes,
          capacity: [100, 1_000, 20_000][Int(random.next() % 3)])
        if world.base.level(LayeredWorld.slot) != nil { levels.withLock { $0 += 1 } }
        if round % 2 == 0 { try world.verify(asking: asked, turns: 200, seed: seed) }
      }
      try world.verify(asking: asked, turns: 400, seed: seed)
    }
    #expect(levels.withLock { $0 } > scaled(40, debug: 4))
  }

  @Test func `a removal of a key that is nowhere is no change`() throws {
    var world = try LayeredWorld([[1]: [1], [3]: [3], [9]: [9]])
    for merge in [nil, Levels.merge(3)] {
      try world.fold(
        into: .level(merging: merge), spilling: [.put([2], [2]), .remove([2]), .remove([3])],
        capacity: 1)
      #expect(world.base.level(LayeredWorld.slot)?.added.root == nil)
      try world.verify(asking: Small.asked)
      try world.fold(into: .level(merging: nil), spilling: [.put([3], [4])], capacity: 1)
      try world.verify(asking: Small.asked)
    }
  }

  @Test func `values of every size go into a level, and from there into the tree`() throws {
    let sizes = [0, 3_000, 300_000, 1 << 20, 3 << 20]
    func value(_ number: Int) -> Bytes { Bytes(repeating: UInt8(number), count: sizes[number % 5]) }
    var world = try LayeredWorld([[1]: [1], [5]: value(2), [9]: [9]], sizes: .standard)
    func changes(_ round: Int) -> [LayeredWorld.Change] {
      (0..<5).map { .put([UInt8(2 + ($0 * 3 + round) % 5)], value($0 + round)) }
    }
    for round in 0..<3 {
      try world.fold(into: .level(merging: nil), spilling: changes(round), capacity: 1 << 20)
      try world.verify(turns: 10)
      try world.fold(
        into: .level(merging: Levels.merge(round + 1)), spilling: changes(round + 1),
        capacity: 2_000_000)
      try world.verify(turns: 10)
    }
    try world.fold(into: .tree)
    try world.verify(turns: 10)
  }

  @Test func `transactions at random agree with a dictionary, whatever is done and read`() {
    let levels = Mutex(0)
    replaying(Seeds.range(scaled(60, debug: 8), shard: 0)) { seed in
      var history = try SpillHistory(seed: seed, isAscending: seed % 4 == 0, hasLevels: true)
      try history.run(transactions: 6, steps: seed % 4 == 0 ? 60 : 150)
      levels.withLock { $0 += history.levels }
    }
    #expect(levels.withLock { $0 } > scaled(60, debug: 8))
  }

  // MARK: How much is written

  /// A transaction of more than 80 records is spilled.
  private static func world(_ ratio: Double?) throws -> FoldWorld {
    var options = LevelFoldTests.options(ratio)
    options.transactionBudget = 8 << 10
    var world = try FoldWorld(options)
    for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
      try world.put(start..<start + 1000, 1)
    }
    try world.changeAnywhere(4000, below: 40_000, 2)
    return world
  }

  @Test func `a transaction of few random keys writes much less than a large tree`() throws {
    var world = try Self.world(6)
    #expect(world.hasLevel)
    var pieces = 0
    for round in 0..<20 {
      let (before, tree) = (world.medium.bytesWritten, world.base.tree(world.tree))
      let keys = Set((0..<400).map { _ in world.random.next() % 40_000 })
      try world.put(keys, UInt8(round))
      let written = world.medium.bytesWritten - before
      #expect(world.hasLevel && written < tree.liveBytes / 3, "\(written) of \(tree.liveBytes)")
      if world.base.tree(world.tree).root != tree.root { pieces += 1 }
    }
    #expect(pieces > 10)
    try world.remove((0..<2_000).filter { world.expected[$0] != nil })
    #expect(world.hasLevel)
    try world.check(world.engine)
    let cut = try Engine.open(world.medium.crashed(.none), options: LevelFoldTests.options(6))
    try world.check(cut)
    try cut.close()
    try world.engine.close()
  }

  @Test func `a transaction larger than a level can become goes into the tree`() throws {
    var world = try Self.world(0)
    #expect(world.hasLevel)
    let keys = Set((0..<20_000).map { _ in world.random.next() % 40_000 })
    try world.put(keys, 3)
    #expect(!world.hasLevel)
    try world.check(world.engine)
    try world.engine.close()
  }

  // MARK: Crashes

  @Test(arguments: [false, true])
  func `a crash before any call leaves the old state or the new`(large: Bool) throws {
    var (findings, levels) = (Findings(), 0)
    for seed in Seeds.range(scaled(large ? 2 : 4, debug: large ? 1 : 2), shard: 0) {
      let scenario = Scenario.spilledIntoLevels(seed: seed, large: large)
      levels += try Self.levelCount(after: scenario)
      var sweep = CrashSweep(scenario: scenario)
      sweep.stride = scaled(large ? 5 : 1, debug: 29)
      findings.add(sweep.run())
    }
    #expect(levels > 0)
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > scaled(100, debug: 5) && findings.violations.isEmpty)
  }

  private static func levelCount(after scenario: Scenario) throws -> Int {
    let run = ScenarioRun(scenario)
    for step in scenario.steps { try run.perform(step) }
    defer { run.end() }
    return run.engine?.working.base.levelCount ?? 0
  }

  @Test func `a call that fails loses nothing that was promised`() {
    var sweep = FaultSweep(scenario: .spilledIntoLevels(seed: 5))
    sweep.stride = scaled(3, debug: 61)
    let findings = sweep.run()
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > scaled(100, debug: 5) && findings.violations.isEmpty)
  }
}

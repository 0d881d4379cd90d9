import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Which trees get levels, when these are merged, and what a crash leaves of both.
@Suite struct LevelFoldTests {
  /// Overlays hold 160 records.
  static func options(_ ratio: Double?) -> EngineOptions {
    var options = EngineOptions()
    options.foldThreshold = 16 << 10
    options.levelRatio = ratio
    options.leastSegmentOfGarbage = 64 << 10
    return options
  }

  @Test
  func `keys in no order get a level, which is merged in pieces, and ascending ones get none`()
    throws
  {
    var world = try FoldWorld(Self.options(6))
    for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
      try world.put(start..<start + 1000, 1)
      #expect(!world.hasLevel, "ascending keys need none")
    }
    var (levels, pieces) = (0, 0)
    for round in 0..<60 {
      let root = world.base.tree(world.tree).root
      try world.changeAnywhere(200, below: 40_000, UInt8(round))
      guard let level = world.base.level(world.tree) else { continue }
      levels += 1
      if world.base.tree(world.tree).root != root { pieces += 1 }
      #expect(level.liveBytes < world.base.tree(world.tree).liveBytes / 8)
    }
    #expect(levels > 50 && pieces > 30, "\(levels) times there was a level, \(pieces) pieces")
    try world.check(world.engine)
    let cut = try Engine.open(world.medium.crashed(.none), options: Self.options(6))
    try world.check(cut)
    try cut.close()
    // A program that makes none reads, and merges what it folds into.
    let older = try Engine.open(world.medium.crashed(.none), options: Self.options(nil))
    try world.check(older)
    try older.foldEverything()
    try world.check(older)
    try older.close()
    try world.engine.close()
    let again = try Engine.open(world.medium, options: Self.options(6))
    try world.check(again)
    try again.mergeLevels()
    #expect(again.working.base.levelCount == 0)
    try world.check(again)
    try again.close()
  }

  @Test func `a fold beside a level writes about as much as the one before`() throws {
    var world = try FoldWorld(Self.options(6))
    for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
      try world.put(start..<start + 1000, 1)
    }
    try world.changeAnywhere(6000, below: 40_000, 2)
    try world.engine.foldEverything()
    var written: [Int] = []
    for round in 0..<60 {
      let before = world.medium.bytesWritten
      try world.changeAnywhere(160, below: 40_000, UInt8(round))
      try world.engine.foldEverything()
      written.append(world.medium.bytesWritten - before)
    }
    #expect(world.hasLevel)
    written.sort()
    #expect(written[59] < 2 * written[30], "\(written)")
    try world.engine.close()
  }

  @Test func `a level stays when the store is opened again, and overlays grow beside it`() throws {
    var options = Self.options(6)
    options.overlayScaleMax = 4
    var world = try FoldWorld(options)
    for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
      try world.put(start..<start + 1000, 1)
    }
    try world.changeAnywhere(8000, below: 40_000, 2)
    #expect(world.hasLevel && world.engine.overlayScale.isLargest)
    try world.engine.close()
    try world.open(options)
    #expect(!world.engine.overlayScale.isLargest)
    let (before, size) = (world.medium.bytesWritten, world.base.tree(world.tree).liveBytes)
    try world.changeAnywhere(160, below: 40_000, 3)
    try world.engine.foldEverything()
    #expect(world.hasLevel)
    #expect(world.medium.bytesWritten - before < size / 2)
    try world.changeAnywhere(1600, below: 40_000, 4)
    #expect(world.hasLevel && world.engine.overlayScale.isLargest)
    try world.check(world.engine)
    try world.engine.close()
  }

  @Test func `a level goes once keys come in order`() throws {
    var world = try FoldWorld(Self.options(6))
    for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
      try world.put(start..<start + 1000, 1)
    }
    try world.changeAnywhere(4000, below: 40_000, 2)
    #expect(world.hasLevel)
    for start in stride(from: 40_000, to: 60_000, by: 100) as StrideTo<UInt64> {
      try world.put(start..<start + 100, 1)
    }
    #expect(!world.hasLevel)
    try world.check(world.engine)
    try world.engine.close()
  }

  @Test func `a level writes much less than folds into a large tree`() throws {
    var written: [Int] = []
    for ratio in [nil, 6] as [Double?] {
      var world = try FoldWorld(Self.options(ratio))
      for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
        try world.put(start..<start + 1000, 1)
      }
      let before = world.medium.bytesWritten
      try world.changeAnywhere(12_000, below: 40_000, 2)
      written.append(world.medium.bytesWritten - before)
      try world.check(world.engine)
      try world.engine.close()
    }
    #expect(
      written[1] * 3 < written[0] * 2, "\(written[1]) bytes with a level, \(written[0]) without")
  }

  @Test func `removals of more than an eighth of a tree are merged into it`() throws {
    var world = try FoldWorld(Self.options(0))
    try world.put(0..<20_000, 1)
    try world.engine.foldEverything()
    let before = world.engine.working.base.tree(world.tree).liveBytes
    for start in stride(from: 0, to: 8000, by: 500) as StrideTo<UInt64> {
      try world.remove(start..<start + 500)
      try world.engine.foldEverything()
      let base = world.engine.working.base
      let removed = base.level(world.tree)?.removed.count ?? 0
      #expect(removed <= base.tree(world.tree).count / 8 + 500)
    }
    try world.check(world.engine)
    #expect(world.engine.working.base.tree(world.tree).liveBytes < before * 3 / 4)
    try world.engine.close()
  }

  @Test func `a compaction of all leaves no level, and changes nothing`() throws {
    var world = try FoldWorld(Self.options(0))
    try world.put(0..<4000, 1)
    try world.changeAnywhere(2000, below: 4000, 2)
    try world.engine.foldEverything()
    #expect(world.hasLevel)
    var request = CompactionRequest()
    request.below = try world.engine.spaceUsage().nextNumber
    while let slice = try world.engine.compact(request), !slice.endsPass {}
    #expect(!world.hasLevel)
    try world.check(world.engine)
    try world.engine.close()
  }

  // MARK: Damage

  @Test func `a level whose branches are lost is found again by its leaves`() throws {
    var world = try FoldWorld(Self.options(6))
    for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
      try world.put(start..<start + 1000, 1)
    }
    // Removed records may come back, as nothing leads to the leaves that say so.
    for round in 0..<40 {
      try world.put(Set((0..<150).map { _ in world.random.next() % 80_000 }), UInt8(round + 2))
    }
    try world.engine.close()
    let file = try Follower(world.medium, options: Self.options(6)).snapshot().state.base.file
    var count = 0
    for tree in file.footer.trees {
      guard LevelLayer.parsing(tree.name) != nil, let root = tree.root, root.level > 0 else {
        continue
      }
      let position = root.reference.position
      world.medium.flipBit(
        Int(position.block) * Layout.blockSize * 8 + 777, of: .pages(position.segment))
      count += 1
    }
    #expect(count == 2, "parts of what was added and replaced")
    let (other, salts) = (SimulatedFileSystem(), Salts(seed: 3))
    let report = try Salvage.run(from: world.medium, to: other, options: Self.options(nil)) {
      salts.next()
    }
    #expect(report.losses.count == 2)
    let copy = try Engine.open(other, options: Self.options(6))
    try world.check(copy)
    try copy.close()
  }

  // MARK: Crashes

  private static let kinds: [ScenarioKind] = [
    .steppedFold, .severalTrees, .removals, .savepoints, .commitByFooter, .reopening, .closing,
    .logSwitchFrozen, .everything, .compacting, .compactingKept,
  ]

  private func scenario(_ kind: ScenarioKind, _ seed: UInt64) -> Scenario {
    var scenario = kind.scenario(seed: seed)
    scenario.options.levelRatio = 0
    scenario.options.foldThreshold = 512
    return scenario
  }

  @Test(arguments: kinds)
  func `a crash before any call leaves all that was promised, with levels`(kind: ScenarioKind) {
    var findings = Findings()
    for seed in Seeds.range(scaled(3, debug: 1), shard: 1) {
      var sweep = CrashSweep(scenario: scenario(kind, seed))
      sweep.stride = scaled(ScenarioKind.compactions.contains(kind) ? 3 : 1, debug: 11)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > scaled(100, debug: 5) && findings.violations.isEmpty)
  }

  @Test(arguments: kinds)
  func `a call that fails loses nothing that was promised, with levels`(kind: ScenarioKind) {
    var sweep = FaultSweep(scenario: scenario(kind, 5))
    sweep.stride = scaled(ScenarioKind.compactions.contains(kind) ? 3 : 1, debug: 7)
    let findings = sweep.run()
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > scaled(100, debug: 5) && findings.violations.isEmpty)
  }
}

extension FoldWorld {
  /// Changes records in no order, 20 a transaction, and removes every seventh.
  mutating func changeAnywhere(
    _ count: Int, below end: UInt64, _ byte: UInt8
  ) throws {
    for _ in 0..<count / 20 {
      let keys = Set((0..<20).map { _ in random.next() % end })
      try put(keys.filter { $0 % 7 != 0 }, byte)
      try remove(keys.filter { $0 % 7 == 0 && expected[$0] != nil })
    }
  }

  var base: Base { engine.working.base }
  var hasLevel: Bool { base.level(tree) != nil }
}

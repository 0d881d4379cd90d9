import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Folds that leave a segment when more than half of it is garbage, or empty it, and what closing does with the rest.
@Suite struct SegmentTurnoverTests {
  /// Conditions under which closing gives back whatever it can.
  private static var always: AutomaticCompaction {
    var automatic = AutomaticCompaction()
    automatic.leastGain = 1
    return automatic
  }

  private struct Sizes {
    /// The bytes of the files of pages: at most, and after the store was closed.
    var (most, closed) = (0, 0)
    /// The bytes of the trees' pages.
    var live = 0
  }

  private func size(of medium: SimulatedFileSystem) throws -> Int {
    var size = 0
    for name in try medium.list(at: .test) {
      guard case .pages = name.kind else { continue }
      size += try medium.open(name, .read, at: .test).size(at: .test)
    }
    return size
  }

  /// Overwrites records of 100 bytes in no order, in folds of 160 of them.
  ///
  /// - Parameters:
  ///   - count: The number of records.
  ///   - rounds: How often 200 of them are overwritten.
  ///   - least: The size from which on a segment is left.
  private func overwritten(
    _ count: UInt16 = 2000, rounds: Int = 600, least: Int, _ automatic: AutomaticCompaction? = nil
  ) throws -> Sizes {
    let medium = SimulatedFileSystem()
    var options = EngineOptions()
    options.foldThreshold = 16 << 10
    options.leastSegmentOfGarbage = least
    options.automaticCompaction = automatic
    let engine = try Engine.open(medium, options: options)
    let tree = try engine.names.slot(of: "t")
    var random = SplitMix64(seed: 3)
    var (expected, sizes): ([UInt16: UInt8], Sizes) = ([:], Sizes())
    for round in 0..<rounds {
      let byte = UInt8(truncatingIfNeeded: round)
      let keys = (0..<200).map { _ in UInt16(random.next() % UInt64(count)) }
      try engine.write(.durable) { transaction in
        for key in keys {
          try transaction.put(
            [UInt8(key >> 8), UInt8(key & 255)].rawSpan,
            Bytes(repeating: byte, count: 98).rawSpan, schemaVersion: 1, in: tree)
        }
      }
      for key in keys { expected[key] = byte }
      if round % 20 == 19 { sizes.most = max(sizes.most, try size(of: medium)) }
    }
    try engine.close()
    sizes.closed = try size(of: medium)
    let again = try Engine.open(medium, options: options)
    var value: Bytes = []
    let found = try again.snapshot().tree(again.names.slot(of: "t"))
    #expect(found.count == expected.count)
    for (key, byte) in expected {
      #expect(try found.copyValue(for: [UInt8(key >> 8), UInt8(key & 255)].rawSpan, to: &value))
      #expect(value == Bytes(repeating: byte, count: 98))
    }
    try again.checkLiveBytes()
    sizes.live = Int(again.working.base.file.footer.liveBytes)
    #expect(again.working.base.file.check(sizes: options.nodeSizes).isEmpty)
    try again.close()
    #expect(sizes.live > 100 * Int(count) && sizes.live < sizes.closed)
    return sizes
  }

  @Test func `what is overwritten again and again takes little more than what is there`() throws {
    let kept = try overwritten(least: .max)
    let left = try overwritten(least: 64 << 10)
    #expect(kept.closed > 20 << 20)
    #expect(left.closed < 1 << 20, "\(left), and \(kept) where no segment is left")
  }

  @Test func `folds empty segments of which little is alive, without a compaction`() throws {
    let sizes = try overwritten(20_000, least: 64 << 10)
    #expect(sizes.most < 3 * sizes.live, "\(sizes)")
  }

  @Test(arguments: [2000, 20_000] as [UInt16])
  func `a store that is closed is hardly larger than what is there`(count: UInt16) throws {
    let sizes = try overwritten(count, least: 64 << 10, Self.always)
    #expect(sizes.closed < sizes.live + sizes.live / 5, "\(sizes)")
  }

  @Test func `closing moves nothing where little is gained, nor where nothing was written`() throws
  {
    let sizes = try overwritten(200, rounds: 20, least: .max, AutomaticCompaction())
    #expect(sizes.closed > sizes.live + sizes.live / 5, "less than a mebibyte is garbage: \(sizes)")
    let medium = SimulatedFileSystem()
    var options = EngineOptions()
    let engine = try Engine.open(medium, options: options)
    let tree = try engine.names.slot(of: "t")
    for _ in 0..<40 {
      try engine.write(.durable) { transaction in
        let value = Bytes(repeating: 1, count: 900)
        try transaction.put([1].rawSpan, value.rawSpan, schemaVersion: 1, in: tree)
      }
      try engine.foldEverything()
    }
    try engine.close()
    options.automaticCompaction = Self.always
    let before = medium.calls.count
    try Engine.open(medium, options: options).close()
    let opening = medium.calls.count - before
    try Engine.open(medium, options: .init()).close()
    #expect(medium.calls.count - before == 2 * opening)
  }

  @Test(
    arguments: [
      .steppedFold, .severalTrees, .commitByFooter, .reopening, .newSegments, .closing, .compacting,
    ] as [ScenarioKind])
  func `a crash before any call leaves all that was promised`(kind: ScenarioKind) {
    var findings = Findings()
    for seed in Seeds.range(scaled(4, debug: 1), shard: 1) {
      var scenario = kind.scenario(seed: seed)
      scenario.options.leastSegmentOfGarbage = 1
      scenario.options.automaticCompaction = Self.always
      var sweep = CrashSweep(scenario: scenario)
      sweep.stride = scaled(kind == .compacting ? 3 : 1, debug: 3)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > 100 && findings.violations.isEmpty)
  }

  @Test(arguments: [.steppedFold, .severalTrees, .commitByFooter, .reopening] as [ScenarioKind])
  func `a call that fails loses nothing that was promised`(kind: ScenarioKind) {
    var scenario = kind.scenario(seed: 5)
    scenario.options.leastSegmentOfGarbage = 1
    scenario.options.automaticCompaction = Self.always
    var sweep = FaultSweep(scenario: scenario)
    sweep.stride = scaled(1, debug: 7)
    let findings = sweep.run()
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > 100 && findings.violations.isEmpty)
  }
}

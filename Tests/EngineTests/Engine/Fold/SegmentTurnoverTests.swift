import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Folds that leave a segment when more than half of it is garbage.
@Suite struct SegmentTurnoverTests {
  /// Overwrites 2,000 records of 100 bytes in no order, 60 times each on average, in folds of 160 of them.
  ///
  /// - Parameter least: The size from which on a segment is left.
  /// - Returns: The bytes of the store's files of pages, after it was closed.
  private func overwritten(least: Int) throws -> Int {
    let medium = SimulatedFileSystem()
    var options = EngineOptions()
    options.foldThreshold = 16 << 10
    options.leastSegmentOfGarbage = least
    options.automaticCompaction = nil
    let engine = try Engine.open(medium, options: options)
    let tree = try engine.names.slot(of: "t")
    var random = SplitMix64(seed: 3)
    var expected: [UInt16: UInt8] = [:]
    for round in 0..<600 {
      let byte = UInt8(truncatingIfNeeded: round)
      let keys = (0..<200).map { _ in UInt16(random.next() % 2000) }
      try engine.write(.durable) { transaction in
        for key in keys {
          try transaction.put(
            [UInt8(key >> 8), UInt8(key & 255)].rawSpan,
            Bytes(repeating: byte, count: 98).rawSpan, schemaVersion: 1, in: tree)
        }
      }
      for key in keys { expected[key] = byte }
    }
    try engine.close()
    let again = try Engine.open(medium, options: options)
    var value: Bytes = []
    let found = try again.snapshot().tree(again.names.slot(of: "t"))
    #expect(found.count == expected.count)
    for (key, byte) in expected {
      #expect(try found.copyValue(for: [UInt8(key >> 8), UInt8(key & 255)].rawSpan, to: &value))
      #expect(value == Bytes(repeating: byte, count: 98))
    }
    try again.checkLiveBytes()
    let live = Int(again.working.base.file.footer.liveBytes)
    try again.close()
    var size = 0
    for name in try medium.list(at: .test) {
      guard case .pages = name.kind else { continue }
      size += try medium.open(name, .read, at: .test).size(at: .test)
    }
    #expect(live > 200_000 && live < size)
    return size
  }

  @Test func `what is overwritten again and again takes little more than what is there`() throws {
    let kept = try overwritten(least: .max)
    let left = try overwritten(least: 64 << 10)
    #expect(kept > 20 << 20)
    #expect(left < 1 << 20, "\(left) bytes, and \(kept) where no segment is left")
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
      var sweep = CrashSweep(scenario: scenario)
      sweep.stride = scaled(kind == .compacting ? 3 : 1, debug: 11)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > 100 && findings.violations.isEmpty)
  }

  @Test(arguments: [.steppedFold, .severalTrees, .commitByFooter, .reopening] as [ScenarioKind])
  func `a call that fails loses nothing that was promised`(kind: ScenarioKind) {
    var scenario = kind.scenario(seed: 5)
    scenario.options.leastSegmentOfGarbage = 1
    var sweep = FaultSweep(scenario: scenario)
    sweep.stride = scaled(1, debug: 7)
    let findings = sweep.run()
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.count > 100 && findings.violations.isEmpty)
  }
}

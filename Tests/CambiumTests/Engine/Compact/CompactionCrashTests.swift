import TestSupport
import Testing

@testable import Cambium

/// X1 and X4 of what a compaction does, closer than those of all scenarios go in a debug build.
@Suite struct CompactionCrashTests {
  private static let kinds = [
    ScenarioKind.compacting, .compactingSegments, .compactingKept,
  ]
  private static let crashes = Tally(parts: kinds.count)
  private static let faults = Tally(parts: kinds.count)

  @Test(arguments: kinds)
  func `a crash before any call of a compaction leaves the store as it was, and it goes on`(
    kind: ScenarioKind
  ) {
    var findings = Findings()
    for seed in Seeds.range(scaled(40, debug: 3), shard: 70) {
      var sweep = CrashSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(1, debug: 5)
      findings.add(sweep.run())
    }
    expectNone(findings)
    Self.crashes.add(findings) {
      "X1 compaction: \($0.count.grouped) crash images, \($0.violations.count) violations"
    }
  }

  @Test(arguments: kinds)
  func `a call of a compaction that fails takes nothing that was promised`(kind: ScenarioKind) {
    var findings = Findings()
    for seed in Seeds.range(scaled(3, debug: 1), shard: 71) {
      var sweep = FaultSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(1, debug: 23)
      findings.add(sweep.run())
    }
    expectNone(findings)
    Self.faults.add(findings) {
      "X4 compaction: \($0.count.grouped) failed calls, \($0.violations.count) violations"
    }
  }

  private func expectNone(_ findings: Findings) {
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
  }
}

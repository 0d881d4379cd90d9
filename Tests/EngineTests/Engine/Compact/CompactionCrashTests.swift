import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X1, X2 and X4 of what a compaction does, of entries and of records with their indexes.
///
/// One scenario has thousands of calls, most of them alike: some of them are tried, others each round of a soak.
@Suite struct CompactionCrashTests {
  private static let crashes = Tally(parts: ScenarioKind.compactions.count)
  private static let secondCrashes = Tally(parts: ScenarioKind.compactions.count)
  private static let faults = Tally(parts: ScenarioKind.compactions.count)

  @Test(arguments: ScenarioKind.compactions)
  func `a crash before any call of a compaction leaves the store as it was, and it goes on`(
    kind: ScenarioKind
  ) {
    var findings = Findings()
    for seed in Seeds.range(scaled(3, debug: 1), shard: 70) {
      var sweep = CrashSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(7, debug: 11)
      findings.add(sweep.run())
    }
    for seed in Seeds.range(1, shard: 72) {
      var sweep = CrashSweep(scenario: kind.scenario(seed: seed, of: .records))
      sweep.stride = scaled(23, debug: 101)
      findings.add(sweep.run())
    }
    expectNone(findings)
    Self.crashes.add(findings) {
      "X1 compaction: \($0.count.grouped) crash images, \($0.violations.count) violations"
    }
  }

  @Test(arguments: ScenarioKind.compactions)
  func `a second crash takes nothing of what was shown after the first`(kind: ScenarioKind) {
    var findings = Findings()
    for content in [Content.Kind.entries, .records] {
      for seed in Seeds.range(1, shard: 73) {
        var sweep = SecondCrashSweep(scenario: kind.scenario(seed: seed, of: content))
        sweep.policyCount = 3
        sweep.stride = scaled(293, debug: 2_003)
        findings.add(sweep.run())
      }
    }
    expectNone(findings)
    Self.secondCrashes.add(findings) {
      "X2 compaction: \($0.count.grouped) images of second crashes, \($0.violations.count) violations"
    }
  }

  @Test(arguments: ScenarioKind.compactions)
  func `a call of a compaction that fails takes nothing that was promised`(kind: ScenarioKind) {
    var findings = Findings()
    for seed in Seeds.range(1, shard: 71) {
      var sweep = FaultSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(7, debug: 41)
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

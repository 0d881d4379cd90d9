import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X4: every call fails, in every way, once and for good; then the cause is gone.
@Suite struct EngineFaultTests {
  private static let tally = Tally(parts: ScenarioKind.others.count)

  @Test(arguments: ScenarioKind.others)
  func `a call that fails takes nothing that was promised, and leaves nothing that was refused`(
    kind: ScenarioKind
  ) {
    var findings = Findings()
    for seed in Seeds.range(1, shard: 3) {
      var sweep = FaultSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(1, debug: 97)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    Self.tally.add(findings) {
      "X4: \($0.count.grouped) failed calls, \($0.violations.count) violations"
    }
  }
}

import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X2: the power goes, the store is opened and goes on, and the power goes again.
///
/// What an open showed is there for good, and what it did not show does not come back.
@Suite struct EngineSecondCrashTests {
  private static let tally = Tally(parts: ScenarioKind.others.count)

  @Test(arguments: ScenarioKind.others)
  func `what was shown after a crash is there after the next, and nothing that was not`(
    kind: ScenarioKind
  ) {
    var findings = Findings()
    for seed in Seeds.range(scaled(6, debug: 1), shard: 1) {
      var sweep = SecondCrashSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(11, debug: 401)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    Self.tally.add(findings) {
      "X2: \($0.count.grouped) images of second crashes, \($0.violations.count) violations"
    }
  }
}

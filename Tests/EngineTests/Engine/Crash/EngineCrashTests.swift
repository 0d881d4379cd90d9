import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X1: the power goes before every call of everything an engine does.
///
/// What is recovered is a state that some prefix of the commits leads to, and that prefix contains all that
/// was acknowledged as durable. Its trees are whole, and no file is there that nobody needs.
@Suite struct EngineCrashTests {
  private static let tally = Tally(parts: ScenarioKind.others.count)

  @Test(arguments: ScenarioKind.others)
  func `a crash before any call leaves all that was promised, and no half commits`(
    kind: ScenarioKind
  ) {
    var findings = Findings()
    for seed in Seeds.range(scaled(16, debug: 1), shard: 0) {
      var sweep = CrashSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(1, debug: 11)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    Self.tally.add(findings) {
      "X1: \($0.count.grouped) crash images, \($0.violations.count) violations"
    }
  }
}

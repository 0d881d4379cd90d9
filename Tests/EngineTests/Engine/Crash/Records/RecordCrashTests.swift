import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X1, X2 and X5 of stores with records: after whatever happens, every record is as some prefix of the commits
/// left it, every index entry has its record and every record its entries.
@Suite struct RecordCrashTests {
  private static let crashes = Tally(parts: ScenarioKind.others.count)
  private static let secondCrashes = Tally(parts: ScenarioKind.others.count)
  private static let shards = 0..<8
  private static let operations = Tally(parts: shards.count)

  @Test(arguments: ScenarioKind.others)
  func `a crash before any call leaves records and indexes in step`(kind: ScenarioKind) {
    var findings = Findings()
    for seed in Seeds.range(scaled(3, debug: 1), shard: 40) {
      var sweep = CrashSweep(scenario: kind.scenario(seed: seed, of: .records))
      sweep.policyCount = scaled(6, debug: 4)
      sweep.stride = scaled(3, debug: 29)
      findings.add(sweep.run())
    }
    Self.finish(findings, Self.crashes) {
      "X1 records: \($0.count.grouped) crash images, \($0.violations.count) violations"
    }
  }

  @Test(arguments: ScenarioKind.others)
  func `a second crash leaves records and indexes in step`(kind: ScenarioKind) {
    var findings = Findings()
    for seed in Seeds.range(scaled(2, debug: 1), shard: 41) {
      var sweep = SecondCrashSweep(scenario: kind.scenario(seed: seed, of: .records))
      sweep.policyCount = 3
      sweep.stride = scaled(37, debug: 997)
      findings.add(sweep.run())
    }
    Self.finish(findings, Self.secondCrashes) {
      "X2 records: \($0.count.grouped) images of second crashes, \($0.violations.count) violations"
    }
  }

  @Test(arguments: shards)
  func `whatever happens, a store holds the records that the model does`(shard: Int) {
    var findings = Findings()
    for seed in Seeds.range(scaled(2, debug: 1), shard: 42 + shard) {
      var history = RandomHistory(seed: seed, of: .records)
      do {
        try history.run(operations: scaled(8_000, debug: 200))
      } catch {
        findings.add("\(error)", Replay(seed: seed, scenario: "records random"))
      }
      findings.count += history.operationCount
    }
    Self.finish(findings, Self.operations) {
      "X5 records: \($0.count.grouped) operations, \($0.violations.count) violations"
    }
  }

  private static func finish(
    _ findings: Findings, _ tally: Tally, _ describe: (Findings) -> String
  ) {
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    tally.add(findings, describe)
  }
}

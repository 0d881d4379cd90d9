import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X5: random things happen to stores, for long; dictionaries know what must be there. A soak takes twice as many seeds.
@Suite struct EngineModelTests {
  private static let shards = 0..<16
  private static let seedCount = Seeds.count(2, soaking: 4, debug: 1)
  private static let tally = Tally(parts: shards.count)

  @Test(arguments: shards)
  func `whatever happens, a store holds what the model does`(shard: Int) {
    var findings = Findings()
    for seed in Seeds.range(Self.seedCount, shard: 10 + shard) {
      var history = RandomHistory(seed: seed)
      do {
        try history.run(operations: scaled(31_400, debug: 400))
      } catch {
        findings.add("\(error)", Replay(seed: seed, scenario: "random"))
      }
      findings.count += history.operationCount
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    Self.tally.add(findings) {
      "X5: \($0.count.grouped) operations, \(Self.shards.count * Self.seedCount) seeds,"
        + " \($0.violations.count) violations"
    }
  }
}

import TestSupport
import Testing

@testable import Cambium

/// X1: the power goes before every call of everything an engine does.
///
/// What is recovered is a state that some prefix of the commits leads to, and that prefix contains all that
/// was acknowledged as durable. Its trees are whole, and no file is there that nobody needs.
@Suite struct EngineCrashTests {
  private static let tally = Tally(parts: ScenarioKind.allCases.count)

  @Test(arguments: ScenarioKind.allCases)
  func `a crash before any call leaves all that was promised, and no half commits`(
    kind: ScenarioKind
  ) {
    var findings = Findings()
    for seed in Seeds.range(scaled(8, debug: 1), shard: 0) {
      var sweep = CrashSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(1, debug: 5)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    Self.tally.add(findings) {
      "X1: \($0.count.grouped) crash images, \($0.violations.count) violations"
    }
  }
}

/// X2: the power goes, the store is opened and goes on, and the power goes again.
///
/// What an open showed is there for good, and what it did not show does not come back.
@Suite struct EngineSecondCrashTests {
  private static let tally = Tally(parts: ScenarioKind.allCases.count)

  @Test(arguments: ScenarioKind.allCases)
  func `what was shown after a crash is there after the next, and nothing that was not`(
    kind: ScenarioKind
  ) {
    var findings = Findings()
    for seed in Seeds.range(scaled(6, debug: 1), shard: 1) {
      var sweep = SecondCrashSweep(scenario: kind.scenario(seed: seed))
      sweep.stride = scaled(7, debug: 151)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    Self.tally.add(findings) {
      "X2: \($0.count.grouped) images of second crashes, \($0.violations.count) violations"
    }
  }
}

/// The tests' own test: without any of the syncs, some image must be wrong.
@Suite struct MissingSyncTests {
  /// Every sync that the engine makes, but those that no crash can tell:
  ///
  /// - `logGrowSync` is of zeros, and for speed only.
  static let sites: [Site] = [
    .segmentHeaderSync, .segmentDirectorySync, .pageSync, .logDirectorySync, .logHeaderSync,
    .logHeaderCopySync, .logMendSync, .logOpeningSync, .logFrameSync, .orphanDirectorySync,
  ]

  @Test(arguments: sites)
  func `a sync that is left out is missed`(site: Site) {
    let found = Self.firstViolation(without: site)
    #expect(found != nil, "nobody misses \(site)")
    if let found { print("X3: without \(site): \(found.split(separator: "\n").last ?? "")") }
  }

  private static func firstViolation(without site: Site) -> String? {
    for seed in Seeds.range(scaled(6, debug: 2), shard: 2) {
      for kind in ScenarioKind.allCases {
        let scenario = kind.scenario(seed: seed)
        let first = CrashSweep(scenario: scenario, ignored: site, stopsAtFirst: true).run()
        if let violation = first.violations.first { return violation }
        let second = SecondCrashSweep(
          scenario: scenario, stride: 13, ignored: site, stopsAtFirst: true
        ).run()
        if let violation = second.violations.first { return violation }
      }
    }
    return nil
  }
}

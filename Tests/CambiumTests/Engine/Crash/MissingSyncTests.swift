import TestSupport
import Testing

@testable import Cambium

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
    for seed in Seeds.range(scaled(6, debug: 1), shard: 2) {
      for kind in ScenarioKind.allCases {
        let scenario = kind.scenario(seed: seed)
        let first = CrashSweep(
          scenario: scenario, ignored: site, stride: scaled(1, debug: 5), stopsAtFirst: true
        ).run()
        if let violation = first.violations.first { return violation }
        let second = SecondCrashSweep(
          scenario: scenario, stride: scaled(13, debug: 97), ignored: site, stopsAtFirst: true
        ).run()
        if let violation = second.violations.first { return violation }
      }
    }
    return nil
  }
}

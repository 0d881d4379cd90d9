import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X3, the tests' own test: without any of the syncs, some image must be wrong.
@Suite struct MissingSyncTests {
  /// Those that a crash tells; of these, what is slow to be found only where the optimizer helps.
  static let sites: [Site] = [
    .segmentDirectorySync, .pageSync, .logDirectorySync, .logHeaderSync, .logOpeningSync,
    .logFrameSync,
  ]

  /// Those that no crash of an engine can tell:
  ///
  /// - `logGrowSync` is of zeros, and for speed only.
  /// - `segmentHeaderSync`: a segment counts when a footer names it, and the sync of its pages is of its
  ///   header too. One with a name and no header is an orphan. Those who publish pages do miss it.
  /// - `logHeaderCopySync`: one copy of a header is enough, and before the other is written over, the sync of
  ///   the opening is of the same file.
  /// - `orphanDirectorySync`: the names that were removed go with the next sync of the directory, and there is
  ///   one before `log-0` has its name.
  /// - `logMendSync`: after a crash all that can be read is on the medium. It is missed where a flush failed.
  /// - `blobSync`, `blobDirectorySync`: no blobs are written here. `BlobCrashTests` miss them.
  /// - `blobHeaderSync`: nobody refers to a blob before its segment was synced, header and all.
  static let exempt: [Site] = [
    .logGrowSync, .segmentHeaderSync, .logHeaderCopySync, .orphanDirectorySync, .logMendSync,
    .blobSync, .blobDirectorySync, .blobHeaderSync,
  ]

  @Test func `every sync is one that is missed, or exempt by name`() {
    let syncs = Site.allCases.filter { "\($0)".hasSuffix("Sync") }
    #expect(Set(syncs) == Set(Self.sites + Self.exempt))
  }

  @Test(arguments: sites.suffix(scaled(sites.count, debug: 1)))
  func `a sync that is left out is missed after a crash`(site: Site) {
    say(site, Self.firstViolation(without: site))
  }

  @Test func `the sync of a mended header is missed after a flush that failed`() {
    for seed in Seeds.range(scaled(3, debug: 1), shard: 2) {
      for kind in [ScenarioKind.logSwitch, .reopening, .closing, .sealing] {
        let sweep = FaultSweep(scenario: kind.scenario(seed: seed), ignored: .logMendSync)
        if let violation = sweep.run().violations.first { return say(.logMendSync, violation) }
      }
    }
    say(.logMendSync, nil)
  }

  private func say(_ site: Site, _ violation: String?) {
    #expect(violation != nil, "nobody misses \(site)")
    if let violation {
      print("X3: without \(site): \(violation.split(separator: "\n").last ?? "")")
    }
  }

  private static func firstViolation(without site: Site) -> String? {
    for seed in Seeds.range(scaled(6, debug: 1), shard: 2) {
      for kind in ScenarioKind.allCases {
        let scenario = kind.scenario(seed: seed)
        let first = CrashSweep(
          scenario: scenario, ignored: site, stride: scaled(1, debug: 7), stopsAtFirst: true
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

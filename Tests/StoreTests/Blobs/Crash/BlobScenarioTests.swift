import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Crashes and faults in everything that is done to blobs: what is found has every acknowledged commit, whole blobs,
/// and nothing that nobody refers to.
@Suite struct BlobScenarioTests {
  private static let tallies = (
    crashes: Tally(parts: BlobScenario.allCases.count),
    second: Tally(parts: BlobScenario.allCases.count),
    faults: Tally(parts: BlobScenario.allCases.count)
  )

  private func expect(_ findings: Findings, atLeast count: Int) {
    for violation in findings.violations.prefix(3) { Issue.record("\(violation)") }
    #expect(findings.count >= count)
  }

  @Test(arguments: BlobScenario.allCases)
  func `a crash before any call loses no blob and leaves none behind, X1`(
    scenario: BlobScenario
  ) throws {
    let findings = try BlobCrashSweep(scenario).run()
    expect(findings, atLeast: scaled(30, debug: 2))
    Self.tallies.crashes.add(findings) {
      "blobs, X1: \($0.count.grouped) crash images, \($0.violations.count) violations"
    }
  }

  @Test(arguments: BlobScenario.allCases)
  func `a crash in recovery or after two more commits loses no blob, X2`(
    scenario: BlobScenario
  ) throws {
    let findings = try BlobSecondCrashSweep(scenario).run()
    expect(findings, atLeast: scaled(20, debug: 2))
    Self.tallies.second.add(findings) {
      "blobs, X2: \($0.count.grouped) crash images, \($0.violations.count) violations"
    }
  }

  @Test(arguments: BlobScenario.allCases)
  func `a call that fails is a typed error, and costs no blob, X4`(scenario: BlobScenario) throws {
    let findings = try BlobFaultSweep(scenario).run()
    expect(findings, atLeast: scaled(20, debug: 0))
    Self.tallies.faults.add(findings) {
      "blobs, X4: \($0.count.grouped) failed calls, \($0.violations.count) violations"
    }
  }

  /// The tests' own test: without any of the syncs, some image must be wrong.
  @Test(arguments: [Site.blobSync, .blobDirectorySync])
  func `crashes tell where blobs are not synced before the commit, X3`(site: Site) throws {
    var sweep = BlobCrashSweep(.records)
    sweep.ignored = site
    sweep.stride = scaled(1, debug: 5)
    #expect(try !sweep.run().violations.isEmpty, "nobody misses \(site)")
  }

  @Test func `a power cut in the middle of a backup leaves no store there, or all of it`() throws {
    let prepared = try BlobScenario.backup.prepared()
    let run = BlobScenario.backup.run(from: prepared)
    try run.open(2)
    let (target, state) = (SimulatedFileSystem(), run.docs)
    var findings = Findings()
    func crash(_ call: Int) {
      for policy in CrashPolicy.some(3, pending: target.pendingCount, seed: UInt64(call)) {
        let image = target.crashed(policy)
        guard image.names.contains(.log(0)) else { continue }
        findings.count += 1
        let oracle = BlobOracle(version: 2, states: [state], seed: UInt64(call))
        if let violation = oracle.violation(in: image) {
          findings.add(
            violation, Replay(seed: 0, scenario: "backup", call: call, policy: policy))
        }
      }
    }
    target.beforeEachCall(crash)
    try run.store.backUp(into: target)
    target.beforeEachCall(nil)
    crash(target.callCount)
    expect(findings, atLeast: 1)
  }
}

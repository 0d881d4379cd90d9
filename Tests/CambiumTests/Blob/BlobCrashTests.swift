import TestSupport
import Testing

@testable import Cambium

/// The power goes before every call of a history of blobs, and after the last.
@Suite struct BlobCrashTests {
  @Test func `what was synced survives a crash at any call, and nothing is ever wrong`() throws {
    let result = try crashEverywhere(dropping: nil)
    #expect(result.violations == [])
    #expect(result.imageCount > 1000)
    print("Blobs: \(result.imageCount) crash images")
  }

  /// The tests' own test: without any of the syncs, some image must be wrong.
  @Test(arguments: [Site.blobSync, .blobDirectorySync])
  func `the crashes notice that a sync is missing`(site: Site) throws {
    #expect(try !crashEverywhere(dropping: site).violations.isEmpty)
  }

  private struct Result {
    var imageCount = 0
    var violations: [String] = []
  }

  private func crashEverywhere(dropping site: Site?) throws -> Result {
    var result = Result()
    let medium = SimulatedFileSystem()
    if let site { medium.ignoreSyncs(at: site) }
    let history = BlobHistory(medium)
    func crash(_ call: Int) {
      let policies =
        CrashPolicy.sample(seed: UInt64(call))
        + CrashPolicy.some(6, pending: medium.pendingCount, seed: UInt64(call))
      for policy in policies {
        result.imageCount += 1
        guard let violation = history.violation(in: medium.crashed(policy)) else { continue }
        let replay = Replay(seed: 0, scenario: "blobs", call: call, policy: policy)
        result.violations.append("\(violation) in \(replay)")
      }
    }
    medium.beforeEachCall(crash)
    try history.run()
    medium.beforeEachCall(nil)
    crash(medium.callCount)
    return result
  }
}

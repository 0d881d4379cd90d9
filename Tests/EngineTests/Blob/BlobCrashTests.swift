import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call of a history of blobs, and after the last.
@Suite struct BlobCrashTests {
  @Test(arguments: [nil] + (1...UInt64(scaled(4, debug: 2))).map { $0 })
  func `what was synced survives a crash at any call, and nothing is ever wrong`(
    seed: UInt64?
  ) throws {
    let result = try crashEverywhere(dropping: nil, seed: seed)
    #expect(result.violations == [])
    #expect(result.imageCount > 150)
    print("Blobs: \(result.imageCount) crash images, seed \(seed ?? 0)")
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

  private func crashEverywhere(dropping site: Site?, seed: UInt64? = nil) throws -> Result {
    var result = Result()
    let medium = SimulatedFileSystem()
    if let site { medium.ignoreSyncs(at: site) }
    let history = BlobHistory(medium)
    func crash(_ call: Int) {
      let random = CrashPolicy.some(
        scaled(10, debug: 3), pending: medium.pendingCount, seed: UInt64(call))
      let policies = seed == nil ? CrashPolicy.sample(seed: UInt64(call)) + random : random
      for (index, policy) in policies.enumerated() {
        result.imageCount += 1
        let image = medium.crashed(policy)
        guard let violation = history.violation(in: image, goingOn: index % 4 == 0) else {
          continue
        }
        let replay = Replay(seed: seed ?? 0, scenario: "blobs", call: call, policy: policy)
        result.violations.append("\(violation) in \(replay)")
      }
    }
    medium.beforeEachCall(crash)
    try history.run(seed)
    medium.beforeEachCall(nil)
    crash(medium.callCount)
    return result
  }
}

import TestSupport
import Testing

@testable import Cambium

/// The power goes before every call of publishing a second state, and after the last; what the medium has
/// then is every image that any policy makes of the pending changes.
@Suite struct PublishingCrashTests {
  @Test(arguments: PublishingWorld.Way.allCases)
  func `the state before survives a crash at any call, and the new one from its return on`(
    way: PublishingWorld.Way
  ) throws {
    let result = try crashEverywhere(way, dropping: nil)
    #expect(result.violations.isEmpty)
    #expect(result.imageCount > 400)
    print("Publishing: \(result.imageCount) crash images, \(way)")
  }

  /// The tests' own test: without any of the syncs, some image must be wrong.
  @Test(
    arguments: [PublishingWorld.Way.newSegment, .otherAppenderAcross],
    [Site.segmentHeaderSync, .pageSync, .segmentDirectorySync])
  func `the crashes notice that a sync is missing`(way: PublishingWorld.Way, site: Site) throws {
    #expect(try !crashEverywhere(way, dropping: site).violations.isEmpty)
  }

  @Test(arguments: [PublishingWorld.Way.sameAppender, .otherAppender, .sameAppenderAcross])
  func `the crashes notice that the sync behind a published end is missing`(
    way: PublishingWorld.Way
  ) throws {
    #expect(try !crashEverywhere(way, dropping: .pageSync).violations.isEmpty)
  }

  private struct Result {
    var imageCount = 0
    var violations: [String] = []
  }

  private func crashEverywhere(
    _ way: PublishingWorld.Way, dropping site: Site?
  ) throws -> Result {
    var result = Result()
    let whole = try PublishingWorld(way)
    let start = whole.medium.callCount
    _ = try whole.publishSecond(in: whole.medium)
    for call in start...whole.medium.callCount {
      let world = try PublishingWorld(way)
      if let site { world.medium.ignoreSyncs(at: site) }
      world.medium.inject(.stop, at: .call(call))
      let second = try? world.publishSecond(in: world.medium)
      #expect((second != nil) == (call == whole.medium.callCount))
      let policies =
        CrashPolicy.every(pending: world.medium.pendingCount)
        + CrashPolicy.sample(seed: UInt64(call))
      for policy in policies {
        let replay = Replay(seed: 0, scenario: "publish", call: call, policy: policy)
        let violation = violation(of: world, second, in: world.medium.crashed(policy))
        result.imageCount += 1
        if let violation { result.violations.append("\(violation) in \(replay)") }
      }
    }
    return result
  }

  private func violation(
    of world: PublishingWorld, _ second: FooterReference?, in image: SimulatedFileSystem
  ) -> String? {
    if let fault = world.faultOfFirst(in: image) { return "first: \(fault)" }
    if let second, let fault = world.faultOfSecond(second, in: image) { return "second: \(fault)" }
    let headless = world.headlessSegments(in: image)
    return headless.isEmpty ? nil : "no header: \(headless)"
  }
}

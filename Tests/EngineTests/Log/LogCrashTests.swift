import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call in a log's life, then before every call of recovering what is left
/// and living on; or the process is killed first, and the power goes later. What is read then is a prefix
/// of all that was appended which contains all that was promised.
@Suite struct LogCrashTests {
  @Test func `what is left by a crash at any call is a prefix with all that was flushed`() throws {
    let result = try crashEverywhere(dropping: nil)
    #expect(result.violations == [])
    #expect(result.imageCount > 1_000)
    print("Log: \(result.imageCount) crash images")
  }

  /// The tests' own test: without any of the syncs, some image must be wrong.
  @Test(arguments: [Site.logHeaderSync, .logDirectorySync, .logOpeningSync, .logFrameSync])
  func `the crashes notice that a sync is missing`(site: Site) throws {
    #expect(try !crashEverywhere(dropping: site).violations.isEmpty)
  }

  @Test func `the sync of zeros is for speed only`() throws {
    #expect(try crashEverywhere(dropping: .logGrowSync).violations == [])
  }

  @Test func `crashes after a crash leave no less, and nothing that was lost comes back`() throws {
    let result = try crashTwice(killing: false, dropping: nil)
    #expect(result.violations == [])
    print("Log: \(result.imageCount) images of two crashes")
  }

  @Test func `a crash after a kill leaves all that was served in between`() throws {
    let result = try crashTwice(killing: true, dropping: nil)
    #expect(result.violations == [])
    print("Log: \(result.imageCount) images of a kill and a crash")
  }

  /// What a killed process left in memory only must not be relied on.
  @Test(arguments: [Site.logMendSync, .logDirectorySync, .logHeaderSync, .logOpeningSync])
  func `a crash after a kill notices that a sync is missing`(site: Site) throws {
    #expect(try !crashTwice(killing: true, dropping: site).violations.isEmpty)
  }
}

// MARK: Crashing

extension LogCrashTests {
  private struct Result {
    var imageCount = 0
    var violations: [String] = []

    mutating func look(
      _ history: LogHistory, _ crashes: [Replay.Crash], _ policies: [CrashPolicy]
    ) {
      for policy in policies where violations.count < 5 {
        imageCount += 1
        guard let violation = history.violation(in: history.medium.crashed(policy)) else {
          continue
        }
        let last = Replay.Crash(call: history.medium.callCount - 1, policy: policy)
        violations.append(
          "\(violation) in \(Replay(seed: 0, scenario: "log", crashes: crashes + [last]))")
      }
    }
  }

  /// A life that ends before a call; of the last one, after it.
  private func life(endingAt call: Int, dropping site: Site?) -> LogHistory {
    let history = LogHistory()
    if let site { history.medium.ignoreSyncs(at: site) }
    history.medium.inject(.stop, at: .call(call))
    try? history.live()
    return history
  }

  private func callCount() throws -> Int {
    let history = LogHistory()
    try history.live()
    return history.medium.callCount
  }

  private func crashEverywhere(dropping site: Site?) throws -> Result {
    var result = Result()
    for call in 0...(try callCount()) {
      let history = life(endingAt: call, dropping: site)
      let count = history.medium.pendingCount
      let scattered = (0..<8 as Range<UInt64>).flatMap { seed in
        TearUnit.allCases.map { CrashPolicy.scattered(at: $0, seed: seed) }
      }
      result.look(
        history, [],
        CrashPolicy.every(pending: count) + CrashPolicy.sample(seed: UInt64(call)) + scattered)
    }
    return result
  }

  /// The first time the power goes, or the process is `killed` and nothing is lost yet.
  private func crashTwice(killing: Bool, dropping site: Site?) throws -> Result {
    var result = Result()
    // One violation is enough to notice a missing sync; without one, all are of interest.
    let limit = site == nil ? 5 : 1
    for call in stride(from: 0, through: try callCount(), by: scaled(1, debug: killing ? 1 : 7)) {
      let first =
        killing
        ? [CrashPolicy.all]
        : Array(CrashPolicy.sample(seed: UInt64(call)).prefix(scaled(100, debug: 4)))
      for policy in first where result.violations.count < limit {
        var isOver = false
        var second = 0
        while !isOver {
          let before = life(endingAt: call, dropping: nil)
          let medium = killing ? before.medium : before.medium.crashed(policy)
          if killing { medium.restart() }
          let history = LogHistory(after: before, on: medium)
          if let site { medium.ignoreSyncs(at: site) }
          let start = medium.callCount
          medium.inject(.stop, at: .call(start + second))
          try? history.liveOn()
          isOver = !medium.hasStopped
          let policies: [CrashPolicy] = [
            .none, .all, .onlyLast, .subset(seed: UInt64(second)),
            .torn(at: .sector, seed: UInt64(second)),
            .scattered(at: .sector, seed: UInt64(second)),
          ]
          result.look(history, [.init(call: call, policy: policy)], policies)
          second += scaled(1, debug: killing && site != nil ? 2 : 5)
        }
      }
    }
    return result
  }
}

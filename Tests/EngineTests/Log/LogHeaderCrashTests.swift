import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What the order of a header's copies is for: no crash damages both, and one that is on the medium
/// stays good when the other decays.
@Suite struct LogHeaderCrashTests {
  /// A log of which a use is begun, and then another.
  private func history(dropping site: Site?, endingAt call: Int?) throws -> LogHistory {
    let history = LogHistory()
    try history.create()
    try history.commit()
    try history.flush()
    let start = history.medium.callCount
    if let site { history.medium.ignoreSyncs(at: site) }
    if let call { history.medium.inject(.stop, at: .call(start + call)) }
    try? history.begin()
    try? history.begin()
    return history
  }

  private var callCount: Int {
    get throws {
      let medium = try history(dropping: nil, endingAt: nil).medium
      return medium.callCount - (try history(dropping: nil, endingAt: 0).medium.callCount) + 1
    }
  }

  private func violations(dropping site: Site?, decaying: Int?) throws -> [String] {
    var violations: [String] = []
    for call in 0...(try callCount) {
      let history = try history(dropping: site, endingAt: call)
      for seed in 0..<UInt64(scaled(64, debug: 2)) {
        for unit in TearUnit.allCases {
          let image = history.medium.crashed(.scattered(at: unit, seed: seed))
          if let violation = violation(of: history, in: image, decaying: decaying) {
            violations.append("\(violation), call \(call), seed \(seed), \(unit)")
          }
        }
        let image = history.medium.crashed(.none)
        if let violation = violation(of: history, in: image, decaying: decaying) {
          violations.append("\(violation), call \(call)")
        }
      }
    }
    return violations
  }

  private func violation(
    of history: LogHistory, in image: SimulatedFileSystem, decaying copy: Int?
  ) -> String? {
    guard let copy else { return history.violation(in: image) }
    for name in [FileName.log(0), .log(1)] {
      let before = image.bytes(of: name) ?? []
      image.flipBit(copy * 16 * 32_768 + 777, of: name)
      // Refusing is right, going back is not.
      if (try? image.logContents()) != nil, let violation = history.violation(in: image) {
        return "\(violation) without copy \(copy) of \(name)"
      }
      image.replaceBytes(of: name, with: before)
    }
    return nil
  }

  @Test func `no crash while a use begins damages both copies of a header`() throws {
    #expect(try violations(dropping: nil, decaying: nil) == [])
  }

  @Test func `both copies would be damaged if there were no sync between them`() throws {
    #expect(try damages(dropping: nil) == 0)
    #expect(try damages(dropping: .logHeaderSync) > 0)
  }

  /// How many crashes before the second copy is flushed leave no header, of those that cut short what is
  /// pending within the few bytes that differ between headers: behind checksum, before salt.
  private func damages(dropping site: Site?) throws -> Int {
    let history = LogHistory()
    try history.create()
    if let site { history.medium.ignoreSyncs(at: site) }
    history.medium.inject(.stop, at: .site(.logHeaderCopySync, 0))
    try? history.begin()
    #expect(history.medium.hasStopped)
    let seeds = (0..<100_000 as Range<UInt64>).filter { seed in
      var generator = SplitMix64(seed: seed)
      return (0...1).allSatisfy { _ in
        (40..<88).contains(Int.random(in: 0..<Layout.blockSize, using: &generator))
      }
    }
    #expect(!seeds.isEmpty)
    return seeds.prefix(4).count { seed in
      history.violation(in: history.medium.crashed(.scattered(at: .byte, seed: seed))) != nil
    }
  }

  @Test func `no use that began is forgotten because a copy of its header decays`() throws {
    #expect(try violations(dropping: nil, decaying: 0) == [])
    #expect(try violations(dropping: nil, decaying: 1) == [])
    #expect(try !violations(dropping: .logHeaderCopySync, decaying: 0).isEmpty)
  }

  @Test func `a copy that decayed is reported, and mended when its file is begun`() throws {
    for (copy, name) in [(0, FileName.log(0)), (1, .log(0)), (0, .log(1)), (1, .log(1))] {
      let history = LogHistory()
      try history.live()
      let medium = history.medium
      let whole = try medium.logContents()
      medium.flipBit(copy * 16 * 32_768 + 777, of: name)
      let healed = try medium.logContents()
      #expect(healed.served == whole.served)
      #expect(healed.faults.count == 1)
      var log = try medium.recoverLog(salt: 5)
      log = try medium.recoverLog(salt: 6)
      #expect(log.lastSequence == whole.lastSequence)
      #expect(try medium.logContents().faults == [])
    }
  }

  @Test func `recovery overwrites no copy that is the only one`() throws {
    for (copy, name) in [(0, FileName.log(0)), (1, .log(0)), (0, .log(1)), (1, .log(1))] {
      let whole = LogHistory()
      try whole.live()
      for call in 0..<40 {
        let history = LogHistory()
        try history.live()
        let medium = history.medium
        medium.flipBit(copy * 16 * 32_768 + 777, of: name)
        medium.restart()
        medium.inject(.stop, at: .call(medium.callCount + call))
        let later = LogHistory(after: history, on: medium)
        try? later.recover()
        if !medium.hasStopped { break }
        for seed in 0..<8 as Range<UInt64> {
          let image = medium.crashed(.scattered(at: .sector, seed: seed))
          #expect(later.violation(in: image) == nil, "copy \(copy) of \(name), call \(call)")
        }
      }
    }
  }
}

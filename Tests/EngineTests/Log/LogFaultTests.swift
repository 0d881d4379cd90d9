import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every call of a log's life fails, in every way, once or for good.
@Suite struct LogFaultTests {
  private static let faults: [Fault] =
    [.ioError, .noSpace, .tooManyOpenFiles, .interrupted].map { .error($0) } + [
      .errorAfterAll(.ioError), .errorAfter(bytes: 100, .noSpace),
      .errorAfter(bytes: 4096, .ioError), .errorAfter(bytes: 0, .quotaExceeded),
    ] + FlushFailure.allCases.map { .flush($0) }

  private func callCount() throws -> Int {
    let whole = LogHistory()
    try whole.live()
    return whole.medium.callCount
  }

  @Test func `after a failed call all that was promised is there, and the log goes on`() throws {
    var failures = 0
    for call in 0..<(try callCount()) {
      for (number, fault) in Self.faults.enumerated() {
        for persistence in Persistence.allCases {
          // A third in debug mode, each fault at each kind of call.
          if (call + number + (persistence == .once ? 0 : 1)) % scaled(1, debug: 3) != 0 {
            continue
          }
          let history = LogHistory()
          history.medium.inject(fault, at: .call(call), persistence)
          do {
            try history.live()
            continue
          } catch let error as StoreError {
            failures += 1
            #expect(isExpected(error), "\(error), \(fault) at call \(call)")
          }
          try goOn(after: history, fault, "\(fault) at call \(call), \(persistence)")
        }
      }
    }
    #expect(failures > 100)
    print("Log: \(failures) failed calls")
  }

  private func goOn(after history: LogHistory, _ fault: Fault, _ comment: Comment) throws {
    let medium = history.medium
    medium.restart()
    // What was acknowledged on the word of a sync that lied cannot be kept.
    if fault == .flush(.errorOneCallLate) { return }
    #expect(history.violation(in: medium) == nil, comment)
    #expect(history.violation(in: medium.crashed(.none)) == nil, comment)
    let later = LogHistory(after: history, on: medium)
    try later.liveOn()
    medium.dropCaches()
    #expect(later.violation(in: medium) == nil, comment)
    #expect(later.violation(in: medium.crashed(.none)) == nil, comment)
  }

  @Test func `a log takes nothing more after a failed write or flush`() throws {
    let failures: [(Site, (LogHistory) throws -> Void)] = [
      (.logFrameWrite, { try $0.commit() }),
      (.logFrameWrite, { try $0.appendFooter(1) }),
      (.logFrameWrite, { try $0.seal() }),
      (.logFrameSync, { try $0.flush() }),
      (.logOpeningWrite, { try $0.begin() }),
      (.logOpeningSync, { try $0.begin() }),
      (.logHeaderWrite, { try $0.begin() }),
      (.logHeaderSync, { try $0.begin() }),
      (.logHeaderCopySync, { try $0.begin() }),
    ]
    for (site, failing) in failures {
      let history = LogHistory()
      try history.create()
      try history.commit()
      let medium = history.medium
      medium.inject(.error(.ioError), at: .site(site, medium.callCount(at: site)))
      #expect(throws: StoreError.self, "\(site)") { try failing(history) }
      let log = try history.open()
      #expect(log.isPoisoned, "\(site)")
      let calls = medium.callCount
      let poisoned = StoreError.poisoned(path: "simulated")
      #expect(throws: poisoned) { try log.commit(log.lastSequence + 1...log.lastSequence + 1) }
      #expect(throws: poisoned) { try log.appendFooter(log.footer) }
      #expect(throws: poisoned) { try log.appendSeal() }
      #expect(throws: poisoned) { try log.flush() }
      #expect(throws: poisoned) { try log.begin(salt: 9) }
      #expect(throws: poisoned) { try log.growSpare(to: 64) }
      #expect(medium.callCount == calls)
    }
  }

  @Test func `reading survives a read that was wrong once`() throws {
    let history = LogHistory()
    try history.live()
    let whole = try history.medium.logContents()
    for fault in [Fault.bitFlip(20 * 8), .bitFlip(3), .displaced(by: 4096), .stale] {
      let start = history.medium.callCount
      _ = try history.medium.logContents()
      let count = history.medium.callCount - start
      for call in 0..<count {
        history.medium.inject(fault, at: .call(history.medium.callCount + call))
        // A copy of a header that was read wrong is reported, and the other one taken; what was
        // wrong for once may also be refused.
        if let found = try? history.medium.logContents() {
          #expect(found.served == whole.served, "\(fault) at call \(call)")
        }
        history.medium.heal()
      }
    }
  }

  private func isExpected(_ error: StoreError) -> Bool {
    switch error {
    case .io, .full: true
    default: false
    }
  }
}

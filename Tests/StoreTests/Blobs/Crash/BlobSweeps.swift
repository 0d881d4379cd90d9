import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// X1: the power goes before every call of a scenario, and after the last, each time in several ways.
struct BlobCrashSweep {
  private let scenario: BlobScenario
  /// How many policies are tried at each call.
  var policyCount = scaled(3, debug: 2)
  /// One call of so many is tried.
  var stride = scaled(2, debug: 23)
  /// A sync that does nothing, to see whether it is missed: then one violation is enough.
  var ignored: Site?

  init(_ scenario: BlobScenario) {
    self.scenario = scenario
  }

  func run() throws -> Findings {
    let run = scenario.run(from: try scenario.prepared())
    if let ignored { run.medium.ignoreSyncs(at: ignored) }
    var findings = Findings()
    run.medium.beforeEachCall { call in
      if call.isTried(stride) { crash(run, at: call, &findings) }
    }
    try scenario.perform(run)
    run.medium.beforeEachCall(nil)
    crash(run, at: run.medium.callCount, &findings)
    return findings
  }

  private func crash(_ run: BlobScenarioRun, at call: Int, _ findings: inout Findings) {
    if ignored != nil, !findings.violations.isEmpty { return }
    for policy in CrashPolicy.some(
      policyCount, pending: run.medium.pendingCount, seed: UInt64(call))
    {
      findings.count += 1
      var oracle = run.oracle(seed: UInt64(call))
      if findings.count % 3 == 0 { oracle.older = scenario.older }
      if let violation = oracle.violation(in: run.medium.crashed(policy)) {
        findings.add(
          violation,
          Replay(seed: 0, scenario: scenario.rawValue, call: call, policy: policy))
      }
    }
  }
}

/// X2: the power goes before a call of a scenario; the store is opened, and commits twice; and the power goes again,
/// before every call of that.
struct BlobSecondCrashSweep {
  private let scenario: BlobScenario
  /// One call of so many is the first to crash at, and the second.
  private let strides = (first: scaled(23, debug: 61), second: scaled(5, debug: 53))

  init(_ scenario: BlobScenario) {
    self.scenario = scenario
  }

  func run() throws -> Findings {
    let run = scenario.run(from: try scenario.prepared())
    var findings = Findings()
    run.medium.beforeEachCall { call in
      if (call + 5).isTried(strides.first) { crash(run, at: call, &findings) }
    }
    try scenario.perform(run)
    run.medium.beforeEachCall(nil)
    return findings
  }

  private func crash(_ run: BlobScenarioRun, at call: Int, _ findings: inout Findings) {
    for policy in CrashPolicy.some(1, pending: run.medium.pendingCount, seed: UInt64(call)) {
      let life = BlobScenarioRun(
        scenario.version, in: run.medium.crashed(policy),
        states: Array(run.states[run.acknowledged...]), life: 500)
      findings.add(live(life, after: TestSupport.Replay.Crash(call: call, policy: policy)))
    }
  }

  private func live(
    _ life: BlobScenarioRun, after first: TestSupport.Replay.Crash
  ) -> Findings {
    var findings = Findings()
    func crash(at call: Int) {
      let seed = UInt64(first.call * 1_000 + call)
      var images = CrashImages()
      for policy in CrashPolicy.some(2, pending: life.medium.pendingCount, seed: seed) {
        findings.count += 1
        let image = life.medium.crashed(policy)
        guard images.insert(image) else { continue }
        if let violation = life.oracle(seed: seed).violation(in: image) {
          let second = TestSupport.Replay.Crash(call: call, policy: policy)
          findings.add(
            violation, Replay(seed: 0, scenario: scenario.rawValue, crashes: [first, second]))
        }
      }
    }
    life.medium.beforeEachCall { call in
      if (call + first.call).isTried(strides.second) { crash(at: call) }
    }
    do { try goOn(life) } catch {
      findings.add("\(error)", Replay(seed: 0, scenario: scenario.rawValue, crashes: [first]))
    }
    life.medium.beforeEachCall(nil)
    crash(at: life.medium.callCount)
    return findings
  }

  /// What was shown once must not be gone, and what was not must not come back.
  private func goOn(_ life: BlobScenarioRun) throws {
    try life.open(scenario.version)
    try life.noteShown()
    try life.commit(.save(Doc(800, 9_000, picture: 600)))
    let first = life.docs.keys.min() ?? 0
    try life.commit(.delete(first), durability: .relaxed)
    try life.store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0.2))
    try life.flush()
  }
}

/// X4: every call of a scenario fails, in every way that means anything to it, once and for good.
struct BlobFaultSweep {
  private let scenario: BlobScenario
  private let stride = scaled(5, debug: 89)

  private static let faults: [Fault] = [
    .error(.ioError), .error(.noSpace), .errorAfter(bytes: 700, .noSpace),
    .errorAfterAll(.ioError), .flush(.errorCacheReverts),
  ]

  init(_ scenario: BlobScenario) {
    self.scenario = scenario
  }

  func run() throws -> Findings {
    let prepared = try scenario.prepared()
    let whole = scenario.run(from: prepared)
    try scenario.perform(whole)
    whole.end()
    var findings = Findings()
    for (number, call) in whole.medium.calls.enumerated() where number.isTried(stride) {
      for fault in Self.faults where fault.applies(to: call.operation) {
        let persistence: Persistence = findings.count % 4 == 3 ? .forGood : .once
        findings.count += 1
        let run = scenario.run(from: prepared)
        run.medium.inject(fault, at: .call(number), persistence)
        if let violation = violation(in: run, fault) {
          let planned = TestSupport.Replay.PlannedFault(fault, at: .call(number), persistence)
          findings.add(
            "\(violation), \(call)",
            Replay(seed: 0, scenario: scenario.rawValue, fault: planned))
        }
      }
    }
    return findings
  }

  private func violation(in run: BlobScenarioRun, _ fault: Fault) -> String? {
    do {
      try scenario.perform(run)
    } catch let error as StoreError {
      guard isDue(error, to: fault) else { return "it threw \(error)" }
    } catch {
      return "\(error)"
    }
    run.medium.heal()
    run.end()
    let openFiles = run.medium.openFileCount
    if openFiles > 0 { return "\(openFiles) files are still open" }
    let cut = run.medium.crashed(.none)
    if let violation = run.oracle(seed: 98).violation(in: cut) {
      return "after a crash: \(violation)"
    }
    run.medium.restart()
    return run.oracle(seed: 99).violation(in: run.medium).map { "opened again: \($0)" }
  }

  private func isDue(_ error: StoreError, to fault: Fault) -> Bool {
    switch error {
    case .io(let errno, _, _): errno == .ioError
    case .full: fault == .error(.noSpace) || fault == .errorAfter(bytes: 700, .noSpace)
    case .poisoned, .outcomeUnknown: true
    // What was not flushed reads as it was before.
    case .corrupt: fault == .flush(.errorCacheReverts)
    default: false
    }
  }
}

extension BlobScenarioRun {
  /// What an image taken now must hold.
  func oracle(seed: UInt64) -> BlobOracle {
    BlobOracle(version: version, states: states[acknowledged...], seed: 10_000 + seed)
  }
}

extension Int {
  /// Whether a call of this number is one that is tried, of each so many: of other ones in each round of soaking.
  fileprivate func isTried(_ stride: Int) -> Bool {
    (self + Int(truncatingIfNeeded: Seeds.round)) % stride == 0
  }
}

import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before a call of a scenario; the store is opened and goes on; and the power goes again,
/// before every call of that.
struct SecondCrashSweep {
  let scenario: Scenario
  /// One call of so many is the first to crash at.
  var stride = 1
  /// How many policies are tried at each call of the second life.
  var policyCount = 5
  var ignored: Site?
  var stopsAtFirst = false

  func run() -> Findings {
    let run = ScenarioRun(scenario)
    if let ignored { run.medium.ignoreSyncs(at: ignored) }
    var findings = Findings()
    let phase = Int(scenario.seed % UInt64(stride))
    run.medium.beforeEachCall { call in
      if call % stride == phase { crash(run, at: call, &findings) }
    }
    do {
      try run.run()
    } catch {
      findings.add("\(error)", Replay(seed: scenario.seed, scenario: scenario.name))
    }
    run.medium.beforeEachCall(nil)
    return findings
  }

  private func crash(_ run: ScenarioRun, at call: Int, _ findings: inout Findings) {
    if !run.exists, !scenario.isOfCreation { return }
    if stopsAtFirst, !findings.violations.isEmpty { return }
    let seed = scenario.seed &* 100_003 &+ UInt64(call)
    let policies = CrashPolicy.some(1, pending: run.medium.pendingCount, seed: seed)
    for policy in policies {
      let first = TestSupport.Replay.Crash(call: call, policy: policy)
      findings.add(live(run.secondLife(after: first), first))
    }
  }

  /// Opens the store, commits twice, and crashes before every call.
  private func live(_ life: ScenarioRun, _ first: TestSupport.Replay.Crash) -> Findings {
    var (findings, images) = (Findings(), CrashImages())
    if let ignored { life.medium.ignoreSyncs(at: ignored) }
    let crashes = { (second: Int?, policy: CrashPolicy) in
      [first] + (second.map { [TestSupport.Replay.Crash(call: $0, policy: policy)] } ?? [])
    }
    func crash(at call: Int) {
      let policies = CrashPolicy.some(
        policyCount, pending: life.medium.pendingCount,
        seed: scenario.seed &* 7919 &+ UInt64(first.call * 1000 + call))
      for policy in policies {
        findings.count += 1
        let image = life.medium.crashed(policy)
        guard images.insert(image, expected: life.expected) else { continue }
        if let violation = life.oracle(seed: UInt64(call)).violation(in: image) {
          findings.add(
            violation,
            Replay(seed: scenario.seed, scenario: scenario.name, crashes: crashes(call, policy)))
        }
      }
    }
    life.medium.beforeEachCall { crash(at: $0) }
    do {
      try life.run()
    } catch {
      findings.add(
        "\(error)",
        Replay(seed: scenario.seed, scenario: scenario.name, crashes: crashes(nil, .none)))
    }
    life.medium.beforeEachCall(nil)
    crash(at: life.medium.callCount)
    return findings
  }
}

extension ScenarioRun {
  /// Another run, on what the medium has after a crash now: it opens the store and commits twice, other
  /// things than this one.
  func secondLife(after crash: TestSupport.Replay.Crash) -> ScenarioRun {
    var random = SplitMix64(seed: scenario.seed ^ UInt64(crash.call) << 20)
    var second = scenario
    second.stamp += 5_000
    second.steps = [.open]
    for _ in 0..<2 {
      let changes = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        Change.put(
          tree: Int.random(in: 0...2, using: &random), key: Int.random(in: 0...30, using: &random),
          length: Int.random(in: 0...60, using: &random))
      }
      let isDurable = Bool.random(using: &random)
      second.steps.append(.commit(changes, isDurable ? .durable : .relaxed))
    }
    switch random.next() % 4 {
    case 0: second.steps += [.freeze, .settle]
    case 1: second.steps.append(.close)
    default: second.steps.append(.flush)
    }
    return ScenarioRun(
      second, in: medium.crashed(crash.policy), history: history, exists: exists)
  }
}

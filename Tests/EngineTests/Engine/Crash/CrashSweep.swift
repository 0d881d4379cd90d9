import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call of a scenario, and after the last, each time in several ways.
struct CrashSweep {
  let scenario: Scenario
  /// How many policies are tried at each call.
  var policyCount = 8
  /// A sync that does nothing, to see whether it is missed.
  var ignored: Site?
  /// One call of so many is tried.
  var stride = 1
  /// Whether one violation is enough.
  var stopsAtFirst = false

  /// Runs the scenario once and opens every image on the way.
  func run() -> Findings {
    let run = ScenarioRun(scenario)
    if let ignored { run.medium.ignoreSyncs(at: ignored) }
    var (findings, images) = (Findings(), CrashImages())
    run.medium.beforeEachCall { call in
      if call % stride == 0 { crash(run, at: call, &images, &findings) }
    }
    do {
      try run.run()
    } catch {
      findings.add("\(error)", Replay(seed: scenario.seed, scenario: scenario.name))
    }
    run.medium.beforeEachCall(nil)
    crash(run, at: run.medium.callCount, &images, &findings)
    return findings
  }

  private func crash(
    _ run: ScenarioRun, at call: Int, _ images: inout CrashImages, _ findings: inout Findings
  ) {
    if !run.exists, !scenario.isOfCreation { return }
    if stopsAtFirst, !findings.violations.isEmpty { return }
    let policies = CrashPolicy.some(
      policyCount, pending: run.medium.pendingCount, seed: scenario.seed &* 100_000 &+ UInt64(call))
    for policy in policies {
      findings.count += 1
      let isClean = policy == .none || policy == .all
      let image = run.medium.crashed(policy)
      let isNew = images.insert(image, expected: run.expected, isClean: isClean)
      guard isNew else { continue }
      if let violation = run.oracle(seed: UInt64(call), isClean: isClean).violation(in: image) {
        findings.add(
          violation,
          Replay(seed: scenario.seed, scenario: scenario.name, call: call, policy: policy))
      }
    }
  }
}

extension ScenarioRun {
  /// Numbers that are equal if the oracle expects the same of two crash images.
  var expected: [Int] { [history.durable, history.last, exists ? 1 : 0] }

  /// What an image taken now must hold.
  func oracle(seed: UInt64, isClean: Bool = false) -> ImageOracle {
    ImageOracle(
      history: history, exists: exists, options: scenario.options,
      seed: (scenario.seed &+ 0x1000) &* 0x1_0001 &+ seed, isClean: isClean)
  }
}

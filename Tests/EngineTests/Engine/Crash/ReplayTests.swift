import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Runs again what was found, by the line that it was printed with.
@Suite struct ReplayTests {
  /// Paste a line here to see what it does. Those that stay found something once.
  static let found: [TestSupport.Replay] = []

  @Test(arguments: found)
  func `what went wrong once does not go wrong again`(replay: TestSupport.Replay) throws {
    let violation = try replay.violation()
    #expect(violation == nil, "\(replay)")
  }

  /// A sweep takes the number of a call from one run, and lets it fail in another.
  @Test(arguments: ScenarioKind.allCases)
  func `a scenario makes the same calls whenever it runs`(kind: ScenarioKind) throws {
    for contents in [Content.Kind.entries, .records] {
      for seed in Seeds.range(scaled(6, debug: 3), shard: 71) {
        let runs = (0..<3).map { _ in ScenarioRun(kind.scenario(seed: seed, of: contents)) }
        for run in runs { try run.run() }
        #expect(runs.allSatisfy { $0.medium.calls == runs[0].medium.calls }, "seed \(seed)")
      }
    }
  }

  @Test func `a run that stops before a call leaves what was seen before it`() throws {
    let scenario = ScenarioKind.everything.scenario(seed: 5)
    let whole = ScenarioRun(scenario)
    var images: [Int: Set<String>] = [:]
    whole.medium.beforeEachCall { call in
      if call % 37 == 0 { images[call] = whole.medium.crashed(.all).fingerprint }
    }
    try whole.run()
    #expect(images.count > 3)
    for (call, image) in images {
      let run = ScenarioRun(scenario)
      run.medium.inject(.stop, at: .call(call))
      try? run.run()
      #expect(run.medium.crashed(.all).fingerprint == image)
    }
  }
}

extension TestSupport.Replay {
  /// Runs the scenario up to each crash in turn, or with the fault. Nil if all is right.
  fileprivate func violation() throws -> String? {
    if scenario == "random" { return randomViolation(.entries) }
    if scenario == "records random" { return randomViolation(.records) }
    let scenario = try #require(ScenarioKind.scenario(named: scenario, seed: seed))
    if let fault { return FaultRun(scenario, fault, at: fault.site(in: scenario)).violation() }
    var run = ScenarioRun(scenario)
    for (number, crash) in crashes.enumerated() {
      run.medium.inject(.stop, at: .call(crash.call))
      try? run.run()
      run.end()
      if number + 1 < crashes.count { run = run.secondLife(after: crash) }
    }
    guard let last = crashes.last else { return nil }
    let image = run.medium.crashed(last.policy)
    return run.oracle(seed: UInt64(last.call)).violation(in: image)
  }

  private func randomViolation(_ kind: Content.Kind) -> String? {
    var history = RandomHistory(seed: seed, of: kind)
    do {
      try history.run(operations: 31_300)
      return nil
    } catch {
      return "\(error)"
    }
  }
}

extension TestSupport.Replay.PlannedFault {
  /// Where it strikes.
  fileprivate func site(in scenario: Scenario) -> Site {
    let run = ScenarioRun(scenario)
    try? run.run()
    if case .call(let number) = moment { return run.medium.calls[number].site }
    return .test
  }
}

extension SimulatedFileSystem {
  /// Names and bytes, to be compared.
  fileprivate var fingerprint: Set<String> {
    Set(names.map { "\($0) \(bytes(of: $0)?.hashValue ?? 0)" })
  }
}

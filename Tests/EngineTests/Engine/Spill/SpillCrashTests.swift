import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes, or a call fails, at every call of transactions that spill.
@Suite struct SpillCrashTests {
  @Test func `a crash before any call leaves the old state or the new, and no file of a run`() {
    var findings = Findings()
    for seed in Seeds.range(scaled(4, debug: 2), shard: 0) {
      var sweep = CrashSweep(scenario: .spilled(seed: seed))
      sweep.stride = scaled(1, debug: 31)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    print(
      "spilled: \(findings.count.grouped) crash images, \(findings.violations.count) violations")
  }

  @Test func `a crash before any call of a load leaves the old state or the new`() {
    var findings = Findings()
    for seed in Seeds.range(scaled(4, debug: 2), shard: 0) {
      var sweep = CrashSweep(scenario: .loaded(seed: seed))
      sweep.stride = scaled(1, debug: 13)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    print(
      "loaded: \(findings.count.grouped) crash images, \(findings.violations.count) violations")
  }

  @Test func `a crash before any call leaves whole trees as they were, or as they were to be`() {
    var findings = Findings()
    for seed in Seeds.range(scaled(12, debug: 2), shard: 0) {
      var sweep = CrashSweep(scenario: .wholeTrees(seed: seed))
      sweep.stride = scaled(1, debug: 7)
      findings.add(sweep.run())
    }
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    print(
      "whole trees: \(findings.count.grouped) crash images, \(findings.violations.count) violations"
    )
  }

  private static let faults: [Fault] = [
    .error(.ioError), .error(.noSpace), .errorAfterAll(.ioError),
    .errorAfter(bytes: 100, .noSpace), .errorAfter(bytes: 4096, .ioError),
    .flush(.errorCacheReverts),
  ]

  @Test func `a call that fails takes nothing that was promised, and leaves no half transaction`() {
    var count = 0
    // One of each kind, and two in a round of soaking.
    for seed in Seeds.range(Seeds.count(3, soaking: 6, debug: 2), shard: 0) {
      let scenario =
        switch seed % 4 {
        case 2: Scenario.loaded(seed: seed)
        case 3: Scenario.wholeTrees(seed: seed)
        default: Scenario.spilled(seed: seed)
        }
      let whole = ScenarioRun(scenario)
      do { try whole.run() } catch { Issue.record("\(seed): \(error)") }
      for (number, call) in whole.medium.calls.enumerated() where number % scaled(3, debug: 61) == 0
      {
        for fault in Self.faults where fault.applies(to: call.operation) {
          for persistence in Persistence.allCases {
            count += 1
            do {
              try Self.run(scenario, fault, number, persistence)
            } catch {
              Issue.record("seed \(seed), \(fault) at \(number), \(persistence), \(call): \(error)")
            }
          }
        }
      }
    }
    print("spilled: \(count.grouped) failed calls")
  }

  private static func run(
    _ scenario: Scenario, _ fault: Fault, _ number: Int, _ persistence: Persistence
  ) throws {
    let run = ScenarioRun(scenario)
    run.medium.inject(fault, at: .call(number), persistence)
    for step in scenario.steps {
      do {
        try run.perform(step)
      } catch let error as StoreError {
        switch error {
        case .io, .full, .poisoned, .outcomeUnknown: break
        default: throw error
        }
      } catch is NotOpen {
        // An open failed before.
      }
    }
    run.medium.heal()
    try goOn(run)
    run.end()
    try agree(run.medium.openFileCount == 0, "\(run.medium.openFileCount) files are still open")
    if let violation = run.oracle(seed: 99).violation(in: run.medium.crashed(.none)) {
      throw Disagreement(description: "after a crash: \(violation)")
    }
    try run.perform(.kill)
    try run.perform(.open)
    run.end()
    if let violation = run.oracle(seed: 98).violation(in: run.medium.crashed(.all)) {
      throw Disagreement(description: "opened again: \(violation)")
    }
  }

  /// When the cause is gone a transaction that spills succeeds, unless the store refuses all.
  private static func goOn(_ run: ScenarioRun) throws {
    if run.engine == nil { return }
    do {
      try run.perform(
        .commit((0..<60).map { .put(tree: 0, key: $0 % 40, length: 30) }, .durable))
    } catch StoreError.poisoned {}
  }
}

import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Every call of a scenario fails, in every way that means anything to it, once and for good.
///
/// The program goes on after each error, as far as it can. Then the fault is gone, and the store is opened
/// again: in the same running system, after memory was short, or after a crash.
struct FaultSweep {
  let scenario: Scenario
  var stride = 1
  /// A sync that does nothing, to see whether it is missed: then only flushes fail.
  var ignored: Site?

  private static let faults: [Fault] =
    [.ioError, .noSpace, .interrupted].map { .error($0) } + [
      .errorAfterAll(.ioError), .errorAfter(bytes: 100, .noSpace),
      .errorAfter(bytes: 4096, .ioError), .errorAfter(bytes: 0, .interrupted),
    ] + FlushFailure.allCases.map { .flush($0) }

  func run() -> Findings {
    let whole = ScenarioRun(scenario)
    var findings = Findings()
    let faults = Self.faults.filter {
      ignored == nil || $0.applies(to: .sync) && !$0.applies(to: .read)
    }
    do {
      try whole.run()
    } catch {
      findings.add("\(error)", Replay(seed: scenario.seed, scenario: scenario.name))
    }
    for (number, call) in whole.medium.calls.enumerated() where number % stride == 0 {
      for fault in faults where fault.applies(to: call.operation) {
        for persistence in Persistence.allCases {
          if ignored != nil, !findings.violations.isEmpty { return findings }
          findings.count += 1
          let planned = TestSupport.Replay.PlannedFault(fault, at: .call(number), persistence)
          let run = FaultRun(scenario, planned, at: call.site, ignoring: ignored)
          if let violation = run.violation() {
            findings.add(
              "\(violation), \(call)",
              Replay(seed: scenario.seed, scenario: scenario.name, fault: planned))
          }
        }
      }
    }
    return findings
  }
}

/// One run of a scenario with one fault.
struct FaultRun {
  private let run: ScenarioRun
  private let planned: TestSupport.Replay.PlannedFault
  /// Where the fault is.
  private let site: Site
  private let ignored: Site?

  init(
    _ scenario: Scenario, _ planned: TestSupport.Replay.PlannedFault, at site: Site,
    ignoring ignored: Site? = nil
  ) {
    run = ScenarioRun(scenario)
    self.planned = planned
    self.site = site
    self.ignored = ignored
    if let ignored { run.medium.ignoreSyncs(at: ignored) }
    run.medium.inject(planned.fault, at: planned.moment, planned.persistence)
  }

  /// Nil if all is right.
  func violation() -> String? {
    do {
      for step in run.scenario.steps { try perform(step) }
      run.medium.heal()
      if let ignored { run.medium.ignoreSyncs(at: ignored) }
      try checkPublished()
      run.end()
      try agree(run.medium.openFileCount == 0, "\(run.medium.openFileCount) files are still open")
      return reopened()
    } catch {
      return "\(error)"
    }
  }

  private func perform(_ step: Scenario.Step) throws {
    do {
      try run.perform(step)
    } catch let error as StoreError {
      guard isDue(error) else {
        throw Disagreement(description: "\(step) threw \(error)")
      }
    } catch is NotOpen {
      // An open failed before.
    }
  }

  /// Whether an error is one that the fault may lead to.
  private func isDue(_ error: StoreError) -> Bool {
    switch error {
    case .io(let errno, _, _): return errno == .ioError || errno == .interrupted
    case .full: return isOfRoom
    case .poisoned, .outcomeUnknown: return !isForgivable
    default: return false
    }
  }

  private var isOfRoom: Bool {
    switch planned.fault {
    case .error(.noSpace), .errorAfter(_, .noSpace): true
    default: false
    }
  }

  /// One failure to write pages, or to make the spare larger, is made good; but not one that only a later
  /// sync tells of, which may be one of the log's.
  private var isForgivable: Bool {
    if planned.fault == .flush(.errorOneCallLate) || run.scenario.steps.contains(.failPages) {
      return false
    }
    switch site {
    case .pageWrite, .pageSync, .pageRead, .segmentCreate, .segmentHeaderWrite, .segmentHeaderSync,
      .segmentRename, .segmentDirectorySync, .segmentOpen, .segmentUnlink, .logGrowWrite,
      .logGrowSync:
      return planned.persistence == .once
    default: return false
    }
  }

  /// What is published stays readable, whatever failed.
  private func checkPublished() throws {
    guard let engine = run.engine else { return }
    let sequence = Int(try engine.snapshot().state.sequence)
    try agree(
      sequence >= run.history.durable && sequence <= run.history.last,
      "\(sequence) is published, of \(run.history.durable) to \(run.history.last)")
    try engine.checkHolds(run.history[sequence])
  }

  // MARK: Afterwards

  /// In the same system, with or without what memory held; and what that shows is there after a crash.
  private func reopened() -> String? {
    let oracle = run.oracle(seed: 99)
    let cut = oracle.violation(in: run.medium.crashed(.none))
    // The word of a sync that fails late is as good as none: what it promised may be lost.
    if planned.fault == .flush(.errorOneCallLate) { return nil }
    if let cut { return "after a crash: \(cut)" }
    if isAfterLongTime { run.medium.dropCaches() }
    var found: String?
    if leavesCacheAlone {
      run.medium.beforeEachCall { call in found = found ?? crashed(whileOpening: call) }
    }
    defer { run.medium.beforeEachCall(nil) }
    do {
      try run.perform(.kill)
      try run.perform(.open)
      run.end()
    } catch {
      return "opened again: \(error)"
    }
    run.medium.beforeEachCall(nil)
    return found
      ?? run.oracle(seed: 98).violation(in: run.medium.crashed(.none)).map {
        "opened again, after a crash: \($0)"
      }
  }

  /// Whether the log shows what is not on the medium: then a crash while it is recovered is tried at every call.
  private var leavesCacheAlone: Bool {
    let isOfLog = [.logFrameSync, .logOpeningSync, .logHeaderSync, .logHeaderCopySync].contains(
      site)
    return isOfLog && planned.persistence == .once && !isAfterLongTime
      && [.flush(.errorCacheShowsNew), .flush(.errorOnOneDescriptor)].contains(planned.fault)
  }

  private func crashed(whileOpening call: Int) -> String? {
    let medium = run.medium
    for policy in [.none] + CrashPolicy.some(2, pending: medium.pendingCount, seed: UInt64(call)) {
      let image = medium.crashed(policy)
      if let violation = run.oracle(seed: UInt64(call)).violation(in: image) {
        return "opened again, after a crash at \(call), \(policy): \(violation)"
      }
    }
    return nil
  }

  private var isAfterLongTime: Bool {
    if case .call(let number) = planned.moment { number % 2 == 0 } else { false }
  }
}

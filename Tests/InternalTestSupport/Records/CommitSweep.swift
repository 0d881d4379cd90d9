import TestSupport

@testable import Cambium

/// A program that commits again and again: the power goes before every call of the disk, and again before the calls of
/// the opening after it, or a call fails; each time the store must be as one of the commits left it.
struct CommitSweep<World: Equatable> {
  /// As it is printed.
  let name: String
  let model: StoreModel
  let commitCount: Int
  /// For commits that spill.
  var transactionBudget: Int?
  let commit: (Int, inout WriteTransaction) throws -> Void
  /// All records, and whatever else is to be as a commit left it.
  let world: (PersistentStore) throws -> World

  /// The worlds after each commit, and before the first.
  func worlds() throws -> [World] {
    let store = try PersistentStore(inMemory: model)
    var worlds = [try world(store)]
    for number in 0..<commitCount {
      try store.write { try commit(number, &$0) }
      worlds.append(try world(store))
    }
    return worlds
  }

  private func open(
    _ medium: SimulatedFileSystem, transactionBudget: Int? = nil, seed: UInt64
  ) throws -> PersistentStore {
    let backend = try EngineBackend.simulated(
      on: medium, transactionBudget: transactionBudget, seed: seed)
    let opening = try StoreOpening(model, steps: [], .automatic, StoreOptions())
    return PersistentStore(try opening.open(backend), StoreOptions())
  }

  private func live(_ store: PersistentStore) throws {
    for number in 0..<commitCount { try store.write { try commit(number, &$0) } }
    try store.close()
  }

  /// Opens the store of a disk, which must be sound, and one of the worlds.
  private func violation(in medium: SimulatedFileSystem, of worlds: [World]) -> String? {
    do {
      let store = try open(medium, seed: 3)
      let found = try world(store)
      try agree(worlds.contains(found), "no commit left \(found)")
      let faults = try store.snapshot().check()
      try agree(faults.isEmpty, "\(faults)")
      try store.close()
    } catch {
      return "\(error)"
    }
    return nil
  }

  // MARK: Crashes

  /// - Parameters:
  ///   - stride: One call of so many is one to crash before.
  ///   - policyCount: How many crashes differ at a call.
  func crash(stride: Int, policyCount: Int = 4) throws -> Findings {
    let worlds = try worlds()
    let medium = SimulatedFileSystem()
    let store = try open(medium, transactionBudget: transactionBudget, seed: 1)
    var (findings, images) = (Findings(), CrashImages())
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      let policies = CrashPolicy.some(
        policyCount, pending: medium.pendingCount, seed: UInt64(call))
      for (place, policy) in policies.enumerated() {
        let crashed = medium.crashed(policy)
        let first = Replay.Crash(call: call, policy: policy)
        // Of every fourth crash, the opening crashes before each of its calls, too.
        if place == 0, call % (4 * stride) == 0 {
          findings.add(crashAgain(in: medium.crashed(policy), of: worlds, after: first))
        }
        findings.count += 1
        guard images.insert(crashed) else { continue }
        if let violation = violation(in: crashed, of: worlds) {
          findings.add(violation, Replay(seed: 1, scenario: name, crashes: [first]))
        }
      }
    }
    try live(store)
    medium.beforeEachCall(nil)
    let violations = findings.violations.count
    print("\(name): \(findings.count.grouped) crash images, \(violations) violations")
    return findings
  }

  /// The power goes again before every call of opening and closing.
  private func crashAgain(
    in medium: SimulatedFileSystem, of worlds: [World], after first: Replay.Crash
  ) -> Findings {
    var (findings, images) = (Findings(), CrashImages())
    medium.beforeEachCall { call in
      let seed = UInt64(first.call * 1_000 + call)
      for policy in CrashPolicy.some(1, pending: medium.pendingCount, seed: seed) {
        findings.count += 1
        let image = medium.crashed(policy)
        guard images.insert(image) else { continue }
        if let violation = violation(in: image, of: worlds) {
          let second = Replay.Crash(call: call, policy: policy)
          findings.add(violation, Replay(seed: 1, scenario: name, crashes: [first, second]))
        }
      }
    }
    _ = violation(in: medium, of: worlds)
    medium.beforeEachCall(nil)
    return findings
  }

  // MARK: Calls that fail

  /// - Parameter stride: One call of so many is one that fails.
  func fail(stride: Int) throws -> Findings {
    let worlds = try worlds()
    let whole = SimulatedFileSystem()
    let store = try open(whole, transactionBudget: transactionBudget, seed: 1)
    let start = whole.callCount
    try live(store)
    var findings = Findings()
    for call in Swift.stride(from: start, to: whole.callCount, by: stride) {
      for fault in [Fault.error(.ioError), .error(.noSpace), .flush(.errorCacheReverts)] {
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        findings.count += 1
        if let violation = try violation(of: fault, at: call, worlds) {
          let planned = Replay.PlannedFault(fault, at: .call(call), .once)
          findings.add(violation, Replay(seed: 1, scenario: name, fault: planned))
        }
      }
    }
    print("\(name): \(findings.count.grouped) failed calls")
    return findings
  }

  private func violation(of fault: Fault, at call: Int, _ worlds: [World]) throws -> String? {
    let medium = SimulatedFileSystem()
    let store = try open(medium, transactionBudget: transactionBudget, seed: 1)
    medium.inject(fault, at: .call(call), .once)
    do {
      try live(store)
    } catch let error as StoreError {
      switch error {
      case .io, .full, .poisoned, .outcomeUnknown: break
      default: throw error
      }
    }
    medium.heal()
    // The transaction has thrown, and the store shows what it showed before.
    if let found = try? world(store), !worlds.contains(found) {
      return "a failed commit shows \(found)"
    }
    medium.restart()
    return violation(in: medium, of: worlds)
  }
}

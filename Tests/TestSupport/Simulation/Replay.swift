/// The values that a test needs to run a failure again. It prints as one line, an expression to paste into the
/// test.
package struct Replay: Hashable, Sendable {
  package let seed: UInt64
  package let scenario: String
  /// The crashes in the order in which they happened.
  package let crashes: [Crash]
  /// Another error, if there was one.
  package let fault: PlannedFault?

  package struct Crash: Hashable, Sendable {
    /// The call it happened before, counted from the opening of that file system.
    package let call: Int
    package let policy: CrashPolicy

    package init(call: Int, policy: CrashPolicy) {
      self.call = call
      self.policy = policy
    }
  }

  package struct PlannedFault: Hashable, Sendable {
    package let fault: Fault
    package let moment: Moment
    package let persistence: Persistence

    package init(_ fault: Fault, at moment: Moment, _ persistence: Persistence) {
      self.fault = fault
      self.moment = moment
      self.persistence = persistence
    }
  }

  package init(
    seed: UInt64, scenario: String, crashes: [Crash] = [], fault: PlannedFault? = nil
  ) {
    self.seed = seed
    self.scenario = scenario
    self.crashes = crashes
    self.fault = fault
  }

  package init(seed: UInt64, scenario: String, call: Int, policy: CrashPolicy) {
    self.init(seed: seed, scenario: scenario, crashes: [Crash(call: call, policy: policy)])
  }
}

extension Replay: CustomStringConvertible {
  package var description: String {
    let crashes = crashes.map { ".init(call: \($0.call), policy: .\($0.policy))" }
    var parts = ["seed: \(seed)", "scenario: \(scenario.debugDescription)"]
    if !crashes.isEmpty { parts.append("crashes: [\(crashes.joined(separator: ", "))]") }
    if let fault {
      parts.append("fault: .init(.\(fault.fault), at: .\(fault.moment), .\(fault.persistence))")
    }
    return "Replay(\(parts.joined(separator: ", ")))"
  }
}

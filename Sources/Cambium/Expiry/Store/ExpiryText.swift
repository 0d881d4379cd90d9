// An expiry as text: in a schema lock, and in Swift.

extension RecordSchema {
  /// The expiry as a declaration, and as a lock has it; nil if there is none.
  private func expiryText(_ text: (String, Int64) -> String) -> String? {
    guard let expiry, let name = field(expiry.field)?.name else { return nil }
    return text(name, expiry.milliseconds)
  }

  /// The line of a lock; nil if records do not expire.
  var expiryLockText: String? {
    expiryText { name, delay in "expiry \(name.lockName)" + (delay == 0 ? "" : " after \(delay)") }
  }

  /// The statement as code has it; nil if records do not expire.
  var expirySwift: String? {
    expiryText { name, delay in
      let isWhole = delay % 1_000 == 0
      let duration = isWhole ? ".seconds(\(delay / 1_000))" : ".milliseconds(\(delay))"
      return "Expiry(\(name.quoted)" + (delay == 0 ? ")" : ", after: \(duration))")
    }
  }
}

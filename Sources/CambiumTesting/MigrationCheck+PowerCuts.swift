internal import Cambium
internal import TestSupport

extension MigrationCheck {
  /// The number of power cuts or failed calls, and the faults found afterwards.
  public struct Damage: Sendable {
    /// The stores that were looked at.
    public internal(set) var count = 0
    /// The faults that were found, with their places; empty if there are none.
    public internal(set) var violations: [String] = []
  }

  /// Migrates a store of an older version with random records, and cuts the power before every call that the
  /// library makes on its files. The result of each cut is opened: it must be a store of the old version with all of
  /// its records, and after migrating it, one of the new version with the same content as after an undisturbed
  /// migration.
  ///
  /// - Parameters:
  ///   - stride: 1 for every call, 2 for every second, and so on.
  ///   - policies: In how many ways each cut loses what was not flushed: writes torn, out of order, or as zeros.
  public func everyPowerCut(
    from version: Int, stride: Int = 1, policies: Int = 2
  ) throws -> Damage {
    let image = try filled(version)
    let oracle = try oracle(of: image)
    var damage = Damage()
    let running = image.copy()
    running.medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      let some = CrashPolicy.some(
        policies, pending: running.medium.pendingCount, seed: UInt64(call))
      for policy in some {
        damage.add(oracle.violation(in: running.crashed(policy)), "call \(call), \(policy)")
      }
    }
    try running.open(model, steps: steps, options: options).close()
    running.medium.beforeEachCall(nil)
    return damage
  }

  /// The same with calls that fail: the disk is full, or broken, from one call on, and well again when the store is
  /// reopened.
  public func everyFailure(from version: Int, stride: Int = 1) throws -> Damage {
    let image = try filled(version)
    let oracle = try oracle(of: image)
    let whole = image.copy()
    try whole.open(model, steps: steps, options: options).close()
    var damage = Damage()
    for call in Swift.stride(from: 0, to: whole.medium.callCount, by: stride) {
      for fault in [Fault.error(.noSpace), .stop] {
        guard fault.applies(to: whole.medium.calls[call].operation) else { continue }
        let running = image.copy()
        running.medium.inject(fault, at: .call(call), .once)
        do throws(StoreError) {
          try running.open(model, steps: steps, options: options).close()
        } catch {}
        running.medium.restart()
        damage.add(oracle.violation(in: running), "\(fault) at call \(call)")
      }
    }
    return damage
  }

  private func oracle(of image: StoreImage) throws -> Oracle {
    let from = try version(of: image)
    let old = try image.copy().open(model.dynamic(version: from))
    let new = try migrated(image, .direct, from: from)
    return Oracle(
      check: self, from: from, before: try verified(old, .direct),
      after: try verified(new, .direct))
  }

  /// The contents that a store may have after its migration was interrupted.
  private struct Oracle {
    let check: MigrationCheck
    let from: Int
    let before: ContentFingerprint
    let after: ContentFingerprint

    func violation(in image: StoreImage) -> String? {
      let model = check.model
      do {
        do {
          let old = try image.copy().open(model.dynamic(version: from), migration: .refuse)
          if try check.verified(old, .direct) != before {
            return "version \(from) has other records"
          }
        } catch StoreError.newerSchema {}
        let new = try image.open(model, steps: check.steps, options: check.options)
        if try check.verified(new, .direct) != after {
          return "version \(model.version) has other records"
        }
      } catch { return "\(error)" }
      return nil
    }
  }
}

extension MigrationCheck.Damage {
  fileprivate mutating func add(_ violation: String?, _ place: String) {
    count += 1
    if let violation { violations.append("\(place): \(violation)") }
  }
}

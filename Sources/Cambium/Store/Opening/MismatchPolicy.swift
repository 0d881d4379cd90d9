/// What opening does about a store whose records the model describes otherwise in the same version: one of a
/// version that is still being developed.
public struct MismatchPolicy: Hashable, Sendable {
  /// The versions that a store is never put aside for; nil where none ever is.
  private let kept: Set<Int>?

  /// Throws `StoreError.schemaMismatch`. What programs do that others use.
  public static let refuse = MismatchPolicy(kept: nil)

  /// Moves the store out of the way, under its name with the date behind it, and makes another. Nothing is
  /// deleted: `OpenReport.setAside` says where it is.
  ///
  /// Only for development. Where another process has the store open, it is not moved.
  public static let setAside = MismatchPolicy(kept: [])

  /// The same, but for the versions that a lock has: those were released, so their stores are kept where they
  /// are, and refused.
  public static func setAside(unlessIn lock: SchemaLock) -> MismatchPolicy {
    MismatchPolicy(kept: Set(lock.versions.map(\.number)))
  }

  /// Whether a store is moved whose description of a version is another.
  func setsAside(_ version: Int) -> Bool { kept.map { !$0.contains(version) } ?? false }
}

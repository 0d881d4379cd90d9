/// The treatment of a store whose records the model describes differently in the same version, because that version is
/// still being developed.
public struct SchemaMismatchPolicy: Hashable, Sendable {
  /// The versions that a store is never put aside for; nil if none ever is.
  private let kept: Set<Int>?

  /// Throws `StoreError.schemaMismatch`. For programs in use.
  public static let refuse = SchemaMismatchPolicy(kept: nil)

  /// Renames the store to its name followed by the date, and creates a new one. Nothing is deleted:
  /// `OpenReport.setAside` has the path.
  ///
  /// Only for development. A store that another process has open is not renamed.
  public static let setAside = SchemaMismatchPolicy(kept: [])

  /// Renames the store and creates a new one, unless its version is in a lock: such versions were released, so their
  /// stores stay where they are, and are refused.
  public static func setAside(unlessIn lock: SchemaLock) -> SchemaMismatchPolicy {
    SchemaMismatchPolicy(kept: Set(lock.versions.map(\.number)))
  }

  /// Returns true if a store is renamed whose description of a version differs.
  func setsAside(_ version: Int) -> Bool { kept.map { !$0.contains(version) } ?? false }
}

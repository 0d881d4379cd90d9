/// The treatment of a record that has the same values in unique fields as the one that is written.
public enum ConflictPolicy: Hashable, Sendable {
  /// Throws `StoreError.uniqueConflict`; nothing is written.
  case refuse
  /// Deletes the other record.
  case replaceOther
}

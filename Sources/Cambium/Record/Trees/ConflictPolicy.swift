/// What to do where another record has the same values as the one that is written, in fields that are unique.
public enum ConflictPolicy: Hashable, Sendable {
  /// Throws `StoreError.uniqueConflict`; nothing is written.
  case refuse
  /// Deletes the other record.
  case replaceOther
}

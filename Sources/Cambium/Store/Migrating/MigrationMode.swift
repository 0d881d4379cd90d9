/// What opening does about a store of an older version than the model's.
public enum MigrationMode: Hashable, Sendable {
  /// Makes it one of the model's version, step by step, before it is opened.
  case automatic
  /// Leaves it as it is, and throws `StoreError.needsMigration`.
  case refuse
}

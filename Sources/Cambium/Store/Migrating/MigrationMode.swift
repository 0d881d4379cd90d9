/// What opening does about a store of an older version than the model's.
public enum MigrationMode: Hashable, Sendable {
  /// Makes it one of the model's version, step by step, before it is opened.
  case automatic
  /// Makes it one of the model's version at once, as far as the last steps cannot fail: their rows are made new when
  /// they are read, and stored so when they are written or by `PersistentStore.finishMigration(budget:)`. Steps
  /// up to the last that can fail are done as by `automatic`.
  case deferred
  /// Leaves it as it is, and throws `StoreError.needsMigration`.
  case refuse
}

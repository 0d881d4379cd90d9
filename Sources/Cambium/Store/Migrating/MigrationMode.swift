/// The treatment of a store that has an older version than the model.
public enum MigrationMode: Hashable, Sendable {
  /// Migrates the store before it is opened.
  case automatic
  /// Migrates the store at once by the last steps if those cannot fail: old rows are upgraded when they are read, and
  /// rewritten when they are saved or by `PersistentStore.finishMigration(budget:)`. Steps up to the last one that can fail
  /// run before, as with `automatic`.
  case deferred
  /// Leaves the store unchanged, and throws `StoreError.needsMigration`.
  case refuse
}

import Cambium

/// The files that describe a newer version than the store's, for the plan of a migration.
public struct SchemaFiles: Hashable, Sendable {
  /// The path of the schema file, which `SchemaLock.write` makes.
  public var schema: String
  /// The path of a file of steps; nil if there is none.
  public var steps: String?

  /// Creates the names of the files. They are read each time a plan is shown.
  public init(schema: String, steps: String? = nil) {
    self.schema = schema
    self.steps = steps
  }

  /// Returns the plan of the migration of a store to the newest version in the schema file. Nothing is written.
  ///
  /// - Throws: `SchemaLockError`, `StepFileError`; as `PersistentStore.migration`.
  func plan(for store: FollowedStore) throws -> MigrationPlan {
    let known = try store.inspection().schemas
    // Also the versions before that only the store has.
    var lock = try SchemaLock(contentsOf: schema).completed(by: SchemaLock(known))
    // A file of steps has all of those that the lock does not name.
    if steps != nil { lock = lock.withoutOtherSteps() }
    let model = try StoreModel(lock)
    let given = try steps.map { try model.steps(contentsOf: $0) } ?? []
    return try PersistentStore.migration(
      at: store.path, to: model, steps: given, options: store.options
    ).plan
  }
}

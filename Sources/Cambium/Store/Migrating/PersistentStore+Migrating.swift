extension PersistentStore {
  /// Plans the migration of the store at `path` to the model's version, and returns it to be rehearsed and run.
  ///
  /// ```swift
  /// let migration = try PersistentStore.migration(at: "shop.cambium", to: model, steps: steps)
  /// print(migration.plan)
  /// try migration.rehearse()
  /// try migration.run()
  /// ```
  ///
  /// Planning only reads the store; another process may have it open.
  ///
  /// - Parameter steps: The steps that do not follow from the descriptions.
  /// - Complexity: Reads the records in which values may be missing or keys may collide, to count them.
  /// - Throws: `StoreError.invalidDescription` if the model is wrong; `.schemaMismatch` if the store describes its version
  ///   differently than the model; `.newerSchema` if it has a newer version; `.missing`, `.corrupt`, `.newerFormat`,
  ///   `.networkFileSystem`, `.io`.
  public static func migration(
    at path: String, to model: StoreModel, steps: [Step] = [],
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Migration {
    try Migration(path, model, steps, options)
  }
}

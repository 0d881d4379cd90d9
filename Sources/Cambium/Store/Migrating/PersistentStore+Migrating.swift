extension PersistentStore {
  /// What making the store at `path` one of the model's version would take, and the means to do it.
  ///
  /// ```swift
  /// let migration = try PersistentStore.migration(at: "shop.cambium", to: model, steps: steps)
  /// print(migration.plan)
  /// try migration.rehearse()
  /// try migration.run()
  /// ```
  ///
  /// The store is only read for it; another process may have it open.
  ///
  /// - Parameter steps: What the program says of steps; all else is inferred.
  /// - Complexity: reads the records in which values may be missing or keys may collide, to count them.
  /// - Throws: `StoreError.invalidDescription` where the model is wrong; `.schemaMismatch` where the store
  ///   describes its version otherwise than the model; `.newerSchema` where it has a newer one; `.missing`,
  ///   `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.io`.
  public static func migration(
    at path: String, to model: StoreModel, steps: [Step] = [],
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Migration {
    try Migration(path, model, steps, options)
  }
}

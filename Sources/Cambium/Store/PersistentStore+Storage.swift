extension PersistentStore {
  /// Opens the store whose files are in a storage of the program's own, or creates it.
  ///
  /// Pages are read into memory as with `ReadMode.buffered`, since a storage has no memory maps; everything else is as in a
  /// directory, and the files are those of `FORMAT.md`. Such a store is opened for writing only, once at a time.
  ///
  /// ```swift
  /// let store = try PersistentStore(on: MyStorage(), model: model)
  /// ```
  ///
  /// - Parameters:
  ///   - storage: The storage: see `StorageBackend` for what it has to promise.
  ///   - steps: The steps from older versions that do not follow from the descriptions.
  ///   - migration: How a store of an older version is migrated, or that it is refused.
  ///   - options: The options; their `access` is `.writing` or `.writingExisting`. A store is never set aside.
  /// - Throws: As opening a store in a directory; `.readOnly` for `access` `.reading`. Errors of the storage are `.io`, `.full`
  ///   and `.missing`.
  public convenience init(
    on storage: any StorageBackend, model: StoreModel, steps: [MigrationStep] = [],
    migration: MigrationMode = .automatic, options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    self.init(
      try StoreOpening(model, steps: steps, migration, options).open(on: storage), options)
  }
}

extension PersistentStore {
  /// Opens the store at `path` by its own description, without Swift types: records are read and written as
  /// `DynamicRecord`s, by the rules of keys, indexes and constraints. Validations and hooks belong to the program, and do
  /// not run.
  ///
  /// - Parameter options: The options; their `access` is `.reading` or `.writingExisting`.
  /// - Throws: `StoreError.unknownRecord` if the store has no model yet; `.locked`, `.missing`, `.corrupt`, `.newerFormat`,
  ///   `.networkFileSystem`, `.full`, `.io`.
  public convenience init(
    untypedAt path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    self.init(try UntypedOpening.open(path, options), options)
  }
}

private enum UntypedOpening {
  static func open(
    _ path: String, _ options: StoreOptions
  ) throws(StoreError) -> StoreOpening.Opened {
    if options.access == .reading {
      let backend = try ReadingBackend(at: path, options)
      let opened = try open(backend)
      backend.refuseOtherVersions(
        than: opened.entities.schema.storedVersion, supporting: opened.entities.schema.version)
      return opened
    }
    var options = options
    options.access = .writingExisting
    let backend = try EngineBackend(at: path, options)
    do throws(StoreError) { return try open(backend) } catch {
      try? backend.close()
      throw error
    }
  }

  private static func open(_ backend: any StoreBackend) throws(StoreError) -> StoreOpening.Opened {
    guard let schema = try StoredSchemas(backend).newest() else {
      throw .unknownRecord(name: "of any kind")
    }
    // A program of a newer version has begun to migrate it; what is written here it would miss.
    if !backend.isReadOnly { try MigrationMark.discard(in: backend) }
    try DeferredOpening(backend).usePending()
    try BlobOpening(backend).open(for: schema)
    let entities = try Entities(schema, model: nil, names: backend.names)
    // What was thrown away may have been counted.
    try BlobRecount(backend).runIfDue(entities)
    return StoreOpening.Opened(backend: backend, entities: entities)
  }
}

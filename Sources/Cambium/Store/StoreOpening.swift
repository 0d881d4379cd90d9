/// Opens a store for a model, from a path or a file system: checks the store's description, and migrates it.
struct StoreOpening {
  let model: StoreModel
  /// The model checked for a store without a schema.
  private let fresh: CheckedModel
  private let steps: [MigrationStep]
  private let mode: MigrationMode
  private let options: StoreOptions
  /// Of the options, and of the model.
  private let collations: [Collation]

  /// An open store.
  struct Opened {
    let backend: any StoreBackend
    let entities: Entities
    /// The path of the earlier store that was renamed; nil if none was.
    var setAside: String?
  }

  /// - Throws: `.invalidDescription`.
  init(
    _ model: StoreModel, steps: [MigrationStep] = [], _ mode: MigrationMode, _ options: StoreOptions
  ) throws(StoreError) {
    self.model = model
    self.steps = steps
    self.mode = mode
    self.options = options
    fresh = try model.checked()
    collations = options.collations + fresh.schema.collations
  }

  /// Opens the store in a directory; puts it aside where the options say so, and makes another.
  func open(at path: String) throws(StoreError) -> Opened {
    do throws(StoreError) {
      return try openOrReplace(path)
    } catch {
      StoreLog(options.logger).refused(path, error)
      throw error
    }
  }

  /// Opens the store in a storage of the program's.
  func open(on storage: any StorageBackend) throws(StoreError) -> Opened {
    if options.access == .reading { throw .readOnly(path: storage.path) }
    return try open(try EngineBackend(on: storage, options, check: self))
  }

  private func openOrReplace(_ path: String) throws(StoreError) -> Opened {
    if options.access == .reading {
      let backend = try ReadingBackend(at: path, options)
      let opened = try open(backend)
      backend.refuseOtherVersions(
        than: try StoredSchemas(backend).newest()?.storedVersion ?? 0, supporting: model.version)
      return opened
    }
    do throws(StoreError) {
      return try open(try EngineBackend(at: path, options, check: self))
    } catch {
      guard options.access == .writing, options.schemaMismatchPolicy.setsAside(after: error)
      else { throw error }
    }
    let other = try EngineBackend.setAside(path, options)
    var opened = try open(try EngineBackend(at: path, options, check: self))
    opened.setAside = other
    return opened
  }

  /// Opens the store of a backend, or closes it.
  func open(_ backend: any StoreBackend) throws(StoreError) -> Opened {
    do throws(StoreError) {
      return Opened(backend: backend, entities: try entities(of: backend))
    } catch {
      try? backend.close()
      throw error
    }
  }

  /// Compares the model with the store's description, and migrates it where that is due.
  ///
  /// - Throws: `.missing` where there is no schema and none can be written; `.schemaMismatch`, `.needsMigration`,
  ///   `.newerSchema`, `.invalidDescription`, `.corrupt`, and errors of a commit.
  func entities(of backend: any StoreBackend) throws(StoreError) -> Entities {
    backend.collations.set(collations)
    guard let stored = try StoredSchemas(backend).newest() else {
      // Its making was begun, and not ended.
      if backend.isReadOnly { throw .missing(path: backend.path) }
      return try begin(backend)
    }
    try refuse(stored, in: try backend.trees(), backend.names)
    // A step may lead back from a newer version.
    if stored.version > model.version { return try migrate(backend, stored) }
    let checked = try model.checked(after: stored)
    guard stored.version == checked.schema.version else { return try migrate(backend, stored) }
    // A newer program has begun to migrate it, and may never come back; it would miss changes of this one.
    if !backend.isReadOnly { try MigrationMark.discard(in: backend) }
    try DeferredOpening(backend).usePending()
    try BlobOpening(backend).open(for: stored)
    let told = stored.relating(as: checked.schema).annotated(as: checked.schema)
    let schema = told.writing(as: checked.schema)
    let entities = try Entities(schema, model: checked, names: backend.names)
    // Those that open it without a model obey the same rules, and see the same annotations and defaults.
    if told != stored, !backend.isReadOnly { try write(told, to: backend) }
    try BlobRecount(backend).runIfDue(entities)
    return entities
  }

  /// Writes the schema of a store that has none.
  private func begin(_ backend: any StoreBackend) throws(StoreError) -> Entities {
    let schema = fresh.schema
    try write(schema, to: backend)
    // A reader beside a writer sees the commits that the log records as flushed.
    try BlobOpening(backend).open(for: schema)
    try backend.seal()
    return try Entities(schema.providing(collations), model: fresh, names: backend.names)
  }

  private func write(_ schema: Schema, to backend: any StoreBackend) throws(StoreError) {
    let tree = try backend.names.slot(of: Schema.treeName)
    let key = Schema.key(of: schema.storedVersion)
    let bytes = try schema.published()
    try backend.commit { trees throws(StoreError) in
      try trees.put(key.rawSpan, bytes.rawSpan, in: tree)
    }
  }
}

// MARK: Migrating

extension StoreOpening {
  /// Makes a store of another version one of the model's.
  private func migrate(
    _ backend: any StoreBackend, _ stored: Schema
  ) throws(StoreError) -> Entities {
    if mode == .refuse { throw needsMigration(stored) }
    try BlobOpening(backend).open(for: fresh.schema)
    let schemas = try StoredSchemas(backend).all()
    let route = try MigrationRoute(
      from: stored, history: schemas, to: model, steps, options.migration)
    if backend.isReadOnly { return try readThrough(route, backend, schemas) }
    try route.check()
    let monitor = MigrationMonitor(options.logger, options.migrationProgress)
    let run = RouteRun(backend, mode, options.migration, monitor)
    try options.tracer.following(.migration(from: stored.version, to: model.version)) {
      () throws(StoreError) in try run.run(route)
    }
    return try migrated(backend, route.to)
  }

  private func needsMigration(_ stored: Schema) -> StoreError {
    .needsMigration(found: stored.version, wanted: model.version)
  }

  private func migrated(
    _ backend: any StoreBackend, _ schema: Schema
  ) throws(StoreError) -> Entities {
    try Entities(
      schema.providing(collations), model: try model.checked(after: schema), names: backend.names)
  }

  /// A store that is only read is of the model's version in memory, where no step can fail.
  private func readThrough(
    _ route: MigrationRoute, _ backend: any StoreBackend, _ schemas: [Schema]
  ) throws(StoreError) -> Entities {
    let steps = route.hops.map(\.change)
    // A record that gets a tree of its own has none before the version is published.
    guard route.faults.isEmpty, route.hops.allSatisfy(\.isDeferrable),
      steps.allSatisfy(\.leaving.isEmpty)
    else { throw needsMigration(route.from) }
    let deferred = DeferredOpening(backend)
    var pending = try deferred.pending(schemas)
    pending.add(steps)
    try deferred.use(pending, schemas + steps.map(\.to), isUnpublished: true)
    return try migrated(backend, route.to)
  }
}

// MARK: Refusing

/// Refuses a store that the model is not for: before anything of it is written, as far as that can be known then.
extension StoreOpening: StateCheck {
  func check(_ snapshot: Snapshot, _ names: TreeNames) throws(StoreError) {
    let trees = TreeAccess.state(SnapshotTrees(snapshot))
    let schemas = StoredSchemas(trees, try names.slot(of: Schema.treeName), path: "")
    if let stored = try schemas.newest() { try refuse(stored, in: trees, names) }
  }

  /// - Throws: `.newerSchema`, `.schemaMismatch`, `.needsMigration`, `.rolledBack`, `.corrupt`, `.io`.
  private func refuse(
    _ stored: Schema, in trees: TreeAccess, _ names: TreeNames
  ) throws(StoreError) {
    let wanted = fresh.schema
    if stored.version == wanted.version {
      guard stored.fingerprint == wanted.fingerprint else {
        throw .schemaMismatch(
          version: model.version, differences: stored.differences(to: wanted))
      }
      return
    }
    // Checks that the model describes that version as the store does, or a step leads back from it; what follows is
    // planned when it is migrated.
    _ = try MigrationRoute(
      from: stored, history: [stored], to: model, steps, options.migration)
    if mode == .refuse { throw needsMigration(stored) }
    if !options.allowsMigrationAfterRollback, stored.version < wanted.version {
      try RollbackMark.refuse(
        from: stored.storedVersion, to: wanted.storedVersion, in: trees, names)
    }
  }
}

/// Refuses states of another version than a store had when it was opened: their rows would be misread.
struct VersionCheck: StateCheck {
  /// The store's.
  let version: UInt32
  /// The model's.
  let supported: Int

  func check(
    _ snapshot: Snapshot, _ names: TreeNames
  ) throws(StoreError) {
    let trees = TreeAccess.state(SnapshotTrees(snapshot))
    let schemas = StoredSchemas(trees, try names.slot(of: Schema.treeName), path: "")
    // A reader of an older store through steps that cannot fail can also read it when they are done.
    guard let newest = try schemas.newest(), newest.version != version,
      newest.version != supported
    else { return }
    if newest.version > supported {
      throw .newerSchema(found: newest.version, supported: supported)
    }
    throw .needsMigration(found: newest.version, wanted: supported)
  }
}

/// The schemas in a store.
struct StoredSchemas {
  private let trees: TreeAccess
  private let slot: TreeSlot
  private let path: String
  /// Those that indexes of the schemas are given.
  private let collations: [Collation]

  init(_ backend: any StoreBackend) throws(StoreError) {
    let slot = try backend.names.slot(of: Schema.treeName)
    self.init(
      try backend.trees(), slot, path: backend.path, collations: backend.collations.all)
  }

  init(_ trees: TreeAccess, _ slot: TreeSlot, path: String, collations: [Collation] = []) {
    self.trees = trees
    self.slot = slot
    self.path = path
    self.collations = collations
  }

  /// The schema of the highest version; nil if there is none.
  ///
  /// - Throws: `.corrupt`, `.newerFormat`, `.io`.
  func newest() throws(StoreError) -> Schema? {
    let cursor = try trees.cursor(in: slot)
    guard try cursor.last() else { return nil }
    return try schema(at: cursor)
  }

  /// The schemas of all versions, ascending.
  ///
  /// - Throws: as `newest()`.
  func all() throws(StoreError) -> [Schema] {
    let cursor = try trees.cursor(in: slot)
    var schemas: [Schema] = []
    while try cursor.advance() {
      schemas.append(try schema(at: cursor))
    }
    return schemas
  }

  private func schema(at cursor: CursorAccess) throws(StoreError) -> Schema {
    let key = cursor.key.array()
    guard key.count == 4 else {
      throw .corrupt(
        .entry(tree: Schema.treeName, key: key), invariant: .schemaContents,
        reason: "its key is not the number of a version")
    }
    let version = key.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return try Schema(decoding: try cursor.value(), version: version, path: path)
      .providing(collations)
  }
}

// MARK: - Without a model

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
    var own = options
    own.expiryInterval = nil
    self.init(try StoreOpening.open(untypedAt: path, options), own)
  }
}

extension StoreOpening {
  /// Opens the store in a directory by its own description.
  ///
  /// - Parameter passingFence: True to open a fenced store for writing, too.
  static func open(
    untypedAt path: String, _ options: StoreOptions, passingFence: Bool = false
  ) throws(StoreError) -> Opened {
    if options.access == .reading {
      return try open(reading: try ReadingBackend(at: path, options), options)
    }
    var options = options
    options.access = .writingExisting
    let backend = try EngineBackend(at: path, options, passingFence: passingFence)
    do throws(StoreError) { return try open(untyped: backend, options) } catch {
      try? backend.close()
      throw error
    }
  }

  /// Opens the store of a backend by its own description.
  static func open(
    reading backend: ReadingBackend, _ options: StoreOptions
  ) throws(StoreError) -> Opened {
    let opened = try open(untyped: backend, options)
    let schema = opened.entities.schema
    backend.refuseOtherVersions(than: schema.storedVersion, supporting: schema.version)
    return opened
  }

  private static func open(
    untyped backend: any StoreBackend, _ options: StoreOptions
  ) throws(StoreError) -> Opened {
    backend.collations.set(options.collations)
    // A program of a newer version has begun to migrate it; it would miss changes of this one.
    if !backend.isReadOnly { try MigrationMark.discard(in: backend) }
    guard let entities = try backend.describedEntities() else {
      throw .unknownRecord(name: "of any kind")
    }
    // Discarded references may have been counted.
    try BlobRecount(backend).runIfDue(entities)
    return Opened(backend: backend, entities: entities)
  }
}

extension StoreBackend {
  /// Returns the records of the newest state as the store itself describes them, read through what is pending, and opens
  /// their blobs; nil if it has no schema.
  func describedEntities() throws(StoreError) -> Entities? {
    guard let schema = try StoredSchemas(self).newest() else { return nil }
    try DeferredOpening(self).usePending()
    try BlobOpening(self).open(for: schema)
    return try Entities(schema, model: nil, names: names)
  }
}

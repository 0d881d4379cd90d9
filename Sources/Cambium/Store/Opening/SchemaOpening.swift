/// Compares a model with what the store says of itself, and writes the model's schema into a new store.
struct SchemaOpening {
  let backend: any StoreBackend
  let model: StoreModel
  /// The model checked for a store without a schema.
  let fresh: CheckedModel
  var steps: [Step] = []
  let mode: MigrationMode
  var options = MigrationOptions()
  /// Whether a store that was rolled back is migrated again.
  var migratesAgain = false
  var trace = MigrationTrace(nil)

  /// - Throws: `.missing` where there is no schema and none can be written; `.schemaMismatch`, `.needsMigration`, `.newerSchema`, `.invalidDescription`, `.corrupt`, and
  ///   what a commit throws.
  func run() throws(StoreError) -> RecordTypes {
    guard let stored = try StoredSchemas(backend).newest() else {
      // Its making was begun, and not ended.
      if backend.isReadOnly { throw .missing(path: backend.path) }
      return try begin()
    }
    try SchemaCheck(
      model: model, fresh: fresh, steps: steps, mode: mode, options: options,
      migratesAgain: migratesAgain
    ).refuse(stored, in: try backend.trees(), backend.names)
    // A step may lead back from a newer version.
    if Int(stored.version) > model.version { return try migrate(stored) }
    let checked = try model.checked(after: stored)
    guard stored.version == checked.schema.version else { return try migrate(stored) }
    // A newer program has begun to migrate it, and may never come back; what this one writes it would miss.
    if !backend.isReadOnly { try MigrationMark.discard(in: backend) }
    return try RecordTypes(stored, model: checked, names: backend.names)
  }

  /// Makes a store of an older version one of the model's.
  private func migrate(_ stored: Schema) throws(StoreError) -> RecordTypes {
    guard mode == .automatic, !backend.isReadOnly else {
      throw .needsMigration(found: Int(stored.version), wanted: model.version)
    }
    let route = try MigrationRoute(
      from: stored, history: try StoredSchemas(backend).all(), to: model, steps, options)
    try route.check()
    let tasks = try MigrationTasks(route, stepwise: options.stepwise)
    try Migrator(
      backend, tasks, monitor: MigrationMonitor(trace: trace), sliceCount: options.sliceCount
    ).run()
    return try RecordTypes(
      route.to, model: try model.checked(after: route.to), names: backend.names)
  }

  /// Writes the schema of a store that has none.
  private func begin() throws(StoreError) -> RecordTypes {
    let schema = fresh.schema
    let tree = try backend.names.slot(of: Schema.treeName)
    let key = Schema.key(of: schema.version)
    let bytes = schema.encoded()
    try backend.commit { trees throws(StoreError) in
      try trees.put(
        key.rawSpan, bytes.rawSpan, schemaVersion: RecordTypes.systemVersion, in: tree)
    }
    // Who reads beside a writer is shown what the log says was flushed.
    try backend.seal()
    return try RecordTypes(schema, model: fresh, names: backend.names)
  }
}

/// The schemas in a store.
struct StoredSchemas {
  private let trees: TreeAccess
  private let slot: TreeSlot
  private let path: String

  init(_ backend: any StoreBackend) throws(StoreError) {
    let slot = try backend.names.slot(of: Schema.treeName)
    self.init(try backend.trees(), slot, path: backend.path)
  }

  init(_ trees: TreeAccess, _ slot: TreeSlot, path: String) {
    self.trees = trees
    self.slot = slot
    self.path = path
  }

  /// The schema of the highest version; nil where there is none.
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
    var isOn = try cursor.first()
    while isOn {
      schemas.append(try schema(at: cursor))
      isOn = try cursor.next()
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
  }
}

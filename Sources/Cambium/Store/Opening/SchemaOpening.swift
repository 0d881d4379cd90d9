/// Compares a model with what the store says of itself, and writes the model's schema into a new store.
struct SchemaOpening {
  let backend: any StoreBackend
  let model: StoreModel
  /// The model checked for a store without a schema.
  let fresh: CheckedModel
  var steps: [MigrationStep] = []
  let mode: MigrationMode
  var options = MigrationOptions()
  /// True if a store that was rolled back is migrated again.
  var allowsMigrationAfterRollback = false
  var trace = MigrationTrace(nil)

  /// - Throws: `.missing` where there is no schema and none can be written; `.schemaMismatch`, `.needsMigration`, `.newerSchema`, `.invalidDescription`, `.corrupt`, and
  ///   what a commit throws.
  func run() throws(StoreError) -> Entities {
    guard let stored = try StoredSchemas(backend).newest() else {
      // Its making was begun, and not ended.
      if backend.isReadOnly { throw .missing(path: backend.path) }
      return try begin()
    }
    try SchemaCheck(
      model: model, fresh: fresh, steps: steps, mode: mode, options: options,
      allowsMigrationAfterRollback: allowsMigrationAfterRollback
    ).refuse(stored, in: try backend.trees(), backend.names)
    // A step may lead back from a newer version.
    if Int(stored.version) > model.version { return try migrate(stored) }
    let checked = try model.checked(after: stored)
    guard stored.version == checked.schema.version else { return try migrate(stored) }
    // A newer program has begun to migrate it, and may never come back; what this one writes it would miss.
    if !backend.isReadOnly { try MigrationMark.discard(in: backend) }
    try DeferredOpening(backend).usePending()
    try BlobOpening(backend).open(for: stored)
    return try counted(
      try Entities(
        stored.writing(as: checked.schema), model: checked, names: backend.names))
  }

  /// Makes a store of another version one of the model's.
  private func migrate(_ stored: Schema) throws(StoreError) -> Entities {
    if mode == .refuse { throw needsMigration(stored) }
    try BlobOpening(backend).open(for: fresh.schema)
    let schemas = try StoredSchemas(backend).all()
    let route = try MigrationRoute(
      from: stored, history: schemas, to: model, steps, options)
    if backend.isReadOnly { return try readThrough(route, schemas) }
    try route.check()
    let left = mode == .deferred ? route.hops.suffix { $0.isDeferrable } : []
    let done = route.prefix(route.hops.count - left.count)
    if !done.hops.isEmpty {
      try RouteRun(backend, options, MigrationMonitor(trace: trace)).run(done)
    }
    if !left.isEmpty {
      try DeferredOpening(backend).publish(
        left.map(\.change), after: schemas + done.hops.map(\.change.to))
    }
    return try counted(try opened(route.to))
  }

  /// Records may be changed when what rows refer to is counted.
  private func counted(_ entities: Entities) throws(StoreError) -> Entities {
    try BlobRecount(backend).runIfDue(entities)
    return entities
  }

  private func needsMigration(_ stored: Schema) -> StoreError {
    .needsMigration(found: Int(stored.version), wanted: model.version)
  }

  private func opened(_ schema: Schema) throws(StoreError) -> Entities {
    try Entities(schema, model: try model.checked(after: schema), names: backend.names)
  }

  /// A store that is only read is of the model's version in memory, where no step can fail.
  private func readThrough(
    _ route: MigrationRoute, _ schemas: [Schema]
  ) throws(StoreError) -> Entities {
    guard route.faults.isEmpty, route.hops.allSatisfy(\.isDeferrable) else {
      throw needsMigration(route.from)
    }
    let steps = route.hops.map(\.change)
    let deferred = DeferredOpening(backend)
    var pending = try deferred.pending(schemas)
    pending.add(steps)
    try deferred.use(pending, schemas + steps.map(\.to), isUnpublished: true)
    return try opened(route.to)
  }

  /// Writes the schema of a store that has none.
  private func begin() throws(StoreError) -> Entities {
    let schema = fresh.schema
    let tree = try backend.names.slot(of: Schema.treeName)
    let key = Schema.key(of: schema.version)
    let bytes = schema.encoded()
    try backend.commit { trees throws(StoreError) in
      try trees.put(key.rawSpan, bytes.rawSpan, in: tree)
    }
    // Who reads beside a writer is shown what the log says was flushed.
    try BlobOpening(backend).open(for: schema)
    try backend.seal()
    return try Entities(schema, model: fresh, names: backend.names)
  }
}

extension Array {
  /// The last elements, as far as all of them meet a condition.
  fileprivate func suffix(_ holds: (Element) -> Bool) -> [Element] {
    Array(self[(lastIndex { !holds($0) } ?? -1).advanced(by: 1)...])
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
  }
}

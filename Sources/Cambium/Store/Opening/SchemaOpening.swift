/// Compares a model with what the store says of itself, and writes the model's schema into a new store.
struct SchemaOpening {
  let backend: any StoreBackend
  let model: StoreModel
  /// The model checked for a store without a schema.
  let fresh: CheckedModel
  let mode: MigrationMode
  /// How many records a slice of a migration has.
  var sliceCount = 200_000

  /// - Throws: `.missing` where there is no schema and none can be written; `.schemaMismatch`, `.needsMigration`, `.newerSchema`, `.invalidDescription`, `.corrupt`, and
  ///   what a commit throws.
  func run() throws(StoreError) -> RecordTypes {
    guard let stored = try StoredSchemas(backend).newest() else {
      // Its making was begun, and not ended.
      if backend.isReadOnly { throw .missing(path: backend.path) }
      return try begin()
    }
    let checked = try model.checked(after: stored)
    guard stored.version == checked.schema.version else { return try migrate(stored) }
    let differences = stored.differences(to: fresh.schema)
    guard stored.fingerprint == fresh.schema.fingerprint else {
      throw .schemaMismatch(version: model.version, differences: differences)
    }
    // A newer program has begun to migrate it, and may never come back; what this one writes it would miss.
    if !backend.isReadOnly { try MigrationMark.discard(in: backend) }
    try DeferredOpening(backend).usePending()
    return try RecordTypes(stored, model: checked, names: backend.names)
  }

  /// Makes a store of an older version one of the model's.
  private func migrate(_ stored: Schema) throws(StoreError) -> RecordTypes {
    if mode == .refuse { throw needsMigration(stored) }
    let steps = try steps(from: stored)
    let schemas = try StoredSchemas(backend).all()
    if backend.isReadOnly { return try readThrough(steps, schemas, stored) }
    let left = mode == .deferred ? steps.suffix { $0.isDeferrable } : []
    let done = Array(steps.dropLast(left.count))
    if !done.isEmpty { try rewrite(done, stored) }
    if !left.isEmpty {
      try DeferredOpening(backend).publish(left, after: schemas + done.map(\.to))
    }
    return try opened(steps.last?.to ?? stored)
  }

  private func needsMigration(_ stored: Schema) -> StoreError {
    .needsMigration(found: Int(stored.version), wanted: model.version)
  }

  private func opened(_ schema: Schema) throws(StoreError) -> RecordTypes {
    try RecordTypes(schema, model: try model.checked(after: schema), names: backend.names)
  }

  /// Does steps to the end. What was deferred before is done first.
  private func rewrite(_ steps: [SchemaChange], _ stored: Schema) throws(StoreError) {
    let plan = try MigrationPlan(steps, from: stored)
    try DeferredOpening(backend).usePending()
    let types = try RecordTypes(stored, model: nil, names: backend.names)
    var finishing = DeferredFinishing(backend, types, sliceCount: sliceCount) {
      body throws(StoreError) in try backend.commit(body)
    }
    _ = try finishing.run()
    try Migrator(backend, plan, sliceCount: sliceCount).run()
  }

  /// A store that is only read is of the model's version in memory, where no step can fail.
  private func readThrough(
    _ steps: [SchemaChange], _ schemas: [Schema], _ stored: Schema
  ) throws(StoreError) -> RecordTypes {
    guard steps.allSatisfy(\.isDeferrable) else { throw needsMigration(stored) }
    let deferred = DeferredOpening(backend)
    var pending = try deferred.pending(schemas)
    pending.add(steps)
    try deferred.use(pending, schemas + steps.map(\.to), isUnpublished: true)
    return try opened(steps.last?.to ?? stored)
  }

  private func steps(from stored: Schema) throws(StoreError) -> [SchemaChange] {
    var steps: [SchemaChange] = []
    for version in try model.versions(after: stored) {
      steps.append(
        try SchemaChange(
          from: steps.last?.to ?? stored, to: version.schema, described: version.described))
    }
    return steps
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

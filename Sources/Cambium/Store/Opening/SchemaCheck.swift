/// Refuses a store that a model is not for: before anything of it is written, as far as that can be known then.
struct SchemaCheck: StateCheck {
  let model: StoreModel
  /// The model checked for a store without a schema.
  let fresh: CheckedModel
  let steps: [MigrationStep]
  let mode: MigrationMode
  let options: MigrationOptions
  /// True if a store that was rolled back is migrated again.
  let allowsMigrationAfterRollback: Bool

  func check(
    _ snapshot: Snapshot, _ names: TreeNames
  ) throws(StoreError) {
    let trees = TreeAccess.state(SnapshotTrees(snapshot))
    let schemas = StoredSchemas(trees, try names.slot(of: Schema.treeName), path: "")
    if let stored = try schemas.newest() { try refuse(stored, in: trees, names) }
  }

  /// - Throws: `.newerSchema`, `.schemaMismatch`, `.needsMigration`, `.rolledBack`, `.corrupt`, `.io`.
  func refuse(
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
    // Whether the model describes that version as the store does, or a step leads back from it; what follows is
    // planned when it is migrated.
    _ = try MigrationRoute(from: stored, history: [stored], to: model, steps, options)
    if mode == .refuse {
      throw .needsMigration(found: Int(stored.version), wanted: model.version)
    }
    if !allowsMigrationAfterRollback, stored.version < wanted.version {
      try RollbackMark.refuse(from: stored.version, to: wanted.version, in: trees, names)
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
    // Who reads an older store through steps that cannot fail reads it also when they were done.
    guard let newest = try schemas.newest(), newest.version != version,
      Int(newest.version) != supported
    else { return }
    if Int(newest.version) > supported {
      throw .newerSchema(found: Int(newest.version), supported: supported)
    }
    throw .needsMigration(found: Int(newest.version), wanted: supported)
  }
}

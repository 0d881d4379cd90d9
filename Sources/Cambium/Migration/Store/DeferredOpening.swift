/// Publishes steps whose rows are made new later, and opens stores that have such steps.
struct DeferredOpening {
  private let backend: any StoreBackend

  init(_ backend: any StoreBackend) {
    self.backend = backend
  }

  /// Has everything read through what the store says that is pending.
  ///
  /// - Throws: `.corrupt`, `.newerFormat`, `.io`.
  func usePending() throws(StoreError) {
    let slot = try backend.names.slot(of: PendingSteps.treeName)
    if try backend.trees().count(in: slot) == 0 { return backend.upgrades.set(nil) }
    let schemas = try StoredSchemas(backend).all()
    try use(try pending(schemas), schemas)
  }

  /// Returns the steps that are pending in the store.
  ///
  /// - Parameter schemas: Of all versions that it has.
  /// - Throws: `.corrupt`, `.io`.
  func pending(_ schemas: [Schema]) throws(StoreError) -> PendingSteps {
    try PendingSteps(
      reading: backend.trees(), backend.names.slot(of: PendingSteps.treeName), schemas)
  }

  /// Has everything read through what is pending from now on.
  ///
  /// - Parameter isUnpublished: True if the store itself is of a version before the last.
  /// - Throws: `.corrupt`.
  func use(
    _ pending: PendingSteps, _ schemas: [Schema], isUnpublished: Bool = false
  ) throws(StoreError) {
    if pending.isEmpty { return backend.upgrades.set(nil) }
    var rows: [TreeSlot: RowUpgrade] = [:]
    for (number, upgrade) in try pending.upgrades(schemas) {
      rows[try backend.names.slot(of: Entity.name(ofRows: number))] = upgrade
    }
    var unbuilt: [TreeSlot: [UInt8]] = [:]
    for index in pending.builds.keys {
      let slot = try backend.names.slot(of: Entity.name(ofIndex: index))
      unbuilt[slot] = PendingSteps.key(ofIndex: index)
    }
    let upgrades = TreeUpgrades(
      rows, unbuilt: unbuilt, pending: try backend.names.slot(of: PendingSteps.treeName),
      version: schemas.last?.storedVersion ?? 0, isUnpublished: isUnpublished)
    backend.upgrades.set(upgrades)
    backend.foldThrough(upgrades)
  }

  /// Makes the store one of the last step's version, in one commit that rewrites no row.
  ///
  /// - Parameters:
  ///   - steps: In their order, each deferrable.
  ///   - schemas: Of all versions that the store has.
  /// - Complexity: O(branches), whatever the rows are.
  /// - Throws: `.invalidDescription`; what a commit throws: then nothing has changed.
  func publish(_ steps: [SchemaChange], after schemas: [Schema]) throws(StoreError) {
    guard let from = schemas.last else { return }
    let dropped = from.trees(notIn: steps.last?.to ?? from)
    var pending = try pending(schemas)
    pending.add(steps)
    let all = schemas + steps.map(\.to)
    let entries = try pending.entries(all)
    let names = backend.names
    let tree = try names.slot(of: PendingSteps.treeName)
    let schemaTree = try names.slot(of: Schema.treeName)
    let kept = KeptStateChange.keep(version: from.storedVersion, label: from.label ?? "")
    let renames = FieldRenames(from: from, to: steps.last?.to ?? from)
    let metadata = try names.slot(of: Entities.metadataName)
    try MigrationMark.discard(in: backend)
    try backend.commit { trees throws(StoreError) in
      try renames.apply(to: trees, in: metadata, since: metadata)
      for name in dropped { try trees.removeAll(in: names.slot(of: name)) }
      for step in steps {
        try trees.put(
          Schema.key(of: step.to.storedVersion).rawSpan, step.to.encoded().rawSpan, in: schemaTree)
      }
      try trees.removeAll(in: tree)
      for (key, value) in entries {
        try trees.put(key.rawSpan, value.rawSpan, in: tree)
      }
      if steps.contains(where: \.changesReferences) {
        try BlobRecount.markDue(in: trees, names)
      }
      trees.addWork { $0.keeping = [kept] }
    }
    try use(pending, all)
  }
}

extension Schema {
  /// The trees that it has and another does not.
  fileprivate func trees(notIn other: Schema) -> [String] {
    let (own, others) = (TreePlaces(of: self), TreePlaces(of: other))
    let kept = Set(others.rows.values).union(others.indexes.values)
    return (Array(own.rows.values) + own.indexes.values).filter { !kept.contains($0) }
      .sortedRarely()
  }
}

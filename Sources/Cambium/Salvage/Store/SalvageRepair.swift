/// Makes a whole store of trees that have gaps, or parts from different states.
///
///     schemas ─▶ rows of versions that can be read ─▶ rows that are records ─▶ unique indexes, and rows without conflicts ─▶ other indexes
///                ─▶ derived fields ─▶ references to lost records ─▶ metadata, history
///
/// Everything that follows from rows is computed again. In rows, only derived fields are changed.
struct SalvageRepair {
  private let backend: any StoreBackend
  private let schemas: [Schema]
  /// Where rows may be older than others.
  private let losses: [SalvagedState.Loss]
  private(set) var omissions: [SalvageReport.Omission] = []
  private(set) var missing: [SalvageReport.MissingRecord] = []
  private(set) var faults: [StoreError] = []

  private static var missingMax: Int { 1_000 }
  /// The number of records that a commit changes.
  private static var sliceCount: Int { 10_000 }

  /// - Parameter schemas: Of all versions that are known, ascending.
  init(_ backend: any StoreBackend, _ schemas: [Schema], losses: [SalvagedState.Loss]) {
    self.backend = backend
    self.schemas = schemas
    self.losses = losses
  }

  private func slot(_ name: String) throws(StoreError) -> TreeSlot {
    try backend.names.slot(of: name)
  }

  /// Has the store say what its records are, if it does not.
  ///
  /// - Throws: errors of a commit.
  func writeSchemas() throws(StoreError) {
    let stored: [Schema]
    do throws(StoreError) { stored = try StoredSchemas(backend).all() } catch { stored = [] }
    if stored.map(\.storedVersion) == schemas.map(\.storedVersion) { return }
    let tree = try slot(Schema.treeName)
    try backend.commit { trees throws(StoreError) in
      try trees.removeAll(in: tree)
      for schema in schemas {
        let (key, bytes) = (Schema.key(of: schema.storedVersion), try schema.published())
        try trees.put(key.rawSpan, bytes.rawSpan, in: tree)
      }
    }
  }

  /// - Throws: errors of a commit; `.corrupt` if the copy itself cannot be read.
  mutating func run() throws(StoreError) {
    guard let newest = schemas.last else { return }
    let entities = try Entities(newest, model: nil, names: backend.names)
    for entity in entities.all { try keepRecords(of: entity) }
    for entity in entities.all { try keepUnique(entity) }
    for entity in entities.all {
      for index in entity.indexes { try build(index, of: entity) }
    }
    if let derivations = entities.derivations {
      for entity in entities.all where derivations.derives(entity) {
        try derive(entity, derivations)
      }
    }
    if let relations = entities.relations {
      for link in relations.links { try noteMissing(link) }
    }
    try keepMetadata(entities.metadata)
    try clearHistory(entities.history)
  }
}

// MARK: - Rows

extension SalvageRepair {
  private mutating func omit(_ entity: Entity, _ key: [UInt8], _ error: StoreError) {
    omissions.append(
      SalvageReport.Omission(
        record: entity.record.name, key: entity.text(ofKey: key.rawSpan), error: error))
  }

  private func remove(_ keys: [[UInt8]], of entity: Entity) throws(StoreError) {
    for start in stride(from: 0, to: keys.count, by: Self.sliceCount) {
      try backend.commit { trees throws(StoreError) in
        for key in keys[start..<min(start + Self.sliceCount, keys.count)] {
          _ = try trees.remove(key.rawSpan, in: entity.rows)
        }
      }
    }
  }

  /// Removes the rows of which nothing says what they are in the newest version, and has others be read through pending steps.
  ///
  /// - Throws: errors of a commit; `.corrupt` if the copy itself cannot be read.
  mutating func keepReadable(_ versions: SalvagedVersions) throws(StoreError) {
    guard let newest = schemas.last else { return }
    let entities = try Entities(newest, model: nil, names: backend.names)
    var lowest: [UInt32: UInt32] = [:]
    for entity in entities.all {
      if let version = try keepReadable(versions, of: entity) {
        lowest[entity.record.number] = version
      }
    }
    let pending = versions.pending(lowest)
    let entries = try pending.entries(schemas)
    let tree = try slot(PendingSteps.treeName)
    // Indexes that were not whole are, in the end.
    try backend.commit { trees throws(StoreError) in
      try trees.removeAll(in: tree)
      for (key, value) in entries { try trees.put(key.rawSpan, value.rawSpan, in: tree) }
    }
    try DeferredOpening(backend).use(pending, schemas)
  }

  /// - Returns: the lowest version of the rows that are left; nil if there are none.
  private mutating func keepReadable(
    _ versions: SalvagedVersions, of entity: Entity
  ) throws(StoreError) -> UInt32? {
    var readable: [UInt32: Bool] = [:]
    var omitted: [[UInt8]] = []
    let cursor = try backend.trees().cursor(in: entity.rows)
    while try cursor.advance() {
      guard let version = cursor.storedVersion else { continue }
      let isReadable = readable[version] ?? versions.isReadable(version, of: entity.record)
      readable[version] = isReadable
      if isReadable { continue }
      omit(
        entity, cursor.key.array(),
        entity.layout.fault(
          key: cursor.key, .rowVersion,
          "it is of version \(version), and nothing says what becomes of it in version \(entity.layout.version)"
        ))
      omitted.append(cursor.key.array())
    }
    try remove(omitted, of: entity)
    return readable.filter(\.value).keys.min()
  }

  /// Removes rows that cannot be rows of their record.
  private mutating func keepRecords(of entity: Entity) throws(StoreError) {
    var omitted: [[UInt8]] = []
    let trees = try backend.trees()
    let cursor = try trees.cursor(in: entity.rows)
    let encoder = KeyEncoder()
    while try cursor.advance() {
      do throws(StoreError) {
        let row = try entity.row(key: cursor.key, row: try cursor.value())
        try row.check()
        if let fault = row.layout.kinds?.fault(of: row.row) { throw row.fault(.rowKinds, fault) }
        for index in entity.indexes where index.layout.isProvided {
          try index.layout.forEachEntry(of: row, in: encoder) { _, _, _ in }
        }
      } catch {
        guard error.isOfRow else { throw error }
        omit(entity, cursor.key.array(), error)
        omitted.append(cursor.key.array())
      }
    }
    try remove(omitted, of: entity)
  }

  /// Leaves out records that have the values of another where they have to be unique: of two, one that was found by itself, or
  /// else the one with the lower key.
  private mutating func keepUnique(_ entity: Entity) throws(StoreError) {
    for index in entity.indexes where index.layout.schema.isUnique && index.layout.isProvided {
      while try build(index, of: entity) {
        var omitted: Set<[UInt8]> = []
        let trees = try backend.trees()
        let cursor = try trees.cursor(in: entity.rows)
        let encoder = KeyEncoder()
        while try cursor.advance() {
          let key = cursor.key.array()
          let row = try entity.row(key: cursor.key, row: try cursor.value())
          try index.layout.forEachEntry(of: row, in: encoder) { entry, _, _ throws(StoreError) in
            var found: [UInt8] = []
            _ = try trees.copyValue(of: entry, in: index.slot, to: &found)
            let owner = try index.layout.primaryKey(
              key: entry, value: found.rawSpan, layout: entity.layout
            ).array()
            if owner == key || omitted.contains(owner) || omitted.contains(key) { return }
            let isOwnerLoose = isLoose(owner, in: entity) && !isLoose(key, in: entity)
            omitted.insert(isOwnerLoose ? owner : key)
          }
        }
        if omitted.isEmpty { break }
        let keys = omitted.sortedRarely { $0.lexicographicallyPrecedes($1) }
        for key in keys {
          omit(
            entity, key,
            .uniqueConflict(
              record: entity.record.name, constraint: index.layout.schema.name,
              key: entity.text(ofKey: key.rawSpan)))
        }
        try remove(keys, of: entity)
      }
    }
  }

  /// True if the key of a record is in a range of its tree that was lost.
  private func isLoose(_ key: [UInt8], in entity: Entity) -> Bool {
    let tree = Entity.name(ofRows: entity.record.number)
    return losses.contains { loss in
      loss.tree == tree && key.rawSpan.compare(loss.low.rawSpan) >= 0
        && (loss.high.map { key.rawSpan.compare($0.rawSpan) < 0 } ?? true)
    }
  }
}

extension StoreError {
  /// True if a row is no record.
  fileprivate var isOfRow: Bool {
    switch self {
    case .corrupt, .invalidValue, .newerFormat: true
    default: false
    }
  }
}

// MARK: - What follows from rows

extension SalvageRepair {
  /// Makes an index of the rows.
  ///
  /// - Returns: true if records have the same entries.
  @discardableResult
  private mutating func build(
    _ index: Entity.IndexTree, of entity: Entity
  ) throws(StoreError) -> Bool {
    guard index.layout.isProvided else {
      faults.append(
        .missingCollation(
          record: entity.record.name, name: index.layout.schema.name,
          version: "of the index, which is as it was"))
      return false
    }
    var count = 0
    let rows = try backend.trees()
    try backend.commit { trees throws(StoreError) in
      try trees.removeAll(in: index.slot)
      if try rows.count(in: entity.rows) >= TransactionTrees.manyMin { trees.expectMany() }
      let encoder = KeyEncoder()
      let cursor = try rows.cursor(in: entity.rows)
      while try cursor.advance() {
        let row = try entity.row(key: cursor.key, row: try cursor.value())
        try index.layout.forEachEntry(of: row, in: encoder) { key, value, _ throws(StoreError) in
          count += 1
          try trees.put(key, value, in: index.slot)
        }
      }
    }
    return try backend.trees().count(in: index.slot) != count
  }

  private mutating func derive(
    _ entity: Entity, _ derivations: DerivationMap
  ) throws(StoreError) {
    let trees = try backend.trees()
    let cursor = try trees.cursor(in: entity.rows)
    let changed = RowWriter()
    var (rows, hasChanged): ([(key: [UInt8], row: [UInt8])], Bool) = ([], false)
    func write() throws(StoreError) {
      let (batch, version) = (rows, entity.layout.version)
      try backend.commit { trees throws(StoreError) in
        for (key, row) in batch {
          try trees.put(key.rawSpan, row.rawSpan, schemaVersion: version, in: entity.rows)
        }
      }
    }
    while try cursor.advance() {
      let row = try entity.row(key: cursor.key, row: try cursor.value())
      var values: [Int: FieldValue] = [:]
      do throws(StoreError) {
        for (column, value) in try derivations.values(of: row, entity, in: trees) {
          let stored = try row.value(column)
          if stored.isSame(as: value) { continue }
          values[column] = value
        }
      } catch {
        guard error.isOfRow else { throw error }
        faults.append(error)
      }
      if values.isEmpty { continue }
      try row.copy(to: changed, replacing: values)
      rows.append((cursor.key.array(), changed.row.array()))
      hasChanged = true
      if rows.count >= Self.sliceCount {
        try write()
        rows = []
      }
    }
    if !rows.isEmpty { try write() }
    if !hasChanged { return }
    for index in entity.indexes { try build(index, of: entity) }
  }

  /// Notes that records are lost to which a reference leads and which do not exist.
  private mutating func noteMissing(_ link: Link) throws(StoreError) {
    var keys: Set<[UInt8]> = []
    try RelationCheck.forEachMissing(of: link, in: try backend.trees()) { keys.insert($0) }
    if keys.isEmpty { return }
    let sorted = keys.sortedRarely { $0.lexicographicallyPrecedes($1) }
    for start in stride(from: 0, to: sorted.count, by: Self.sliceCount) {
      try backend.commit { trees throws(StoreError) in
        for key in sorted[start..<min(start + Self.sliceCount, sorted.count)] {
          try trees.put(key.rawSpan, RawSpan(), in: link.destination.lost)
        }
      }
    }
    for key in sorted where missing.count < Self.missingMax {
      missing.append(
        SalvageReport.MissingRecord(
          record: link.destination.record.name,
          key: link.destination.text(ofKey: key.rawSpan)))
    }
  }
}

// MARK: - Everything else

extension SalvageRepair {
  private mutating func keepMetadata(_ slot: TreeSlot) throws(StoreError) {
    var names: [[UInt8]] = []
    let cursor = try backend.trees().cursor(in: slot)
    while try cursor.advance() {
      let (name, value) = (cursor.key.array(), try cursor.value().array())
      guard let reason = MetadataCheck.reason(against: name, value) else { continue }
      names.append(name)
      faults.append(
        .corrupt(
          .entry(tree: Entities.metadataName, key: name), invariant: .metadata, reason: reason))
    }
    if names.isEmpty { return }
    try backend.commit { trees throws(StoreError) in
      for name in names { _ = try trees.remove(name.rawSpan, in: slot) }
    }
  }

  /// Removes a history that has gaps.
  private mutating func clearHistory(_ slot: TreeSlot) throws(StoreError) {
    let trees = try backend.trees()
    do throws(StoreError) {
      try RecordCheck.checkHistory(in: trees, slot, describedBy: schemas)
    } catch {
      guard case .corrupt = error else { throw error }
      faults.append(error)
      try backend.commit { trees throws(StoreError) in try trees.removeAll(in: slot) }
    }
  }
}

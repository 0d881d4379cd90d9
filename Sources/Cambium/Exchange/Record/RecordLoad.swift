/// Adds records to a type that has none, and looks nothing up while they come.
///
///     values ─▶ row and index entries ─▶ buffers of the transaction, which sorts them for their trees
///     the end    rows and entries of unique indexes are counted
///     the commit proves each checked reference, in one pass over the index of the references
///
/// That two records have the same key, or the same value in a unique field, is noticed only in the end: a load that fails has
/// to be undone as a whole, by a savepoint of the caller.
final class RecordLoad {
  private let writer: RecordWriter
  private let entity: Entity
  private let links: [Link]
  private let entry = KeyEncoder()
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var addedCount = 0
  /// In step with the indexes: the number of entries that were added.
  @exclusivity(unchecked) private var entryCounts: [Int]
  /// True if each key is above the one before it, so that there are no two of them.
  @exclusivity(unchecked) private var isAscending = true
  @exclusivity(unchecked) private var lastKey: [UInt8] = []

  /// - Parameter count: About how many records will be added.
  /// - Returns: nil if the type has records, or if more depends on a new record than its index entries and references.
  /// - Throws: `.missingCollation`, `.corrupt`, `.io`.
  init?(of entity: Entity, in writer: RecordWriter, expecting count: Int) throws(StoreError) {
    guard writer.canLoad(entity), try writer.trees.count(in: entity.rows) == 0 else { return nil }
    self.writer = writer
    self.entity = entity
    links = writer.entities.relations?.links(from: entity) ?? []
    unsafe entryCounts = entity.indexes.map { _ in 0 }
    try writer.checkUsable()
    try entity.checkCollations()
    writer.notes?.noteAll(in: entity.rows)
    if count >= TransactionTrees.manyMin { writer.trees.expectMany() }
  }

  /// The number of records that were added.
  var count: Int { unsafe addedCount }

  /// Adds a record.
  ///
  /// - Parameter values: One for each column of the layout.
  /// - Throws: as `RowLayout.encode`; `.invalidValue` for a row that is too long, `.corrupt`, `.full`, `.io`.
  func add(_ values: [FieldValue]) throws(StoreError) {
    let (entity, trees) = (entity, writer.trees)
    let (layout, key, row) = (entity.layout, writer.buffers.key, writer.buffers.row)
    try layout.encode(values, to: row, key: key)
    guard row.row.byteCount <= StoreError.Limit.valueLength.bound else {
      throw layout.rowTooLong(row.row, key: key.key)
    }
    try trees.put(key.key, row.row, schemaVersion: layout.version, in: entity.rows)
    try addEntries(of: try entity.row(key: key.key, row: row.row))
    note(key.key)
  }

  private func addEntries(of record: RowReader) throws(StoreError) {
    let (indexes, trees, entry) = (entity.indexes, writer.trees, entry)
    for place in 0..<indexes.count {
      let slot = indexes[place].slot
      try indexes[place].layout.forEachEntry(of: record, in: entry) {
        key, value, _ throws(StoreError) in
        try trees.put(key, value, in: slot)
        unsafe entryCounts[place] += 1
      }
    }
  }

  private func note(_ key: RawSpan) {
    unsafe addedCount += 1
    guard unsafe isAscending else { return }
    if unsafe addedCount > 1 { unsafe isAscending = lastKey.rawSpan.compare(key) < 0 }
    unsafe lastKey.assign(key)
  }

  /// Ends the load.
  ///
  /// - Complexity: O(records) if their keys did not ascend, and for each unique index.
  /// - Throws: `.invalidValue` if two records have the same primary key, `.uniqueConflict`: then the load has to be undone.
  ///   `.corrupt`, `.full`, `.io`.
  func finish() throws(StoreError) {
    let trees = writer.trees
    if unsafe !isAscending {
      let left = try trees.count(in: entity.rows)
      guard left == count else { throw sameKeys(count - left) }
    }
    for (place, index) in entity.indexes.enumerated() where index.layout.schema.isUnique {
      if try trees.count(in: index.slot) != (unsafe entryCounts[place]) { throw try conflict() }
    }
    writer.keeper?.leaveUnproved(links)
  }

  private func sameKeys(_ count: Int) -> StoreError {
    .invalidValue(
      record: entity.record.name, field: nil,
      reason: "\(count) of the records \(count == 1 ? "has" : "have") the primary key of another")
  }

  /// The first record whose values another one has where they have to be unique.
  private func conflict() throws(StoreError) -> StoreError {
    let cursor = try TreeAccess.transaction(writer.trees).cursor(in: entity.rows)
    var key: [UInt8] = []
    while try cursor.advance() {
      key.assign(cursor.key)
      let row = try cursor.value().array()
      if let others = try writer.conflicts(of: key.rawSpan, row.rawSpan, of: entity) {
        return others.refusal
      }
    }
    return entity.layout.fault(
      key: key.rawSpan, .indexEntries, "a unique index lacks entries")
  }
}

extension RecordWriter {
  /// Returns true if nothing depends on a new record but its index entries and single references without bounds.
  fileprivate func canLoad(_ entity: Entity) -> Bool {
    guard entity.blobs == nil, !entity.isOfHierarchy, !entity.layout.hasComposites, !keepsOld,
      trees.upgrades == nil
    else { return false }
    if let derivations = entities.derivations,
      derivations.derives(entity) || !derivations.feeds(of: entity).isEmpty
        || !derivations.sequences(entity).isEmpty
    {
      return false
    }
    guard let relations = entities.relations else { return true }
    return relations.links(from: entity).allSatisfy { !$0.isList && $0.inverse?.bounds == nil }
      && relations.links(to: entity).allSatisfy { $0.inverse?.bounds == nil }
  }
}

/// The blobs that old rows in a history refer to. The map of blobs counts these references like those of present rows,
/// so that values that were deleted or replaced can come back as long as the history has them.
final class HistoryReferences {
  private let entities: Entities
  private let schemas: () throws(StoreError) -> [Schema]
  private var olderSchemas: [Schema]?
  private var layouts: [DescribedNumber: RowLayout] = [:]

  /// - Parameter schemas: Returns the schemas of all versions that the store has. Called once if the history has old rows of
  ///   another version than the present one.
  init(_ entities: Entities, _ schemas: @escaping () throws(StoreError) -> [Schema]) {
    self.entities = entities
    self.schemas = schemas
  }

  /// Calls `body` with every reference of every old row.
  ///
  /// - Complexity: O(bytes of the history).
  /// - Throws: `.corrupt` (H1), `.io`, and errors of `body`.
  func forEachReference(
    in trees: TreeAccess, _ body: (BlobReference) throws(StoreError) -> Void
  ) throws(StoreError) {
    let cursor = try trees.cursor(in: entities.history)
    var isOn = try cursor.seek(to: HistoryKey(sequence: 1, part: 0).bytes.rawSpan)
    while isOn {
      for change in try cursor.readHistoryPart(&isOn).changes {
        try forEachReference(of: change, body)
      }
    }
  }

  /// Calls `body` with every reference of a change's old row.
  func forEachReference(
    of change: StoredChange, _ body: (BlobReference) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let old = change.old, let layout = try layout(of: change), !layout.external.isEmpty else {
      return
    }
    try layout.forEachReference(key: change.key.rawSpan, row: old.rawSpan, body)
  }

  /// Returns the layout of a change's record; nil if the store has no such record.
  private func layout(of change: StoredChange) throws(StoreError) -> RowLayout? {
    if change.version == entities.schema.version {
      return entities.entity(number: change.record)?.layout
    }
    let wanted = DescribedNumber(version: change.version, record: change.record)
    if let known = layouts[wanted] { return known }
    if olderSchemas == nil { olderSchemas = try schemas() }
    let schema = olderSchemas?.first { $0.version == change.version }
    guard let record = schema?.records.first(where: { $0.number == change.record }) else {
      return nil
    }
    let layout = try RowLayout(record, version: change.version)
    layouts[wanted] = layout
    return layout
  }
}

extension HistoryReferences {
  /// Counts the references of an old row that a transaction takes into the history.
  func retain(
    _ key: [UInt8], _ old: [UInt8], of record: Entity, in trees: TransactionTrees
  ) throws(StoreError) {
    guard let blobs = record.blobs, let session = trees.blobSession else { return }
    let accounts = BlobAccounts(trees, blobs, session)
    try record.layout.forEachReference(key: key.rawSpan, row: old.rawSpan) {
      reference throws(StoreError) in
      try accounts.retain(reference.identity)
    }
  }

  /// Counts the references of old rows less that a transaction takes out of the history.
  func release(_ references: [BlobReference], in trees: TransactionTrees) throws(StoreError) {
    guard let session = trees.blobSession else { return }
    let accounts = BlobAccounts(trees, entities.blobs, session)
    for reference in references { try accounts.release(reference.identity) }
  }
}

/// A record as a version describes it.
struct DescribedNumber: Hashable {
  let version: UInt32
  let record: UInt32
}

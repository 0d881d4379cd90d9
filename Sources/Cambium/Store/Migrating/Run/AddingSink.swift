/// Adds what is emitted to the trees of a transaction, without looking whether it is there.
final class AddingSink: EmitterSink {
  private let trees: TransactionTrees
  private let writer: RecordWriter
  /// The number of records that are added, by record.
  private(set) var added: [UInt32: Int] = [:]

  init(_ trees: TransactionTrees, _ entities: Entities) {
    self.trees = trees
    writer = RecordWriter(trees, entities)
  }

  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    added[target.record.number, default: 0] += 1
    try put(key, row, waiting, in: target)
  }

  /// Puts a row into its tree, and what belongs outside of it there.
  private func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], in target: Entity
  ) throws(StoreError) {
    guard target.blobs != nil else {
      return try trees.put(key, row, schemaVersion: target.layout.version, in: target.rows)
    }
    let stored =
      try writer.settled(key, row, waiting, over: [], of: target) ?? row.array()
    try trees.put(
      key, stored.rawSpan, schemaVersion: target.layout.version, in: target.rows)
    try writer.count(key, from: [], to: stored.rawSpan, of: target)
  }

  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    var old: [UInt8] = []
    if try !trees.copyValue(of: key, in: target.rows, to: &old) {
      added[target.record.number, default: 0] += 1
    }
    try put(key, row, waiting, in: target)
  }

  func blobFinder(of target: Entity) -> BlobFinder? { writer.blobFinder(of: target) }

  func copy(
    _ key: RawSpan, of target: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try trees.copyValue(of: key, in: target.rows, to: &row)
  }

  func setAside(_ entry: SetAsideEntry, in tree: TreeSlot) throws(StoreError) {
    try trees.put(
      entry.key.rawSpan, entry.value.rawSpan, schemaVersion: Entities.systemVersion, in: tree)
  }
}

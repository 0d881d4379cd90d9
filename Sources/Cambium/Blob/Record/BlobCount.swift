/// Counts the references to blobs in all rows of a state, in memory for a bounded number of blobs at a time.
///
/// - Complexity: all rows with external fields are read, once for each million of blobs.
struct BlobCount {
  private let trees: TreeAccess
  private let records: [Entity]

  /// The number of blobs that are counted at a time.
  static var countMax: Int { 1 << 20 }

  init(_ records: [Entity], in trees: TreeAccess) {
    self.trees = trees
    self.records = records.filter { $0.blobs != nil }
  }

  /// The references to the blobs from `low` to `high`, by their keys, both included.
  func references(
    from low: [UInt8], through high: [UInt8]
  ) throws(StoreError) -> [BlobIdentity: UInt64] {
    var counts: [BlobIdentity: UInt64] = [:]
    try forEachReference { reference throws(StoreError) in
      let key = reference.identity.key
      if key.lexicographicallyPrecedes(low) || high.lexicographicallyPrecedes(key) { return }
      counts[reference.identity, default: 0] += 1
    }
    return counts
  }

  /// Calls `body` with every reference of every row.
  func forEachReference(
    _ body: (BlobReference) throws(StoreError) -> Void
  ) throws(StoreError) {
    for record in records {
      let layout = record.layout
      let cursor = try trees.cursor(in: record.rows)
      while try cursor.advance() {
        let row = try cursor.value()
        try layout.forEachReference(key: cursor.key, row: row, body)
      }
    }
  }

  /// Calls `body` with every blob of the map and the number of references to it that rows have.
  func compare(
    with blobs: BlobTrees,
    _ body: (BlobIdentity, BlobEntry, UInt64) throws(StoreError) -> Void
  ) throws(StoreError) {
    var slice: [(identity: BlobIdentity, entry: BlobEntry)] = []
    func count() throws(StoreError) {
      guard let first = slice.first, let last = slice.last else { return }
      let counts = try references(from: first.identity.key, through: last.identity.key)
      for (identity, entry) in slice { try body(identity, entry, counts[identity] ?? 0) }
      slice = []
    }
    try blobs.forEach(in: trees) { identity, entry throws(StoreError) in
      slice.append((identity, entry))
      if slice.count == Self.countMax { try count() }
      return true
    }
    try count()
  }
}

/// Rows of a snapshot, looked up several at a time by their primary keys.
///
/// Mostly a row is waited for: its leaf is in memory, and not near. Looked up together, rows are waited for
/// together.
final class RowsAhead {
  private let trees: SnapshotTrees
  private let tree: TreeSlot
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private(set) var keys = KeyBatch()
  @exclusivity(unchecked) private var rows = LayeredBatch()
  @exclusivity(unchecked) private var isFound = false
  /// A row that has pages of its own.
  @exclusivity(unchecked) private var large: [UInt8] = []

  /// The highest number of rows that are looked up together.
  static var countMax: Int { 32 }

  init(_ trees: SnapshotTrees, _ tree: TreeSlot) {
    self.trees = trees
    self.tree = tree
  }

  var count: Int { unsafe keys.count }

  /// Begins with other keys.
  func begin() {
    unsafe keys.removeAll()
    unsafe isFound = false
  }

  func append(_ key: RawSpan) { unsafe keys.append(key) }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ index: Int) -> RawSpan {
    unsafe _overrideLifetime(keys.key(index), borrowing: self)
  }

  /// The row of a key; nil if there is none. Until another large one is asked for, or other keys are begun.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  func row(_ index: Int) throws(StoreError) -> RawSpan? {
    if unsafe !isFound {
      try unsafe rows.find(keys, in: trees.layered(tree))
      unsafe isFound = true
    }
    guard let entry = unsafe rows.entry(index) else { return nil }
    if !entry.isExternal { return unsafe _overrideLifetime(entry.storedValue, borrowing: self) }
    unsafe large.removeAll(keepingCapacity: true)
    try unsafe trees.layered(tree).append(entry, to: &large)
    return unsafe _overrideLifetime(large.rawSpan, borrowing: self)
  }
}

/// Rows of a snapshot, looked up several at a time by their primary keys.
///
/// Mostly a row is waited for: its leaf is in memory, and not near. Looked up together, rows are waited for
/// together.
final class RowsAhead {
  private let trees: SnapshotTrees<PosixFileSystem>
  private let tree: TreeSlot
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private(set) var keys = KeyBatch()
  @exclusivity(unchecked) private var rows = LayeredBatch()
  @exclusivity(unchecked) private var isFound = false
  /// How many are looked up together next: few at first, as nobody may ask for more.
  @exclusivity(unchecked) private var size = 4
  /// A row that has pages of its own.
  @exclusivity(unchecked) private var large: [UInt8] = []

  private static let sizeMax = 32

  init(_ trees: SnapshotTrees<PosixFileSystem>, _ tree: TreeSlot) {
    self.trees = trees
    self.tree = tree
  }

  var count: Int { unsafe keys.count }
  /// Whether so many keys are there that they are to be looked up.
  var isFull: Bool { unsafe keys.count >= size }

  /// Begins with other keys.
  func begin() {
    if unsafe keys.count == size { unsafe size = min(2 * size, Self.sizeMax) }
    unsafe keys.removeAll()
    unsafe isFound = false
  }

  func append(_ key: RawSpan) { unsafe keys.append(key) }

  @_lifetime(borrow self)
  func key(_ index: Int) -> RawSpan {
    unsafe _overrideLifetime(keys.key(index), borrowing: self)
  }

  /// The row of a key; nil if there is none. Until another large one is asked for, or other keys are begun.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  func row(_ index: Int) throws(StoreError) -> RawSpan? {
    if unsafe !isFound {
      try unsafe trees.find(keys, in: tree, to: &rows)
      unsafe isFound = true
    }
    guard let entry = unsafe rows.entry(index) else { return nil }
    if !entry.isExternal { return unsafe _overrideLifetime(entry.storedValue, borrowing: self) }
    unsafe large.removeAll(keepingCapacity: true)
    try unsafe trees.append(entry, in: tree, to: &large)
    return unsafe _overrideLifetime(large.rawSpan, borrowing: self)
  }
}

extension SnapshotTrees {
  /// Looks up several keys together.
  fileprivate func find(
    _ keys: borrowing KeyBatch, in tree: TreeSlot, to entries: inout LayeredBatch
  ) throws(StoreError) {
    try entries.find(keys, in: layered(tree))
  }

  fileprivate func append(
    _ entry: borrowing LayeredEntry, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) {
    try layered(tree).append(entry, to: &value)
  }
}

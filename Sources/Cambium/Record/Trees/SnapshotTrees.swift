/// The trees of a snapshot. Any number of threads may read them.
final class SnapshotTrees<Medium: FileSystem>: StateTrees, Sendable {
  private let snapshot: Snapshot<Medium>

  init(_ snapshot: Snapshot<Medium>) {
    self.snapshot = snapshot
  }

  /// The last commit that is in it.
  var sequence: UInt64 { snapshot.state.sequence }

  var identity: StoreIdentity { snapshot.state.base.file.pages.identity }

  var footer: Footer { snapshot.state.base.file.footer }

  func copyValue(
    of key: RawSpan, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try snapshot.tree(tree).copyValue(for: key, to: &value)
  }

  func layered(_ tree: TreeSlot) -> LayeredTree<Medium> { snapshot.tree(tree) }

  /// Lends `body` the value of `key`, where it is, if there is one.
  func withValue(
    of key: RawSpan, in tree: TreeSlot, _ body: (RawSpan) throws -> Void
  ) throws {
    let tree = snapshot.tree(tree)
    guard let entry = try tree.entry(for: key) else { return }
    if !entry.isExternal { return try body(entry.storedValue) }
    var value: [UInt8] = []
    try tree.append(entry, to: &value)
    try body(value.rawSpan)
  }

  func contains(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    try snapshot.tree(tree).contains(key)
  }

  func count(in tree: TreeSlot) -> Int { snapshot.tree(tree).count }

  func rank(of key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Int {
    try snapshot.tree(tree).rank(of: key)
  }

  func estimatedCount(in tree: TreeSlot) -> Int { snapshot.tree(tree).count }

  func estimatedCount(
    from low: RawSpan, upTo high: RawSpan, in tree: TreeSlot
  ) throws(StoreError) -> Int {
    try snapshot.tree(tree).estimatedCount(from: low, upTo: high)
  }

  func liveBytes(in tree: TreeSlot) -> UInt64 { snapshot.state.base.liveBytes(in: tree) }

  func lowestVersion(in tree: TreeSlot) -> UInt32? { snapshot.state.base.lowestVersion(in: tree) }

  func cursor(in tree: TreeSlot) throws(StoreError) -> any EntryCursor { snapshotCursor(in: tree) }

  /// Calls `body` with every key whose entry may not be the same in an older state, ascending. False where the
  /// states have less in common, and nobody knows without comparing them.
  func forEachKeyChanged(
    in tree: TreeSlot, since other: SnapshotTrees, _ body: (RawSpan) throws -> Void
  ) rethrows -> Bool {
    try snapshot.tree(tree).forEachKeyChanged(since: other.snapshot.tree(tree), body)
  }

  func snapshotCursor(in tree: TreeSlot) -> SnapshotCursor<Medium> {
    SnapshotCursor(snapshot, tree)
  }
}

extension Base {
  /// The bytes of the pages of a tree.
  func liveBytes(in slot: TreeSlot) -> UInt64 { tree(slot).root?.reference.liveBytes ?? 0 }
}

extension Base {
  func lowestVersion(in slot: TreeSlot) -> UInt32? { tree(slot).root?.reference.lowestVersion }
}

/// A place in a tree of a snapshot, which it keeps.
final class SnapshotCursor<Medium: FileSystem>: EntryCursor {
  private let snapshot: Snapshot<Medium>
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) var cursor: LayeredCursor<Medium>
  @exclusivity(unchecked) private var largeValue: [UInt8] = []

  init(_ snapshot: Snapshot<Medium>, _ tree: TreeSlot) {
    self.snapshot = snapshot
    unsafe cursor = LayeredCursor(snapshot.tree(tree))
  }

  func first() throws(StoreError) -> Bool { try unsafe cursor.first() }
  func last() throws(StoreError) -> Bool { try unsafe cursor.last() }
  func seek(to key: RawSpan) throws(StoreError) -> Bool { try unsafe cursor.seek(to: key) }
  func seek(toOffset offset: Int) throws(StoreError) -> Bool {
    try unsafe cursor.seek(toOffset: offset)
  }
  func next() throws(StoreError) -> Bool { try unsafe cursor.next() }
  func previous() throws(StoreError) -> Bool { try unsafe cursor.previous() }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  @_lifetime(borrow self)
  func value() throws(StoreError) -> RawSpan {
    if unsafe !cursor.isExternal {
      return unsafe _overrideLifetime(cursor.storedValue, borrowing: self)
    }
    unsafe largeValue.removeAll(keepingCapacity: true)
    try unsafe cursor.appendValue(to: &largeValue)
    let value = unsafe largeValue
    return unsafe _overrideLifetime(value.rawSpan, borrowing: self)
  }
}

/// The trees of a snapshot. Any number of threads may read them.
final class SnapshotTrees: Sendable {
  private let snapshot: Snapshot
  /// The upgrades through which rows of older versions are read; nil if there are none.
  let upgrades: TreeUpgrades?

  /// The finder of the state's blobs; nil if the store was not opened for blobs.
  let blobs: LocatedSegments?

  init(
    _ snapshot: Snapshot, _ upgrades: TreeUpgrades? = nil,
    blobs: LocatedSegments? = nil
  ) {
    self.snapshot = snapshot
    self.upgrades = upgrades
    self.blobs = blobs
  }

  /// The last commit that is in it.
  var sequence: UInt64 { snapshot.state.sequence }

  /// The number of the state among all that are published.
  var publication: UInt64 { snapshot.state.publication }

  var identity: StoreIdentity { snapshot.state.base.file.pages.identity }

  var unstored: UnstoredValues { snapshot.state.unstored }

  /// The footer of the trees.
  var footer: Footer { snapshot.state.base.file.footer }

  /// Makes a store of the trees in an empty directory, or in one that has its blobs already.
  ///
  /// - Throws: as `Backup.run`.
  func backUp(
    to target: any FileSystem, _ names: TreeNames, _ monitor: BackupMonitor
  ) throws(StoreError) -> BackupContents {
    try Backup(of: snapshot, names, monitor).run(into: target)
  }

  func copyValue(
    of key: RawSpan, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) -> Bool {
    guard let upgrade = upgrades?[tree] else {
      return try snapshot.tree(tree).copyValue(for: key, to: &value)
    }
    let version = try snapshot.tree(tree).copyVersionedValue(for: key, to: &value)
    return try upgrade.upgrade(&value, of: key, version)
  }

  func layered(_ tree: TreeSlot) -> LayeredTree { snapshot.tree(tree) }

  /// Lends `body` the value of `key`, where it is, if there is one.
  func withValue(
    of key: RawSpan, in slot: TreeSlot, _ body: (RawSpan) throws -> Void
  ) throws {
    let tree = snapshot.tree(slot)
    let upgrade = upgrades?[slot]
    guard let entry = try tree.entry(for: key) else { return }
    if let upgrade, entry.schemaVersion < upgrade.version {
      return try withUpgraded(entry, key, in: tree, by: upgrade, body)
    }
    if !entry.isExternal { return try body(entry.storedValue) }
    var value: [UInt8] = []
    try tree.append(entry, to: &value)
    try body(value.rawSpan)
  }

  @inline(never)
  private func withUpgraded(
    _ entry: borrowing LayeredEntry, _ key: RawSpan, in tree: LayeredTree,
    by upgrade: RowUpgrade, _ body: (RawSpan) throws -> Void
  ) throws {
    let made = UpgradedRow()
    if entry.isExternal {
      var value: [UInt8] = []
      try tree.append(entry, to: &value)
      if upgrade.hides(value.rawSpan, of: entry.schemaVersion) { return }
      try upgrade.upgrade(key: key, row: value.rawSpan, of: entry.schemaVersion, to: made)
    } else {
      if upgrade.hides(entry.storedValue, of: entry.schemaVersion) { return }
      try upgrade.upgrade(key: key, row: entry.storedValue, of: entry.schemaVersion, to: made)
    }
    try body(made.row)
  }

  func contains(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    guard let upgrade = upgrades?[tree], upgrade.hidesRows else {
      return try snapshot.tree(tree).contains(key)
    }
    var row: [UInt8] = []
    let version = try snapshot.tree(tree).copyVersionedValue(for: key, to: &row)
    return version.map { !upgrade.hides(row.rawSpan, of: $0) } ?? false
  }

  func count(in tree: TreeSlot) throws(StoreError) -> Int {
    try upgrades.count(of: snapshot.tree(tree), in: tree)
  }

  func rank(of key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Int {
    try upgrades.rank(of: key, of: snapshot.tree(tree), in: tree)
  }

  func estimatedCount(in tree: TreeSlot) -> Int { snapshot.tree(tree).count }

  func estimatedCount(
    from low: RawSpan, upTo high: RawSpan, in tree: TreeSlot
  ) throws(StoreError) -> Int {
    try snapshot.tree(tree).estimatedCount(from: low, upTo: high)
  }

  /// The trees as pages have them.
  var base: Base { snapshot.state.base }

  /// Calls `body` with every key whose entry may not be the same in an older state, ascending. False if the
  /// states have less in common, and it is unknown without comparing them.
  func forEachKeyChanged(
    in tree: TreeSlot, since other: SnapshotTrees, _ body: (RawSpan) throws -> Void
  ) rethrows -> Bool {
    try snapshot.tree(tree).forEachKeyChanged(since: other.snapshot.tree(tree), body)
  }

  func cursor(in tree: TreeSlot) -> SnapshotCursor {
    SnapshotCursor(snapshot, tree, upgrades?[tree])
  }
}

/// A place in a tree of a snapshot, which it keeps.
final class SnapshotCursor {
  private let snapshot: Snapshot
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) var cursor: LayeredCursor
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private var largeValue: [UInt8] = []
  /// The upgrades through which rows of older versions are read; nil if there are none.
  private let upgrade: RowUpgrade?
  private let made: UpgradedRow?

  init(_ snapshot: Snapshot, _ tree: TreeSlot, _ upgrade: RowUpgrade?) {
    self.snapshot = snapshot
    self.upgrade = upgrade
    made = upgrade.map { _ in UpgradedRow() }
    unsafe cursor = LayeredCursor(snapshot.tree(tree))
  }

  /// True if values are as they are stored, as far as they have no pages of their own.
  var isOfOneVersion: Bool { upgrade == nil }

  /// The schema version of the entry as it is stored.
  var storedVersion: UInt32 { unsafe cursor.schemaVersion }

  /// Returns true if the row that it stands on is no row of the record any more.
  func isHidden(by upgrade: RowUpgrade) throws(StoreError) -> Bool {
    let version = storedVersion
    guard version < upgrade.version else { return false }
    return upgrade.hides(try presentValue(), of: version)
  }

  func advance() throws(StoreError) -> Bool {
    if unsafe hasBegun { return try unsafe cursor.next() }
    unsafe hasBegun = true
    return try unsafe cursor.first()
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
    if let upgrade, unsafe cursor.schemaVersion < upgrade.version {
      return unsafe _overrideLifetime(try upgradedValue(upgrade), borrowing: self)
    }
    return unsafe _overrideLifetime(try presentValue(), borrowing: self)
  }

  /// The value, upgraded.
  @_lifetime(borrow self)
  private func upgradedValue(_ upgrade: RowUpgrade) throws(StoreError) -> RawSpan {
    guard let made else { return RawSpan() }
    do throws(StoreError) {
      // No row depends on its key, which would have to be put together.
      try unsafe upgrade.upgrade(
        key: RawSpan(), row: try presentValue(), of: cursor.schemaVersion, to: made)
    } catch {
      try unsafe upgrade.upgrade(
        key: cursor.key, row: try presentValue(), of: cursor.schemaVersion, to: made)
    }
    return unsafe _overrideLifetime(made.row, borrowing: self)
  }

  /// The value as it is stored.
  @_lifetime(borrow self)
  @inline(__always)
  private func presentValue() throws(StoreError) -> RawSpan {
    if unsafe !cursor.isExternal {
      return unsafe _overrideLifetime(cursor.storedValue, borrowing: self)
    }
    unsafe largeValue.removeAll(keepingCapacity: true)
    try unsafe cursor.appendValue(to: &largeValue)
    let value = unsafe largeValue
    return unsafe _overrideLifetime(value.rawSpan, borrowing: self)
  }
}

// A state and the segments of its blobs are taken one after the other, and have to belong together.

extension Engine {
  /// The trees of the newest state, with the finder of its blobs.
  ///
  /// - Throws: `.closed`, `.forked`.
  func trees(
    _ upgrades: TreeUpgrades?, _ blobs: OpenedBlobs
  ) throws(StoreError) -> SnapshotTrees {
    guard let keeper = blobs.keeper else { return SnapshotTrees(try snapshot(), upgrades) }
    while true {
      let removalCount = keeper.removalCount
      let trees = SnapshotTrees(try snapshot(), upgrades, blobs: keeper.located())
      // Else a segment may have gone that the state refers to; a newer one does not.
      if keeper.removalCount == removalCount { return trees }
    }
  }

  /// Returns the newest trees, also of a store that was closed.
  func lastTrees(_ upgrades: TreeUpgrades?, _ blobs: OpenedBlobs) -> SnapshotTrees {
    do throws(StoreError) { return try trees(upgrades, blobs) } catch {
      // There is no newer state, and this one does not refer to segments that are removed now.
      return SnapshotTrees(lastSnapshot(), upgrades, blobs: blobs.keeper?.located())
    }
  }
}

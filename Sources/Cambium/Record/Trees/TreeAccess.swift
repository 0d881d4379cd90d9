/// The trees of one state of a store: of a snapshot, or of a transaction as it has changed them so far.
///
/// Layers above read through this, and ask which of the two it is only where a state that never changes can be
/// read in a quicker way.
enum TreeAccess {
  case state(SnapshotTrees)
  case transaction(TransactionTrees)

  /// True if its data may change between two calls.
  var isChanging: Bool {
    switch self {
    case .state: false
    case .transaction: true
    }
  }

  /// How often anything was changed in it; 0 for a state that never changes.
  var changeCount: Int {
    switch self {
    case .state: 0
    case .transaction(let trees): unsafe trees.changeCount
    }
  }
}

// MARK: Reading

extension TreeAccess {
  /// Replaces `value` by that of `key`; false if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func copyValue(
    of key: RawSpan, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) -> Bool {
    switch self {
    case .state(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    case .transaction(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    }
  }

  /// Lends `body` the value of `key`, if there is one.
  func withValue(
    of key: RawSpan, in tree: TreeSlot, _ body: (RawSpan) throws -> Void
  ) throws {
    if case .state(let trees) = self { return try trees.withValue(of: key, in: tree, body) }
    var value: [UInt8] = []
    if try copyValue(of: key, in: tree, to: &value) { try body(value.rawSpan) }
  }

  func contains(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    switch self {
    case .state(let trees): try trees.contains(key, in: tree)
    case .transaction(let trees): try trees.contains(key, in: tree)
    }
  }

  /// Calls `body` with every key whose entry may not be the same in an older state of the same store, ascending.
  /// False if it is unknown without comparing the states.
  ///
  /// - Complexity: linear in commits that are in no tree yet.
  func forEachKeyChanged(
    in tree: TreeSlot, since other: TreeAccess, _ body: (RawSpan) throws -> Void
  ) rethrows -> Bool {
    guard case .state(let trees) = self, case .state(let others) = other else { return false }
    return try trees.forEachKeyChanged(in: tree, since: others, body)
  }

  /// The number of entries. Constant time, but for a transaction that spills, and for a tree with hidden rows: these are
  /// counted among the rows of older versions.
  func count(in tree: TreeSlot) throws(StoreError) -> Int {
    switch self {
    case .state(let trees): try trees.count(in: tree)
    case .transaction(let trees): try trees.count(in: tree)
    }
  }

  /// The number of entries with keys below `key`.
  ///
  /// - Complexity: O(log count); O(count) for changes of a transaction that spills; O(older rows) for a tree with hidden rows.
  /// - Throws: `.corrupt`, `.io`.
  func rank(of key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Int {
    switch self {
    case .state(let trees): try trees.rank(of: key, in: tree)
    case .transaction(let trees): try trees.rank(of: key, in: tree)
    }
  }

  /// About the number of entries, always in constant time: hidden rows are counted.
  func estimatedCount(in tree: TreeSlot) throws(StoreError) -> Int {
    switch self {
    case .state(let trees): trees.estimatedCount(in: tree)
    case .transaction(let trees): try trees.estimatedCount(in: tree)
    }
  }

  /// About the number of entries with keys from `low` on and below `high`, always in O(log count): changes of a
  /// transaction that spills may be missing.
  func estimatedCount(
    from low: RawSpan, upTo high: RawSpan, in tree: TreeSlot
  ) throws(StoreError) -> Int {
    switch self {
    case .state(let trees): try trees.estimatedCount(from: low, upTo: high, in: tree)
    case .transaction(let trees): try trees.estimatedCount(from: low, upTo: high, in: tree)
    }
  }

  /// The trees as pages have them, without commits that are not folded yet.
  private var base: Base {
    switch self {
    case .state(let trees): trees.base
    case .transaction(let trees): trees.base
    }
  }

  /// The bytes of the pages that hold the tree.
  func liveBytes(in tree: TreeSlot) -> UInt64 { UInt64(clamping: base.liveBytes(tree)) }

  /// The level over the tree, if there is one.
  func level(of tree: TreeSlot) -> Level? { base.level(tree) }

  /// The lowest schema version of an entry in the pages that hold the tree; nil if there are none.
  func lowestVersion(in tree: TreeSlot) -> UInt32? { base.lowestVersion(tree) }

  /// How many rows of a tree are to be upgraded, as far as pages have them.
  ///
  /// - Complexity: O(branches above older rows); O(older rows) if some are hidden.
  func count(toUpgradeBy upgrade: RowUpgrade, in tree: TreeSlot) throws(StoreError) -> Int {
    if !upgrade.hidesRows { return try base.count(below: upgrade.version, in: tree) }
    let rows = LayeredTree(overlays: [], over: base.tree(tree), under: base.level(tree))
    return try rows.count(below: upgrade.version) { row, version in
      !upgrade.hides(row, of: version)
    }
  }

  /// Returns true if an index has the entries of all records.
  func isWhole(_ index: TreeSlot) throws(StoreError) -> Bool {
    guard let upgrades, let key = upgrades.unbuilt[index] else { return true }
    if upgrades.isUnpublished { return false }
    return try !contains(key.rawSpan, in: upgrades.pending)
  }

  /// Returns true if an index need not have the entries of a record, since it is being built and has not reached the record.
  func isUnbuilt(_ index: TreeSlot, at primaryKey: RawSpan) throws(StoreError) -> Bool {
    guard let upgrades, let key = upgrades.unbuilt[index] else { return false }
    if upgrades.isUnpublished { return true }
    var end: [UInt8] = []
    guard try copyValue(of: key.rawSpan, in: upgrades.pending, to: &end) else { return false }
    return end.isEmpty || primaryKey.compare(end.rawSpan) > 0
  }

  /// The upgrades through which rows of older versions are read; nil if there are none.
  @inline(__always)
  var upgrades: TreeUpgrades? {
    switch self {
    case .state(let trees): trees.upgrades
    case .transaction(let trees): trees.upgrades
    }
  }

  /// The unstored values of entries.
  var unstored: UnstoredValues {
    switch self {
    case .state(let trees): trees.unstored
    case .transaction(let trees): trees.unstored
    }
  }

  /// The finder of the state's blobs, if the store was opened for blobs.
  var blobs: LocatedSegments? {
    switch self {
    case .state(let trees): trees.blobs
    case .transaction(let trees): trees.blobSession?.keeper.located()
    }
  }

  /// A cursor that stands nowhere yet. It keeps the state.
  func cursor(in tree: TreeSlot) throws(StoreError) -> CursorAccess {
    let cursor: CursorAccess =
      switch self {
      case .state(let trees): .state(trees.cursor(in: tree))
      case .transaction(let trees): .transaction(try trees.cursor(in: tree))
      }
    guard let upgrade = upgrades?[tree], upgrade.hidesRows else { return cursor }
    return .hiding(HidingCursor(cursor, upgrade))
  }
}

// MARK: Cursors

/// A place in a tree of one state, that moves from entry to entry. It begins nowhere, and a move that finds
/// none leaves it nowhere.
enum CursorAccess {
  case state(SnapshotCursor)
  case transaction(ChangedTreeCursor)
  /// In a tree with hidden rows.
  case hiding(HidingCursor)

  func first() throws(StoreError) -> Bool {
    switch self {
    case .state(let cursor): try cursor.first()
    case .transaction(let cursor): try cursor.first()
    case .hiding(let cursor): try cursor.first()
    }
  }

  /// Moves on: to the first entry from nowhere. False after the last, and then always.
  ///
  ///     while try cursor.advance() { … }
  @inline(__always)
  func advance() throws(StoreError) -> Bool {
    switch self {
    case .state(let cursor): try cursor.advance()
    case .transaction(let cursor): try cursor.advance()
    case .hiding(let cursor): try cursor.advance()
    }
  }

  func last() throws(StoreError) -> Bool {
    switch self {
    case .state(let cursor): try cursor.last()
    case .transaction(let cursor): try cursor.last()
    case .hiding(let cursor): try cursor.last()
    }
  }

  /// Goes to the first entry whose key is not below `key`.
  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    switch self {
    case .state(let cursor): try cursor.seek(to: key)
    case .transaction(let cursor): try cursor.seek(to: key)
    case .hiding(let cursor): try cursor.seek(to: key)
    }
  }

  /// Goes to the first entry above a key; with an empty one, to the first of all.
  func seek(behind key: [UInt8]) throws(StoreError) -> Bool {
    if key.isEmpty { return try first() }
    guard try seek(to: key.rawSpan) else { return false }
    return self.key.equals(key.rawSpan) ? try next() : true
  }

  /// Goes to the entry with `offset` entries before it.
  ///
  /// - Complexity: O(log count); O(offset) for changes of a transaction that spills, and in a tree with hidden rows.
  func seek(toOffset offset: Int) throws(StoreError) -> Bool {
    switch self {
    case .state(let cursor): try cursor.seek(toOffset: offset)
    case .transaction(let cursor): try cursor.seek(toOffset: offset)
    case .hiding(let cursor): try cursor.seek(toOffset: offset)
    }
  }

  /// Goes to an entry that has about `offset` entries before it: hidden rows are counted.
  ///
  /// - Complexity: as that of `seek(toOffset:)` without hidden rows.
  func seek(nearOffset offset: Int) throws(StoreError) -> Bool {
    if case .hiding(let cursor) = self { return try cursor.seek(nearOffset: offset) }
    return try seek(toOffset: offset)
  }

  @inline(__always)
  func previous() throws(StoreError) -> Bool {
    switch self {
    case .state(let cursor): try cursor.previous()
    case .transaction(let cursor): try cursor.previous()
    case .hiding(let cursor): try cursor.previous()
    }
  }

  @inline(__always)
  func next() throws(StoreError) -> Bool {
    switch self {
    case .state(let cursor): try cursor.next()
    case .transaction(let cursor): try cursor.next()
    case .hiding(let cursor): try cursor.next()
    }
  }

  /// The schema version of the entry as it is stored; nil in a transaction.
  var storedVersion: UInt32? {
    switch self {
    case .state(let cursor): cursor.storedVersion
    case .transaction: nil
    case .hiding(let cursor): cursor.storedVersion
    }
  }

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      switch self {
      case .state(let cursor): unsafe _overrideLifetime(cursor.key, borrowing: self)
      case .transaction(let cursor): unsafe _overrideLifetime(cursor.key, borrowing: self)
      case .hiding(let cursor): unsafe _overrideLifetime(cursor.key, borrowing: self)
      }
    }
  }

  /// The value of the entry, wherever it is. Until the cursor moves.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  @inline(__always)
  func value() throws(StoreError) -> RawSpan {
    switch self {
    case .state(let cursor): unsafe _overrideLifetime(try cursor.value(), borrowing: self)
    case .transaction(let cursor): unsafe _overrideLifetime(try cursor.value(), borrowing: self)
    case .hiding(let cursor): unsafe _overrideLifetime(try cursor.value(), borrowing: self)
    }
  }
}

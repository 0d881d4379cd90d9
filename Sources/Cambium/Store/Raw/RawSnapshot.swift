/// One committed state of a raw store. Any number of threads may read it.
@_spi(Raw) public final class RawSnapshot: Sendable {
  private let snapshot: Snapshot

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
  }

  /// The last commit that is in it.
  public var sequence: UInt64 { snapshot.state.sequence }

  /// One of the trees, as the snapshot has it. It keeps the snapshot.
  public subscript(_ tree: RawTreeName) -> RawSnapshotTree {
    RawSnapshotTree(snapshot, snapshot.tree(tree.slot))
  }
}

/// A tree of a snapshot.
@_spi(Raw) public final class RawSnapshotTree: Sendable {
  private let snapshot: Snapshot
  private let tree: LayeredTree

  init(_ snapshot: Snapshot, _ tree: LayeredTree) {
    self.snapshot = snapshot
    self.tree = tree
  }

  /// The number of entries. Constant time.
  public var count: Int { tree.count }

  /// The value of `key`, in place; nil if there is none, or if it has pages of its own.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  public func value(for key: RawSpan) throws(StoreError) -> RawSpan? {
    let tree = tree
    guard let entry = try tree.entry(for: key), !entry.isExternal else { return nil }
    return unsafe _overrideLifetime(entry.storedValue, borrowing: self)
  }

  /// A copy of the value of `key`, wherever it is; nil if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  public func copyValue(for key: RawSpan) throws(StoreError) -> [UInt8]? {
    var value: [UInt8] = []
    return try tree.copyValue(for: key, to: &value) ? value : nil
  }

  /// A cursor that stands nowhere yet.
  public func cursor() -> RawSnapshotCursor { RawSnapshotCursor(snapshot, LayeredCursor(tree)) }
}

/// A place in a tree of a snapshot. It keeps the snapshot.
@_spi(Raw) public final class RawSnapshotCursor {
  private let snapshot: Snapshot
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var cursor: LayeredCursor

  init(_ snapshot: Snapshot, _ cursor: consuming LayeredCursor) {
    self.snapshot = snapshot
    unsafe self.cursor = cursor
  }

  /// Goes to the first entry; false if there is none.
  public func first() throws(StoreError) -> Bool { try unsafe cursor.first() }

  /// Goes to the first entry not below `key`; false if there is none.
  public func seek(to key: RawSpan) throws(StoreError) -> Bool { try unsafe cursor.seek(to: key) }

  /// Moves on; false behind the last entry.
  public func next() throws(StoreError) -> Bool { try unsafe cursor.next() }

  /// The key of the entry, until the cursor moves.
  public var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  /// The value of the entry, or the reference to its pages, until the cursor moves.
  public var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.storedValue, borrowing: self) }
  }
}

/// The trees of a state, on whichever medium.
///
/// The media that programs use have cases of their own, so that what is compiled for them is reached;
/// through the protocol alone it would be what is compiled for any medium.
enum TreeAccess {
  case posix(SnapshotTrees<PosixFileSystem>)
  case memory(SnapshotTrees<InMemoryFileSystem>)
  case changing(TreeChanges)
  case other(any TreeReading)
}

/// The trees of a transaction, on whichever medium.
enum TreeChanges {
  case posix(TransactionTrees<PosixFileSystem>)
  case memory(TransactionTrees<InMemoryFileSystem>)
  case other(any TreeWriting)
}

// MARK: Reading

extension TreeAccess {
  func copyValue(
    of key: RawSpan, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) -> Bool {
    switch self {
    case .posix(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    case .memory(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    case .changing(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    case .other(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    }
  }

  /// Lends `body` the value of `key`, if there is one.
  func withValue(
    of key: RawSpan, in tree: TreeSlot, _ body: (RawSpan) throws -> Void
  ) throws {
    if case .posix(let trees) = self { return try trees.withValue(of: key, in: tree, body) }
    var value: [UInt8] = []
    if try copyValue(of: key, in: tree, to: &value) { try body(value.rawSpan) }
  }

  func contains(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    switch self {
    case .posix(let trees): try trees.contains(key, in: tree)
    case .memory(let trees): try trees.contains(key, in: tree)
    case .changing(let trees): try trees.reading.contains(key, in: tree)
    case .other(let trees): try trees.contains(key, in: tree)
    }
  }

  /// Calls `body` with every key whose entry may not be the same in an older state of the same store, ascending.
  /// False where nobody knows without comparing the states.
  ///
  /// - Complexity: linear in what was committed and is in no tree yet.
  func forEachKeyChanged(
    in tree: TreeSlot, since other: TreeAccess, _ body: (RawSpan) throws -> Void
  ) rethrows -> Bool {
    switch (self, other) {
    case (.posix(let trees), .posix(let others)):
      try trees.forEachKeyChanged(in: tree, since: others, body)
    case (.memory(let trees), .memory(let others)):
      try trees.forEachKeyChanged(in: tree, since: others, body)
    default: false
    }
  }

  /// The trees, for calls that are not frequent enough to be worth a case of their own.
  private var any: any TreeReading {
    switch self {
    case .posix(let trees): trees
    case .memory(let trees): trees
    case .changing(let trees): trees.reading
    case .other(let trees): trees
    }
  }

  func count(in tree: TreeSlot) throws(StoreError) -> Int {
    if case .posix(let trees) = self { return trees.count(in: tree) }
    return try any.count(in: tree)
  }

  func rank(of key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Int {
    if case .posix(let trees) = self { return try trees.rank(of: key, in: tree) }
    return try any.rank(of: key, in: tree)
  }

  func estimatedCount(in tree: TreeSlot) throws(StoreError) -> Int {
    if case .posix(let trees) = self { return trees.count(in: tree) }
    return try any.estimatedCount(in: tree)
  }

  func estimatedCount(
    from low: RawSpan, upTo high: RawSpan, in tree: TreeSlot
  ) throws(StoreError) -> Int {
    if case .posix(let trees) = self {
      return try trees.estimatedCount(from: low, upTo: high, in: tree)
    }
    return try any.estimatedCount(from: low, upTo: high, in: tree)
  }
  func liveBytes(in tree: TreeSlot) -> UInt64 { any.liveBytes(in: tree) }
  func lowestVersion(in tree: TreeSlot) -> UInt32? { any.lowestVersion(in: tree) }

  func count(below version: UInt32, in tree: TreeSlot) throws(StoreError) -> Int {
    try any.count(below: version, in: tree)
  }

  /// Returns true if an index has the entries of all records.
  func isWhole(_ index: TreeSlot) throws(StoreError) -> Bool {
    guard let upgrades, let key = upgrades.unbuilt[index] else { return true }
    if upgrades.isUnpublished { return false }
    return try !contains(key.rawSpan, in: upgrades.pending)
  }

  @inline(__always)
  var upgrades: TreeUpgrades? {
    if case .posix(let trees) = self { return trees.upgrades }
    return any.upgrades
  }

  /// A finder of the state's blobs, if the store was opened for blobs.
  var blobs: (any BlobLocating)? {
    if case .posix(let trees) = self { return trees.blobs }
    return any.blobs
  }

  func cursor(in tree: TreeSlot) throws(StoreError) -> CursorAccess {
    switch self {
    case .posix(let trees): .posix(trees.snapshotCursor(in: tree))
    case .memory(let trees): .other(try trees.cursor(in: tree))
    case .changing(let trees): .other(try trees.reading.cursor(in: tree))
    case .other(let trees): .other(try trees.cursor(in: tree))
    }
  }
}

extension TreeChanges {
  fileprivate var reading: any TreeReading {
    switch self {
    case .posix(let trees): trees
    case .memory(let trees): trees
    case .other(let trees): trees
    }
  }

  func copyValue(
    of key: RawSpan, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) -> Bool {
    switch self {
    case .posix(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    case .memory(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    case .other(let trees): try trees.copyValue(of: key, in: tree, to: &value)
    }
  }
}

// MARK: Changing

extension TreeChanges {
  func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    switch self {
    case .posix(let trees): try trees.put(key, value, schemaVersion: schemaVersion, in: tree)
    case .memory(let trees): try trees.put(key, value, schemaVersion: schemaVersion, in: tree)
    case .other(let trees): try trees.put(key, value, schemaVersion: schemaVersion, in: tree)
    }
  }

  func remove(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    switch self {
    case .posix(let trees): try trees.remove(key, in: tree)
    case .memory(let trees): try trees.remove(key, in: tree)
    case .other(let trees): try trees.remove(key, in: tree)
    }
  }

  private var writing: any TreeWriting {
    switch self {
    case .posix(let trees): trees
    case .memory(let trees): trees
    case .other(let trees): trees
    }
  }

  var sequence: UInt64 { writing.sequence }
  var identity: StoreIdentity { writing.identity }
  var blobSession: BlobSession? { writing.blobSession }
  var keepsStates: Bool { writing.keepsStates }
  var isEmpty: Bool { writing.isEmpty }
  func removeAll(in tree: TreeSlot) { writing.removeAll(in: tree) }
  func addWork(_ change: (inout TreeWork) -> Void) { writing.addWork(change) }
  func makeSavepoint() throws(StoreError) { try writing.makeSavepoint() }
  func endSavepoint(rollingBack: Bool) { writing.endSavepoint(rollingBack: rollingBack) }
  func end(_ error: StoreError) { writing.end(error) }
}

// MARK: Cursors

/// A cursor, on whichever medium.
enum CursorAccess {
  case posix(SnapshotCursor<PosixFileSystem>)
  case other(any EntryCursor)

  func first() throws(StoreError) -> Bool {
    switch self {
    case .posix(let cursor): try cursor.first()
    case .other(let cursor): try cursor.first()
    }
  }

  func last() throws(StoreError) -> Bool {
    switch self {
    case .posix(let cursor): try cursor.last()
    case .other(let cursor): try cursor.last()
    }
  }

  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    switch self {
    case .posix(let cursor): try cursor.seek(to: key)
    case .other(let cursor): try cursor.seek(to: key)
    }
  }

  func seek(toOffset offset: Int) throws(StoreError) -> Bool {
    switch self {
    case .posix(let cursor): try cursor.seek(toOffset: offset)
    case .other(let cursor): try cursor.seek(toOffset: offset)
    }
  }

  @inline(__always)
  func previous() throws(StoreError) -> Bool {
    switch self {
    case .posix(let cursor): try cursor.previous()
    case .other(let cursor): try cursor.previous()
    }
  }

  @inline(__always)
  func next() throws(StoreError) -> Bool {
    switch self {
    case .posix(let cursor): try cursor.next()
    case .other(let cursor): try cursor.next()
    }
  }

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      switch self {
      case .posix(let cursor): unsafe _overrideLifetime(cursor.key, borrowing: self)
      case .other(let cursor): unsafe _overrideLifetime(cursor.key, borrowing: self)
      }
    }
  }

  /// The value of the entry, wherever it is. Until the cursor moves.
  @_lifetime(borrow self)
  @inline(__always)
  func value() throws(StoreError) -> RawSpan {
    switch self {
    case .posix(let cursor): unsafe _overrideLifetime(try cursor.value(), borrowing: self)
    case .other(let cursor): unsafe _overrideLifetime(try cursor.value(), borrowing: self)
    }
  }
}

/// The trees of one state of a store: of a snapshot, or of a transaction as it has changed them so far.
///
/// What lies above works with these and knows no medium.
protocol TreeReading: AnyObject {
  /// Replaces `value` by that of `key`; false if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func copyValue(
    of key: RawSpan, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) -> Bool

  func contains(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool

  /// The number of entries. Constant time, but for a transaction that spills.
  func count(in tree: TreeSlot) throws(StoreError) -> Int

  /// The number of entries with keys below `key`.
  ///
  /// - Complexity: O(log count); O(count) for what a transaction that spills has changed.
  /// - Throws: `.corrupt`, `.io`.
  func rank(of key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Int

  /// About the number of entries, always in constant time.
  func estimatedCount(in tree: TreeSlot) throws(StoreError) -> Int

  /// About the number of entries with keys from `low` on and below `high`, always in O(log count): what a
  /// transaction that spills has changed may be missing.
  func estimatedCount(
    from low: RawSpan, upTo high: RawSpan, in tree: TreeSlot
  ) throws(StoreError) -> Int

  /// The bytes of the pages that hold the tree; what no fold has taken in yet does not count.
  func liveBytes(in tree: TreeSlot) -> UInt64

  /// The lowest schema version of an entry in the pages that hold the tree; nil if there are none.
  func lowestVersion(in tree: TreeSlot) -> UInt32?

  /// Returns the number of a tree's entries of versions below `version`, as far as pages have them.
  ///
  /// - Complexity: O(branches above such entries).
  func count(below version: UInt32, in tree: TreeSlot) throws(StoreError) -> Int

  /// The upgrades through which rows of older versions are read; nil if there are none.
  var upgrades: TreeUpgrades? { get }

  /// A finder of the state's blobs, if the store was opened for blobs.
  var blobs: (any BlobLocating)? { get }

  /// A cursor that stands nowhere yet. It keeps the state.
  func cursor(in tree: TreeSlot) throws(StoreError) -> any EntryCursor
}

/// The trees of a committed state.
protocol StateTrees: TreeReading, Sendable {
  /// The last commit that is in it.
  var sequence: UInt64 { get }
  var identity: StoreIdentity { get }
  /// The footer of the trees.
  var footer: Footer { get }

  /// Makes a store of the trees in an empty directory, or in one that has its blobs already.
  ///
  /// - Throws: as `Backup.run`.
  func backUp<Target: FileSystem>(
    to target: Target, _ names: TreeNames, _ monitor: BackupMonitor
  ) throws(StoreError) -> BackupContents
}

/// The trees of a transaction, to be changed.
protocol TreeWriting: TreeReading {
  /// The number that the commit will have, if there is one.
  var sequence: UInt64 { get }
  /// Which store it is.
  var identity: StoreIdentity { get }

  /// The transaction's use of files of blobs, if the store was opened for blobs.
  var blobSession: BlobSession? { get }

  /// True if states are kept from before migrations.
  var keepsStates: Bool { get }

  /// True if there is nothing to commit.
  var isEmpty: Bool { get }

  /// Gives `key` a value, whether or not it has one.
  ///
  /// - Throws: what `Transaction.put` does.
  func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError)

  /// Takes `key` out. False if it is not there.
  func remove(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool

  func removeAll(in tree: TreeSlot)

  /// Has the commit do something with whole trees.
  func addWork(_ change: (inout TreeWork) -> Void)

  /// Makes a moment that can be gone back to: the newest of them.
  func makeSavepoint() throws(StoreError)

  /// Undoes everything since the newest savepoint, and takes that out, or takes it out alone.
  func endSavepoint(rollingBack: Bool)

  /// The transaction is over: cursors in its trees throw `error` from now on.
  func end(_ error: StoreError)
}

/// A place in a tree of one state, that moves from entry to entry. It begins nowhere, and a move that finds
/// none leaves it nowhere.
protocol EntryCursor: AnyObject {
  func first() throws(StoreError) -> Bool
  func last() throws(StoreError) -> Bool
  /// Goes to the first entry whose key is not below `key`.
  func seek(to key: RawSpan) throws(StoreError) -> Bool
  /// Goes to the entry with `offset` entries before it.
  ///
  /// - Complexity: O(log count); O(offset) for what a transaction that spills has changed.
  func seek(toOffset offset: Int) throws(StoreError) -> Bool
  func next() throws(StoreError) -> Bool
  func previous() throws(StoreError) -> Bool

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    get
  }

  /// The value of the entry, wherever it is. Until the cursor moves.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  func value() throws(StoreError) -> RawSpan
}

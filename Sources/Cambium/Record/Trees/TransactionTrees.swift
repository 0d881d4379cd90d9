/// The trees of a transaction. One thread uses them, while the transaction is under way.
final class TransactionTrees {
  private let transaction: Transaction
  private var savepoints: [Transaction.Savepoint] = []
  /// The number of savepoints after those, that nothing has changed since. They are made with the first change, so
  /// one that nothing needs costs nothing.
  @exclusivity(unchecked) private var unmadeCount = 0
  /// How often anything changed: cursors from before have to seek their places again.
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private(set) var changeCount = 0
  /// Why nothing can be read any more, when the transaction is over.
  fileprivate private(set) var ending: StoreError?

  /// The upgrades through which rows of older versions are read; nil if there are none.
  let upgrades: TreeUpgrades?

  /// The transaction's use of files of blobs; nil if the store was not opened for blobs.
  let blobSession: BlobSession?

  init(
    _ transaction: Transaction, _ upgrades: TreeUpgrades? = nil,
    blobs: BlobSession? = nil
  ) {
    self.transaction = transaction
    self.upgrades = upgrades
    blobSession = blobs
  }
}

// MARK: Reading

extension TransactionTrees {
  func copyValue(
    of key: RawSpan, in tree: TreeSlot, to value: inout [UInt8]
  ) throws(StoreError) -> Bool {
    guard let upgrade = upgrades?[tree] else {
      return try transaction.tree(tree).copyValue(for: key, to: &value)
    }
    let version = try transaction.tree(tree).copyVersionedValue(for: key, to: &value)
    return try upgrade.upgrade(&value, of: key, version)
  }

  func contains(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    guard let upgrade = upgrades?[tree], upgrade.hidesRows else {
      return try transaction.tree(tree).contains(key)
    }
    var row: [UInt8] = []
    let version = try transaction.tree(tree).copyVersionedValue(for: key, to: &row)
    return version.map { !upgrade.hides(row.rawSpan, of: $0) } ?? false
  }

  /// A tree in which several keys can be looked up together, until the next change; nil if rows are upgraded as they
  /// are read, or where the transaction has spilled changes of it.
  func layered(_ tree: TreeSlot) throws(StoreError) -> LayeredTree? {
    upgrades?[tree] == nil ? try transaction.tree(tree).whole : nil
  }

  func count(in tree: TreeSlot) throws(StoreError) -> Int {
    guard let upgrade = upgrades?[tree], upgrade.hidesRows else {
      return try transaction.tree(tree).count()
    }
    if let whole = try transaction.tree(tree).whole {
      return try upgrades.count(of: whole, in: tree)
    }
    return try countRows(in: tree, upgrade, before: nil)
  }

  func rank(of key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Int {
    guard let upgrade = upgrades?[tree], upgrade.hidesRows else {
      return try transaction.tree(tree).rank(of: key)
    }
    if let whole = try transaction.tree(tree).whole {
      return try upgrades.rank(of: key, of: whole, in: tree)
    }
    return try countRows(in: tree, upgrade, before: key.array())
  }

  /// Counts the rows of a tree, some of whose rows are hidden, one by one.
  private func countRows(
    in tree: TreeSlot, _ upgrade: RowUpgrade, before end: [UInt8]?
  ) throws(StoreError) -> Int {
    let cursor = HidingCursor(.transaction(try cursor(in: tree)), upgrade)
    var count = 0
    while try cursor.advance() {
      if let end, cursor.key.compare(end.rawSpan) >= 0 { break }
      count += 1
    }
    return count
  }

  func estimatedCount(in tree: TreeSlot) throws(StoreError) -> Int {
    try transaction.tree(tree).estimatedCount
  }

  func estimatedCount(
    from low: RawSpan, upTo high: RawSpan, in tree: TreeSlot
  ) throws(StoreError) -> Int {
    try transaction.tree(tree).estimatedCount(from: low, upTo: high)
  }

  /// True if states are kept from before migrations.
  var keepsStates: Bool { !base.file.footer.keptStates.isEmpty }

  /// True if the commit keeps the state that it is made on.
  var keepsPresent: Bool { transaction.treeWork.keepsPresent }

  /// The trees that the transaction began with, as pages have them.
  var base: Base { transaction.base.base }

  func cursor(in tree: TreeSlot) throws(StoreError) -> ChangedTreeCursor {
    ChangedTreeCursor(try transactionCursor(in: tree), in: tree, of: self)
  }

  /// Moves a cursor that is not stale.
  fileprivate func seek(
    _ cursor: TransactionCursor, toOffset offset: Int, in tree: TreeSlot
  ) throws(StoreError) -> Bool {
    if let ending { throw ending }
    return try transaction.tree(tree).seek(cursor, toOffset: offset)
  }

  /// Until the next change.
  fileprivate func transactionCursor(
    in tree: TreeSlot
  ) throws(StoreError) -> TransactionCursor {
    if let ending { throw ending }
    return try transaction.tree(tree).cursor()
  }
}

// MARK: Changing

extension TransactionTrees {
  /// The number that the commit will have, if there is one.
  var sequence: UInt64 { transaction.base.sequence + 1 }
  /// The number of the state that it publishes, if it does.
  var publication: UInt64 { transaction.base.publication + 1 }
  var identity: StoreIdentity { base.file.pages.identity }
  /// True if there is nothing to commit.
  var isEmpty: Bool { transaction.isEmpty }
  /// The unstored values, with the changes so far.
  var unstored: UnstoredValues { transaction.unstored }
  /// True if there is nothing to publish, stored or not.
  var publishesNothing: Bool { isEmpty && !transaction.changesUnstored }

  /// Replaces the unstored values of an entry.
  ///
  /// - Throws: errors of `Transaction.savepoint`.
  func setUnstored(
    _ entry: UnstoredEntry, for key: RawSpan, in tree: TreeSlot
  ) throws(StoreError) {
    if unsafe unmadeCount > 0 { try makeSavepoints() }
    transaction.setUnstored(entry, for: key, in: tree)
  }

  /// Gives `key` a value, whether or not it has one.
  ///
  /// - Parameter schemaVersion: Of a row. Index entries and all else say nothing that a version could change, and a
  ///   leaf holds entries of one version.
  /// - Throws: errors of `Transaction.put`.
  func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32 = Entities.systemVersion,
    in tree: TreeSlot
  ) throws(StoreError) {
    if unsafe unmadeCount > 0 { try makeSavepoints() }
    unsafe changeCount &+= 1
    try transaction.put(key, value, schemaVersion: schemaVersion, in: tree)
  }

  /// Gives the keys of a batch their values, whether or not they have one.
  ///
  /// - Throws: errors of `Transaction.put`.
  func put(
    _ batch: borrowing PutBatch, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    if unsafe unmadeCount > 0 { try makeSavepoints() }
    unsafe changeCount &+= 1
    try transaction.put(batch, schemaVersion: schemaVersion, in: tree)
  }

  /// Takes `key` out, with its unstored values. False if it is not there.
  func remove(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    if upgrades?[tree]?.hidesRows ?? false, try !contains(key, in: tree) { return false }
    if unsafe unmadeCount > 0 { try makeSavepoints() }
    unsafe changeCount &+= 1
    let isGone = try transaction.remove(key, in: tree)
    if isGone { transaction.removeUnstored(key, in: tree) }
    return isGone
  }

  /// - Throws: errors of `Transaction.savepoint`.
  func removeAll(in tree: TreeSlot) throws(StoreError) {
    if unsafe unmadeCount > 0 { try makeSavepoints() }
    unsafe changeCount &+= 1
    transaction.removeAll(in: tree)
    transaction.removeUnstored(nil, in: tree)
  }

  /// The number of records from which on sorting their entries, and a commit by a footer, take less time than a lookup of each
  /// key, a log, and a fold later.
  static var manyMin: Int { 10_000 }

  /// Says that many entries are put from now on.
  func expectMany() { transaction.expectMany() }

  /// Has the commit do something with whole trees.
  func addWork(_ change: (inout TreeWork) -> Void) { change(&transaction.treeWork) }

  /// Makes a moment that can be gone back to: the newest of them.
  func makeSavepoint() { unsafe unmadeCount += 1 }

  /// True if nothing has changed since the newest savepoint.
  var isUnchangedSinceSavepoint: Bool { unsafe unmadeCount > 0 }

  @inline(never)
  private func makeSavepoints() throws(StoreError) {
    unsafe changeCount &+= 1
    while unsafe unmadeCount > 0 {
      savepoints.append(try transaction.savepoint())
      unsafe unmadeCount -= 1
    }
  }

  /// Undoes everything since the newest savepoint, and takes that out, or takes it out alone.
  func endSavepoint(rollingBack: Bool) {
    if unsafe unmadeCount > 0 {
      unsafe unmadeCount -= 1
      return
    }
    unsafe changeCount &+= 1
    guard let savepoint = savepoints.popLast() else { preconditionFailure("there is no savepoint") }
    if rollingBack { transaction.rollBack(to: savepoint) }
    transaction.release(savepoint)
  }

  /// The transaction is over: cursors in its trees throw `error` from now on.
  func end(_ error: StoreError) {
    unsafe changeCount &+= 1
    ending = error
  }
}

/// A place in a tree of a transaction. It stays after its key when the tree changes, and ends with the
/// transaction.
final class ChangedTreeCursor {
  private let trees: TransactionTrees
  private let tree: TreeSlot
  private var cursor: TransactionCursor
  /// The changes that were made before the cursor sought its place.
  private var changeCount: Int
  /// The key of the entry it stands on; of no meaning while it stands nowhere.
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var standing: [UInt8] = []
  private var isOnEntry = false
  private var hasBegun = false
  @exclusivity(unchecked) private var copy: [UInt8] = []

  fileprivate init(
    _ cursor: TransactionCursor, in tree: TreeSlot, of trees: TransactionTrees
  ) {
    self.cursor = cursor
    self.tree = tree
    self.trees = trees
    unsafe changeCount = trees.changeCount
  }

  private var isStale: Bool { unsafe changeCount != trees.changeCount }

  /// Renews the cursor, whose place may no longer exist.
  private func renew() throws(StoreError) {
    if !isStale { return }
    cursor = try trees.transactionCursor(in: tree)
    unsafe changeCount = trees.changeCount
  }

  /// Returns true if the row that it stands on is no row of the record any more. Before anything changes.
  func isHidden(by upgrade: RowUpgrade) throws(StoreError) -> Bool {
    let version = cursor.schemaVersion
    guard version < upgrade.version else { return false }
    unsafe copy.removeAll(keepingCapacity: true)
    try unsafe cursor.appendValue(to: &copy)
    let row = unsafe copy
    return upgrade.hides(row.rawSpan, of: version)
  }

  private func note(_ isOn: Bool) -> Bool {
    isOnEntry = isOn
    let cursor = cursor
    if isOn { unsafe standing.assign(cursor.key) }
    return isOn
  }

  func advance() throws(StoreError) -> Bool {
    if hasBegun { return try next() }
    hasBegun = true
    return try first()
  }

  @inline(never)
  func first() throws(StoreError) -> Bool {
    isOnEntry = false
    try renew()
    return note(try cursor.first())
  }

  func last() throws(StoreError) -> Bool {
    isOnEntry = false
    try renew()
    return note(try cursor.last())
  }

  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    isOnEntry = false
    try renew()
    return note(try cursor.seek(to: key))
  }

  func seek(toOffset offset: Int) throws(StoreError) -> Bool {
    isOnEntry = false
    try renew()
    return note(try trees.seek(cursor, toOffset: offset, in: tree))
  }

  func next() throws(StoreError) -> Bool {
    guard isOnEntry else { return false }
    isOnEntry = false
    guard isStale else { return note(try cursor.next()) }
    let isOn = try seekStanding()
    return note(isOn && isOnStanding ? try cursor.next() : isOn)
  }

  func previous() throws(StoreError) -> Bool {
    guard isOnEntry else { return false }
    isOnEntry = false
    guard isStale else { return note(try cursor.previous()) }
    let isOn = try seekStanding()
    return note(isOn ? try cursor.previous() : try cursor.last())
  }

  private func seekStanding() throws(StoreError) -> Bool {
    try renew()
    let key = unsafe standing
    return try cursor.seek(to: key.rawSpan)
  }

  private var isOnStanding: Bool {
    let (cursor, key) = unsafe (cursor, standing)
    return cursor.key.compare(key.rawSpan) == 0
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      precondition(isOnEntry, "a cursor has a key while it stands on an entry")
      let key = unsafe standing
      return unsafe _overrideLifetime(key.rawSpan, borrowing: self)
    }
  }

  @_lifetime(borrow self)
  func value() throws(StoreError) -> RawSpan {
    precondition(isOnEntry && !isStale, "a value is read before anything changes")
    unsafe copy.removeAll(keepingCapacity: true)
    try unsafe cursor.appendValue(to: &copy)
    if let upgrade = trees.upgrades?[tree], cursor.schemaVersion < upgrade.version {
      _ = try unsafe upgrade.upgrade(&copy, of: standing.rawSpan, cursor.schemaVersion)
    }
    let value = unsafe copy
    return unsafe _overrideLifetime(value.rawSpan, borrowing: self)
  }
}

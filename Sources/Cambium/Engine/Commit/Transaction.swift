/// Changes on top of a state, not committed yet, and what is read with them.
///
/// Everything happens twice: in the overlay, where this transaction and later ones read it, and as bytes
/// for the log. Nobody else sees either before the commit; aborting drops both. Once that is more than the
/// memory budget allows or the log takes, further changes are spilled, and the commit is one by a footer.
///
/// A class of one owner on one thread, so accesses cannot overlap.
final class Transaction {
  /// What it began with.
  let base: StoreState
  private let names: TreeNames
  private let editor: OverlayEditor
  private let options: EngineOptions
  private let support: SpillSupport
  @exclusivity(unchecked) private var buffer: FrameBuffer
  @exclusivity(unchecked) private var spilled: Spill?
  /// How many savepoints were made before that and may be gone back to.
  @exclusivity(unchecked) private var savepointCount = 0
  /// The bytes of the overlay that were there before.
  private let bytesBefore: Int
  /// A footer has space for all trees with numbers below this one.
  @exclusivity(unchecked) private var checkedTreeCount: UInt32 = 0
  /// What the operations written last were for; nil where the next one has to say it.
  @exclusivity(unchecked) private var statedTree: TreeSlot?
  @exclusivity(unchecked) private var statedVersion: UInt32?
  /// The last key of the tree that the last puts went into.
  @exclusivity(unchecked) private var lastKey = LastKey()
  /// What the commit does with whole trees, behind what is changed in them. No savepoint takes it back, and
  /// nothing of it is read before.
  var treeWork = TreeWork()

  /// The values of entries that are in no file, with the changes so far.
  private(set) var unstored: UnstoredValues
  /// True if one of them may have changed.
  private(set) var changesUnstored = false

  init(
    on base: StoreState, names: TreeNames, operations: FrameBuffer, options: EngineOptions,
    spilling support: SpillSupport
  ) {
    self.base = base
    unstored = base.unstored
    self.names = names
    self.options = options
    self.support = support
    unsafe buffer = operations
    editor = OverlayEditor(over: base.fresh)
    bytesBefore = base.fresh.byteCount
  }

  /// The state with the changes, for later ones to begin with. Then the transaction is over.
  func finish() -> Overlay { editor.finish() }

  /// The changes as bytes for the log; where some were spilled, not all.
  var operations: FrameBuffer { unsafe buffer }
  /// What came after the transaction had become too large; nil before that.
  var spill: Spill? { unsafe spilled }

  /// Takes all changes back. Then the transaction is over.
  func abort() {
    dropSpill()
    editor.abort()
  }

  /// The bytes of the overlay with the changes in it.
  var byteCount: Int { editor.present.byteCount }

  /// True if it removes more entries than it adds.
  var isShrinking: Bool { editor.present.countChange < base.fresh.countChange }

  /// The changes that the trees would have to take in.
  var layers: FoldLayers { FoldLayers(editor.present, below: spill) }

  /// Whether there is anything to commit.
  var isEmpty: Bool { spill == nil && operations.payloadCount == 0 && treeWork.isEmpty }
}

// MARK: - Spilling

extension Transaction {
  /// Has all further changes sorted as a large transaction's are, and committed by a footer: for many that are known to
  /// come, this takes less than to look each of them up first.
  func expectMany() {
    if spill == nil { beginSpilling() }
  }

  /// Has further changes spilled, if there are too many.
  @inline(__always)
  private func spillIfTooLarge() {
    if operations.payloadCount > min(options.transactionBudget, options.frameMax) {
      beginSpilling()
    }
  }

  private func beginSpilling() {
    // Nobody will log it, unless it goes back to a savepoint.
    if unsafe savepointCount == 0 { unsafe buffer = FrameBuffer() }
    let used = editor.present.byteCount - bytesBefore + operations.payloadCount
    let budget = options.transactionBudget
    unsafe spilled = Spill(
      in: RunPlace(of: base.base, support, options), over: present,
      names: names, capacity: max(budget - used, budget / 4), runsMax: options.runsMax)
  }

  private func dropSpill() {
    unsafe spilled?.loads.giveBack()
    unsafe spilled = nil
  }
}

// MARK: - Changing

extension Transaction {
  /// Gives `key` a value, whether or not it has one.
  ///
  /// - Complexity: O(log count): a lookup, to keep counts exact, and a change in memory.
  /// - Throws: `.limitExceeded`, `.corrupt`, `.io`; then nothing has changed. Of a transaction that spills also
  ///   `.full` and `.io` for good: it cannot be committed, unless it goes back to a savepoint before.
  // 9 KB of code with the editing of the overlay in it: callers that pass a constant version would get a copy each.
  @inline(never)
  func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    try check(key.byteCount, value.byteCount, in: tree)
    if let spill {
      try spill.put(key, value, schemaVersion: schemaVersion, in: tree)
      return
    }
    let isNew = try isNew(key, in: tree)
    state(tree)
    state(schemaVersion: schemaVersion)
    if isNew {
      operations.appendAdd(key: key, value: value)
    } else {
      operations.appendReplace(key: key, value: value)
    }
    let isDone = editor.put(
      key, value, schemaVersion: schemaVersion, isNew: isNew, in: tree)
    assert(isDone, "what was looked up a moment ago has not changed")
    spillIfTooLarge()
  }

  /// Gives the keys of a batch their values, whether or not they have one.
  ///
  /// - Throws: as of one; some may have got theirs then.
  func put(
    _ batch: borrowing PutBatch, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    if let spill, batch.count > 0 {
      try check(batch.entries.keyLengthMax, batch.entries.valueLengthMax, in: tree)
      return try spill.put(batch, schemaVersion: schemaVersion, in: tree)
    }
    for index in 0..<batch.count {
      try put(batch.key(index), batch.value(index), schemaVersion: schemaVersion, in: tree)
    }
  }

  @inline(__always)
  private func check(_ keyLength: Int, _ valueLength: Int, in tree: TreeSlot) throws(StoreError) {
    try Self.check(keyLength, .keyLength)
    try Self.check(valueLength, .valueLength)
    if unsafe tree.number >= checkedTreeCount { try checkCatalog(with: tree) }
  }

  /// Throws if a footer would have no space for this tree beside the others: they could never be published.
  ///
  /// - Complexity: O(1); O(trees) if the names of all trees that were ever mentioned would not fit.
  @inline(never)
  private func checkCatalog(with tree: TreeSlot) throws(StoreError) {
    let room = StoreError.Limit.footerSize.bound - Self.catalogReserve
    let all = names.catalogOfAll
    if base.base.sizeWithoutTrees + all.size <= room {
      unsafe checkedTreeCount = UInt32(all.count)
      return
    }
    if base.base.tree(tree).root != nil || !editor.present[tree].isEmpty { return }
    var trees = Set(layers.slots).union(base.frozen?.overlay.trees ?? []).union([tree])
    for tree in base.base.file.footer.trees {
      trees.insert(try names.slot(of: LevelLayer.treeName(of: tree.name)))
    }
    let size = trees.reduce(base.base.sizeWithoutTrees) { $0 + Footer.treeSize(names.name(of: $1)) }
    try Self.check(size + Self.catalogReserve, .footerSize)
  }

  /// The bytes that a footer may get besides those of trees: for segments, the place of a compaction, and the parts of levels.
  private static var catalogReserve: Int { (8 << 10) + LevelPolicy.catalogSize }

  /// Takes `key` and its value out. False if it is not there.
  ///
  /// - Throws: what `put` does.
  func remove(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    if let spill {
      guard try self.tree(tree).contains(key) else { return false }
      try spill.remove(key, in: tree)
      return true
    }
    guard try contains(key, in: tree) else { return false }
    state(tree)
    operations.appendRemove(key: key)
    let isDone = editor.remove(key, in: tree)
    assert(isDone, "what was looked up a moment ago has not changed")
    spillIfTooLarge()
    return true
  }

  /// Takes out all entries of a tree.
  ///
  /// - Complexity: that of the overlay's entries in it. The trees are not looked at.
  func removeAll(in tree: TreeSlot) {
    if let spill { return spill.removeAll(in: tree) }
    state(tree)
    operations.appendClear()
    editor.clear(tree)
  }

  /// Whether `key` is there at present. What the changes are counted by.
  private func contains(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    let changes = editor.present[tree]
    if let entry = changes.reference(for: key) { return !entry.isRemoval }
    if changes.hidesBase { return false }
    if let frozen = base.frozen?.overlay[tree] {
      if let entry = frozen.reference(for: key) { return !entry.isRemoval }
      if frozen.hidesBase { return false }
    }
    return try base.base.contains(key, in: tree)
  }

  /// Whether a put of `key` adds an entry.
  @inline(__always)
  private func isNew(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    let isBelow = try unsafe lastKey.isBelow(key, in: tree) { () throws(StoreError) in
      try present.tree(tree).lastKey()
    }
    return isBelow ? true : try !contains(key, in: tree)
  }

  /// Replaces the unstored values of an entry.
  func setUnstored(_ entry: UnstoredEntry, for key: RawSpan, in tree: TreeSlot) {
    unstored.set(entry, for: key, in: tree)
    changesUnstored = true
  }

  /// Removes the unstored values of an entry.
  ///
  /// - Parameter key: Nil for all entries of the tree.
  func removeUnstored(_ key: RawSpan?, in tree: TreeSlot) {
    if unstored.isEmpty { return }
    if let key { unstored.remove(key, in: tree) } else { unstored.removeAll(in: tree) }
  }

  private static func check(
    _ found: Int, _ limit: StoreError.Limit
  ) throws(StoreError) {
    if found > limit.bound { throw .limitExceeded(limit, found: found) }
  }

  private func state(_ tree: TreeSlot) {
    if unsafe statedTree == tree { return }
    let name = Array(names.name(of: tree).utf8)
    operations.appendTree(name.rawSpan)
    unsafe statedTree = tree
  }

  private func state(schemaVersion: UInt32) {
    if unsafe statedVersion == schemaVersion { return }
    operations.appendSchemaVersion(schemaVersion)
    unsafe statedVersion = schemaVersion
  }
}

// MARK: - Reading

extension Transaction {
  /// One tree with the changes made so far. Until the next change.
  ///
  /// - Throws: nothing, unless the transaction spills: then `.full`, `.io`, as `put` does.
  func tree(_ slot: TreeSlot) throws(StoreError) -> TransactionTree {
    guard let spill else { return TransactionTree(present.tree(slot)) }
    return try spill.tree(slot)
  }

  /// The state that the transaction began with, and those of its changes that are in memory. Valid until the next change.
  private var present: StoreState {
    var state = base
    state.fresh = editor.present
    return state
  }
}

// MARK: - Savepoints

extension Transaction {
  /// A moment that the transaction can go back to.
  struct Savepoint {
    fileprivate let overlay: OverlayEditor.Savepoint
    fileprivate let operations: Int
    /// Nil before anything was spilled.
    fileprivate let spill: Spill.Savepoint?
    fileprivate let unstored: UnstoredValues
  }

  /// The present moment.
  ///
  /// - Throws: nothing, unless the transaction spills: then `.full`, `.io`, as `put` does.
  func savepoint() throws(StoreError) -> Savepoint {
    let moment = try spill?.savepoint()
    if moment == nil { unsafe savepointCount += 1 }
    return Savepoint(
      overlay: editor.savepoint(), operations: operations.payloadCount, spill: moment,
      unstored: unstored)
  }

  /// Undoes everything since `savepoint`, which may be gone back to again.
  func rollBack(to savepoint: Savepoint) {
    unstored = savepoint.unstored
    if let moment = savepoint.spill {
      spill?.rollBack(to: moment)
      return
    }
    dropSpill()
    editor.rollBack(to: savepoint.overlay)
    operations.truncate(to: savepoint.operations)
    // What was stated may have been taken back, and removals of keys above the last one.
    unsafe statedTree = nil
    unsafe statedVersion = nil
    unsafe lastKey = LastKey()
  }

  /// Says that nobody goes back to `savepoint` any more, nor to later ones: then less has to be kept.
  func release(_ savepoint: Savepoint) {
    if let moment = savepoint.spill {
      spill?.release(moment)
    } else {
      unsafe savepointCount -= 1
      editor.release(savepoint.overlay)
    }
  }
}

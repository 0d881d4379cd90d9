/// Changes on top of a state, not committed yet, and what is read with them.
///
/// Everything happens twice: in the overlay, where this transaction and later ones read it, and as bytes
/// for the log. Nobody else sees either before the commit; aborting drops both.
///
/// A class of one owner on one thread, so accesses cannot overlap.
final class Transaction<Medium: FileSystem> {
  /// What it began with.
  let base: StoreState<Medium>
  private let names: TreeNames
  private let editor: OverlayEditor
  let operations: FrameBuffer
  /// What the operations written last were for; nil where the next one has to say it.
  @exclusivity(unchecked) private var statedTree: TreeSlot?
  @exclusivity(unchecked) private var statedVersion: UInt32?

  init(on base: StoreState<Medium>, names: TreeNames, operations: FrameBuffer) {
    self.base = base
    self.names = names
    self.operations = operations
    editor = OverlayEditor(over: base.fresh)
  }

  /// The state with the changes, for later ones to begin with. Then the transaction is over.
  func finish() -> Overlay { editor.finish() }

  /// Takes all changes back. Then the transaction is over.
  func abort() { editor.abort() }

  /// The bytes of the overlay with the changes in it.
  var byteCount: Int { editor.present.byteCount }

  /// What the trees would have to take in.
  var layers: FoldLayers<Medium> { FoldLayers([editor.present]) }

  /// Whether there is anything to commit.
  var isEmpty: Bool { operations.payloadCount == 0 }
}

// MARK: - Changing

extension Transaction {
  /// Gives `key` a value, whether or not it has one.
  ///
  /// - Complexity: O(log count): a lookup, to keep counts exact, and a change in memory.
  /// - Throws: `.limitExceeded`, `.corrupt`, `.io`; then nothing has changed.
  func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, in tree: TreeSlot
  ) throws(StoreError) {
    try Self.check(key.byteCount, .keyLength)
    try Self.check(value.byteCount, .valueLength)
    let isNew = try !contains(key, in: tree)
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
  }

  /// Takes `key` and its value out. False if it is not there.
  ///
  /// - Throws: `.corrupt`, `.io`; then nothing has changed.
  func remove(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    guard try contains(key, in: tree) else { return false }
    state(tree)
    operations.appendRemove(key: key)
    let isDone = editor.remove(key, in: tree)
    assert(isDone, "what was looked up a moment ago has not changed")
    return true
  }

  /// Takes out all entries of a tree.
  ///
  /// - Complexity: that of the overlay's entries in it. The trees are not looked at.
  func removeAll(in tree: TreeSlot) {
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
    return try base.base.tree(tree).entry(for: key) != nil
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
  /// One tree with the changes made so far.
  func tree(_ slot: TreeSlot) -> LayeredTree<Medium> {
    var state = base
    state.fresh = editor.present
    return state.tree(slot)
  }
}

// MARK: - Savepoints

extension Transaction {
  /// A moment that the transaction can go back to.
  struct Savepoint {
    fileprivate let overlay: OverlayEditor.Savepoint
    fileprivate let operations: Int
  }

  /// The present moment.
  func savepoint() -> Savepoint {
    Savepoint(overlay: editor.savepoint(), operations: operations.payloadCount)
  }

  /// Undoes everything since `savepoint`.
  func rollBack(to savepoint: Savepoint) {
    editor.rollBack(to: savepoint.overlay)
    operations.truncate(to: savepoint.operations)
    // What was stated may have been taken back.
    unsafe statedTree = nil
    unsafe statedVersion = nil
  }
}

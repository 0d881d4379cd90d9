/// One tree as a transaction has changed it so far. Until its next change.
///
///     changes   in the overlay of a spilled transaction, if there is one
///     runs      of a spilled transaction
///     loaded    by a spilled transaction: all keys come after those below
///     below     everything else; all there is where nothing was spilled
struct TransactionTree {
  private let changes: OverlayTree?
  /// Whose present the changes are of.
  private let editor: OverlayEditor?
  /// Newest first.
  private let runs: [Run]
  private let loaded: LoadedTrees
  private let below: LayeredTree
  private let largeValues: PageReader?

  /// A tree of a transaction that spilled nothing.
  init(_ tree: LayeredTree) {
    self.init(
      changes: nil, of: nil, runs: [], loaded: LoadedTrees(), below: tree, largeValues: nil)
  }

  /// - Parameter below: Without anything where changes or runs hide it.
  init(
    changes: OverlayTree?, of editor: OverlayEditor?, runs: [Run], loaded: LoadedTrees,
    below: LayeredTree, largeValues: PageReader?
  ) {
    self.changes = changes
    self.editor = editor
    self.runs = runs
    self.loaded = loaded
    self.below = below
    self.largeValues = largeValues
  }

  /// Whether nothing lies over `below`, nor after it.
  private var isPlain: Bool { isAppended && loaded.isEmpty }
  /// Whether nothing but loaded trees was added to `below`: these come after it, and change nothing in it.
  private var isAppended: Bool { runs.isEmpty && changes?.isEmpty ?? true }

  /// All of the tree; nil where the transaction has spilled changes of it.
  var whole: LayeredTree? { isPlain ? below : nil }
}

// MARK: Looking up

extension TransactionTree {
  /// Whether there is an entry of `key`.
  ///
  /// - Complexity: O(log count) for each run.
  /// - Throws: `.corrupt`, `.io`.
  func contains(_ key: RawSpan) throws(StoreError) -> Bool {
    if let change = changes?.reference(for: key) { return !change.isRemoval }
    let hash = runs.isEmpty ? 0 : TreeFilter.hash(key)
    for run in runs where run.filter.mayContain(hash) {
      switch try run.answer(for: key) {
      case .nothing: continue
      case .removal: return false
      case .put: return true
      }
    }
    if try loaded.entry(for: key) != nil { return true }
    return try below.contains(key)
  }

  /// Replaces `value` by that of `key`; false if there is none.
  ///
  /// - Complexity: that of `contains`.
  /// - Throws: `.corrupt`, `.io`.
  func copyValue(for key: RawSpan, to value: inout [UInt8]) throws(StoreError) -> Bool {
    if let change = changes?.reference(for: key) {
      value.assign(change.value)
      return !change.isRemoval
    }
    let hash = runs.isEmpty ? 0 : TreeFilter.hash(key)
    for run in runs where run.filter.mayContain(hash) {
      switch try run.answer(for: key) {
      case .nothing: continue
      case .removal:
        value.removeAll(keepingCapacity: true)
        return false
      case .put(let entry):
        value.removeAll(keepingCapacity: true)
        try run.append(entry, to: &value, largeValues: largeValues)
        return true
      }
    }
    if let (tree, entry) = try loaded.entry(for: key) {
      value.removeAll(keepingCapacity: true)
      try tree.append(entry, to: &value)
      return true
    }
    return try below.copyValue(for: key, to: &value)
  }

  /// Replaces `value` by that of `key`; nil if there is none.
  ///
  /// - Returns: the schema version of the entry; the highest there is for what the transaction has spilled, which
  ///   is of no older one than the program writes.
  func copyVersionedValue(
    for key: RawSpan, to value: inout [UInt8]
  ) throws(StoreError) -> UInt32? {
    if isPlain { return try below.copyVersionedValue(for: key, to: &value) }
    let isSpilled =
      if changes?.reference(for: key) != nil { true } else { try isInRun(key) }
    if !isSpilled { return try below.copyVersionedValue(for: key, to: &value) }
    return try copyValue(for: key, to: &value) ? .max : nil
  }

  private func isInRun(_ key: RawSpan) throws(StoreError) -> Bool {
    let hash = runs.isEmpty ? 0 : TreeFilter.hash(key)
    for run in runs where run.filter.mayContain(hash) {
      if case .nothing = try run.answer(for: key) { continue }
      return true
    }
    return try loaded.entry(for: key) != nil
  }

  /// The number of entries.
  ///
  /// - Complexity: Constant time; O(count) where the transaction spilled changes of the tree, as nobody looked
  ///   then whether keys were new. Loaded trees cost next to nothing.
  /// - Throws: `.corrupt`, `.io`.
  func count() throws(StoreError) -> Int {
    if isAppended { return below.count + loaded.count }
    let cursor = cursor()
    var count = 0
    var isOn = try cursor.first()
    while isOn {
      count += 1
      isOn = try cursor.next()
    }
    return count
  }

  /// The number of entries with keys below `key`.
  ///
  /// - Complexity: O(log count); O(count) where the transaction spilled changes of the tree.
  /// - Throws: `.corrupt`, `.io`.
  func rank(of key: RawSpan) throws(StoreError) -> Int {
    if isAppended { return try below.rank(of: key) + loaded.rank(of: key) }
    let cursor = cursor()
    var rank = 0
    var isOn = try cursor.first()
    while isOn, cursor.key.compare(key) < 0 {
      rank += 1
      isOn = try cursor.next()
    }
    return rank
  }

  /// The number of entries without what the transaction spilled, except loaded trees. Constant time.
  var estimatedCount: Int { below.count + loaded.count }

  /// About the number of entries from `low` on and below `high`, without what the transaction spilled, except
  /// loaded trees.
  ///
  /// - Complexity: O(log count).
  func estimatedCount(from low: RawSpan, upTo high: RawSpan) throws(StoreError) -> Int {
    let added = try loaded.isEmpty ? 0 : loaded.rank(of: high) - loaded.rank(of: low)
    return try below.estimatedCount(from: low, upTo: high) + max(0, added)
  }

  /// Moves a cursor of this tree to the entry with `offset` entries before it. False if there is none.
  ///
  /// - Complexity: O(log count); O(offset) where the transaction spilled changes of the tree.
  func seek(
    _ cursor: TransactionCursor, toOffset offset: Int
  ) throws(StoreError) -> Bool {
    guard offset >= 0 else { return false }
    if isAppended {
      let isBelow = offset < below.count
      let key =
        isBelow ? try below.key(atOffset: offset) : try loaded.key(atOffset: offset - below.count)
      guard let key else { return false }
      return try cursor.seek(to: key.rawSpan)
    }
    var isOn = try cursor.first()
    var left = offset
    while isOn, left > 0 {
      left -= 1
      isOn = try cursor.next()
    }
    return isOn
  }

  /// A cursor that stands nowhere yet.
  func cursor() -> TransactionCursor {
    var sources: [CursorSource] = []
    if let changes, let editor, !changes.isEmpty {
      sources.append(ChangesSource(changes, of: editor))
    }
    for run in runs { sources.append(RunSource(run, largeValues: largeValues)) }
    if !loaded.isEmpty { sources.append(LoadedSource(loaded)) }
    sources.append(BelowSource(below))
    return TransactionCursor(newestFirst: sources)
  }
}

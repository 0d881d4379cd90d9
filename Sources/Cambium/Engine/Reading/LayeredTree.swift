/// One tree of one state: a tree in pages, over it what a level says of it, and over both what overlays say.
///
/// It is read as long as the versions of its overlays may be: while they are pinned, say.
struct LayeredTree: Sendable {
  /// Newest first; only those that say something, and that nothing newer hides.
  private(set) var overlays: [OverlayTree] = []
  /// Nil also where an overlay hides it.
  let level: Level?
  /// Without a root where an overlay hides it.
  let base: Tree

  /// - Parameters:
  ///   - newest: What it changes from what lies below it here; so does `older`.
  ///   - older: Below it, if there are two.
  ///   - level: Between them and the base.
  @inline(__always)
  init(_ newest: OverlayTree, _ older: OverlayTree?, over base: Tree, under level: Level?) {
    var hidesBase = false
    if !newest.isEmpty {
      overlays.append(newest)
      hidesBase = newest.hidesBase
    }
    if let older, !older.isEmpty, !hidesBase {
      overlays.append(older)
      hidesBase = older.hidesBase
    }
    self.level = hidesBase ? nil : level
    self.base = hidesBase ? Tree(pages: base.pages, root: nil) : base
  }

  /// - Parameter overlays: Newest first. Each knows its changes from what lies below it here.
  init(overlays: [OverlayTree], over base: Tree, under level: Level? = nil) {
    var hidesBase = false
    for overlay in overlays where !overlay.isEmpty && !hidesBase {
      self.overlays.append(overlay)
      hidesBase = overlay.hidesBase
    }
    self.level = hidesBase ? nil : level
    self.base = hidesBase ? Tree(pages: base.pages, root: nil) : base
  }
}

// MARK: Looking up

extension LayeredTree {
  /// The entry of `key`.
  ///
  /// - Complexity: That of the tree's lookup, and of each overlay's; mostly those miss at the cost of a
  ///   cache line.
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  @inline(__always)
  func entry(for key: RawSpan) throws(StoreError) -> LayeredEntry? {
    for index in overlays.indices {
      guard let change = overlays[index].reference(for: key) else { continue }
      return change.isRemoval ? nil : LayeredEntry(change, of: self)
    }
    if let level {
      switch try level.answer(for: key) {
      case .put(let entry): return LayeredEntry(entry, of: self)
      case .removal: return nil
      case .nothing: break
      }
    }
    guard let entry = try base.entry(for: key) else { return nil }
    return LayeredEntry(entry, of: self)
  }

  /// Whether there is an entry of `key`.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @inline(never)
  func contains(_ key: RawSpan) throws(StoreError) -> Bool { try entry(for: key) != nil }

  /// Replaces `value` by that of `key`; false if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @inline(never)
  func copyValue(for key: RawSpan, to value: inout [UInt8]) throws(StoreError) -> Bool {
    value.removeAll(keepingCapacity: true)
    guard let entry = try entry(for: key) else { return false }
    try append(entry, to: &value)
    return true
  }

  /// Replaces `value` by that of `key`; nil if there is none.
  ///
  /// - Returns: the schema version of the entry.
  /// - Throws: `.corrupt`, `.io`.
  @inline(never)
  func copyVersionedValue(
    for key: RawSpan, to value: inout [UInt8]
  ) throws(StoreError) -> UInt32? {
    value.removeAll(keepingCapacity: true)
    guard let entry = try entry(for: key) else { return nil }
    try append(entry, to: &value)
    return entry.schemaVersion
  }

  /// Appends an entry's value, wherever it is.
  func append(_ entry: borrowing LayeredEntry, to value: inout [UInt8]) throws(StoreError) {
    if entry.isExternal {
      try base.pages.appendLargeValue(PageReference(decoding: entry.storedValue, at: 0), to: &value)
    } else {
      value.append(entry.storedValue)
    }
  }
}

// MARK: Counting

extension LayeredTree {
  /// The number of entries. Constant time.
  var count: Int {
    overlays.reduce(base.count + (level?.countChange ?? 0)) { $0 + $1.countChange }
  }

  /// The number of entries with keys below `key`.
  ///
  /// - Complexity: O(log count).
  /// - Throws: `.corrupt`, also where the counts beside the path do not add up; `.io`.
  func rank(of key: RawSpan) throws(StoreError) -> Int {
    var rank = try base.rank(of: key) + (level?.countChange(below: key) ?? 0)
    for index in overlays.indices { rank += overlays[index].countChange(below: key) }
    // The keys of a level in a hostile file may be any.
    return max(0, rank)
  }

  /// The number of entries with keys from `low` on and below `high`; nil is without bound.
  ///
  /// - Complexity: that of `rank(of:)`, twice.
  /// - Throws: what `rank(of:)` does.
  func count(from low: [UInt8]?, upTo high: [UInt8]?) throws(StoreError) -> Int {
    let end = if let high { try rank(of: high.rawSpan) } else { count }
    let start = if let low { try rank(of: low.rawSpan) } else { 0 }
    return max(0, end - start)
  }

  /// About the number of entries with keys from `low` on and below `high`.
  ///
  /// - Complexity: O(log count), less than that of `rank(of:)`.
  /// - Throws: `.corrupt`, `.io`.
  func estimatedCount(from low: RawSpan, upTo high: RawSpan) throws(StoreError) -> Int {
    var count = try base.estimatedCount(from: low, upTo: high)
    if let level { count += try level.estimatedCountChange(from: low, upTo: high) }
    for index in overlays.indices {
      count += overlays[index].countChange(below: high) - overlays[index].countChange(below: low)
    }
    return max(0, count)
  }
}

// MARK: Old entries

extension LayeredTree {
  /// The number of entries of schema versions below `version` for which a function returns true.
  ///
  /// - Parameter end: Entries from this key on do not count; nil for all.
  /// - Complexity: O(such entries + changes in overlays).
  /// - Throws: `.corrupt`, `.io`.
  func count(
    below version: UInt32, before end: [UInt8]? = nil,
    where isCounted: (_ value: RawSpan, _ version: UInt32) -> Bool
  ) throws(StoreError) -> Int {
    var count = 0
    try base.forEachEntry(below: version) { key, value, version throws(StoreError) in
      if let end, key.compare(end.rawSpan) >= 0 { return false }
      if isCounted(value, version), try !isChanged(key, inLevel: true) { count += 1 }
      return true
    }
    for part in [level?.added, level?.replaced].compactMap(\.self) {
      try part.forEachEntry(below: version) { key, value, version throws(StoreError) in
        if let end, key.compare(end.rawSpan) >= 0 { return false }
        if isCounted(value, version), try !isChanged(key, inLevel: false) { count += 1 }
        return true
      }
    }
    var changes = ChangesCursor(newestFirst: overlays)
    var isOn = changes.first()
    while isOn {
      if let end, changes.key.compare(end.rawSpan) >= 0 { break }
      if !changes.isRemoval, changes.schemaVersion < version,
        isCounted(changes.value, changes.schemaVersion)
      {
        count += 1
      }
      isOn = changes.next()
    }
    return count
  }

  /// Returns true if an overlay says something of a key, or the level does.
  private func isChanged(_ key: RawSpan, inLevel: Bool) throws(StoreError) -> Bool {
    for index in overlays.indices where overlays[index].reference(for: key) != nil { return true }
    guard inLevel, let level else { return false }
    if case .nothing = try level.answer(for: key) { return false }
    return true
  }
}

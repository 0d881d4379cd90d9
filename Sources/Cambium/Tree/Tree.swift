/// An ordered map from keys to values, as one published state has it. It never changes.
struct Tree: Sendable {
  let pages: PageReader
  /// Nil for a tree without entries.
  let root: TreeRoot?

  /// The number of entries. Constant time.
  var count: Int { Int(clamping: root?.reference.count ?? 0) }

  /// The bytes of the pages the tree is made of. Constant time.
  var liveBytes: Int { Int(clamping: root?.reference.liveBytes ?? 0) }

  /// The lowest schema version of an entry; nil for a tree without entries. Constant time.
  var lowestVersion: UInt32? { root?.reference.lowestVersion }
}

/// A key's entry, in the leaf that holds it.
struct LeafEntry: Sendable {
  let page: Page
  let slot: Int

  /// The value, or the reference to its pages if it is external.
  var storedValue: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { Node(page.bytes).value(slot) }
  }

  /// The entry of another slot of the same leaf.
  func moved(to slot: Int) -> LeafEntry { LeafEntry(page: page, slot: slot) }

  var isExternal: Bool { Node(page.bytes).isExternal(slot) }
  var schemaVersion: UInt32 { Node(page.bytes).schemaVersion }
}

// MARK: Looking up

extension Tree {
  /// The entry of `key`.
  ///
  /// - Complexity: O(log count); with branches in the cache, three cache misses.
  /// - Throws: `.corrupt`, `.io`.
  @inline(__always)
  func entry(for key: RawSpan) throws(StoreError) -> LeafEntry? {
    guard let root else { return nil }
    var reference = root.reference
    var level = root.level
    while level > 0 {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      reference = node.child(node.childIndex(for: key))
      level -= 1
    }
    pages.prefetch(reference, keys: Int(truncatingIfNeeded: reference.count))
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    guard let slot = node.slot(of: key, from: node.firstSlot(notBelowHeadOf: key)) else {
      return nil
    }
    return LeafEntry(page: page, slot: slot)
  }

  /// Replaces `value` by that of `key`; false if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func copyValue(for key: RawSpan, to value: inout [UInt8]) throws(StoreError) -> Bool {
    value.removeAll(keepingCapacity: true)
    guard let entry = try entry(for: key) else { return false }
    try append(entry, to: &value)
    return true
  }

  /// Appends an entry's value, wherever it is.
  func append(_ entry: LeafEntry, to value: inout [UInt8]) throws(StoreError) {
    if entry.isExternal {
      try pages.appendLargeValue(
        PageReference(decoding: entry.storedValue, at: 0), to: &value)
    } else {
      value.append(entry.storedValue)
    }
  }
}

// MARK: Counting

extension Tree {
  /// The number of entries with keys below `key`: from the aggregates beside the path to it.
  ///
  /// - Complexity: O(log count), and the children of the branches on the path.
  /// - Throws: `.corrupt`, also where the counts beside the path do not add up; `.io`.
  func rank(of key: RawSpan) throws(StoreError) -> Int {
    guard let root else { return 0 }
    var rank: UInt64 = 0
    var reference = root.reference
    var level = root.level
    while level > 0 {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      try node.checkCount(reference)
      let index = node.childIndex(for: key)
      rank += node.count(before: index)
      reference = node.child(index)
      level -= 1
    }
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    try node.checkCount(reference)
    return Int(clamping: rank + UInt64(node.search(key).slot))
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
}

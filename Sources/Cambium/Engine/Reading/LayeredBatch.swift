/// The entries of several keys, looked up together: what each waits for is asked for before any of them waits.
///
/// Of use as long as the tree they were found in.
struct LayeredBatch {
  /// In step with the keys, unless overlays say something of all of them.
  private var leaves: [LeafEntry?] = []
  /// In step with the keys where overlays say something; else empty.
  private var changes: [EntryReference?] = []

  /// Replaces the entries by those of `keys`, in their order.
  ///
  /// - Complexity: as many lookups, at about half the time each where leaves are not in the cache.
  /// - Throws: `.corrupt`, `.io`.
  mutating func find(
    _ keys: borrowing KeyBatch, in tree: LayeredTree
  ) throws(StoreError) {
    changes.removeAll(keepingCapacity: true)
    if !tree.overlays.isEmpty {
      for _ in 0..<keys.count { changes.append(nil) }
      for index in tree.overlays.indices {
        tree.overlays[index].find(keys, filling: &changes)
      }
      if changes.allSatisfy({ $0 != nil }) { return }
    }
    try tree.base.find(keys, to: &leaves)
    try tree.level?.find(keys, over: &leaves)
  }

  /// The entry of a key; nil if there is none.
  @_lifetime(borrow self)
  @inline(__always)
  func entry(_ index: Int) -> LayeredEntry? {
    if !changes.isEmpty, let change = changes[index] {
      return change.isRemoval ? nil : LayeredEntry(change, of: self)
    }
    guard let leaf = leaves[index] else { return nil }
    return LayeredEntry(leaf, of: self)
  }
}

/// The entry of one key, to be kept as long as the tree it was found in.
struct KeptEntry {
  private var leaf: LeafEntry?
  private var change: EntryReference?

  /// Replaces the entry by that of `key`. False if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  mutating func find(
    _ key: RawSpan, in tree: LayeredTree
  ) throws(StoreError) -> Bool {
    change = tree.change(of: key)
    if let change { return !change.isRemoval }
    switch try tree.level?.answer(for: key) ?? .nothing {
    case .put(let entry): leaf = entry
    case .removal: leaf = nil
    case .nothing: leaf = try tree.base.entry(for: key)
    }
    return leaf != nil
  }

  /// The value, or the reference to its pages if it is external; nothing without an entry.
  var storedValue: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      if let change { return unsafe _overrideLifetime(change.value, borrowing: self) }
      guard let leaf else { return RawSpan() }
      return unsafe _overrideLifetime(leaf.storedValue, borrowing: self)
    }
  }

  var isExternal: Bool { change == nil && leaf?.isExternal ?? false }

  /// Appends the value, which has pages of its own.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func append(
    to value: inout [UInt8], in tree: LayeredTree
  ) throws(StoreError) {
    if let leaf { try tree.base.append(leaf, to: &value) }
  }
}

extension LayeredTree {
  /// What the newest overlay that knows the key says of it.
  @inline(__always)
  fileprivate func change(of key: RawSpan) -> EntryReference? {
    for index in overlays.indices {
      if let change = overlays[index].reference(for: key) { return change }
    }
    return nil
  }
}

/// The entries of several keys, looked up together: what each waits for is asked for before any of them waits.
///
/// Of use as long as the tree they were found in.
struct LayeredBatch {
  private var leaves: [LeafEntry?] = []
  /// In step with the keys where overlays say something; else empty.
  private var changes: [EntryReference?] = []

  /// Replaces the entries by those of `keys`, in their order.
  ///
  /// - Complexity: as many lookups, at about half the time each where leaves are not in the cache.
  /// - Throws: `.corrupt`, `.io`.
  mutating func find<Medium: FileSystem>(
    _ keys: borrowing KeyBatch, in tree: LayeredTree<Medium>
  ) throws(StoreError) {
    try tree.base.find(keys, to: &leaves)
    changes.removeAll(keepingCapacity: true)
    if tree.overlays.isEmpty { return }
    for index in 0..<keys.count {
      var change: EntryReference?
      for overlay in tree.overlays.indices where change == nil {
        change = tree.overlays[overlay].reference(for: keys.key(index))
      }
      changes.append(change)
    }
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

/// Knows a key that no key of a tree is above, once several puts have gone into that tree: puts above it need no lookup.
///
/// It is looked for again at the 8th put, the 16th, and so on, so that puts in any order pay little for it. Removing keys
/// keeps it true. Going back to a savepoint does not: keys that were removed are in the tree again.
struct LastKey {
  private var tree: TreeSlot?
  private var count = 0
  private var bound: [UInt8] = []
  private var isKnown = false

  /// The number of puts into one tree before its last key is looked for.
  private static var countMin: Int { 8 }

  /// Whether `key` is above all keys of `tree`; it counts as one of them from now on.
  ///
  /// - Parameter find: Returns the last key of the tree, `nil` if it has no entries.
  /// - Returns: False also if that is not known.
  @inline(__always)
  mutating func isBelow(
    _ key: RawSpan, in tree: TreeSlot, or find: () throws(StoreError) -> [UInt8]?
  ) throws(StoreError) -> Bool {
    if self.tree == tree, isKnown {
      guard bound.rawSpan.compare(key) < 0 else { return false }
      bound.assign(key)
      return true
    }
    return try look(key, in: tree, or: find)
  }

  @inline(never)
  private mutating func look(
    _ key: RawSpan, in tree: TreeSlot, or find: () throws(StoreError) -> [UInt8]?
  ) throws(StoreError) -> Bool {
    if self.tree != tree {
      self.tree = tree
      count = 0
      isKnown = false
    }
    count += 1
    guard count >= Self.countMin, count & (count - 1) == 0 else { return false }
    if let last = try find(), last.rawSpan.compare(key) >= 0 { return false }
    bound.assign(key)
    isKnown = true
    return true
  }
}

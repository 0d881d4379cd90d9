/// Entries that a transaction put after the last key of a tree, in ascending order, as a tree of their own.
///
/// Its pages are those that the store will have: the commit links them after the tree, and writes again only the nodes
/// at the edges of both. No key of it is in an older layer of the transaction, nor in any state below.
struct LoadedTree: Sendable {
  let tree: Tree
  /// Above all older keys of the tree, and not above any of these; empty if there are no older keys.
  let separator: [UInt8]
  /// No key of it is above this one.
  let lastKey: [UInt8]
  /// The segments that it is in.
  let load: Load
}

/// The trees that a transaction loaded after the keys of one tree, read as one.
struct LoadedTrees: Sendable {
  /// Ascending, none without entries.
  private(set) var trees: [LoadedTree] = []

  var isEmpty: Bool { trees.isEmpty }

  /// The number of entries.
  ///
  /// - Complexity: O(trees).
  var count: Int { trees.reduce(0) { $0 + $1.tree.count } }

  /// Adds a tree whose keys are above all others.
  mutating func append(_ tree: LoadedTree) {
    trees.append(tree)
  }

  /// Returns the index of the tree that has `key`, if any has; `nil` if the key is before all of them.
  ///
  /// - Complexity: O(log trees).
  static func index(for key: RawSpan, in trees: [LoadedTree]) -> Int? {
    var low = 0
    var high = trees.count
    while low < high {
      let middle = (low + high) / 2
      let separator = trees[middle].separator
      if separator.rawSpan.compare(key) <= 0 {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low > 0 ? low - 1 : nil
  }

  /// Returns the entry of `key` with the tree that it is in.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @inline(never)
  func entry(for key: RawSpan) throws(StoreError) -> (tree: Tree, entry: LeafEntry)? {
    guard let index = Self.index(for: key, in: trees) else { return nil }
    let tree = trees[index].tree
    guard let entry = try tree.entry(for: key) else { return nil }
    return (tree, entry)
  }

  /// Returns the number of entries with keys below `key`.
  ///
  /// - Complexity: O(trees + log count).
  /// - Throws: `.corrupt`, `.io`.
  func rank(of key: RawSpan) throws(StoreError) -> Int {
    guard let index = Self.index(for: key, in: trees) else { return 0 }
    let before = trees[..<index].reduce(0) { $0 + $1.tree.count }
    return before + (try trees[index].tree.rank(of: key))
  }

  /// Returns the key of the entry with `offset` entries before it; `nil` if there is none.
  ///
  /// - Complexity: O(trees + log count).
  /// - Throws: `.corrupt`, `.io`.
  func key(atOffset offset: Int) throws(StoreError) -> [UInt8]? {
    var rest = offset
    for loaded in trees {
      if rest < loaded.tree.count { return try loaded.tree.key(atOffset: rest) }
      rest -= loaded.tree.count
    }
    return nil
  }
}

extension LoadedTrees {
  /// The trees as a merge takes them.
  var following: [FollowingTree] {
    trees.compactMap { loaded in
      loaded.tree.root.map { FollowingTree(root: $0, separator: loaded.separator) }
    }
  }
}

/// One tree of one version of an overlay: what became of its keys. Of use as long as the version.
struct OverlayTree: @unchecked Sendable {
  let arena: OverlayArena
  let tree: TreeSlot
  private let state: TreeState

  @inline(__always)
  init(_ arena: OverlayArena, _ tree: TreeSlot, _ state: TreeState) {
    self.arena = arena
    self.tree = tree
    self.state = state
  }

  /// Whether the version has nothing to say of the tree.
  var isEmpty: Bool { state.isEmpty }

  /// Whether what lies below the overlay does not count.
  var hidesBase: Bool { state.hidesBase }

  var entryCount: Int { Int(state.entryCount) }

  var root: OverlayNode? { state.root }

  /// By how many the tree has more entries than what lies below the overlay, or, if that does not
  /// count, how many it has. Constant time.
  var countChange: Int { state.change }
}

// MARK: Looking up

extension OverlayTree {
  /// What became of `key`; nil if nothing did.
  ///
  /// - Complexity: O(log entries); mostly one cache miss if there is no such entry.
  @inline(__always)
  func reference(for key: RawSpan) -> EntryReference? {
    guard let root = state.root, mayContain(key) else { return nil }
    return root.reference(for: key)
  }

  /// False if nothing became of `key` in any tree of the overlay.
  @inline(__always)
  func mayContain(_ key: RawSpan) -> Bool {
    arena.filter.mayContain(KeyFilter.hash(key, seed: UInt64(tree.number)))
  }

  /// By how many the tree has more entries below `key` than what lies below the overlay.
  ///
  /// - Complexity: O(log entries).
  func countChange(below key: RawSpan) -> Int {
    guard var node = state.root else { return 0 }
    var change = 0
    while !node.isLeaf {
      let index = node.childIndex(for: key)
      for before in 0..<index { change += node.change(before) }
      node = node.child(index)
    }
    for slot in 0..<node.search(key).slot { change += node.reference(slot).effect.change }
    return change
  }
}

extension OverlayNode {
  /// The entry of `key` below this node.
  ///
  /// Most keys that get past the filter are there. So the way is guessed at first, as if `key` had each
  /// node's prefix, and a key found is right however it was come by; only if none is, the prefixes are
  /// compared, which costs a cache miss each.
  @inline(never)
  fileprivate func reference(for key: RawSpan) -> EntryReference? {
    var node = self
    var hasPrefixes = false
    while true {
      if node.prefixLength > 0 { hasPrefixes = true }
      if node.isLeaf { break }
      let result = node.guess(key, from: 1)
      node = node.child(result.isFound ? result.slot : result.slot - 1)
      node.prefetchHeads()
    }
    let result = node.guess(key)
    if result.isFound { return node.reference(result.slot) }
    return hasPrefixes ? surelyReference(for: key) : nil
  }

  @inline(never)
  private func surelyReference(for key: RawSpan) -> EntryReference? {
    var node = self
    while !node.isLeaf { node = node.child(node.childIndex(for: key)) }
    let result = node.search(key)
    return result.isFound ? node.reference(result.slot) : nil
  }
}

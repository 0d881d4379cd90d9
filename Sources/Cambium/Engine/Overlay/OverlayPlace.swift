/// Where a key is in a tree, or would be; and how the tree is changed there.
struct OverlayPlace {
  private var path = OverlayPath()
  private(set) var leaf: OverlayNode
  private(set) var slot: Int
  let isFound: Bool

  @inline(__always)
  init(of key: RawSpan, below root: OverlayNode) {
    var node = root
    while !node.isLeaf {
      let index = node.childIndex(for: key)
      path.append(node, index)
      node = node.child(index)
      node.prefetchHeads()
    }
    leaf = node
    let result = node.search(key)
    slot = result.slot
    isFound = result.isFound
  }

  /// What the entry of the key does; nil if there is none.
  @inline(__always)
  var effect: EntryEffect? { isFound ? leaf.reference(slot).effect : nil }

  var root: OverlayNode { path.depth == 0 ? leaf : path[0].node }

  /// Copies those nodes of the path that other versions have, and adds to the sums above the leaf.
  @inline(__always)
  mutating func own(in arena: OverlayArena, at stamp: Stamp, adding change: Int) {
    for depth in 0..<path.depth {
      let node = Self.owned(path[depth].node, in: arena, at: stamp)
      let index = path[depth].index
      if change != 0 { node.setChange(node.change(index) + change, index) }
      path[depth].node = node
      if depth > 0 { path[depth - 1].node.setChild(node, path[depth - 1].index) }
    }
    leaf = Self.owned(leaf, in: arena, at: stamp)
    if path.depth > 0 {
      path[path.depth - 1].node.setChild(leaf, path[path.depth - 1].index)
    }
  }

  @inline(__always)
  private static func owned(
    _ node: OverlayNode, in arena: OverlayArena, at stamp: Stamp
  ) -> OverlayNode {
    if node.born >= stamp { return node }
    let copy = arena.makeNode(level: node.level, born: stamp)
    node.copyContents(to: copy)
    arena.retire(node, at: stamp)
    return copy
  }
}

// MARK: Inserting

extension OverlayPlace {
  /// Inserts an entry into the leaf, whose path is owned and has its change in the sums.
  @inline(__always)
  mutating func insert(_ entry: EntryReference, in arena: OverlayArena, at stamp: Stamp) {
    if leaf.count < arena.nodeCapacity {
      leaf.open(slot)
      leaf.setKey(entry, slot)
      return
    }
    let target = leaf.divide(for: slot, in: arena, at: stamp)
    target.node.open(target.slot)
    target.node.setKey(entry, target.slot)
    addSibling(target.sibling, at: path.depth - 1, in: arena, at: stamp)
  }

  /// Links the node that was split off the path's node below `depth`.
  private mutating func addSibling(
    _ sibling: OverlayNode, at depth: Int, in arena: OverlayArena, at stamp: Stamp
  ) {
    guard depth >= 0 else { return addRoot(with: sibling, in: arena, at: stamp) }
    let node = path[depth].node
    let index = path[depth].index
    let change = sibling.sum
    node.setChange(node.change(index) - change, index)
    if node.count < arena.nodeCapacity {
      node.insert(sibling, change, at: index + 1)
      return
    }
    let target = node.divide(for: index + 1, in: arena, at: stamp)
    target.node.insert(sibling, change, at: target.slot)
    addSibling(target.sibling, at: depth - 1, in: arena, at: stamp)
  }

  private mutating func addRoot(
    with sibling: OverlayNode, in arena: OverlayArena, at stamp: Stamp
  ) {
    let old = root
    let new = arena.makeNode(level: old.level + 1, born: stamp)
    new.insert(old, old.sum, at: 0, separator: .none)
    new.insert(sibling, sibling.sum, at: 1)
    var path = OverlayPath()
    path.append(new, 0)
    self.path = path
  }
}

extension OverlayNode {
  /// What the entries of a leaf, or below a branch, add up to.
  fileprivate var sum: Int {
    var sum = 0
    for slot in 0..<count { sum += isLeaf ? reference(slot).effect.change : change(slot) }
    return sum
  }

  fileprivate func insert(_ child: OverlayNode, _ change: Int, at slot: Int) {
    insert(child, change, at: slot, separator: child.reference(0))
  }

  fileprivate func insert(
    _ child: OverlayNode, _ change: Int, at slot: Int, separator: EntryReference
  ) {
    open(slot)
    setKey(separator, slot)
    setChild(child, slot)
    setChange(change, slot)
  }

  /// Divides a full node that is to take in something at `slot`.
  ///
  /// Where that is the end, the sibling gets it alone: keys that come in order leave full nodes behind.
  /// - Returns: the new sibling behind the node, and where of the two the slot now is.
  fileprivate func divide(
    for slot: Int, in arena: OverlayArena, at stamp: Stamp
  ) -> (sibling: OverlayNode, node: OverlayNode, slot: Int) {
    let sibling = arena.makeNode(level: level, born: stamp)
    let middle = slot == count ? count : count / 2
    if middle == count { choosePrefix() }
    sibling.prefixLength = prefixLength
    // What comes in order goes on as it was.
    if middle == count { return (sibling, sibling, 0) }
    moveSlots(from: middle, toEndOf: sibling)
    choosePrefix()
    sibling.choosePrefix()
    return slot <= middle ? (sibling, self, slot) : (sibling, sibling, slot - middle)
  }
}

// MARK: Deleting

extension OverlayPlace {
  /// Deletes the entry, whose path is owned and has its change in the sums, and nodes left empty.
  ///
  /// Others are not merged with their neighbors: where more is inserted than deleted, as into an
  /// overlay, freeing nodes when they are empty keeps them about as full. (Johnson and Shasha,
  /// "B-trees with inserts and deletes: why free-at-empty is better than merge-at-half", 1993.)
  /// - Returns: the root, nil if there is no entry left.
  mutating func delete(in arena: OverlayArena, at stamp: Stamp) -> OverlayNode? {
    leaf.close(slot)
    if leaf.count > 0 { return root }
    arena.retire(leaf, at: stamp)
    var depth = path.depth
    while depth > 0 {
      depth -= 1
      let node = path[depth].node
      node.close(path[depth].index)
      if node.count > 0 { return Self.lowered(path[0].node, in: arena, at: stamp) }
      arena.retire(node, at: stamp)
    }
    return nil
  }

  /// The root without branches above it that have one child.
  private static func lowered(
    _ root: OverlayNode, in arena: OverlayArena, at stamp: Stamp
  ) -> OverlayNode {
    var root = root
    while !root.isLeaf, root.count == 1 {
      let child = root.child(0)
      arena.retire(root, at: stamp)
      root = child
    }
    return root
  }
}

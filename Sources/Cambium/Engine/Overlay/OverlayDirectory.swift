/// What an overlay holds of one tree.
struct TreeState: BitwiseCopyable, Equatable {
  /// Nil if there is no entry.
  var root: OverlayNode?
  /// What the entries add up to.
  var change = 0
  var entryCount: UInt32 = 0
  /// Whether what lies below the overlay does not count.
  var hidesBase = false

  /// Whether the overlay has nothing to say of the tree.
  var isEmpty: Bool { root == nil && !hidesBase }
}

/// The states of an overlay's trees by their slots: a trie of nodes in the arena, 16 to a node, so
/// that a version shares with the one before it what it did not change.
struct OverlayDirectory: Equatable {
  static let fanOut = 16
  private static let bitsPerLevel: UInt32 = 4
  /// Above that of every branch, which tells the nodes apart when they are looked at.
  private static let nodeLevel = 1 << 8

  fileprivate var root: OverlayNode?
  /// The nodes from the root to a state.
  fileprivate var height = 0

  init() {}

  /// Which slot of a node leads to `tree`, `height` nodes above its state's.
  @inline(__always)
  private static func index(_ tree: TreeSlot, _ height: Int) -> Int {
    Int(tree.number >> (UInt32(height) * bitsPerLevel)) & (fanOut - 1)
  }

  /// Whether `tree` is among those the directory has room for.
  @inline(__always)
  private func reaches(_ tree: TreeSlot) -> Bool {
    height > 0 && UInt64(tree.number) >> (UInt64(height) * UInt64(Self.bitsPerLevel)) == 0
  }

  @inline(__always)
  subscript(_ tree: TreeSlot) -> TreeState {
    guard var node = root, reaches(tree) else { return TreeState() }
    var height = height - 1
    while height > 0 {
      let next = node.content(Self.index(tree, height), as: OverlayNode?.self)
      guard let next else { return TreeState() }
      node = next
      height -= 1
    }
    return node.content(Self.index(tree, 0), as: TreeState.self)
  }
}

// MARK: Changing

extension OverlayDirectory {
  /// Sets the state of `tree`, in nodes that were made at `stamp`.
  @inline(__always)
  mutating func set(_ state: TreeState, of tree: TreeSlot, in arena: OverlayArena, at stamp: Stamp)
  {
    while !reaches(tree) { grow(in: arena, at: stamp) }
    guard let top = root else { preconditionFailure("a directory that reaches has a root") }
    var node = Self.writable(top, isLowest: height == 1, in: arena, at: stamp)
    root = node
    var height = height - 1
    while height > 0 {
      let index = Self.index(tree, height)
      let child = node.content(index, as: OverlayNode?.self)
      let isLowest = height == 1
      let next =
        child.map { Self.writable($0, isLowest: isLowest, in: arena, at: stamp) }
        ?? Self.makeNode(isLowest: isLowest, in: arena, at: stamp)
      node.setContent(Optional(next), index)
      node = next
      height -= 1
    }
    node.setContent(state, Self.index(tree, 0))
  }

  /// Puts a root above the root.
  private mutating func grow(in arena: OverlayArena, at stamp: Stamp) {
    let isLowest = height == 0
    let node = Self.makeNode(isLowest: isLowest, in: arena, at: stamp)
    if !isLowest { node.setContent(root, 0) }
    root = node
    height += 1
  }

  private static func makeNode(
    isLowest: Bool, in arena: OverlayArena, at stamp: Stamp
  ) -> OverlayNode {
    let node = arena.makeNode(level: nodeLevel, born: stamp)
    for index in 0..<fanOut {
      if isLowest {
        node.setContent(TreeState(), index)
      } else {
        node.setContent(OverlayNode?.none, index)
      }
    }
    return node
  }

  @inline(__always)
  private static func writable(
    _ node: OverlayNode, isLowest: Bool, in arena: OverlayArena, at stamp: Stamp
  ) -> OverlayNode {
    if node.born == stamp { return node }
    let copy = arena.makeNode(level: nodeLevel, born: stamp)
    let stride = isLowest ? MemoryLayout<TreeState>.stride : MemoryLayout<OverlayNode?>.stride
    node.copyContent(fanOut * stride, to: copy)
    arena.retire(node, at: stamp)
    return copy
  }
}

// MARK: Walking

extension OverlayDirectory {
  /// Calls `body` with every tree that has anything, in order of their slots.
  func forEachTree(_ body: (TreeSlot, TreeState) -> Void) {
    if let root { Self.visit(root, height: height - 1, from: 0, body) }
  }

  private static func visit(
    _ node: OverlayNode, height: Int, from first: UInt32, _ body: (TreeSlot, TreeState) -> Void
  ) {
    for index in 0..<fanOut {
      let number = (first << bitsPerLevel) + UInt32(index)
      if height == 0 {
        let state = node.content(index, as: TreeState.self)
        if !state.isEmpty { body(TreeSlot(number), state) }
      } else if let child = node.content(index, as: OverlayNode?.self) {
        visit(child, height: height - 1, from: number, body)
      }
    }
  }

  /// The directory's own nodes.
  var nodeCount: Int { root.map { Self.nodeCount($0, height: height - 1) } ?? 0 }

  private static func nodeCount(_ node: OverlayNode, height: Int) -> Int {
    if height == 0 { return 1 }
    return (0..<fanOut).reduce(1) { sum, index in
      let child = node.content(index, as: OverlayNode?.self)
      return sum + (child.map { nodeCount($0, height: height - 1) } ?? 0)
    }
  }
}

/// Finds the last entry of an overlay's tree whose key is not behind a place that only the caller can
/// compare with: it offers keys, and goes on by what he says of them.
///
/// - Complexity: O(log entries) questions.
struct OverlayBisection {
  private var path = OverlayPath()
  private var node: OverlayNode?
  /// The slots of the node that are yet to be told apart.
  private var low = 0
  private var high = 0
  private let tree: OverlayTree

  init(_ tree: OverlayTree) {
    self.tree = tree
    if let root = tree.root { begin(root) }
  }

  private mutating func begin(_ node: OverlayNode) {
    self.node = node
    low = node.isLeaf ? 0 : 1
    high = node.count
  }

  private var middle: Int { (low + high) / 2 }

  /// The key to compare; nil if the place is found.
  mutating func nextKey() -> [UInt8]? {
    while let node {
      if low < high { return node.reference(middle).key.array() }
      if node.isLeaf { return nil }
      path.append(node, low - 1)
      begin(node.child(low - 1))
    }
    return nil
  }

  /// Says whether the key asked for last is behind the place.
  mutating func answer(isBehind: Bool) {
    if isBehind { high = middle } else { low = middle + 1 }
  }

  /// A cursor on the last entry not behind the place; nil if there is none.
  consuming func entry() -> OverlayCursor? {
    guard let node else { return nil }
    return OverlayCursor(tree, path, leaf: node, slotBefore: low)
  }
}

@testable import Cambium

extension Overlay {
  /// Every fault of the version's nodes, in words. There should be none.
  func faults() -> [String] {
    var check = OverlayCheck(arena.nodeCapacity)
    var entryCount = 0
    for tree in trees {
      check.tree = tree
      entryCount += check.run(directory[tree])
    }
    check.expect(entryCount == self.entryCount, "\(self.entryCount) entries, found \(entryCount)")
    return check.faults
  }

  /// The nodes that the version is made of.
  var nodeCount: Int {
    trees.reduce(0) { $0 + (directory[$1].root?.nodeCount ?? 0) }
  }
}

extension OverlayNode {
  fileprivate var nodeCount: Int {
    if isLeaf { return 1 }
    return (0..<count).reduce(1) { $0 + child($1).nodeCount }
  }
}

private struct OverlayCheck {
  private let capacity: Int
  var tree = TreeSlot(0)
  private(set) var faults: [String] = []

  init(_ capacity: Int) {
    self.capacity = capacity
  }

  mutating func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { faults.append("tree \(tree.number): \(text())") }
  }

  mutating func run(_ state: TreeState) -> Int {
    guard let root = state.root else {
      expect(state.entryCount == 0 && state.change == 0, "sums without entries")
      return 0
    }
    let found = visit(root, level: root.level, low: nil, high: nil)
    expect(found.change == state.change, "change \(state.change), found \(found.change)")
    expect(found.entryCount == state.entryCount, "\(state.entryCount), \(found.entryCount)")
    if state.hidesBase { expect(found.change == found.entryCount, "an entry on what is hidden") }
    return found.entryCount
  }

  private mutating func visit(
    _ node: OverlayNode, level: Int, low: [UInt8]?, high: [UInt8]?
  ) -> (change: Int, entryCount: Int) {
    expect(node.born != .none, "a free node is reached")
    expect(node.level == level, "level \(node.level), not \(level)")
    expect(node.count > 0 && node.count <= capacity, "\(node.count) slots")
    checkKeys(of: node, low: low, high: high)
    if node.isLeaf {
      let changes = (0..<node.count).map { node.reference($0).effect.change }
      return (changes.reduce(0, +), node.count)
    }
    var sum = (change: 0, entryCount: 0)
    for index in 0..<node.count {
      let isLast = index + 1 == node.count
      let found = visit(
        node.child(index), level: level - 1,
        low: index == 0 ? low : node.reference(index).key.array(),
        high: isLast ? high : node.reference(index + 1).key.array())
      expect(found.change == node.change(index), "sum \(node.change(index)), \(found.change)")
      sum.change += found.change
      sum.entryCount += found.entryCount
    }
    return sum
  }

  private mutating func checkKeys(of node: OverlayNode, low: [UInt8]?, high: [UInt8]?) {
    let keys = (node.isLeaf ? 0 : 1)..<max(1, node.count)
    var previous = low
    for slot in keys where slot < node.count {
      let reference = node.reference(slot)
      let key = reference.key.array()
      if let previous {
        let order = key.rawSpan.compare(previous.rawSpan)
        expect(order > 0 || (order == 0 && slot == keys.lowerBound), "keys do not ascend")
      }
      if let high { expect(key.rawSpan.compare(high.rawSpan) < 0, "a key behind its branch") }
      expect(node.head(slot) == reference.key.head(node.prefixLength), "a wrong head")
      let last = node.reference(node.count - 1)
      let common = last.key.commonPrefix(with: reference.key, atMost: node.prefixLength)
      expect(common == node.prefixLength, "a key without the prefix")
      previous = key
    }
  }
}

extension Tree {
  /// About the number of entries with keys from `low` on and below `high`: exact where those are in one leaf, else
  /// wrong by as many as there are at most, or by a leaf.
  ///
  /// - Complexity: O(log count): one way down as far as it is the same for both, then as far as it matters.
  /// - Throws: `.corrupt`, `.io`.
  func estimatedCount(from low: RawSpan, upTo high: RawSpan) throws(StoreError) -> Int {
    guard let root else { return 0 }
    var reference = root.reference
    var level = root.level
    while level > 0 {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      let (first, last) = (node.childIndex(for: low), node.childIndex(for: high))
      if first < last {
        let between = node.count(from: first + 1, upTo: last)
        let (one, other) = (node.child(first), node.child(last))
        let behind = try estimatedCount(behind: low, below: one, level: level - 1, beside: between)
        let before = try estimatedCount(
          before: high, below: other, level: level - 1, beside: between)
        return Int(clamping: between &+ behind &+ before)
      }
      if first > last { return 0 }
      reference = node.child(first)
      level -= 1
    }
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    return max(0, node.search(high).slot - node.search(low).slot)
  }

  /// About the entries below a node with keys from `low` on.
  ///
  /// - Parameter known: How many are counted already, which half of a child need not be exact beside.
  private func estimatedCount(
    behind low: RawSpan, below reference: PageReference, level: UInt8, beside known: UInt64
  ) throws(StoreError) -> UInt64 {
    var (reference, level, count) = (reference, level, UInt64(0))
    while level > 0, reference.count > known &+ count {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      let child = node.childIndex(for: low)
      count &+= node.count(from: child + 1, upTo: node.childCount)
      reference = node.child(child)
      level -= 1
    }
    return count &+ reference.count / 2
  }

  /// About the entries below a node with keys below `high`.
  private func estimatedCount(
    before high: RawSpan, below reference: PageReference, level: UInt8, beside known: UInt64
  ) throws(StoreError) -> UInt64 {
    var (reference, level, count) = (reference, level, UInt64(0))
    while level > 0, reference.count > known &+ count {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      let child = node.childIndex(for: high)
      count &+= node.count(from: 0, upTo: child)
      reference = node.child(child)
      level -= 1
    }
    return count &+ reference.count / 2
  }
}

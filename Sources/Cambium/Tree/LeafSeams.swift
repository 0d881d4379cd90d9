/// Knows where leaves of several schema versions may meet, while a tree is built.
///
/// A leaf among leaves of other versions may have as little in it as there is of its version. When what
/// stood beside it is migrated or removed, it gets a neighbor of its own version, and must be joined
/// with it. Only then: where a tree has one version, nothing more is read than without this.
struct LeafSeams {
  private var version: UInt32?
  private(set) var isMixed = false
  /// The leaves of the base that were looked into since the last subtree was adopted. None: what comes
  /// next was next to it before.
  var visitedLeaves = 0
  /// Whether another tree of the merge begins, so that its first leaf was no neighbor of the last one. True until a
  /// subtree is adopted.
  var beginsTree = false

  /// Takes notice of a version that a leaf has, or had.
  @inline(__always)
  mutating func note(_ version: UInt32) {
    if self.version == version { return }
    if self.version != nil { isMixed = true }
    self.version = version
  }
}

extension TreeBuilder {
  /// Whether the first leaf of a subtree has to be joined with the leaf or the entries before it.
  func mustJoin(_ reference: PageReference, level: Int) throws(StoreError) -> Bool {
    guard let base, seams.visitedLeaves > 0 || seams.beginsTree else { return false }
    // Where nothing is open after a leaf was looked into, nothing is left of it.
    guard seams.isMixed || seams.beginsTree || levels[0].isEmpty else { return false }
    let first = try base.leaf(of: reference, level: level, by: { _ in 0 })
    if !levels[0].isEmpty {
      guard first.lowestVersion == schemaVersion else { return false }
      return try isThin(first)
    }
    guard let last = try lastAdoptedLeaf(), last.lowestVersion == first.lowestVersion else {
      return false
    }
    if try isThin(first) { return true }
    return try isThin(last)
  }

  /// Whether entries of `version`, which are to come, have a leaf before them that must be taken back.
  func isThinLeafBefore(_ version: UInt32) throws(StoreError) -> Bool {
    guard seams.beginsTree || seams.visitedLeaves > (seams.isMixed ? 0 : 1),
      let last = try lastAdoptedLeaf(), last.lowestVersion == version
    else { return false }
    return try isThin(last)
  }

  /// Whether a leaf is under a third full. Most are not read to know.
  private func isThin(_ leaf: PageReference) throws(StoreError) -> Bool {
    if leaf.blocks > 1, leaf.size - Layout.blockSize >= sizes.leaf / 3 { return false }
    if rewritten.reference == leaf { return isThin(rewritten.node) }
    guard let base else { return false }
    let page = try base.page(leaf, level: 0, as: LeafPage.self)
    return isThin(Node(page.bytes))
  }

  private func isThin(_ leaf: borrowing Node) -> Bool {
    OpenEntries.isUnderThird(weight: leaf.entriesWeight, capacity: sizes.leaf)
  }

  /// The last leaf of the last subtree, if that was adopted.
  private func lastAdoptedLeaf() throws(StoreError) -> PageReference? {
    guard let base, let level = levels.indices.dropFirst().first(where: { !levels[$0].isEmpty })
    else { return nil }
    let last = levels[level].reference(levels[level].count - 1)
    if rewritten.reference == last { return last }
    if appender.wrote(last.position) { return nil }
    return try base.leaf(of: last, level: level - 1, by: { $0.count })
  }
}

extension PageReader {
  /// A leaf below `reference`, by the child that `choose` names of each branch.
  fileprivate func leaf(
    of reference: PageReference, level: Int, by choose: (borrowing Node) -> Int
  ) throws(StoreError) -> PageReference {
    var reference = reference
    for level in stride(from: level, to: 0, by: -1) {
      let page = try page(reference, level: UInt8(level), as: BranchPage.self)
      let node = Node(page.bytes)
      reference = node.child(choose(node))
    }
    return reference
  }
}

extension Node {
  /// What a leaf's entries weigh.
  var entriesWeight: Int {
    (0..<count).reduce(0) {
      $0 + OpenEntries.weight(keyLength: keyLength($1), valueLength: value($1).byteCount)
    }
  }
}

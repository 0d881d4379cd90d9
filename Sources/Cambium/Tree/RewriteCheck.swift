/// Whether a merge that was to move entries to other pages has moved them all, unchanged.
///
/// It knows nothing of how the merge went. In the new tree, what was not appended is what was adopted: so the rest
/// of the old tree is what was replaced, and what was appended is what was written. The leaves of both must hold
/// the same entries in the same order, byte by byte, and the nodes that were written must be in order.
struct RewriteCheck {
  private let old: Tree
  private let new: Tree
  private let appended: [AppendedBlocks]

  /// - Parameter new: Can be read: what was appended is published, if not yet true.
  init(from old: Tree, to new: Tree, by appended: [AppendedBlocks]) {
    self.old = old
    self.new = new
    self.appended = appended
  }

  /// - Returns: the number of entries that were written anew.
  /// - Throws: `.corrupt` where entries differ, or the medium does not return what was written; `.io`.
  @discardableResult
  func run(of name: String) throws(StoreError) -> Int {
    var adopted = AdoptedSubtrees(pages: new.pages, appended: appended)
    if let root = new.root { try adopted.visit(root.reference, level: root.level) }
    var replaced = ReplacedLeaves(pages: old.pages, adopted: adopted.positions)
    if let root = old.root { try replaced.visit(root.reference, level: root.level) }
    var written = WrittenPart(
      pages: new.pages, appended: appended,
      replaced: ReplacedEntries(of: replaced.leaves, in: old.pages, tree: name))
    if let root = new.root {
      try written.visit(root.reference, level: root.level, low: [], high: nil)
    }
    try written.replaced.checkEnd()
    guard old.count == new.count else {
      throw .corrupt(
        .entry(tree: name, key: []), invariant: .compactedEntries,
        reason: "there were \(old.count) entries, and are \(new.count)")
    }
    return written.entryCount
  }
}

extension [AppendedBlocks] {
  fileprivate func contain(_ position: PagePosition) -> Bool {
    contains { $0.number == position.segment && $0.blocks.contains(position.block) }
  }
}

// MARK: - What was taken over

/// Where the subtrees are that were taken over. No leaf is read to know.
private struct AdoptedSubtrees {
  let pages: PageReader
  let appended: [AppendedBlocks]
  private(set) var positions: Set<PagePosition> = []

  mutating func visit(_ reference: PageReference, level: UInt8) throws(StoreError) {
    if !appended.contain(reference.position) {
      positions.insert(reference.position)
    } else if level > 0 {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      for index in 0..<node.childCount { try visit(node.child(index), level: level - 1) }
    }
  }
}

// MARK: - The leaves that were replaced

/// Which leaves were not taken over, in the order of their keys. None is read to know.
private struct ReplacedLeaves {
  let pages: PageReader
  let adopted: Set<PagePosition>
  private(set) var leaves: [PageReference] = []

  mutating func visit(_ reference: PageReference, level: UInt8) throws(StoreError) {
    if adopted.contains(reference.position) { return }
    if level == 0 { return leaves.append(reference) }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    for index in 0..<node.childCount { try visit(node.child(index), level: level - 1) }
  }
}

// MARK: - The leaves that were written

private struct WrittenPart: ~Copyable {
  let pages: PageReader
  let appended: [AppendedBlocks]
  var replaced: ReplacedEntries
  private(set) var entryCount = 0
  private var ahead: AppendedReadAhead

  init(
    pages: PageReader, appended: [AppendedBlocks],
    replaced: consuming ReplacedEntries
  ) {
    self.pages = pages
    self.appended = appended
    self.replaced = replaced
    ahead = AppendedReadAhead(of: appended, in: pages)
  }

  mutating func visit(
    _ reference: PageReference, level: UInt8, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    guard appended.contain(reference.position) else { return }
    if level == 0 { return try visitLeaf(reference, low: low, high: high) }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    try checkBounds(of: node, reference, low, high)
    for index in 0..<node.childCount {
      let childLow = index == 0 ? low : node.key(index - 1)
      let childHigh = index == node.count ? high : node.key(index)
      try visit(node.child(index), level: level - 1, low: childLow, high: childHigh)
    }
  }

  private mutating func visitLeaf(
    _ reference: PageReference, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    ahead.willRead(reference)
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    try checkBounds(of: node, reference, low, high)
    try replaced.match(page, of: pages)
    entryCount += node.count
  }

  private func checkBounds(
    of node: borrowing Node, _ reference: PageReference, _ low: [UInt8], _ high: [UInt8]?
  ) throws(StoreError) {
    guard node.isWithin(low, high) else {
      throw reference.fault(.separators, "its keys are not between the separators beside it")
    }
  }
}

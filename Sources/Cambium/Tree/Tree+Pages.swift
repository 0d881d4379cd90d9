extension Tree {
  /// Calls `body` with every page of the tree, parents before children.
  ///
  /// - Complexity: O(branches); leaves are read only where they have values in pages of their own.
  /// - Throws: `.corrupt`, also where the pages are not what the root's live bytes say; `.io`.
  func forEachPage(_ body: (PageReference, PageKind) -> Void) throws(StoreError) {
    guard let root else { return }
    // Of each page a bit at least: who has more than are published has pages with many parents.
    let published = pages.segments.entries.reduce(0) {
      $0 + UInt64($1.endBlock) * UInt64(Layout.blockSize)
    }
    var walk = PageWalk(pages: pages, rest: min(root.reference.liveBytes, published))
    try walk.visit(root.reference, level: root.level, body)
  }
}

/// Goes over a tree, no further than its live bytes allow: a file whose pages have many parents could be walked
/// for ever.
private struct PageWalk {
  let pages: PageReader
  /// The live bytes that were not come by yet.
  var rest: UInt64

  typealias Body = (PageReference, PageKind) -> Void

  mutating func visit(
    _ reference: PageReference, level: UInt8, _ body: Body
  ) throws(StoreError) {
    try note(reference, level == 0 ? .leaf : .branch, body)
    if reference.liveBytes == reference.size { return }
    if level == 0 { return try visitValues(of: reference, body) }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    for index in 0..<node.childCount { try visit(node.child(index), level: level - 1, body) }
  }

  private mutating func visitValues(
    of reference: PageReference, _ body: Body
  ) throws(StoreError) {
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    for slot in 0..<node.count where node.isExternal(slot) {
      try visitValue(PageReference(decoding: node.value(slot), at: 0), body)
    }
  }

  private mutating func visitValue(
    _ reference: PageReference, _ body: Body
  ) throws(StoreError) {
    if reference.liveBytes == reference.size { return try note(reference, .value, body) }
    try note(reference, .valueList, body)
    let list = try pages.page(reference, level: 0, as: ValueListPage.self)
    for index in 0..<ValueListPage.count(list.bytes) {
      try note(ValueListPage.reference(index, list.bytes), .value, body)
    }
  }

  private mutating func note(
    _ reference: PageReference, _ kind: PageKind, _ body: Body
  ) throws(StoreError) {
    guard rest >= reference.size else {
      throw reference.fault(.aggregates, "more is below the root than that says")
    }
    rest -= UInt64(reference.size)
    body(reference, kind)
  }
}

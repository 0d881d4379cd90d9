extension Tree {
  /// Adds to `liveBytes`, by segment, the bytes of the tree's pages.
  ///
  /// - Complexity: O(branches); leaves are read only where they have values in pages of their own.
  /// - Throws: `.corrupt`, also where the pages are not what the root's live bytes say; `.io`.
  func addLiveBytes(to liveBytes: inout [UInt32: UInt64]) throws(StoreError) {
    guard let root else { return }
    let published = pages.segments.entries.reduce(0) {
      $0 + UInt64($1.endBlock) * UInt64(Layout.blockSize)
    }
    guard root.reference.liveBytes <= published else {
      throw root.reference.fault(
        .aggregates,
        "\(root.reference.liveBytes) bytes are said to be live there, of \(published) published")
    }
    var walk = LiveBytesWalk(pages: pages, rest: root.reference.liveBytes, liveBytes: liveBytes)
    try walk.visit(root.reference, level: root.level)
    guard walk.rest == 0 else {
      throw root.reference.fault(.aggregates, "it is said to reach \(walk.rest) bytes more")
    }
    liveBytes = walk.liveBytes
  }
}

/// Goes over a tree, no further than its live bytes allow: a file whose pages have many parents could
/// be walked for ever.
private struct LiveBytesWalk {
  let pages: PageReader
  /// The live bytes that were not come by yet.
  private(set) var rest: UInt64
  private(set) var liveBytes: [UInt32: UInt64]

  mutating func visit(_ reference: PageReference, level: UInt8) throws(StoreError) {
    try add(reference)
    if reference.liveBytes == reference.size { return }
    if level == 0 { return try visitValues(of: reference) }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    for index in 0..<node.childCount { try visit(node.child(index), level: level - 1) }
  }

  private mutating func visitValues(of reference: PageReference) throws(StoreError) {
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    for slot in 0..<node.count where node.isExternal(slot) {
      try visit(value: PageReference(decoding: node.value(slot), at: 0))
    }
  }

  private mutating func visit(value reference: PageReference) throws(StoreError) {
    try add(reference)
    if reference.liveBytes == reference.size { return }
    let list = try pages.page(reference, level: 0, as: ValueListPage.self)
    for index in 0..<ValueListPage.count(list.bytes) {
      try add(ValueListPage.reference(index, list.bytes))
    }
  }

  private mutating func add(_ reference: PageReference) throws(StoreError) {
    let size = UInt64(reference.size)
    guard size <= rest else {
      throw reference.fault(.aggregates, "the tree has more bytes than its root says")
    }
    rest -= size
    liveBytes[reference.position.segment, default: 0] &+= size
  }
}

extension Tree {
  /// Verifies all nodes of the tree that lie within `appended`, so that nobody who reads them later has to.
  ///
  /// - Complexity: O(nodes there).
  /// - Throws: `.corrupt`, `.io`: what is on the medium is not what was written.
  func verify(within appended: [AppendedBlocks]) throws(StoreError) {
    if let root { try verify(root.reference, level: root.level, within: appended) }
  }

  /// What was written refers to what was written before it, so what lies outside has nothing below it that
  /// lies within.
  private func verify(
    _ reference: PageReference, level: UInt8, within appended: [AppendedBlocks]
  ) throws(StoreError) {
    let isWithin = appended.contains {
      $0.number == reference.position.segment && $0.blocks.contains(reference.position.block)
    }
    if !isWithin { return }
    if level == 0 {
      _ = try pages.page(reference, level: 0, as: LeafPage.self)
      return
    }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    for index in 0..<node.childCount {
      try verify(node.child(index), level: level - 1, within: appended)
    }
  }
}

/// The pages that trees reach, and their bytes by segment. A page that several trees share counts once.
struct LivePages {
  private(set) var bytes: [UInt32: UInt64] = [:]
  private var known: [UInt32: BlockSet] = [:]

  /// Adds a page of one of the segments that `pages` reads.
  ///
  /// - Returns: false if it was there.
  fileprivate mutating func insert(_ reference: PageReference, of pages: PageReader) -> Bool {
    let (number, block) = (reference.position.segment, reference.position.block)
    let blocks = known[number] ?? BlockSet(blocks: Int(pages.segments.entry(number)?.endBlock ?? 0))
    if blocks.contains(block) { return false }
    blocks.insert(block)
    known[number] = blocks
    bytes[number, default: 0] &+= UInt64(reference.size)
    return true
  }
}

extension PageReader {
  /// The bytes of each segment that `trees` reach.
  ///
  /// - Complexity: O(branches).
  /// - Throws: as `Tree.addPages`.
  func liveBytes(of trees: [NamedTree]) throws(StoreError) -> [UInt32: UInt64] {
    var live = LivePages()
    for tree in trees { try Tree(pages: self, root: tree.root).addPages(to: &live) }
    return live.bytes
  }
}

extension PageFile {
  /// The segments of which the footer says another number of live bytes than the trees reach.
  ///
  /// - Complexity: O(branches).
  /// - Throws: `.corrupt`, `.io`.
  func liveBytesFaults() throws(StoreError) -> [StoreError] {
    let live = try pages.liveBytes(of: footer.trees)
    return footer.segments.compactMap { extent in
      let found = live[extent.number] ?? 0
      if extent.kind != .pages || extent.liveBytes == found { return nil }
      return .corrupt(
        .segment(extent.number), invariant: .liveBytes,
        reason: "\(extent.liveBytes) bytes are said to live in it, and \(found) do")
    }
  }
}

extension Tree {
  /// Adds the tree's pages to `live`.
  ///
  /// - Complexity: O(branches) that are not there yet; leaves are read only where they have values in pages of their
  ///   own.
  /// - Throws: `.corrupt`, also where the pages are not what the root's live bytes say; `.io`.
  func addPages(to live: inout LivePages) throws(StoreError) {
    guard let root else { return }
    let published = pages.segments.entries.reduce(0) {
      $0 + UInt64($1.endBlock) * UInt64(Layout.blockSize)
    }
    guard root.reference.liveBytes <= published else {
      throw root.reference.fault(
        .aggregates,
        "\(root.reference.liveBytes) bytes are said to be live there, of \(published) published")
    }
    var walk = LivePagesWalk(pages: pages, rest: root.reference.liveBytes, live: live)
    live = LivePages()
    defer { live = walk.live }
    try walk.visit(root.reference, level: root.level)
    guard walk.rest == 0 else {
      throw root.reference.fault(.aggregates, "it is said to reach \(walk.rest) bytes more")
    }
  }
}

/// Goes over a tree, no further than its live bytes allow: a file whose pages have many parents could
/// be walked for ever.
private struct LivePagesWalk {
  let pages: PageReader
  /// The live bytes that were not come by yet.
  private(set) var rest: UInt64
  private(set) var live: LivePages

  mutating func visit(_ reference: PageReference, level: UInt8) throws(StoreError) {
    guard try enter(reference) else { return }
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
    guard try enter(reference) else { return }
    let list = try pages.page(reference, level: 0, as: ValueListPage.self)
    for index in 0..<ValueListPage.count(list.bytes) {
      _ = try enter(ValueListPage.reference(index, list.bytes))
    }
  }

  /// Adds a page.
  ///
  /// - Returns: true if there are pages below it that were not visited yet. If the page is known, all pages below it are.
  private mutating func enter(_ reference: PageReference) throws(StoreError) -> Bool {
    let isNew = live.insert(reference, of: pages)
    let size = isNew ? UInt64(reference.size) : reference.liveBytes
    guard size <= rest else {
      throw reference.fault(.aggregates, "the tree has more bytes than its root says")
    }
    rest -= size
    return isNew && reference.liveBytes != size
  }
}

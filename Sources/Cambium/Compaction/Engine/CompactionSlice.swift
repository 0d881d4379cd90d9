/// A slice of a compaction: one merge over the base that moves pages out of segments, and the footer of that.
///
///     merge ranges of trees ─▶ sync, footer ─▶ read back the new pages, compare ─▶ to be made true
///
/// After an error it is of no more use, and its appended pages belong to no state.
struct CompactionSlice {
  private let base: PageFile
  private let request: CompactionRequest
  private let sizes: NodeSizes
  private let appender: PageAppender
  private var place: CompactionPlace
  private var footer: Footer
  /// The trees that got other pages, by their place in the catalog.
  private var moved: [Int] = []
  private var endsPass = false
  private var entries = 0

  init(
    of base: PageFile, at place: CompactionPlace, _ request: CompactionRequest,
    sizes: NodeSizes, appendingTo appender: PageAppender
  ) {
    self.base = base
    self.request = request
    self.sizes = sizes
    self.appender = appender
    self.place = place
    footer = base.footer
  }

  /// Does all of it, up to where the footer can be made true.
  ///
  /// - Parameter commits: Where another thread may write while this one merges, whether commits come meanwhile.
  /// - Throws: `.corrupt` if the base is damaged, or if the pages read back differ from those written;
  ///   `.limitExceeded`,
  ///   `.full`, `.io`.
  mutating func run(
    _ commits: CommitWatch?
  ) throws(StoreError) -> (PublishedFooter, CompactedSlice) {
    if let commits { appender.beginWritingBehind(isShared: { commits.areFrequent() }) }
    defer { appender.endWritingBehind() }
    try moveTrees()
    try footer.setCompaction(endsPass ? nil : place)
    let publishing = FooterPublishing(base: base, present: base, appender: appender)
    let published = try publishing.publish(footer)
    for index in moved { try check(index, published) }
    return (published, report(published))
  }
}

// MARK: - Moving

extension CompactionSlice {
  /// Continues from tree to tree as long as the budget lasts.
  private mutating func moveTrees() throws(StoreError) {
    var range = MergeRange(from: place.key, bytes: request.bytes)
    let first = try moveSchemas()
    for index in footer.trees.indices where index != first {
      let name = footer.trees[index].name
      if name.utf8.lexicographicallyPrecedes(place.tree.utf8) { continue }
      if name != place.tree {
        range = MergeRange(from: [], bytes: range.bytes)
      }
      try moveTree(index, range)
      if let end = range.end {
        place.tree = name
        place.key = end
        return
      }
    }
    endsPass = true
  }

  /// Moves the tree of the schemas, if the pass begins.
  ///
  /// - Returns: its place in the catalog, if it was moved.
  private mutating func moveSchemas() throws(StoreError) -> Int? {
    guard place.tree.isEmpty, place.key.isEmpty,
      let index = footer.trees.firstIndex(where: { $0.name == TreeNames.schemas })
    else { return nil }
    try moveTree(index, MergeRange(from: [], bytes: .max))
    return index
  }

  private mutating func moveTree(_ index: Int, _ range: MergeRange) throws(StoreError) {
    guard let root = footer.trees[index].root else { return }
    let newRoot = try TreeMerge.run(
      NoInput(), into: root, of: base.pages,
      adoption: .outside(place.segments), within: range, sizes: sizes,
      tag: TreeTag(of: footer.trees[index].name), appendingTo: appender)
    if newRoot == root { return }
    footer.trees[index].root = newRoot
    moved.append(index)
  }
}

// MARK: - The result

extension CompactionSlice {
  private mutating func check(
    _ index: Int, _ published: PublishedFooter
  ) throws(StoreError) {
    let old = Tree(pages: base.pages, root: base.footer.trees[index].root)
    let new = Tree(pages: published.file.pages, root: footer.trees[index].root)
    let check = RewriteCheck(from: old, to: new, by: published.appended)
    entries += try check.run(of: footer.trees[index].name)
  }

  private func report(_ published: PublishedFooter) -> CompactedSlice {
    let blocks = published.appended.reduce(0) { $0 + $1.blocks.count }
    let released = Set(published.released)
    let releasedBlocks = base.footer.segments.reduce(UInt64(0)) {
      $0 + ($1.kind == .pages && released.contains($1.number) ? $1.end : 0)
    }
    return CompactedSlice(
      scope: place.scope, below: place.below, writtenBytes: blocks * Layout.blockSize,
      entries: entries, releasedBytes: releasedBlocks * UInt64(Layout.blockSize),
      releasedSegments: released.count, endsPass: endsPass)
  }
}

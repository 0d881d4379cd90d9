/// Copies the readable part of a damaged store's trees into a new store.
struct SalvageCopy {
  private let source: SalvageSource
  private let pages: PageReader
  let base: SalvageSource.Base

  /// - Returns: nil if there is nothing that could be copied.
  init?(of source: SalvageSource, _ choice: SalvageChoice, _ state: inout SalvagedState) {
    guard let pages = source.pages else { return nil }
    self.source = source
    self.pages = pages
    base = source.base(choice, whole: state.candidates.firstIndex(where: \.isWhole))
    state.chosen = base.candidate
    // Without a footer there may still be leaves.
    if base.candidate == nil, choice != .everything { return nil }
  }

  /// Where leaves are looked for to which nothing leads.
  func loose(use: @escaping LooseLeaves.Rule) -> LooseLeaves {
    LooseLeaves(of: pages, in: source.segments, use: use)
  }

  /// The entries of a tree, in memory.
  ///
  /// - Parameter level: The parts of the level over it.
  /// - Throws: nothing of the damaged store: unreadable entries are left out.
  func entries(
    of tree: SalvagedTree, under level: [SalvagedTree] = []
  ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    var entries = SalvagedLayers(tree, under: level, of: pages, losses: SalvageLosses())
    var found: [(key: [UInt8], value: [UInt8])] = []
    while try entries.advance() {
      found.append((entries.key.array(), entries.value.array()))
    }
    return found
  }

  /// Writes the trees, a footer and a log.
  ///
  /// Kept states and pending work are not copied: they lead to other footers. Files of blobs, and commits that only the
  /// log has, are copied by the layer that knows records.
  ///
  /// - Throws: `.locked`, `.io(.fileExists, …)` if `other` is not empty, `.limitExceeded`, `.full`, `.io` of the new store.
  ///   An unreadable part is a loss.
  func run(
    _ trees: [SalvagedTree], to other: any FileSystem, options: EngineOptions,
    makeSalt: @Sendable () -> UInt64, _ state: inout SalvagedState
  ) throws(StoreError) {
    let lock = try WriterLock(in: other)
    defer { withExtendedLifetime(lock) {} }
    guard try other.list(at: .directoryList).allSatisfy(\.isBesidesContent) else {
      throw .io(
        .fileExists, operation: "salvage into a directory that is not empty", path: other.path)
    }
    let identity = StoreIdentity(low: makeSalt(), high: makeSalt())
    let appender = PageAppender(
      to: other, of: identity, from: 1, output: .buffered, segmentBlocks: options.segmentBlocks)
    var footer = Footer(identity: identity)
    footer.features = base.footer?.features ?? Features()
    footer.coveredSequence = base.footer?.coveredSequence ?? source.log?.footer.coveredSequence ?? 1
    let losses = SalvageLosses()
    for tree in trees where LevelLayer.parsing(tree.name) == nil {
      let root = try TreeMerge.run(
        SalvagedLayers(tree, under: trees.level(over: tree), of: pages, losses: losses),
        into: nil, of: nil,
        sizes: options.nodeSizes, tag: TreeTag(of: tree.name), appendingTo: appender)
      if root != nil || base.footer?.trees.contains(where: { $0.name == tree.name }) == true {
        footer.trees.append(NamedTree(name: tree.name, root: root))
      }
    }
    state.losses = losses.all
    try appender.sync()
    footer.segments = try segments(of: footer, appender, in: other)
    let reference = try appender.publish(footer)
    _ = try Log.create(in: other, of: identity, footer: reference, salt: makeSalt())
  }

  /// The segment table: all bytes that were written, and the live ones.
  private func segments(
    of footer: Footer, _ appender: PageAppender, in other: any FileSystem
  ) throws(StoreError) -> [SegmentExtent] {
    var entries: [SegmentTable.Entry] = []
    for extent in appender.extents {
      let end = extent.blocks.upperBound
      entries.append(
        .init(
          segment: try PageSegment(
            opening: extent.number, blocks: end, of: footer.identity, in: other, mapped: false),
          endBlock: end))
    }
    let pages = PageReader(
      medium: other, identity: footer.identity, segments: SegmentTable(entries),
      cache: PageCache(capacity: 1 << 20))
    let live = try pages.liveBytes(of: footer.trees)
    return entries.map {
      SegmentExtent(
        kind: .pages, number: $0.segment.number, end: UInt64($0.endBlock),
        liveBytes: live[$0.segment.number] ?? 0)
    }
  }
}

/// The making of new trees from a base and what lies on top of it, one tree a step.
///
///     merge tree ─▶ merge tree ─▶ … ─▶ whole trees ─▶ write footer, flush ─▶ what was published
///
/// Nothing of it is true until a reference to the footer is on the medium; who drives it sees to that.
/// After an error it is of no more use, and its segments are nobody's.
struct Fold<Medium: FileSystem> {
  /// What the new footer publishes.
  struct Published {
    let file: PageFile<Medium>
    /// Page segments that the new footer no longer names.
    let released: [UInt32]
  }

  private let base: Base<Medium>
  /// What a state that is kept is: the base, with all that was committed on top of it.
  private let present: PageFile<Medium>
  private let layers: FoldLayers<Medium>
  private let work: TreeWork
  private let sequence: UInt64
  private let names: TreeNames
  private let sizes: NodeSizes
  private let appender: PageAppender<Medium>
  /// The trees that something falls into and that were not merged yet.
  private var slots: [TreeSlot]
  private var catalog: [String: TreeRoot] = [:]

  /// Begins the fold of `layers`, whose newest commit is `sequence`, into the trees of `base`.
  ///
  /// - Parameters:
  ///   - work: What is done with whole trees besides.
  ///   - present: The state to keep, where that is asked for; the base if nil.
  init(
    _ layers: FoldLayers<Medium>, _ work: TreeWork = TreeWork(), into base: Base<Medium>,
    keeping present: PageFile<Medium>? = nil, covering sequence: UInt64,
    names: TreeNames, sizes: NodeSizes, appendingTo appender: PageAppender<Medium>
  ) {
    self.present = present ?? base.file
    self.layers = layers
    self.work = work
    self.base = base
    self.sequence = sequence
    self.names = names
    self.sizes = sizes
    self.appender = appender
    slots = Set(layers.slots).union(work.transforms.keys).sorted(by: >)
    for tree in base.file.footer.trees { catalog[tree.name] = tree.root }
  }

  /// Does the next part of the work.
  ///
  /// - Returns: what was published, once all is done.
  /// - Throws: `.corrupt` if the base is damaged, `.limitExceeded`, `.full`, `.io`.
  mutating func step() throws(StoreError) -> Published? {
    guard let slot = slots.popLast() else {
      for operation in work.operations { apply(operation) }
      return try publish()
    }
    // A tree without entries is no tree.
    catalog[names.name(of: slot)] = try layers.merge(
      slot, into: base.tree(slot), work.transforms[slot] ?? .none, sizes: sizes,
      appendingTo: appender)
    return nil
  }

  private mutating func apply(_ operation: TreeOperation) {
    switch operation {
    case .copy(let source, let target):
      catalog[names.name(of: target)] = catalog[names.name(of: source)]
    case .move(let source, let target):
      catalog[names.name(of: target)] = catalog.removeValue(forKey: names.name(of: source))
    }
  }
}

// MARK: - The footer

extension Fold {
  private func publish() throws(StoreError) -> Published {
    // The table says how far segments go, so all pages must be placed before it is made.
    try appender.sync()
    var footer = base.file.footer
    footer.coveredSequence = sequence
    footer.trees = catalog.map { NamedTree(name: $0.key, root: $0.value) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    footer.previous = base.file.reference
    for change in work.keeping { footer.apply(change, to: present.reference) }
    footer.segments = try segments(of: footer)
    let appended = appender.extents
    let reference = try appender.publish(footer)
    let file = try PageFile(after: base.file, reference, footer)
    try file.warm(appended)
    return Published(file: file, released: released(by: file))
  }

  /// The segment table: of each segment how far it goes and what is live in it. Page segments without
  /// anything live are left out, unless a kept state needs them.
  ///
  /// - Complexity: O(branches).
  private func segments(of footer: Footer) throws(StoreError) -> [SegmentExtent] {
    var ends: [UInt32: UInt64] = [:]
    for extent in present.footer.segments where extent.kind == .pages {
      ends[extent.number] = extent.end
    }
    for extent in footer.segments where extent.kind == .pages {
      ends[extent.number] = max(ends[extent.number] ?? 0, extent.end)
    }
    for extent in appender.extents { ends[extent.number] = UInt64(extent.blocks.upperBound) }
    var kept: Set<UInt32> = []
    for state in footer.keptStates {
      kept.formUnion(
        state.footer == present.reference
          ? present.segmentNumbers : try base.file.segmentNumbers(of: state.footer))
      let (segment, end) = (state.footer.position.segment, UInt64(state.footer.endBlock))
      ends[segment] = max(ends[segment] ?? 0, end)
    }
    var placed = footer
    placed.segments = ends.sorted { $0.key < $1.key }.map {
      SegmentExtent(kind: .pages, number: $0.key, end: $0.value, liveBytes: 0)
    }
    let pages = try PageFile(after: base.file, base.file.reference, placed).pages
    var live: [UInt32: UInt64] = [:]
    for tree in footer.trees {
      try Tree(pages: pages, root: tree.root).addLiveBytes(to: &live)
    }
    let table = ends.compactMap { number, end in
      (live[number] ?? (kept.contains(number) ? 0 : nil)).map {
        SegmentExtent(kind: .pages, number: number, end: end, liveBytes: $0)
      }
    }
    return table.sorted { $0.number < $1.number } + footer.segments.filter { $0.kind != .pages }
  }

  /// The page segments that only states before `file` need.
  private func released(by file: PageFile<Medium>) -> [UInt32] {
    base.file.segmentNumbers.subtracting(file.segmentNumbers).sorted()
  }
}

extension Footer {
  fileprivate mutating func apply(_ change: KeptStateChange, to present: FooterReference) {
    switch change {
    case .keep(let version, let label):
      keptStates.append(KeptState(version: version, label: label, footer: present))
    case .drop(let version): keptStates.removeAll { $0.version == version }
    case .dropFrom(let version): keptStates.removeAll { $0.version >= version }
    case .dropBefore(let version): keptStates.removeAll { $0.version < version }
    }
  }
}

extension PageFile {
  /// What is read ahead of a fold at most: more than that may not be wanted in memory at all.
  private static var readAheadMax: Int { 256 << 20 }

  /// Brings pages that went past the page cache into it, and verifies the nodes among them: they are mostly newer
  /// versions of pages in use. Without it the first reads after a fold wait for the medium one by one, which
  /// took ten times as long for commits of random keys; and writers verify what this thread can.
  ///
  /// - Throws: `.corrupt`, `.io`: what is on the medium is not what was written.
  fileprivate func warm(_ appended: [AppendedBlocks]) throws(StoreError) {
    let size = appended.reduce(0) { $0 + $1.blocks.count * Layout.blockSize }
    guard pages.cache == nil, size <= Self.readAheadMax else { return }
    for extent in appended {
      guard let segment = pages.segments.entry(extent.number)?.segment else { continue }
      pages.medium.advise(
        segment.file,
        Int(extent.blocks.lowerBound) * Layout.blockSize..<Int(extent.blocks.upperBound)
          * Layout.blockSize, .willNeed, at: .pageAdvise)
    }
    for tree in footer.trees { try Tree(pages: pages, root: tree.root).verify(within: appended) }
  }

  /// The page segments that this state or one that it keeps is in.
  ///
  /// - Throws: `.corrupt`, `.io`.
  fileprivate func segmentNumbers(of state: FooterReference) throws(StoreError) -> Set<UInt32> {
    if state == reference { return segmentNumbers }
    let footer = try Self.footer(state, from: pages).0
    return Set(footer.segments.lazy.filter { $0.kind == .pages }.map(\.number))
      .union([state.position.segment])
  }

  /// The page segments that the state is in, that of the footer itself included.
  var segmentNumbers: Set<UInt32> {
    Set(footer.segments.lazy.filter { $0.kind == .pages }.map(\.number))
      .union([reference.position.segment])
  }
}

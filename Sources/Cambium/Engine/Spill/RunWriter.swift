/// Writes runs into temporary segments: those of one moment, one for each tree, go to the same.
struct RunWriter: ~Copyable {
  private let appender: PageAppender
  private let place: RunPlace
  private var roots: [Root] = []

  private struct Root {
    let tree: TreeSlot
    let root: TreeRoot
    let level: Int
    let filter: TreeFilter
    let lastKey: [UInt8]
  }

  init(in place: RunPlace) {
    self.place = place
    appender = place.appender()
  }

  /// Writes all operations of `input` as a run of `tree`.
  ///
  /// - Throws: `.full`, `.io`, and what reading the input does.
  mutating func write(
    _ input: RunMerge, of tree: TreeSlot, level: Int,
    largeValues: inout LargeValues
  ) throws(StoreError) {
    var input = input
    var builder = TreeBuilder(appendingTo: appender, base: nil, sizes: place.sizes)
    var large: [UInt8] = []
    // No larger than its keys want: one that the processor's caches hold is filled in a third of the time.
    let filter = KeyFilter(keyCount: input.countMax ?? .max, wordCountMax: place.filterWords)
    while try input.advanceStored() {
      filter.insert(TreeFilter.hash(input.key))
      if input.stored.byteCount > RunValue.largeLength, RunValue.kind(input.stored) == .put {
        let reference = try largeValues.append(RunValue.content(input.stored), of: tree)
        large.removeAll(keepingCapacity: true)
        large.append(RunValue.Kind.largePut.rawValue)
        reference.encode(to: &large)
        try builder.append(input.key, large.rawSpan, schemaVersion: input.schemaVersion)
      } else {
        try Self.append(input, to: &builder)
      }
    }
    guard let lastKey = builder.lastKey, let root = try builder.finish() else { return }
    let fitted = TreeFilter(filter.fitted(to: Int(root.reference.count)))
    roots.append(Root(tree: tree, root: root, level: level, filter: fitted, lastKey: lastKey))
  }

  private static func append(
    _ input: borrowing RunMerge, to builder: inout TreeBuilder
  ) throws(StoreError) {
    try builder.append(input.key, input.stored, schemaVersion: input.schemaVersion)
  }

  /// The runs, to be read.
  consuming func finish() throws(StoreError) -> [(tree: TreeSlot, run: Run)] {
    let pages = place.reader(of: try appender.readable())
    return roots.map { root in
      let tree = Tree(pages: pages, root: root.root)
      let run = Run(tree: tree, level: root.level, filter: root.filter, lastKey: root.lastKey)
      return (root.tree, run)
    }
  }
}

/// Where runs and loaded trees are put, and how they are read.
struct RunPlace {
  private let medium: any FileSystem
  private let identity: StoreIdentity
  private let support: SpillSupport
  private let segmentBlocks: Int
  let sizes: NodeSizes
  /// How many words a run's filter has at most: an eighth of the transaction's budget.
  let filterWords: Int
  /// For all runs of a transaction: lookups read pages one by one.
  private let cache = PageCache(capacity: 4 << 20)

  init(of base: Base, _ support: SpillSupport, _ options: EngineOptions) {
    let pages = base.file.pages
    self.init(of: pages.identity, support, options, in: pages.medium)
  }

  init(
    of identity: StoreIdentity, _ support: SpillSupport,
    _ options: EngineOptions = EngineOptions(), in medium: any FileSystem
  ) {
    self.medium = medium
    self.identity = identity
    self.support = support
    segmentBlocks = options.segmentBlocks
    sizes = options.nodeSizes
    filterWords = options.transactionBudget / 8 / MemoryLayout<UInt64>.size
  }

  func appender() -> PageAppender {
    PageAppender(
      to: medium, of: identity, from: support.runNumbers.take(), output: .direct,
      lifetime: .temporary,
      segmentBlocks: segmentBlocks)
  }

  /// An appender to segments that stay, if the transaction is committed. Its user ends its writing behind.
  func loadAppender() -> PageAppender {
    let appender = PageAppender(
      to: medium, of: identity, support.segmentNumbers, output: .direct,
      segmentBlocks: segmentBlocks)
    if support.writesBehind { appender.beginWritingBehind(isShared: { false }) }
    return appender
  }

  /// Opens a segment of loaded trees.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func open(_ number: UInt32, blocks: UInt32, mapped: Bool) throws(StoreError) -> PageSegment {
    try PageSegment(opening: number, blocks: blocks, of: identity, in: medium, mapped: mapped)
  }

  func reader(of segments: SegmentTable) -> PageReader {
    PageReader(medium: medium, identity: identity, segments: segments, cache: cache)
  }
}

/// The values of a spilled transaction that are too large to be moved from run to run. They stay until it is
/// over.
struct LargeValues {
  private let place: RunPlace
  private var appender: PageAppender?
  private var reader: PageReader?
  /// The bytes of all that were appended of each tree, those included that were taken back since.
  private(set) var byteCounts: [TreeSlot: Int] = [:]

  init(in place: RunPlace) {
    self.place = place
  }

  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  mutating func append(_ value: RawSpan, of tree: TreeSlot) throws(StoreError) -> PageReference {
    let appender = appender ?? place.appender()
    self.appender = appender
    reader = nil
    byteCounts[tree, default: 0] += value.byteCount
    return try appender.append(largeValue: value)
  }

  /// Where they are read; nil if there are none.
  ///
  /// - Throws: `.full`, `.io`: the last of them have to be written first.
  mutating func pages() throws(StoreError) -> PageReader? {
    if let reader { return reader }
    guard let appender else { return nil }
    reader = place.reader(of: try appender.readable())
    return reader
  }
}

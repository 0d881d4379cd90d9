/// Copies what can be read of a footer's trees into a new store.
struct SalvageCopy {
  private let source: PageReader
  private let appender: PageAppender
  private let medium: any FileSystem
  private let identity: StoreIdentity
  private let sizes: NodeSizes
  let losses = SalvageLosses()

  init(
    from source: PageReader, to appender: PageAppender, in medium: any FileSystem,
    of identity: StoreIdentity, sizes: NodeSizes
  ) {
    self.source = source
    self.appender = appender
    self.medium = medium
    self.identity = identity
    self.sizes = sizes
  }

  /// Writes the trees and a footer.
  ///
  /// Kept states and pending work stay behind: they lead to other footers. Files of blobs are copied by whoever knows
  /// what records are.
  ///
  /// - Returns: the reference to the new footer, whose pages are on the medium.
  /// - Throws: `.limitExceeded`, `.full`, `.io` of the new store. What cannot be read is a loss.
  func run(_ found: Footer) throws(StoreError) -> FooterReference {
    var footer = Footer(identity: identity)
    footer.features = found.features
    footer.coveredSequence = found.coveredSequence
    for tree in found.trees {
      footer.trees.append(NamedTree(name: tree.name, root: try copy(tree)))
    }
    try appender.sync()
    footer.segments = try segments(of: footer)
    return try appender.publish(footer)
  }

  private func copy(_ tree: NamedTree) throws(StoreError) -> TreeRoot? {
    try TreeMerge<SalvagedEntries>.run(
      SalvagedEntries(tree, of: source, losses: losses), into: nil, of: nil, sizes: sizes,
      appendingTo: appender)
  }

  /// The segment table: all that was written, and of that what is live.
  private func segments(of footer: Footer) throws(StoreError) -> [SegmentExtent] {
    var entries: [SegmentTable.Entry] = []
    for extent in appender.extents {
      let end = extent.blocks.upperBound
      entries.append(
        .init(
          segment: try PageSegment(
            opening: extent.number, blocks: end, of: identity, in: medium, mapped: false),
          endBlock: end))
    }
    let pages = PageReader(
      medium: medium, identity: identity, segments: SegmentTable(entries),
      cache: PageCache(capacity: 1 << 20))
    let live = try pages.liveBytes(of: footer.trees)
    return entries.map {
      SegmentExtent(
        kind: .pages, number: $0.segment.number, end: UInt64($0.endBlock),
        liveBytes: live[$0.segment.number] ?? 0)
    }
  }
}

/// What could not be copied. Of one owner on one thread.
final class SalvageLosses {
  private(set) var all: [SalvageReport.Loss] = []

  func add(
    _ tree: String, from low: [UInt8], to high: [UInt8]?, count: UInt64, _ fault: StoreError
  ) {
    all.append(SalvageReport.Loss(tree: tree, low: low, high: high, count: count, fault: fault))
  }
}

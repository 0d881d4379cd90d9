/// A store's pages as one footer publishes them.
struct PageFile: Sendable {
  let reference: FooterReference
  let footer: Footer
  let pages: PageReader
  /// Why the first copy of the footer could not be read, so that the second was taken; nil if the
  /// first is whole. Then the second was not looked at.
  let healedCopy: StoreError?

  /// Opens the state that `reference` publishes, with all its segments, so that none can vanish later.
  ///
  /// - Parameter identity: The store that the reference is from. Without it the header of the footer's
  ///   segment says whose it is, and where that is another store's, the fault is found no sooner than
  ///   in the footer.
  /// - Throws: `.missing` if a segment is not there, `.corrupt` if both copies of the footer or a
  ///   segment's header are damaged, `.newerFormat`, `.io`.
  init(
    opening reference: FooterReference, of identity: StoreIdentity? = nil,
    in medium: any FileSystem,
    reading mode: ReadMode
  ) throws(StoreError) {
    let number = reference.position.segment
    let file = try medium.open(.pages(number), .read, at: .segmentOpen)
    let identity = try PageSegment.identity(
      of: file, number: number, expected: identity, in: medium)
    let segment = try PageSegment(number: number, file: file, mapped: false)
    (footer, healedCopy) = try Self.footer(reference, of: identity, in: segment, of: medium)
    self.reference = reference
    pages = PageReader(
      medium: medium, identity: identity,
      segments: try SegmentTable(
        of: footer, identity, sharing: SegmentTable([]), in: medium, mapped: mode == .mapped),
      cache: mode.cache)
  }

  /// Opens the state that follows `previous`, of which the caller has the footer.
  ///
  /// Segments that both have are shared: their maps, and their sets of verified pages. So is the
  /// cache. `previous` can be read as before, for as long as it is kept.
  ///
  /// - Complexity: O(segments), without a call for those that have not grown.
  /// - Throws: as the initializer above does for segments.
  init(
    after previous: PageFile, _ reference: FooterReference, _ footer: Footer
  ) throws(StoreError) {
    self.reference = reference
    self.footer = footer
    healedCopy = nil
    pages = try previous.pages.successor(footer)
  }

  /// Opens the state that follows `previous` and that another process published; its footer is read.
  ///
  /// - Throws: as the first initializer does.
  init(after previous: PageFile, opening reference: FooterReference) throws(StoreError) {
    let (medium, identity) = (previous.pages.medium, previous.pages.identity)
    let number = reference.position.segment
    let segment: PageSegment
    if let shared = previous.pages.segments.entry(number) {
      segment = shared.segment
    } else {
      segment = try PageSegment(
        opening: number, blocks: 0, of: identity, in: medium, mapped: false)
    }
    (footer, healedCopy) = try Self.footer(reference, of: identity, in: segment, of: medium)
    guard footer.epoch >= previous.footer.epoch else {
      throw .corrupt(
        .page(reference.position), invariant: .footerSections,
        reason: "it is of epoch \(footer.epoch), after one of epoch \(previous.footer.epoch)")
    }
    self.reference = reference
    pages = try previous.pages.successor(footer)
  }

  /// Reads the footer from its segment, as far as that goes: the table that says how far it may be
  /// read is in the footer.
  private static func footer(
    _ reference: FooterReference, of identity: StoreIdentity, in segment: PageSegment,
    of medium: any FileSystem
  ) throws(StoreError) -> (Footer, fault: StoreError?) {
    let size = try segment.file.size(at: .segmentOpen)
    let end = UInt32(clamping: min(size / Layout.blockSize, Layout.segmentBlocksMax))
    let bootstrap = PageReader(
      medium: medium, identity: identity,
      segments: SegmentTable([.init(segment: segment, endBlock: end)]),
      cache: PageCache(capacity: 0))
    return try footer(reference, from: bootstrap)
  }

  /// The first copy of the footer that can be read, and the fault of the one before it.
  static func footer(
    _ reference: FooterReference, from pages: PageReader
  ) throws(StoreError) -> (Footer, fault: StoreError?) {
    let copies = reference.copies
    do {
      return (try footer(at: copies[0], of: reference, from: pages), nil)
    } catch {
      if case .newerFormat = error { throw error }
      guard let healed = try? footer(at: copies[1], of: reference, from: pages) else { throw error }
      return (healed, error)
    }
  }

  /// Reads one copy of the footer.
  static func footer(
    at copy: PageReference, of reference: FooterReference, from pages: PageReader
  ) throws(StoreError) -> Footer {
    let page = try pages.load(copy, level: 0, as: FooterPage.self)
    let footer = try Footer(
      decoding: page.bytes, at: copy.position, path: pages.medium.path)
    guard footer.identity == pages.identity else {
      throw .corrupt(
        .page(copy.position), invariant: .footerSections, reason: "it names another store")
    }
    guard footer.coveredSequence == reference.coveredSequence else {
      throw .corrupt(
        .page(copy.position), invariant: .footerSections,
        reason: "it covers commits up to \(footer.coveredSequence), its reference says"
          + " \(reference.coveredSequence)")
    }
    try footer.checkBounds(at: copy.position)
    return footer
  }
}

extension PageReader {
  /// Reads the state that `footer` publishes, with the segments that this one has open.
  fileprivate func successor(_ footer: Footer) throws(StoreError) -> PageReader {
    PageReader(
      medium: medium, identity: identity,
      segments: try SegmentTable(
        of: footer, identity, sharing: segments, in: medium, mapped: cache == nil),
      cache: cache)
  }
}

extension SegmentTable {
  /// The page segments that `footer` names: those of `other`, and newly opened ones.
  fileprivate convenience init(
    of footer: Footer, _ identity: StoreIdentity, sharing other: SegmentTable,
    in medium: any FileSystem,
    mapped: Bool
  ) throws(StoreError) {
    var entries: [Entry] = []
    entries.reserveCapacity(footer.segments.count)
    for extent in footer.segments where extent.kind == .pages {
      let end = UInt32(clamping: extent.end)
      let segment: PageSegment
      if let shared = other.entry(extent.number) {
        if end > shared.endBlock { try shared.segment.check(holds: end) }
        segment = try shared.segment.mapping(holds: end)
      } else {
        segment = try PageSegment(
          opening: extent.number, blocks: end, of: identity, in: medium, mapped: mapped)
      }
      entries.append(Entry(segment: segment, endBlock: end))
    }
    self.init(entries)
  }
}

extension ReadMode {
  fileprivate var cache: PageCache? {
    switch self {
    case .mapped: nil
    case .buffered(let size): PageCache(capacity: size)
    }
  }
}

/// A footer as a page. Its sections are checked when they are read.
private enum FooterPage: PageContent {
  static let kind = PageKind.footer

  static func validate(
    _ page: RawSpan, _ reference: PageReference, level: UInt8
  ) throws(StoreError) {}
}

/// A store's pages as one footer publishes them.
struct PageFile<Medium: FileSystem>: Sendable {
  let reference: FooterReference
  let footer: Footer
  let pages: PageReader<Medium>
  /// Why the first copy of the footer could not be read, so that the second was taken; nil where the
  /// first is whole. Then the second was not looked at.
  let healedCopy: StoreError?

  /// Opens what `reference` publishes, with all its segments, so that none can vanish later.
  ///
  /// - Parameter identity: The store that the reference is from. Without it the header of the footer's
  ///   segment says whose it is, and where that is another store's, the fault is found no sooner than
  ///   in the footer.
  /// - Throws: `.missing` if a segment is not there, `.corrupt` if both copies of the footer or a
  ///   segment's header are damaged, `.newerFormat`, `.io`.
  init(
    opening reference: FooterReference, of identity: StoreIdentity? = nil, in medium: Medium,
    reading mode: ReadMode
  ) throws(StoreError) {
    let number = reference.position.segment
    let file = try medium.open(.pages(number), .read, at: .segmentOpen)
    let identity = try PageSegment.identity(
      of: file, number: number, expected: identity, in: medium)
    let size = try medium.size(of: file, at: .segmentOpen)
    // The table that finds the table: one segment, as far as it goes.
    let bootstrap = PageReader(
      medium: medium, identity: identity,
      segments: SegmentTable([
        .init(
          segment: try PageSegment(number: number, file: file, in: medium, mapped: false),
          endBlock: UInt32(clamping: min(size / Layout.blockSize, Layout.segmentBlocksMax)))
      ]), cache: PageCache(capacity: 0))

    let (footer, fault) = try Self.footer(reference, from: bootstrap)
    self.reference = reference
    self.footer = footer
    healedCopy = fault
    var entries: [SegmentTable<Medium>.Entry] = []
    for extent in footer.segments where extent.kind == .pages {
      let segment = try PageSegment(
        opening: extent.number, blocks: UInt32(clamping: extent.end), of: identity, in: medium,
        mapped: mode == .mapped)
      entries.append(.init(segment: segment, endBlock: UInt32(clamping: extent.end)))
    }
    pages = PageReader(
      medium: medium, identity: identity, segments: SegmentTable(entries), cache: mode.cache)
  }

  /// The first copy of the footer that can be read, and what was wrong with the one before it.
  private static func footer(
    _ reference: FooterReference, from pages: PageReader<Medium>
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
    at copy: PageReference, of reference: FooterReference, from pages: PageReader<Medium>
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
    return footer
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

/// A footer that was found by looking for one.
struct FoundFooter: Sendable {
  /// If only one copy was found, the reference names it as the first, and its checksum for the other is wrong.
  let reference: FooterReference
  let footer: Footer
  let identity: StoreIdentity
}

/// Goes over all page segments, from page to page, and keeps the footers.
struct FooterSearch: ~Copyable {
  private let medium: any FileSystem
  private var pages: [FoundPage] = []
  private(set) var faults: [StoreError] = []
  /// Newest first: by covered sequence, then by position.
  private(set) var found: [FoundFooter] = []
  /// The identities that pages may have, first that of the log, if the log can be read.
  private(set) var identities: [StoreIdentity] = []
  /// All page segments that could be opened, ascending by number.
  private(set) var segments: [WholePages] = []

  private struct FoundPage {
    let position: PagePosition
    let blocks: UInt8
    let checksum: PageChecksum
    let footer: Footer

    func isCopy(of other: FoundPage) -> Bool {
      position.segment == other.position.segment && blocks == other.blocks
        && position.block == other.position.block + UInt32(blocks) && footer == other.footer
    }
  }

  /// - Parameter identity: The store's, as the log says it.
  init(_ medium: any FileSystem, of identity: StoreIdentity? = nil) {
    self.medium = medium
    identities = identity.map { [$0] } ?? []
  }

  /// - Throws: `.io` if the directory cannot be read; `.newerFormat` if a segment's header has one, and no log says whose
  ///   the pages are.
  mutating func run() throws(StoreError) {
    let own = try openSegments()
    // A log of a known format says otherwise: then the segment is a stray file.
    if identities.isEmpty, let newer = faults.first(where: \.isNewerFormat) { throw newer }
    for identity in own.compactMap(\.self) where !identities.contains(identity) {
      identities.append(identity)
    }
    if identities.isEmpty {
      // Every footer has the store's identity, too.
      for segment in segments {
        for identity in segment.identitiesInFooters() where !identities.contains(identity) {
          identities.append(identity)
        }
      }
    }
    for (segment, own) in zip(segments, own) {
      // A segment with a damaged header may belong to any of the stores that the others belong to.
      for identity in own.map({ [$0] }) ?? identities { search(segment, identity) }
    }
    pair()
  }

  /// - Returns: the identity in the header of each segment, where that is whole.
  private mutating func openSegments() throws(StoreError) -> [StoreIdentity?] {
    var opened: [(walk: WholePages, identity: StoreIdentity?)] = []
    for name in try medium.list(at: .directoryList) where !name.isTemporary {
      guard case .pages(let number) = name.kind else { continue }
      do throws(StoreError) {
        let file = try medium.open(name, .read, at: .segmentOpen)
        opened.append(
          (WholePages(file: file, number: number), identity(of: file, number: number)))
      } catch {
        faults.append(error)
      }
    }
    opened = opened.sortedRarely { $0.walk.number < $1.walk.number }
    segments = opened.map(\.walk)
    return opened.map(\.identity)
  }

  private mutating func identity(of file: any File, number: UInt32) -> StoreIdentity? {
    do throws(StoreError) {
      return try PageSegment.identity(of: file, number: number, expected: nil, in: medium)
    } catch {
      faults.append(error)
      return nil
    }
  }

  private mutating func search(_ segment: WholePages, _ identity: StoreIdentity) {
    var (pages, faults) = (pages, faults)
    func note(_ fault: StoreError) { faults.append(fault) }
    segment.run(of: identity, note: note) {
      position, header, page throws(StoreError) in
      guard header.kind == PageKind.footer.rawValue, header.level == 0 else { return }
      let footer = try Footer(decoding: page, at: position, path: medium.path)
      if footer.identity == identity {
        pages.append(
          FoundPage(
            position: position, blocks: header.blocks, checksum: header.checksum, footer: footer))
      }
    }
    (self.pages, self.faults) = (pages, faults)
  }
}

// MARK: Copies

extension FooterSearch {
  /// Makes one reference of both copies of a footer, which lie one after the other.
  private mutating func pair() {
    var index = 0
    while index < pages.count {
      let page = pages[index]
      let next = index + 1 < pages.count ? pages[index + 1] : nil
      let isPair = next.map { $0.isCopy(of: page) } ?? false
      let copyChecksum = isPair ? next?.checksum : nil
      found.append(
        FoundFooter(
          reference: FooterReference(
            position: page.position, blocks: page.blocks, checksum: page.checksum,
            copyChecksum: copyChecksum ?? PageChecksum(),
            coveredSequence: page.footer.coveredSequence),
          footer: page.footer, identity: page.footer.identity))
      index += isPair ? 2 : 1
    }
    found = found.sortedRarely {
      ($1.reference.coveredSequence, $1.reference.position)
        < ($0.reference.coveredSequence, $0.reference.position)
    }
  }
}

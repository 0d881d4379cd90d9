/// The leaves of a damaged store, found by going over all pages: for the parts of trees to which no branch leads any more.
///
/// Each leaf says to which tree it belongs (`TreeTag`). Of two leaves, the one that is later in append order was written later.
/// So if several leaves have keys in one range, the last of them counts for that range. If it lacks a key that an earlier
/// leaf has, the record was deleted. A leaf whose rows cannot be read counts only where no other leaf has keys.
///
/// - Complexity: one pass over all pages when the first part is missing, and another over the leaves of each tree that lacks
///   some. Memory for 24 bytes a leaf, and for two keys of each leaf of those trees.
final class LooseLeaves {
  struct Leaf {
    let position: PagePosition
    let checksum: PageChecksum
    let blocks: UInt8
    let version: UInt32
    let tag: TreeTag
  }

  /// A leaf, and the part of its keys that counts: those from `low` on and below `high`.
  struct Piece {
    let leaf: Leaf
    let low: [UInt8]
    var high: [UInt8]
  }

  /// The keys of a leaf: from `first` on and below `end`.
  fileprivate struct Span {
    let leaf: Leaf
    let use: Use
    var first: [UInt8]
    var end: [UInt8]

    /// True if this leaf counts, and not the other, for keys that both may have.
    func counts(before other: Span) -> Bool {
      if use != other.use { return use == .readable }
      return other.leaf.position < leaf.position
    }
  }

  /// The use of a tree's leaves of some version.
  enum Use {
    case readable
    /// Their keys are known, and nothing says what their values mean.
    case keysOnly
    /// They are of another tree, or of an abandoned state.
    case none
  }

  /// Which leaves of a tree are used, by their version.
  typealias Rule = (TreeTag, UInt32) -> Use

  let pages: PageReader
  private let segments: [WholePages]
  private let use: Rule
  private var all: [TreeTag: [Leaf]]?
  private var spans: [TreeTag: [Span]] = [:]
  private(set) var faults: [StoreError] = []

  /// - Parameter use: The use of each leaf.
  init(of pages: PageReader, in segments: [WholePages], use: @escaping Rule) {
    self.pages = pages
    self.segments = segments
    self.use = use
  }

  /// Returns true if a tree has leaves that may be read, after a position.
  func hasLeaves(of tag: TreeTag, behind position: PagePosition?) -> Bool {
    (leaves()[tag] ?? []).contains { leaf in
      use(tag, leaf.version) != .none && (position.map { $0 < leaf.position } ?? true)
    }
  }

  /// Calls `body` with every entry that any leaf of a tree has, in append order: later ones are of later states.
  func forEachEntry(of tag: TreeTag, _ body: (_ key: [UInt8], _ value: [UInt8]) -> Void) {
    let leaves = (leaves()[tag] ?? []).sortedRarely { $0.position < $1.position }
    for leaf in leaves where use(tag, leaf.version) == .readable {
      guard let page = try? page(of: leaf) else { continue }
      let node = Node(page.bytes)
      for slot in 0..<node.count {
        var value: [UInt8] = []
        do throws(StoreError) {
          if node.isExternal(slot) {
            try pages.appendLargeValue(
              PageReference(decoding: node.value(slot), at: 0), to: &value)
          } else {
            value.append(node.value(slot))
          }
        } catch { continue }
        body(node.key(slot), value)
      }
    }
  }

  private func note(_ fault: StoreError) { faults.append(fault) }

  private func leaves() -> [TreeTag: [Leaf]] {
    if let all { return all }
    var found: [TreeTag: [Leaf]] = [:]
    for segment in segments {
      segment.run(of: pages.identity, note: note) { position, header, page in
        guard header.kind == PageKind.leaf.rawValue, header.level == 0,
          Int(header.blocks) <= Node.blocksMax
        else { return }
        let node = Node(page)
        let tag = node.tag
        found[tag, default: []].append(
          Leaf(
            position: position, checksum: header.checksum, blocks: header.blocks,
            version: node.schemaVersion, tag: tag))
      }
    }
    all = found
    return found
  }

  /// Reads a leaf, with everything that is checked of one to which a branch leads.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func page(of leaf: Leaf) throws(StoreError) -> Page {
    Page(try pages.load(looseLeafAt: leaf.position, leaf.blocks, leaf.checksum))
  }

  /// The keys of all leaves of a tree that may be read.
  private func spans(_ tag: TreeTag) -> [Span] {
    if let known = spans[tag] { return known }
    var made: [Span] = []
    for leaf in leaves()[tag] ?? [] {
      let use = use(tag, leaf.version)
      if use == .none { continue }
      do throws(StoreError) {
        let page = try page(of: leaf)
        let node = Node(page.bytes)
        var (first, end): ([UInt8], [UInt8]) = ([], [])
        node.copyKey(0, to: &first)
        node.copyKey(node.count - 1, to: &end)
        made.append(Span(leaf: leaf, use: use, first: first, end: end + [0]))
      } catch { faults.append(error) }
    }
    spans[tag] = made
    return made
  }
}

extension LooseLeaves {
  /// The leaves with a tree's keys from `low` on and below `high`, ascending and without overlap.
  ///
  /// - Parameters:
  ///   - position: Leaves up to this one count only where they are among `known`; nil for all.
  ///   - known: Where leaves are that some tree leads to.
  func pieces(
    of tag: TreeTag, from low: [UInt8], to high: [UInt8]?, behind position: PagePosition? = nil,
    or known: Set<PagePosition> = []
  ) -> [Piece] {
    var spans = spans(tag).filter { span in
      if let position, span.leaf.position < position, !known.contains(span.leaf.position) {
        return false
      }
      return span.end.isAbove(low) && (high.map { $0.isAbove(span.first) } ?? true)
    }
    for index in spans.indices {
      if low.isAbove(spans[index].first) { spans[index].first = low }
      if let high, spans[index].end.isAbove(high) { spans[index].end = high }
    }
    spans = spans.sortedRarely { $1.first.isAbove($0.first) }
    return Self.newest(of: spans)
  }

  /// Goes over all keys at which a leaf begins or ends. Between each two of them one leaf counts: the newest that can be read.
  private static func newest(of spans: [Span]) -> [Piece] {
    var bounds = spans.map(\.first) + spans.map(\.end)
    bounds = bounds.sortedRarely { $1.isAbove($0) }
    var pieces: [Piece] = []
    var (next, open): (Int, [Int]) = (0, [])
    for (index, bound) in bounds.enumerated().dropLast() where bound != bounds[index + 1] {
      open.removeAll { !spans[$0].end.isAbove(bound) }
      while next < spans.count, !spans[next].first.isAbove(bound) {
        open.append(next)
        next += 1
      }
      guard
        let newest = open.max(by: { spans[$1].counts(before: spans[$0]) })
      else { continue }
      let leaf = spans[newest].leaf
      if let last = pieces.last, last.leaf.position == leaf.position, last.high == bound {
        pieces[pieces.count - 1].high = bounds[index + 1]
      } else {
        pieces.append(Piece(leaf: leaf, low: bound, high: bounds[index + 1]))
      }
    }
    return pieces
  }
}

extension [UInt8] {
  fileprivate func isAbove(_ other: [UInt8]) -> Bool { rawSpan.compare(other.rawSpan) > 0 }
}

extension PageReader {
  /// Reads a leaf whose parent is not known: its aggregates are taken from itself.
  fileprivate func load(
    looseLeafAt position: PagePosition, _ blocks: UInt8, _ checksum: PageChecksum
  ) throws(StoreError) -> PageBuffer {
    var reference = PageReference(
      position: position, blocks: blocks, checksum: checksum, lowestVersion: 0, count: 0,
      liveBytes: 0)
    let page = try load(reference, level: 0, as: LooseLeafPage.self)
    // The checks of the page so far are enough to compute its aggregates.
    let node = Node(page.bytes)
    reference.count = UInt64(node.count)
    reference.lowestVersion = node.schemaVersion
    reference.liveBytes = UInt64(reference.size)
    if node.hasExternals {
      for slot in 0..<node.count where node.isExternal(slot) {
        guard node.value(slot).byteCount == PageReference.size else {
          throw reference.fault(.nodeLayout, "entry \(slot) has no reference to its value")
        }
        let value = PageReference(decoding: node.value(slot), at: 0)
        let (sum, overflow) = reference.liveBytes.addingReportingOverflow(value.liveBytes)
        guard !overflow else { throw reference.fault(.aggregates, "its values are too large") }
        reference.liveBytes = sum
      }
    }
    try LeafPage.validate(page.bytes, reference, level: 0)
    return page
  }
}

/// A leaf of which only the layout is checked.
private enum LooseLeafPage: PageContent {
  static let kind = PageKind.leaf

  static func validate(
    _ page: RawSpan, _ reference: PageReference, level: UInt8
  ) throws(StoreError) {
    try Node.validateLayout(page, reference)
    guard Node(page).count > 0 else {
      throw reference.fault(.nodeLayout, "a leaf without entries")
    }
  }
}

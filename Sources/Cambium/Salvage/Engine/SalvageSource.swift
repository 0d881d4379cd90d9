/// A damaged store, opened as far as its files can be read.
struct SalvageSource {
  /// The state that is copied.
  struct Base {
    /// Its place among the candidates; nil if no footer was found, or none that may be taken.
    let candidate: Int?
    let footer: Footer?
    /// Why leaves count that no tree of the footer leads to: the newest footer is lost. Nil if it is not.
    let staleness: StoreError?
    /// Where such leaves are; nil for everywhere.
    let position: PagePosition?
  }

  let medium: any FileSystem
  let log: SalvagedLog?
  /// All footers that were found, newest first.
  let candidates: [FoundFooter]
  let faults: [StoreError]
  /// Reads everything in the page segments; nil if nothing says whose pages they are.
  let pages: PageReader?
  /// The page segments, ascending by number.
  let segments: [WholePages]

  /// Looks through a store's files. Nothing is written.
  ///
  /// - Complexity: O(bytes of the page segments and the log).
  /// - Throws: `.newerFormat` if a whole header of the log has a newer format, or, if no log can be read, one of a page
  ///   segment; `.io` if the directory cannot be read. Everything else that is wrong is among the faults.
  init(_ medium: any FileSystem) throws(StoreError) {
    var faults: [StoreError] = []
    log = SalvagedLog(of: medium) { faults.append($0) }
    // Its checksum is right, so this is no damage; and the bytes of a newer format mean something else.
    if let newer = faults.first(where: \.isNewerFormat) { throw newer }
    var search = FooterSearch(medium, of: log?.identity)
    try search.run()
    self.medium = medium
    candidates = search.found
    segments = search.segments
    self.faults = faults + search.faults
    let identity = candidates.first?.identity ?? search.identities.first
    pages = try identity.map { identity throws(StoreError) in
      try Self.reader(of: search.segments, identity, in: medium)
    }
  }

  private static func reader(
    of segments: [WholePages], _ identity: StoreIdentity, in medium: any FileSystem
  ) throws(StoreError) -> PageReader {
    var entries: [SegmentTable.Entry] = []
    for walk in segments {
      guard let end = try? walk.endBlock else { continue }
      let segment = try PageSegment(number: walk.number, file: walk.file, mapped: false)
      entries.append(.init(segment: segment, endBlock: end))
    }
    return PageReader(
      medium: medium, identity: identity, segments: SegmentTable(entries),
      cache: PageCache(capacity: 16 << 20))
  }
}

extension SalvageSource {
  /// Chooses the state to copy.
  ///
  /// - Parameter whole: The newest candidate whose trees are whole.
  func base(_ choice: SalvageChoice, whole: Int?) -> Base {
    switch choice {
    case .newestWhole: return base(whole)
    case .newest: return base(named ?? (candidates.isEmpty ? nil : 0))
    case .everything:
      if let named { return base(named) }
      let newest = candidates.firstIndex { candidate in
        log.map { !$0.isTrue(for: candidates) || candidate.covers(noMoreThan: $0.footer) } ?? true
      }
      guard let newest else {
        return Base(candidate: nil, footer: nil, staleness: lostFooter, position: nil)
      }
      return Base(
        candidate: newest, footer: candidates[newest].footer, staleness: lostFooter,
        position: candidates[newest].reference.position)
    }
  }

  private func base(_ index: Int?) -> Base {
    Base(
      candidate: index, footer: index.map { candidates[$0].footer }, staleness: nil, position: nil)
  }

  /// The candidate that the log says is true.
  private var named: Int? {
    guard let log, log.isTrue(for: candidates) else { return nil }
    return candidates.firstIndex { candidate in
      log.footer.copies.contains { $0.position == candidate.reference.position }
    }
  }

  private var lostFooter: StoreError {
    guard let log, log.isTrue(for: candidates) else {
      return .corrupt(
        .log(file: 0, block: 0), invariant: .logHeader,
        reason: "nothing says which footer is true")
    }
    return .corrupt(
      .page(log.footer.position), invariant: .footerSections,
      reason: "the footer that the log names cannot be read")
  }
}

extension StoreError {
  /// True of files that a newer version of Cambium has written.
  var isNewerFormat: Bool { if case .newerFormat = self { true } else { false } }
}

extension FoundFooter {
  fileprivate func covers(noMoreThan other: FooterReference) -> Bool {
    reference.coveredSequence <= other.coveredSequence
  }
}

extension SalvagedLog {
  /// True if it is the log that counts: its files are whole, and no footer was written in a later use.
  func isTrue(for candidates: [FoundFooter]) -> Bool {
    isWhole && candidates.allSatisfy { UInt64($0.footer.logUse) <= use }
  }
}

// MARK: Trees

extension SalvageSource {
  /// How the trees of a state are read.
  ///
  /// - Parameters:
  ///   - names: Trees that may be there, beside those of the footer.
  ///   - loose: Where leaves are looked for to which nothing leads; nil if they are not.
  func trees(
    of base: Base, or names: [String], loose: LooseLeaves?
  ) -> [SalvagedTree] {
    var roots: [String: TreeRoot?] = [:]
    for tree in base.footer?.trees ?? [] { roots[tree.name] = .some(tree.root) }
    let others =
      base.staleness == nil ? [] : treesAndParts(names, loose).filter { roots[$0] == nil }
    let all = (Array(roots.keys) + others).sortedRarely {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    return all.map { name in
      let tag = TreeTag(of: name)
      var tree = SalvagedTree(name: name, source: .root(roots[name] ?? nil))
      if let fault = base.staleness, let loose,
        base.footer == nil || loose.hasLeaves(of: tag, behind: base.position)
      {
        tree = SalvagedTree(name: name, source: .leaves(fault))
        tree.newerThan = base.position
        if let pages, let root = roots[name] ?? nil { tree.known = pages.leaves(below: root) }
      }
      tree.loose = loose
      return tree
    }
  }
}

extension SalvageSource {
  /// The names of trees, and of the parts of levels over them of which there are leaves.
  private func treesAndParts(_ names: [String], _ loose: LooseLeaves?) -> [String] {
    guard let loose else { return names }
    let parts = names.flatMap { name in LevelPart.allCases.map { $0.name(over: name) } }
    return names + parts.filter { loose.hasLeaves(of: TreeTag(of: $0), behind: nil) }
  }
}

extension PageReader {
  /// Where the leaves of a tree are, as far as branches lead to them.
  fileprivate func leaves(below root: TreeRoot) -> Set<PagePosition> {
    var found: Set<PagePosition> = []
    var rest = [(root.reference, root.level, [UInt8](), [UInt8]?.none)]
    while let (reference, level, low, high) = rest.popLast() {
      if level == 0 {
        found.insert(reference.position)
        continue
      }
      guard let page = try? load(reference, level: level, as: BranchPage.self) else { continue }
      let node = Node(page.bytes)
      // Without this check, a file in which branches share children could be read for ever.
      guard node.isWithin(low, high) else { continue }
      var childLow = low
      for index in 0..<node.childCount {
        var childHigh = high
        if index < node.count {
          var separator: [UInt8] = []
          node.copyKey(index, to: &separator)
          childHigh = separator
        }
        rest.append((node.child(index), level - 1, childLow, childHigh))
        childLow = childHigh ?? []
      }
    }
    return found
  }
}

/// Makes a tree from entries and subtrees that come in ascending order, page by page, bottom-up.
///
/// It is the only writer of trees: load, fold, compaction and migration are `TreeMerge`s that feed it.
/// It holds a few nodes a level in memory, whatever the size of the tree.
///
/// **The rule of fill.** Every level keeps more than a node's worth of entries open, so that what is
/// left at an end is divided evenly over the fewest nodes. Nothing is adopted next to a node that would
/// be left under half full: that node takes in its neighbour's entries instead. And where a full node
/// got a few entries more, it is divided together with its neighbour, two into three as in a B*-tree
/// (Knuth, "Sorting and Searching", 6.2.4), once. Without the rule, random inserts of one percent each
/// leave nodes 7 % full after sixty merges; without the last part, 70 %.
struct TreeBuilder: ~Copyable {
  let appender: PageAppender
  let sizes: NodeSizes
  /// The tag of all nodes that are written.
  private let tag: TreeTag
  /// Where adopted subtrees are read, should their entries be needed after all.
  let base: PageReader?
  /// The open entries of each level: 0 those of leaves, 1 the leaves above them, and so on.
  private(set) var levels: [OpenEntries]
  /// A key above all before the first open entry of level 0, and not above that entry.
  private var leafSeparator: [UInt8] = []
  /// The schema version of the open entries of level 0.
  private(set) var schemaVersion: UInt32 = 0
  /// Whether what is open on level 0 took in a neighbour so that three leaves come of two.
  private var hasTakenNeighbor = false
  /// Finds leaves that must not stay as they are, where leaves of several versions meet.
  private(set) var seams = LeafSeams()
  /// The last leaf that was adopted with other values.
  private(set) var rewritten = RewrittenLeaf()

  init(
    appendingTo appender: PageAppender, base: PageReader?,
    sizes: NodeSizes = .standard, tag: TreeTag = .none
  ) {
    self.appender = appender
    self.tag = tag
    self.base = base
    self.sizes = sizes
    levels = [OpenEntries(isBranch: false, capacity: sizes.leaf)]
  }
}

// MARK: Entries

extension TreeBuilder {
  /// Adds an entry above all before it; a value too large for a leaf goes to pages of its own.
  ///
  /// - Throws: `.limitExceeded` for a key over 1 KiB or a value over 16 MiB, `.full`, `.io`.
  mutating func append(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32
  ) throws(StoreError) {
    try checkLimit(.keyLength, key.byteCount)
    try begin(schemaVersion, before: key)
    let weight = OpenEntries.weight(keyLength: key.byteCount, valueLength: value.byteCount)
    if isInline(weight: weight) {
      levels[0].append(key, value)
    } else {
      try checkLimit(.valueLength, value.byteCount)
      let pages = try appender.append(largeValue: value)
      levels[0].append(key, pages)
    }
    if levels[0].mayBeTwoNodes { try emitFullNodes(of: 0) }
  }

  /// Whether an entry of this weight stays in its leaf as a whole.
  func isInline(weight: Int) -> Bool { weight <= sizes.inlineWeightMax }

  /// Adds an entry whose value has its own pages already.
  mutating func append(
    _ key: RawSpan, externalValue pages: PageReference, schemaVersion: UInt32
  ) throws(StoreError) {
    try begin(schemaVersion, before: key)
    levels[0].append(key, pages)
    if levels[0].mayBeTwoNodes { try emitFullNodes(of: 0) }
  }

  /// Adds entries of a leaf of the base, the first above all before it.
  mutating func append(_ node: borrowing Node, _ slots: Range<Int>) throws(StoreError) {
    var slot = slots.lowerBound
    while slot < slots.upperBound {
      if levels[0].isEmpty || schemaVersion != node.schemaVersion {
        try begin(node.schemaVersion, before: node.key(slot).rawSpan)
      }
      let end = levels[0].append(node, slot..<slots.upperBound, weightMax: sizes.inlineWeightMax)
      if end == slot {
        try append(node.key(slot).rawSpan, node.value(slot), schemaVersion: node.schemaVersion)
      }
      slot = max(end, slot + 1)
      if levels[0].mayBeTwoNodes { try emitFullNodes(of: 0) }
    }
  }

  /// Closes the leaves of another version: a leaf holds rows of one.
  @inline(__always)
  private mutating func begin(_ version: UInt32, before key: RawSpan) throws(StoreError) {
    if version == schemaVersion, !levels[0].isEmpty { return }
    try closeLeaves(before: key)
    schemaVersion = version
    seams.note(version)
    if try isThinLeafBefore(version) { _ = try takeBack(0) }
  }

  private mutating func closeLeaves(before key: RawSpan) throws(StoreError) {
    if levels[0].isEmpty { return }
    try fill(0)
    let separator = levels[0].separator(before: key)
    try close(0)
    leafSeparator = separator
  }

  @inline(__always)
  private func checkLimit(_ limit: StoreError.Limit, _ found: Int) throws(StoreError) {
    if found > limit.bound { throw .limitExceeded(limit, found: found) }
  }
}

// MARK: Subtrees

extension TreeBuilder {
  /// Says where the next entries begin: above all before them, and not above any of them.
  ///
  /// A separator of the base that is known to be right; without it the builder would have to read the
  /// last key of what it adopted.
  mutating func expect(from separator: [UInt8], schemaVersion: UInt32) {
    seams.note(schemaVersion)
    seams.visitedLeaves += 1
    if levels[0].isEmpty { leafSeparator = separator }
  }

  /// Begins another tree of the base. Its first leaf was no neighbor of the last leaf so far: both may have the same
  /// version and little in them.
  mutating func beginTree() { seams.beginsTree = true }

  /// Closes what is open up to `level`, so that the subtree at `reference` can follow.
  ///
  /// - Returns: false if a node would be left under half full, or a leaf with little in it would get
  ///   another of its version beside it: the subtree's entries must come one by one, or its children.
  mutating func prepareToAdopt(_ reference: PageReference, level: Int) throws(StoreError) -> Bool {
    seams.note(reference.lowestVersion)
    if try mustJoin(reference, level: level) { return false }
    for below in 0...level where below < levels.count && !levels[below].isEmpty {
      if levels[below].isUnderHalf {
        // A leaf of another version has nothing that could be taken in.
        guard level == 0, reference.lowestVersion != schemaVersion else { return false }
        try fill(0)
      } else if below == 0, reference.lowestVersion == schemaVersion, !hasTakenNeighbor,
        levels[0].isThinForTwo
      {
        hasTakenNeighbor = true
        return false
      }
      try close(below)
    }
    return true
  }

  /// Links a subtree of the base. `prepareToAdopt` said that it can be.
  mutating func adopt(
    _ reference: PageReference, level: Int, separator: [UInt8], next: [UInt8]?
  ) throws(StoreError) {
    try append(reference, separator: separator, to: level + 1)
    leafSeparator = next ?? []
    seams.visitedLeaves = 0
    seams.beginsTree = false
  }

  /// The same for a leaf that is written anew whether it is adopted with other values or its entries come
  /// one by one. Then those fill up what is open, unless that is full.
  mutating func prepareToRewrite(_ reference: PageReference) throws(StoreError) -> Bool {
    try prepareToRewrite(reference, lacking: 8)
  }

  /// The same for a full leaf that is only moved. Where much is moved, full leaves are what it is for: so what is
  /// open is closed before one only if hardly anything is lost by it.
  mutating func prepareToMove(_ reference: PageReference) throws(StoreError) -> Bool {
    try prepareToRewrite(reference, lacking: 32)
  }

  /// - Parameter share: Which part of a node, one in so many, may be left empty.
  private mutating func prepareToRewrite(
    _ reference: PageReference, lacking share: Int
  ) throws(StoreError) -> Bool {
    let isOfVersion = reference.lowestVersion == schemaVersion
    if isOfVersion, !levels[0].isEmpty, !levels[0].isFull(lacking: share) { return false }
    return try prepareToAdopt(reference, level: 0)
  }

  /// Whether no more entries like those of a leaf would go into it.
  func isFull(_ leaf: borrowing Node) -> Bool {
    leaf.used <= sizes.leaf && leaf.used + leaf.used / leaf.count > sizes.leaf
  }

  /// Links a leaf of the base that moves or gets other values, and has none with pages of their own.
  /// `prepareToMove` or `prepareToRewrite` said that it can be.
  mutating func adopt(
    _ leaf: borrowing Node, replacing replacements: LeafReplacements, separator: [UInt8],
    next: [UInt8]?
  ) throws(StoreError) {
    rewritten.make(leaf, replacing: replacements)
    let reference = try rewritten.write(to: appender)
    try adopt(reference, level: 0, separator: separator, next: next)
  }

  private mutating func append(
    _ reference: PageReference, separator: [UInt8], to level: Int
  ) throws(StoreError) {
    while levels.count <= level {
      levels.append(OpenEntries(isBranch: true, capacity: sizes.branch))
    }
    levels[level].append(separator.rawSpan, reference)
    if levels[level].mayBeTwoNodes { try emitFullNodes(of: level) }
  }
}

// MARK: Nodes

extension TreeBuilder {
  /// Writes the full nodes of a level, as long as what remains is enough for another.
  @inline(never)
  private mutating func emitFullNodes(of level: Int) throws(StoreError) {
    while levels[level].mayBeTwoNodes, let node = levels[level].fullNode() {
      try emit(node, of: level)
      let end = node.entries.upperBound
      if level == 0 { leafSeparator = levels[0].separator(before: end) }
      levels[level].removeFirst(end)
    }
  }

  /// Writes all that is open on a level, in nodes as even as can be.
  private mutating func close(_ level: Int) throws(StoreError) {
    for part in levels[level].evenParts() {
      if level == 0, part.lowerBound > 0 {
        leafSeparator = levels[0].separator(before: part.lowerBound)
      }
      let measure = NodeMeasure(levels[level], part)
      try emit(FilledNode(entries: part, measure: measure), of: level)
    }
    levels[level].removeAll()
    if level == 0 { hasTakenNeighbor = false }
  }

  /// Writes a node of these open entries and hands its reference to the level above.
  private mutating func emit(_ node: FilledNode, of level: Int) throws(StoreError) {
    let measure = node.measure
    let range = node.entries
    let blocks = (measure.size + Layout.blockSize - 1) / Layout.blockSize
    let version = level == 0 ? schemaVersion : 0
    let (entries, tag) = (levels[level], tag)
    var aggregates = PageReference.unplaced(blocks: blocks)
    entries.aggregate(range, schemaVersion: version, into: &aggregates)
    try checkAggregates(of: aggregates, of: entries, range)
    let reference = try appender.append(
      nodeAt: UInt8(level), flags: measure.hasExternals ? Node.hasExternalsFlag : 0, blocks: blocks,
      stating: aggregates
    ) { page in
      NodeWriter.write(
        entries, range, measure: measure, schemaVersion: version, tag: tag, to: &page)
    }
    let separator = level == 0 ? leafSeparator : entries.keyBytes(range.lowerBound)
    try append(reference, separator: separator, to: level + 1)
  }

  /// Refuses sums that no reference can say, which only a damaged base leads to: the node could be
  /// written, and never read.
  private func checkAggregates(
    of reference: PageReference, of entries: OpenEntries, _ range: Range<Int>
  ) throws(StoreError) {
    if reference.count <= PageReference.aggregateMax,
      reference.liveBytes <= PageReference.liveBytesMax
    {
      return
    }
    let children = range.filter { entries.isBranch || entries.isExternal($0) }
      .map { entries.reference($0) }
    let largest = children.max { ($0.count, $0.liveBytes) < ($1.count, $1.liveBytes) } ?? reference
    throw largest.fault(
      .aggregates,
      "its reference says \(largest.count) entries in \(largest.liveBytes) bytes")
  }

  /// Takes back a node of the base that comes before if what is open is not enough for a good one.
  ///
  /// More than one only if it has to be, as each leaves one entry less on the level above, where a
  /// node made here may stand before it and cannot be taken back.
  private mutating func fill(_ level: Int) throws(StoreError) {
    guard levels[level].isUnderHalf, try takeBack(level) else { return }
    while levels[level].isUnderThird, try takeBack(level) {}
  }

  /// Puts the entries of the last node of `level` back among the open ones, to be divided anew.
  ///
  /// - Returns: false if there is no such node, or it cannot be joined with what is open.
  private mutating func takeBack(_ level: Int) throws(StoreError) -> Bool {
    guard let base, level + 1 < levels.count else { return false }
    if levels[level + 1].isEmpty, try !takeBack(level + 1) { return false }
    let last = levels[level + 1].count - 1
    let reference = levels[level + 1].reference(last)
    // Only adopted nodes stand there: those made here leave enough open behind them.
    if appender.wrote(reference.position), rewritten.reference != reference { return false }
    if level == 0, reference.lowestVersion != schemaVersion { return false }
    let separator = levels[level + 1].keyBytes(last)
    let taken = try entries(of: reference, level: level, separator: separator, from: base)
    appender.replaced.insert(reference)
    levels[level + 1].removeLast()
    levels[level].prepend(taken)
    if level == 0 { leafSeparator = separator }
    return true
  }

  /// The entries of a node of the base.
  private func entries(
    of reference: PageReference, level: Int, separator: [UInt8], from base: PageReader
  ) throws(StoreError) -> OpenEntries {
    var entries = OpenEntries(isBranch: level > 0, capacity: levels[level].capacity)
    if rewritten.reference == reference {
      entries.append(rewritten.node)
    } else if level == 0 {
      let page = try base.page(reference, level: 0, as: LeafPage.self)
      entries.append(Node(page.bytes))
    } else {
      var key: [UInt8] = []
      let page = try base.page(reference, level: UInt8(level), as: BranchPage.self)
      let node = Node(page.bytes)
      for index in 0..<node.childCount {
        if index == 0 { key = separator } else { node.copyKey(index - 1, to: &key) }
        entries.append(key.rawSpan, node.child(index))
      }
    }
    return entries
  }
}

// MARK: The end

extension TreeBuilder {
  /// The last key that was added; `nil` if none was, or something else came after it.
  var lastKey: [UInt8]? { levels[0].isEmpty ? nil : levels[0].keyBytes(levels[0].count - 1) }

  /// Closes all levels.
  ///
  /// - Returns: the root, nil for a tree without entries. Its pages may still wait in the appender.
  mutating func finish() throws(StoreError) -> TreeRoot? {
    var level = 0
    while let top = levels.lastIndex(where: { !$0.isEmpty }) {
      if level == top, level > 0, levels[level].count == 1 {
        return TreeRoot(reference: levels[level].reference(0), level: UInt8(level - 1))
      }
      if !levels[level].isEmpty {
        try fill(level)
        try close(level)
      }
      level += 1
    }
    return nil
  }
}

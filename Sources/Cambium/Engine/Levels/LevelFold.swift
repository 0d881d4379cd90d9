/// The fold of the changes of one tree into the level over it, of which an interval of keys is merged into the tree meanwhile.
///
///     changes    ────────────────┬─────────┬─────────────
///     level      ── stays with ──┤         ├── changes ──
///     tree       ── as it is ────┴─ takes ─┴── as it is ─
///                                both there
struct LevelFold {
  private let changes: LevelChanges
  private let level: Level?
  private let tree: Tree
  private let name: String
  private let adoption: Adoption
  private let sizes: NodeSizes
  private let appender: PageAppender

  /// - Parameters:
  ///   - level: The level as it is; nil if there is none.
  ///   - name: The tree's name.
  init(
    _ changes: LevelChanges, into level: Level?, over tree: Tree, _ name: String,
    _ adoption: Adoption, _ sizes: NodeSizes, _ appender: PageAppender
  ) {
    self.changes = changes
    self.level = level
    self.tree = tree
    self.name = name
    self.adoption = adoption
    self.sizes = sizes
    self.appender = appender
  }

  /// - Parameter merge: What is merged into the tree; nil for nothing.
  /// - Throws: `.corrupt` if the level is damaged, or the changes are not such of what lies below; `.limitExceeded`, `.full`, `.io`.
  func run(_ merge: LevelMerge?) throws(StoreError) -> FoldedTree {
    var folded = FoldedTree(root: tree.root)
    if let merge {
      // There is no level over an empty tree.
      let (start, end) = (merge.interval.start, merge.interval.end)
      if try tree.count(from: start, upTo: end) == tree.count { return try mergeAll(.none) }
      if merge.hasOwnSegments { try appender.leaveSegment() }
      folded.root = try mergeIntoTree(within: merge.interval)
      if merge.hasOwnSegments { try appender.leaveSegment() }
    }
    let before = appender.blockCount
    for part in LevelPart.allCases {
      folded.level[part] = try TreeMerge.run(
        LevelPartInput(part, of: changes, outside: merge?.interval, over: level, tree.pages),
        into: level?[part].root, of: tree.pages, adoption: adoption, sizes: sizes,
        tag: TreeTag(of: part.name(over: name)), appendingTo: appender)
    }
    folded.levelWritten = (appender.blockCount - before) * Layout.blockSize
    folded.level.filter = try appendFilter(
      of: folded.changeCount, with: merge.map(\.interval.outside) ?? [.all])
    try checkCount(folded)
    return folded
  }

  /// Merges all of the level and the changes into the tree.
  ///
  /// - Throws: what `run` does.
  func mergeAll(_ transform: TreeTransform) throws(StoreError) -> FoldedTree {
    if let level { appender.replaced.insert(level) }
    let folded = FoldedTree(root: try mergeIntoTree(within: .all, transform))
    if !transform.mayDrop { try checkCount(folded) }
    return folded
  }

  private func mergeIntoTree(
    within interval: KeyInterval, _ transform: TreeTransform = .none
  ) throws(StoreError) -> TreeRoot? {
    var inputs: [SpillInput] = []
    if !changes.isEmpty { inputs.append(changes.input(within: interval)) }
    if let level { inputs.append(.level(LevelRunInput(level, within: interval))) }
    return try TreeMerge.run(
      RunMerge(newestFirst: inputs, largeValues: changes.largeValues),
      into: tree.root, of: tree.pages,
      transform: transform, adoption: adoption, sizes: sizes, tag: TreeTag(of: name),
      appendingTo: appender)
  }

  /// A change that says a wrong thing of what lies below would leave counts wrong for as long as there is a level.
  private func checkCount(_ folded: FoldedTree) throws(StoreError) {
    let expected = tree.count + (level?.countChange ?? 0) + changes.countChange
    let found = folded.count
    guard found == expected else {
      throw .corrupt(
        .entry(tree: name, key: []), invariant: .aggregates,
        reason: "its changes are said to leave \(expected) entries, and leave \(found)")
    }
  }
}

// MARK: - The filter

extension LevelFold {
  /// Appends the filter of the new level. A key that was added and is removed now stays in it until the next fold.
  ///
  /// - Parameter count: The keys of the new level.
  private func appendFilter(
    of count: Int, with intervals: [KeyInterval]
  ) throws(StoreError) -> TreeRoot? {
    if let root = level?.roots.filter { appender.replaced.insert(root) }
    if count == 0 { return nil }
    return try TreeMerge.run(
      LevelFilterInput(ofKeys: count, in: level, and: changes, within: intervals),
      into: nil, of: nil, sizes: sizes, tag: TreeTag(of: LevelLayer.filter.name(over: name)),
      appendingTo: appender)
  }
}

extension FoldedTree {
  fileprivate var count: Int {
    Self.count(root) + Self.count(level[.added]) - Self.count(level[.removed])
  }

  /// The keys that the level changes.
  fileprivate var changeCount: Int {
    LevelPart.allCases.reduce(0) { $0 + Self.count(level[$1]) }
  }

  private static func count(_ root: TreeRoot?) -> Int {
    Int(clamping: root?.reference.count ?? 0)
  }
}

/// The fold of an overlay's changes of one tree into the level over it.
struct LevelFold {
  private let changes: OverlayTree
  private let level: Level?
  private let tree: Tree
  private let name: String
  private let sizes: NodeSizes
  private let appender: PageAppender

  /// - Parameters:
  ///   - level: The level as it is; nil if there is none.
  ///   - name: The tree's name.
  init(
    _ changes: OverlayTree, into level: Level?, over tree: Tree, _ name: String,
    _ sizes: NodeSizes, _ appender: PageAppender
  ) {
    self.changes = changes
    self.level = level
    self.tree = tree
    self.name = name
    self.sizes = sizes
    self.appender = appender
  }

  /// - Returns: The roots of the level's parts.
  /// - Throws: `.corrupt` if the level is damaged, or the changes are not such of what lies below; `.limitExceeded`, `.full`, `.io`.
  func run(_ adoption: Adoption) throws(StoreError) -> LevelRoots {
    var roots = LevelRoots()
    for part in LevelPart.allCases {
      roots[part] = try TreeMerge.run(
        LevelPartInput(part, of: changes, over: level, tree.pages), into: level?[part].root,
        of: tree.pages, adoption: adoption, sizes: sizes,
        tag: TreeTag(of: part.name(over: name)), appendingTo: appender)
    }
    try checkCount(roots)
    return roots
  }

  /// A change that says a wrong thing of what lies below would leave counts wrong for as long as there is a level.
  private func checkCount(_ roots: LevelRoots) throws(StoreError) {
    let change = (level?.countChange ?? 0) + changes.countChange
    let found = roots.count(.added) - roots.count(.removed)
    guard found == change else {
      throw .corrupt(
        .entry(tree: name, key: []), invariant: .aggregates,
        reason: "its changes are said to add \(change) entries, and add \(found)")
    }
  }
}

extension LevelRoots {
  fileprivate func count(_ part: LevelPart) -> Int {
    Int(clamping: self[part]?.reference.count ?? 0)
  }
}

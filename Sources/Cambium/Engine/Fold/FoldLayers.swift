/// The layers that a fold merges into the trees: an overlay, and the runs of a spilled transaction.
struct FoldLayers {
  private let overlay: Overlay
  /// A transaction that is newer than the overlay. Each of its trees can be merged once.
  private let spill: Spill?

  init(_ overlay: Overlay, below spill: Spill? = nil) {
    self.overlay = overlay
    self.spill = spill
  }

  /// The trees that something falls into.
  var slots: [TreeSlot] {
    (spill?.slots ?? []).union(overlay.trees).sortedRarely(by: >)
  }

  /// Merges what falls into one tree.
  ///
  /// - Parameters:
  ///   - target: Where it goes, unless a layer hides what is there, the tree is empty, or a spilled transaction loaded trees after it.
  ///   - adoption: What may be taken over as it is; where a transaction was spilled, all may be.
  /// - Returns: its new roots.
  func merge(
    _ slot: TreeSlot, _ name: String, into base: Base, _ transform: TreeTransform,
    _ target: FoldTarget, _ adoption: Adoption, sizes: NodeSizes,
    appendingTo appender: PageAppender
  ) throws(StoreError) -> FoldedTree {
    let (tree, level) = (base.tree(slot), base.level(slot))
    if let spill, spill.slots.contains(slot) {
      return try merge(
        spill, slot, name, into: tree, level, transform, target, adoption, sizes: sizes,
        appendingTo: appender)
    }
    let changes = overlay[slot]
    if changes.hidesBase {
      appender.replaced.insert(tree, level)
    } else {
      let fold = LevelFold(
        .overlay(changes), into: level, over: tree, name, adoption, sizes, appender)
      if case .level(let merge) = target, tree.root != nil { return try fold.run(merge) }
      if level != nil { return try fold.mergeAll(transform) }
    }
    return FoldedTree(
      root: try TreeMerge.run(
        OverlayInput(changes), into: changes.hidesBase ? nil : tree.root, of: tree.pages,
        transform: transform, adoption: adoption, sizes: sizes, tag: TreeTag(of: name),
        appendingTo: appender))
  }

  /// Merges a spilled transaction: into the tree in one pass over runs, overlay, level, base and loaded trees.
  private func merge(
    _ spill: Spill, _ slot: TreeSlot, _ name: String, into tree: Tree, _ level: Level?,
    _ transform: TreeTransform, _ target: FoldTarget, _ adoption: Adoption, sizes: NodeSizes,
    appendingTo appender: PageAppender
  ) throws(StoreError) -> FoldedTree {
    let tag = TreeTag(of: name)
    // Often there is nothing to be merged but these and the tree.
    if target == .tree, overlay[slot].isEmpty, level == nil, let puts = spill.takeOnlyPuts(slot) {
      return FoldedTree(
        root: try TreeMerge.run(
          puts, into: tree.root, of: tree.pages, transform: transform, sizes: sizes,
          tag: tag, appendingTo: appender))
    }
    var (layers, loaded, hidesBase) = spill.takeLayers(slot)
    // What is below a layer that hides its base does not count.
    if !hidesBase {
      let changes = overlay[slot]
      if !changes.isEmpty { layers.append(.overlay(changes)) }
      hidesBase = changes.hidesBase
    }
    if case .level(let merge) = target, tree.root != nil, !hidesBase, loaded.isEmpty {
      let changes = try SpilledChanges(
        layers, over: LayeredTree(overlays: [], over: tree, under: level),
        largeValues: spill.largeValuePages())
      return try LevelFold(
        .spilled(changes), into: level, over: tree, name, adoption, sizes, appender
      ).run(merge)
    }
    var inputs = layers.map { $0.input() }
    if hidesBase {
      appender.replaced.insert(tree, level)
    } else if let level {
      appender.replaced.insert(level)
      inputs.append(.level(LevelRunInput(level)))
    }
    let pages = loaded.isEmpty ? tree.pages : try spill.loads.pages(over: tree.pages)
    return FoldedTree(
      root: try TreeMerge.run(
        RunMerge(newestFirst: inputs, largeValues: try spill.largeValuePages()),
        into: hidesBase ? nil : tree.root,
        of: pages, transform: transform, sizes: sizes, tag: tag, followedBy: loaded.following,
        appendingTo: appender))
  }

  /// About the bytes of what falls into one tree.
  func byteCount(_ slot: TreeSlot) -> Int {
    overlay.byteCount(of: slot) + (spill?.byteCount(of: slot) ?? 0)
  }
}

/// The roots of a tree that something was folded into, and of its level.
struct FoldedTree {
  var root: TreeRoot?
  var level = LevelRoots()
  /// The bytes of the pages that the parts of the level got; nil if all went into the tree.
  var levelWritten: Int?
}

extension ReplacedPages {
  /// Adds a whole tree and its level.
  fileprivate mutating func insert(_ tree: Tree, _ level: Level?) {
    if let root = tree.root { insert(root) }
    if let level { insert(level) }
  }

  mutating func insert(_ level: Level) {
    for root in level.roots.all { insert(root) }
  }
}

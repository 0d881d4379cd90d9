/// What a fold merges into the trees: an overlay, and the runs of a spilled transaction.
struct FoldLayers {
  private let overlay: Overlay
  /// What is newer than the overlay. It can be merged once.
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
  /// - Parameter adoption: What may be taken over as it is; where a transaction was spilled, all may be.
  /// - Returns: its new root.
  func merge(
    _ slot: TreeSlot, into tree: Tree, _ transform: TreeTransform, _ adoption: Adoption,
    sizes: NodeSizes, tag: TreeTag, appendingTo appender: PageAppender
  ) throws(StoreError) -> TreeRoot? {
    if let spill {
      return try merge(
        spill, slot, into: tree, transform, sizes: sizes, tag: tag, appendingTo: appender)
    }
    let changes = overlay[slot]
    if changes.hidesBase, let root = tree.root { appender.replaced.insert(root) }
    return try TreeMerge.run(
      OverlayInput(changes), into: changes.hidesBase ? nil : tree.root, of: tree.pages,
      transform: transform, adoption: adoption, sizes: sizes, tag: tag, appendingTo: appender)
  }

  /// Merges a spilled transaction, in one pass over runs, overlay, base and loaded trees.
  private func merge(
    _ spill: Spill, _ slot: TreeSlot, into tree: Tree,
    _ transform: TreeTransform, sizes: NodeSizes, tag: TreeTag, appendingTo appender: PageAppender
  ) throws(StoreError) -> TreeRoot? {
    // Often there is nothing to be merged but these and the tree.
    if overlay[slot].isEmpty, let puts = spill.takeOnlyPuts(slot) {
      return try TreeMerge.run(
        puts, into: tree.root, of: tree.pages, transform: transform, sizes: sizes,
        tag: tag, appendingTo: appender)
    }
    var (inputs, loaded, hidesBase) = spill.takeInputs(slot)
    // What is below a layer that hides its base does not count.
    if !hidesBase {
      let changes = overlay[slot]
      if !changes.isEmpty { inputs.append(.overlay(OverlayRunInput(changes))) }
      hidesBase = changes.hidesBase
    }
    if hidesBase, let root = tree.root { appender.replaced.insert(root) }
    let pages = loaded.isEmpty ? tree.pages : try spill.loads.pages(over: tree.pages)
    return try TreeMerge.run(
      RunMerge(newestFirst: inputs, largeValues: try spill.largeValuePages()),
      into: hidesBase ? nil : tree.root,
      of: pages, transform: transform, sizes: sizes, tag: tag, followedBy: loaded.following,
      appendingTo: appender)
  }
}

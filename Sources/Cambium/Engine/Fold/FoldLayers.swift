/// What a fold merges into the trees, newest first: overlays, and the runs of a spilled transaction.
struct FoldLayers {
  private let overlays: [Overlay]
  /// What is newer than the overlays. It can be merged once.
  private let spill: Spill?

  init(_ overlays: [Overlay], below spill: Spill? = nil) {
    self.overlays = overlays
    self.spill = spill
  }

  /// The trees that something falls into.
  var slots: [TreeSlot] {
    var slots: Set<TreeSlot> = []
    if let spill { slots = spill.slots }
    for overlay in overlays { slots.formUnion(overlay.trees) }
    return slots.sortedRarely(by: >)
  }

  /// Merges what falls into one tree.
  ///
  /// - Returns: its new root.
  func merge(
    _ slot: TreeSlot, into tree: Tree, _ transform: TreeTransform, sizes: NodeSizes,
    appendingTo appender: PageAppender
  ) throws(StoreError) -> TreeRoot? {
    if let spill {
      return try merge(spill, slot, into: tree, transform, sizes: sizes, appendingTo: appender)
    }
    // What is below a layer that hides its base does not count.
    let trees = overlays.map { $0[slot] }
    let last = trees.firstIndex(where: \.hidesBase)
    let inputs = trees[...(last ?? trees.count - 1)].map(OverlayInput.init)
    let root = last == nil ? tree.root : nil
    if inputs.count == 1 {
      return try TreeMerge.run(
        inputs[0], into: root, of: tree.pages, transform: transform,
        sizes: sizes, appendingTo: appender)
    }
    return try TreeMerge.run(
      MergedInputs(newestFirst: inputs), into: root, of: tree.pages, transform: transform, sizes: sizes, appendingTo: appender)
  }

  /// Merges a spilled transaction, in one pass over runs, overlays and base.
  private func merge(
    _ spill: Spill, _ slot: TreeSlot, into tree: Tree,
    _ transform: TreeTransform, sizes: NodeSizes, appendingTo appender: PageAppender
  ) throws(StoreError) -> TreeRoot? {
    var (inputs, hidesBase) = spill.takeInputs(slot)
    for overlay in overlays where !hidesBase {
      let changes = overlay[slot]
      inputs.append(.overlay(OverlayRunInput(changes)))
      hidesBase = changes.hidesBase
    }
    if inputs.isEmpty { return nil }
    return try TreeMerge.run(
      RunMerge(newestFirst: inputs, largeValues: try spill.largeValuePages()),
      into: hidesBase ? nil : tree.root, of: tree.pages, transform: transform, sizes: sizes, appendingTo: appender)
  }
}

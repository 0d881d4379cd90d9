/// What a fold merges into the trees, newest first: overlays, and the runs of a spilled transaction.
struct FoldLayers<Medium: FileSystem> {
  private let overlays: [Overlay]

  init(_ overlays: [Overlay]) {
    self.overlays = overlays
  }

  /// The trees that something falls into.
  var slots: [TreeSlot] {
    var slots: Set<TreeSlot> = []
    for overlay in overlays { slots.formUnion(overlay.trees) }
    return slots.sorted(by: >)
  }

  /// Merges what falls into one tree.
  ///
  /// - Returns: its new root.
  func merge(
    _ slot: TreeSlot, into tree: Tree<Medium>, sizes: NodeSizes,
    appendingTo appender: PageAppender<Medium>
  ) throws(StoreError) -> TreeRoot? {
    // What is below a layer that hides its base does not count.
    let trees = overlays.map { $0[slot] }
    let last = trees.firstIndex(where: \.hidesBase)
    let inputs = trees[...(last ?? trees.count - 1)].map(OverlayInput.init)
    let root = last == nil ? tree.root : nil
    if inputs.count == 1 {
      return try TreeMerge.run(
        inputs[0], into: root, of: tree.pages, transform: NoTransform(), sizes: sizes,
        appendingTo: appender)
    }
    return try TreeMerge.run(
      MergedInputs(newestFirst: inputs), into: root, of: tree.pages, transform: NoTransform(),
      sizes: sizes, appendingTo: appender)
  }
}

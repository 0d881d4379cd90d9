// A state and the segments of its blobs are taken one after the other, and have to belong together.

extension Engine {
  /// The trees of the newest state, with what finds its blobs.
  ///
  /// - Throws: `.closed`, `.forked`.
  func trees(
    _ upgrades: TreeUpgrades?, _ blobs: OpenedBlobs
  ) throws(StoreError) -> SnapshotTrees {
    guard let keeper = blobs.keeper else { return SnapshotTrees(try snapshot(), upgrades) }
    while true {
      let removalCount = keeper.removalCount
      let trees = SnapshotTrees(try snapshot(), upgrades, blobs: keeper.located())
      // Else a segment may have gone that the state refers to; a newer one does not.
      if keeper.removalCount == removalCount { return trees }
    }
  }

  /// Returns the newest trees, also of a store that was closed.
  func lastTrees(_ upgrades: TreeUpgrades?, _ blobs: OpenedBlobs) -> SnapshotTrees {
    do throws(StoreError) { return try trees(upgrades, blobs) } catch {
      // There is no newer state, and what goes now, this one does not refer to.
      return SnapshotTrees(lastSnapshot(), upgrades, blobs: blobs.keeper?.located())
    }
  }
}

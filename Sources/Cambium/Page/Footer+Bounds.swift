extension Footer {
  /// Throws if its statements about trees and segments are impossible, by the bytes that it publishes. Afterwards no
  /// sum of its numbers overflows but that of live bytes, and no walk over a tree is longer than the published part
  /// allows.
  ///
  /// The live bytes of segments are for planning: whatever they are, the store can be read (`LivePages`).
  ///
  /// - Parameter position: Its own.
  /// - Throws: `.corrupt`.
  func checkBounds(at position: PagePosition) throws(StoreError) {
    func fault(_ invariant: Invariant, _ reason: String) -> StoreError {
      .corrupt(.page(position), invariant: invariant, reason: reason)
    }
    var published: UInt64 = 0
    for extent in segments {
      let size = extent.size
      guard size <= SegmentExtent.sizeMax else {
        throw fault(.footerSections, "segment \(extent.number) is said to have \(size) bytes")
      }
      if extent.kind == .pages { published += size }
    }
    for tree in trees + pendingWork.flatMap(\.trees) {
      guard let root = tree.root?.reference else { continue }
      guard root.liveBytes <= published, root.count <= root.liveBytes / PageReference.entrySizeMin
      else {
        throw fault(
          .referenceBounds,
          "the tree \(tree.name) is said to have \(root.count) entries in \(root.liveBytes) bytes, of"
            + " \(published) published")
      }
    }
    try checkLevels { reason in fault(.levelKeys, reason) }
  }

  /// Throws if a level changes more entries than the tree below has, so that no count is negative.
  private func checkLevels(_ fault: (String) -> StoreError) throws(StoreError) {
    var (below, changed): (NamedTree?, UInt64) = (nil, 0)
    // The parts of a level follow their tree.
    for tree in trees {
      guard let (name, layer) = LevelLayer.parsing(tree.name) else {
        (below, changed) = (tree, 0)
        continue
      }
      if layer == .part(.added) || layer == .filter { continue }
      changed += tree.root?.reference.count ?? 0
      let count = below?.name == name ? below?.root?.reference.count ?? 0 : 0
      guard changed <= count else {
        throw fault(
          "a level changes \(changed) entries of the tree \(name), which is said to have \(count)")
      }
    }
  }
}

extension Footer {
  /// The least size of a tree with entries in the catalog, with a name of one byte.
  static let treeSizeMin = treeSize("n")
  /// How many trees a footer has room for at most.
  static let treeCountMax = (StoreError.Limit.footerSize.bound - fixedSize) / treeSizeMin
}

extension SegmentExtent {
  /// The largest size of a segment that a footer may state, so that the sum over all segments cannot overflow.
  fileprivate static let sizeMax: UInt64 = 1 << 44

  /// The number of published bytes.
  fileprivate var size: UInt64 {
    guard kind == .pages else { return end }
    let (size, overflows) = end.multipliedReportingOverflow(by: UInt64(Layout.blockSize))
    return overflows ? .max : size
  }
}

extension PageReference {
  /// The least number of bytes that an entry takes in its leaf: the head of its key.
  fileprivate static let entrySizeMin: UInt64 = 8
}

extension Tree {
  /// How many entries are of a schema version below `version`: from the aggregates beside references.
  ///
  /// - Complexity: O(branches above such entries).
  /// - Throws: `.corrupt`, `.io`.
  func count(below version: UInt32) throws(StoreError) -> Int {
    guard let root else { return 0 }
    return Int(clamping: try count(below: version, root.reference, level: root.level))
  }

  private func count(
    below version: UInt32, _ reference: PageReference, level: UInt8
  ) throws(StoreError) -> UInt64 {
    if reference.lowestVersion >= version { return 0 }
    // A leaf has entries of one version.
    if level == 0 { return reference.count }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    try node.checkCount(reference)
    var count: UInt64 = 0
    for index in 0..<node.childCount {
      count += try self.count(below: version, node.child(index), level: level - 1)
    }
    return count
  }
}

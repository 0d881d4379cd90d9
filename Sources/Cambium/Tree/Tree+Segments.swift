extension Tree {
  /// Adds to `liveBytes`, by segment, the bytes of the tree's pages.
  ///
  /// - Complexity: O(branches); leaves are read only where they have values in pages of their own.
  func addLiveBytes(to liveBytes: inout [UInt32: UInt64]) throws(StoreError) {
    guard let root else { return }
    try addLiveBytes(of: root.reference, level: root.level, to: &liveBytes)
  }

  private func addLiveBytes(
    of reference: PageReference, level: UInt8, to liveBytes: inout [UInt32: UInt64]
  ) throws(StoreError) {
    liveBytes[reference.position.segment, default: 0] += UInt64(reference.size)
    if reference.liveBytes == reference.size { return }
    if level > 0 {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      for index in 0..<node.childCount {
        try addLiveBytes(of: node.child(index), level: level - 1, to: &liveBytes)
      }
      return
    }
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    for slot in 0..<node.count where node.isExternal(slot) {
      try addLiveBytes(
        ofValue: PageReference(decoding: node.value(slot), at: 0), to: &liveBytes)
    }
  }

  private func addLiveBytes(
    ofValue reference: PageReference, to liveBytes: inout [UInt32: UInt64]
  ) throws(StoreError) {
    liveBytes[reference.position.segment, default: 0] += UInt64(reference.size)
    if reference.liveBytes == reference.size { return }
    let list = try pages.page(reference, level: 0, as: ValueListPage.self)
    for index in 0..<ValueListPage.count(list.bytes) {
      let part = ValueListPage.reference(index, list.bytes)
      liveBytes[part.position.segment, default: 0] += UInt64(part.size)
    }
  }
}

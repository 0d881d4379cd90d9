extension Tree {
  /// Adds to `liveBytes`, by segment, the bytes of the tree's pages.
  ///
  /// - Complexity: O(branches); leaves are read only where they have values in pages of their own.
  func addLiveBytes(to liveBytes: inout [UInt32: UInt64]) throws(StoreError) {
    guard let root else { return }
    var rest = root.reference.liveBytes
    try addLiveBytes(of: root.reference, level: root.level, to: &liveBytes, rest: &rest)
  }

  /// Counts a page. There can be no more of them than the root says, however often a damaged file
  /// refers to one.
  private func add(
    _ reference: PageReference, to liveBytes: inout [UInt32: UInt64], rest: inout UInt64
  ) throws(StoreError) {
    guard rest >= UInt64(reference.size) else {
      throw reference.fault(.aggregates, "there are more pages than the root says")
    }
    rest -= UInt64(reference.size)
    liveBytes[reference.position.segment, default: 0] += UInt64(reference.size)
  }

  private func addLiveBytes(
    of reference: PageReference, level: UInt8, to liveBytes: inout [UInt32: UInt64],
    rest: inout UInt64
  ) throws(StoreError) {
    try add(reference, to: &liveBytes, rest: &rest)
    if reference.liveBytes == reference.size { return }
    if level > 0 {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      for index in 0..<node.childCount {
        try addLiveBytes(of: node.child(index), level: level - 1, to: &liveBytes, rest: &rest)
      }
      return
    }
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    for slot in 0..<node.count where node.isExternal(slot) {
      try addLiveBytes(
        ofValue: PageReference(decoding: node.value(slot), at: 0), to: &liveBytes, rest: &rest)
    }
  }

  private func addLiveBytes(
    ofValue reference: PageReference, to liveBytes: inout [UInt32: UInt64], rest: inout UInt64
  ) throws(StoreError) {
    try add(reference, to: &liveBytes, rest: &rest)
    if reference.liveBytes == reference.size { return }
    let list = try pages.page(reference, level: 0, as: ValueListPage.self)
    for index in 0..<ValueListPage.count(list.bytes) {
      let part = ValueListPage.reference(index, list.bytes)
      try add(part, to: &liveBytes, rest: &rest)
    }
  }
}

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

extension Tree {
  /// Calls `body` with every entry of a schema version below `version`, ascending, until it returns false.
  ///
  /// - Parameter body: Is given the key, the entry and its value, wherever that is.
  /// - Complexity: O(such entries + branches above them).
  /// - Throws: `.corrupt`, `.io`; errors of `body`.
  func forEachEntry(
    below version: UInt32,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ version: UInt32) throws(StoreError) -> Bool
  ) throws(StoreError) {
    guard let root else { return }
    _ = try forEachEntry(below: version, root.reference, level: root.level, body)
  }

  /// - Returns: false once `body` has.
  private func forEachEntry(
    below version: UInt32, _ reference: PageReference, level: UInt8,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ version: UInt32) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    if reference.lowestVersion >= version { return true }
    if level == 0 { return try forEachEntry(ofLeaf: reference, body) }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    for index in 0..<node.childCount {
      let goesOn = try forEachEntry(below: version, node.child(index), level: level - 1, body)
      if !goesOn { return false }
    }
    return true
  }

  private func forEachEntry(
    ofLeaf reference: PageReference,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ version: UInt32) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    var key: [UInt8] = []
    var value: [UInt8] = []
    for slot in 0..<node.count {
      node.copyKey(slot, to: &key)
      let goesOn: Bool
      if node.isExternal(slot) {
        value.removeAll(keepingCapacity: true)
        try append(LeafEntry(page: page, slot: slot), to: &value)
        goesOn = try body(key.rawSpan, value.rawSpan, node.schemaVersion)
      } else {
        goesOn = try body(key.rawSpan, node.value(slot), node.schemaVersion)
      }
      if !goesOn { return false }
    }
    return true
  }
}

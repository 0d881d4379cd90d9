/// A leaf: keys and values, all rows of one schema version.
enum LeafPage: PageContent {
  static let kind = PageKind.leaf

  static func validate(
    _ page: RawSpan, _ reference: PageReference, level: UInt8
  ) throws(StoreError) {
    try Node.validateLayout(page, reference)
    let node = Node(page)
    guard node.count > 0 else { throw reference.fault(.nodeLayout, "a leaf without entries") }
    var liveBytes = UInt64(reference.size)
    if node.hasExternals {
      for slot in 0..<node.count where node.isExternal(slot) {
        guard node.value(slot).byteCount == PageReference.size else {
          throw reference.fault(.nodeLayout, "entry \(slot) has no reference to its value")
        }
        let value = PageReference(decoding: node.value(slot), at: 0)
        try value.check(below: reference.position)
        liveBytes += value.liveBytes
        guard liveBytes <= PageReference.liveBytesMax else {
          throw reference.fault(.aggregates, "its values are said to be \(liveBytes) bytes")
        }
      }
    }
    try reference.check(
      count: UInt64(node.count), liveBytes: liveBytes, lowestVersion: node.schemaVersion)
  }
}

/// A branch: separators and references to the nodes between them.
enum BranchPage: PageContent {
  static let kind = PageKind.branch

  static func validate(
    _ page: RawSpan, _ reference: PageReference, level: UInt8
  ) throws(StoreError) {
    guard level > 0, level <= Layout.levelMax else {
      throw reference.fault(.pageKind, "a branch at level \(level)")
    }
    try Node.validateLayout(page, reference)
    let node = Node(page)
    var count: UInt64 = 0
    var liveBytes = UInt64(reference.size)
    var lowestVersion = UInt32.max
    for index in 0..<node.childCount {
      let child = node.child(index)
      try child.check(below: reference.position)
      guard child.count > 0 else {
        throw reference.fault(.referenceBounds, "child \(index) is said to be empty")
      }
      count += child.count
      liveBytes += child.liveBytes
      lowestVersion = min(lowestVersion, child.lowestVersion)
      guard count <= PageReference.aggregateMax, liveBytes <= PageReference.liveBytesMax else {
        throw reference.fault(.aggregates, "its children are said to hold \(count) entries")
      }
    }
    try reference.check(count: count, liveBytes: liveBytes, lowestVersion: lowestVersion)
  }
}

extension PageReference {
  /// The error for the page this refers to.
  func fault(_ invariant: Invariant, _ reason: String) -> StoreError {
    .corrupt(.page(position), invariant: invariant, reason: reason)
  }

  /// Throws unless the aggregates are these.
  fileprivate func check(
    count: UInt64, liveBytes: UInt64, lowestVersion: UInt32
  ) throws(StoreError) {
    guard self.count == count else {
      throw fault(.aggregates, "it holds \(count) entries, its reference says \(self.count)")
    }
    guard self.liveBytes == liveBytes else {
      throw fault(
        .aggregates, "\(liveBytes) bytes are live there, its reference says \(self.liveBytes)")
    }
    guard self.lowestVersion == lowestVersion else {
      throw fault(
        .aggregates,
        "its lowest schema version is \(lowestVersion), its reference says \(self.lowestVersion)")
    }
  }
}

extension Node {
  /// The most blocks a node has: a cell's end fits 16 bits.
  static let blocksMax = 15

  /// Throws unless every part of the node lies where reading expects it.
  static func validateLayout(
    _ page: RawSpan, _ reference: PageReference
  ) throws(StoreError) {
    guard reference.blocks <= blocksMax else {
      throw reference.fault(.nodeLayout, "a node of \(reference.blocks) blocks")
    }
    let node = Node(page)
    // Every part's size follows from the header, so the parts cannot overlap; they must fit.
    guard node.cellsOffset == node.partsEnd, node.cellsOffset <= node.used,
      node.used <= page.byteCount, node.prefixLength <= StoreError.Limit.keyLength.bound
    else {
      throw reference.fault(.nodeLayout, "\(node.count) entries do not fit the page")
    }
    let end = try node.validateEntries(reference)
    guard node.cellsOffset &+ end == node.used,
      (node.used + Layout.blockSize - 1) / Layout.blockSize == Int(reference.blocks)
    else { throw reference.fault(.nodeLayout, "it uses \(node.used) of \(page.byteCount) bytes") }
  }

  /// Throws unless every entry is whole and above the one before.
  ///
  /// - Returns: where the last cell ends.
  private func validateEntries(_ reference: PageReference) throws(StoreError) -> Int {
    if let even = evenEntries, ascendsByHeads(even) { return count &* even.width }
    var key = NodeKeyCheck()
    var end = 0
    for slot in 0..<count {
      let cell = cell(slot)
      guard cell.start == end, cell.end >= cell.start, cellsOffset + cell.end <= used
      else { throw reference.fault(.nodeLayout, "the cell of entry \(slot) is out of place") }
      end = cell.end
      let tailLength = tailLength(slot)
      guard tailLength >= 0, tailLength <= cell.end - cell.start else {
        throw reference.fault(.nodeLayout, "the key of entry \(slot) is longer than its cell")
      }
      try key.check(slot, of: self, reference)
    }
    return end
  }

  /// Whether entries that all have the same widths fit, and each head alone is above the one before: then nothing is
  /// wrong with any of them. If it is not so, something may be, and is looked for entry by entry.
  private func ascendsByHeads(_ even: EvenEntries) -> Bool {
    guard even.headLength == 8, cellsOffset &+ count &* even.width <= used,
      prefixLength &+ 8 &+ even.tailWidth <= StoreError.Limit.keyLength.bound
    else { return false }
    guard count > 1 else { return true }
    var last = head(0)
    for slot in 1..<count {
      let next = head(slot)
      if next <= last { return false }
      last = next
    }
    return true
  }
}

/// Checks key after key that each is whole and above the one before.
private struct NodeKeyCheck {
  private var lastHead: UInt64 = 0
  private var lastHeadLength = -1

  @inline(__always)
  mutating func check(
    _ slot: Int, of node: borrowing Node, _ reference: PageReference
  ) throws(StoreError) {
    let head = node.head(slot)
    let headLength = node.headLength(slot)
    guard
      headLength == 8
        || (headLength < 8 && node.tailLength(slot) == 0 && head << (8 * UInt64(headLength)) == 0)
    else { throw reference.fault(.nodeLayout, "the head of key \(slot) is not whole") }
    guard node.keyLength(slot) <= StoreError.Limit.keyLength.bound else {
      throw reference.fault(.keyLength, "key \(slot) is \(node.keyLength(slot)) bytes long")
    }
    let ascends =
      lastHead < head || lastHeadLength < headLength && lastHead == head
      || lastHead == head && lastHeadLength == 8 && headLength == 8
        && node.tail(slot - 1).compare(node.tail(slot)) < 0
    guard ascends else {
      throw reference.fault(.keyOrder, "key \(slot) is not above the one before")
    }
    lastHead = head
    lastHeadLength = headLength
  }
}

// Leaves whose entries a crew transforms ahead of the merge: nothing else falls into them.

extension TreeMerge where Input: ~Copyable {
  /// Visits the leaves below a branch.
  mutating func visitLeaves(
    of node: borrowing Node, _ ahead: TasksAhead<TransformedLeaves>, _ base: PageReader,
    low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    defer { ahead.withdraw() }
    var childLow = low
    var childHigh: [UInt8] = []
    var (index, submitted) = (0, 0)
    while index < node.childCount {
      while ahead.hasRoom, submitted < node.childCount, soughtCount > 0 {
        let end = min(submitted + TransformedLeaves.leavesPerTask, node.childCount)
        base.willNeed(submitted..<end, of: node)
        let task = try ahead.spare()
        task.begin(submitted..<end, of: node)
        ahead.submit(task)
        submitted = end
      }
      let task = ahead.takeFirst()
      let made = task?.entries ?? TransformedEntries()
      for leaf in 0..<(task?.count ?? node.childCount - index) {
        let isLast = index == node.count
        if !isLast { node.copyKey(index, to: &childHigh) }
        try visitLeaf(
          node.child(index), made, leaf, base, low: childLow, high: isLast ? high : childHigh)
        swap(&childLow, &childHigh)
        index += 1
      }
      if let task { ahead.recycle(task) }
    }
  }

  private mutating func visitLeaf(
    _ reference: PageReference, _ made: TransformedEntries, _ leaf: Int, _ base: PageReader,
    low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    if try adopts(reference, level: 0, low: low, high: high) {
      return try builder.adopt(reference, level: 0, separator: low, next: high)
    }
    guard let entries = made.entries(ofLeaf: leaf) else {
      return try mergeLeaf(reference, low: low, high: high)
    }
    let page = try base.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    try checkBounds(of: node, reference, low: low, high: high)
    builder.appender.replaced.insert(reference)
    defer { range?.take(bytes: UInt64(reference.size)) }
    builder.expect(from: low, schemaVersion: reference.lowestVersion)
    var key: [UInt8] = []
    for slot in 0..<node.count {
      let entry = entries.lowerBound + slot
      node.copyKey(slot, to: &key)
      try put(
        key.rawSpan, node.value(slot), schemaVersion: node.schemaVersion, made.result(entry),
        made.value(entry))
    }
  }
}

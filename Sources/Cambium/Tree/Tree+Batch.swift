extension Tree {
  /// Looks up several keys at once and replaces `entries` by theirs, in the keys' order.
  ///
  /// All keys go down together, a level at a time, and what each will touch next is asked for before
  /// any of them waits: the cache misses of one hide those of the others. (Leaves of equal depth make
  /// it this simple.)
  ///
  /// - Complexity: as many lookups, at about half the time each when leaves are not in the cache.
  /// - Throws: `.corrupt`, `.io`.
  func find(_ keys: borrowing KeyBatch, to entries: inout [LeafEntry?]) throws(StoreError) {
    entries.removeAll(keepingCapacity: true)
    guard let root else {
      for _ in 0..<keys.count { entries.append(nil) }
      return
    }
    let references = try leaves(of: keys, below: root)
    for reference in references { pages.prefetchBounds(of: reference) }
    var leaves: [(page: Page, slot: Int)] = []
    leaves.reserveCapacity(keys.count)
    for index in 0..<keys.count {
      let page = try pages.page(references[index], level: 0, as: LeafPage.self)
      let node = Node(page.bytes)
      let guess = node.guessedSlot(of: keys.key(index))
      node.prefetchSlot(guess)
      leaves.append((page, guess))
    }
    let slots = Self.slots(of: keys, in: leaves)
    for index in 0..<keys.count {
      entries.append(LeafEntry(page: leaves[index].page, slot: slots[index]))
    }
    for index in 0..<keys.count {
      let slot = Self.slot(of: keys.key(index), from: slots[index], in: entries[index])
      if slot != slots[index] {
        entries[index] = slot.flatMap { entries[index]?.moved(to: $0) }
      }
    }
  }

  /// Has the disk read the leaves of keys that ascend ahead, as far as they were not verified yet.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func willNeedLeaves(of keys: borrowing KeyBatch) throws(StoreError) {
    guard let root, root.level > 0 else { return }
    var last = root.reference.position
    for leaf in try leaves(of: keys, below: root) where leaf.position != last {
      last = leaf.position
      if pages.isUntouched(leaf) { pages.willNeed(last.block..<leaf.endBlock, of: last.segment) }
    }
  }

  /// Where each key may be, as far as its head tells, its cell on its way.
  ///
  /// - Parameter leaves: With slots that are near where keys are evenly spread.
  private static func slots(
    of keys: borrowing KeyBatch, in leaves: [(page: Page, slot: Int)]
  ) -> [Int] {
    var slots: [Int] = []
    slots.reserveCapacity(keys.count)
    var farCount = 0
    for index in 0..<keys.count {
      // Where guesses are of no use, all heads are asked for, some keys before they are looked at.
      if 2 &* farCount > index, index &+ 4 < keys.count {
        let page = leaves[index &+ 4].page
        Node(page.bytes).prefetchHeads()
      }
      let page = leaves[index].page
      let node = Node(page.bytes)
      let found = node.firstSlot(notBelowHeadOf: keys.key(index), near: leaves[index].slot)
      farCount &+= found.isNear ? 0 : 1
      if found.slot < node.count { node.prefetchCell(found.slot) }
      slots.append(found.slot)
    }
    return slots
  }

  @inline(__always)
  private static func slot(of key: RawSpan, from slot: Int, in entry: borrowing LeafEntry?) -> Int?
  {
    switch entry {
    case .none: nil
    case .some(let entry): Node(entry.page.bytes).slot(of: key, from: slot)
    }
  }

  /// The leaf that holds each key, if any does.
  private func leaves(
    of keys: borrowing KeyBatch, below root: TreeRoot
  ) throws(StoreError) -> [PageReference] {
    var references = [PageReference](repeating: root.reference, count: keys.count)
    var children = [Int](repeating: 0, count: keys.count)
    var level = root.level
    while level > 0 {
      for index in 0..<keys.count {
        let page = try pages.page(references[index], level: level, as: BranchPage.self)
        let node = Node(page.bytes)
        children[index] = node.childIndex(for: keys.key(index))
        node.prefetchChild(children[index])
      }
      for index in 0..<keys.count {
        let page = try pages.page(references[index], level: level, as: BranchPage.self)
        references[index] = Node(page.bytes).child(children[index])
        if level > 1 { pages.prefetch(references[index], keys: 0) }
      }
      level -= 1
    }
    return references
  }
}

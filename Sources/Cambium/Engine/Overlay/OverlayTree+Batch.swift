extension OverlayTree {
  /// Looks up what became of those of several keys of which nothing is known yet, and sets their `references`.
  ///
  /// All keys go down together, a level at a time, and what each will touch next is asked for before any of them waits, as in
  /// `Tree.find`.
  ///
  /// - Parameter references: In step with the keys; those that are nil are looked for.
  /// - Complexity: As many lookups, at about half the time each where nodes are not in the cache.
  func find(_ keys: borrowing KeyBatch, filling references: inout [EntryReference?]) {
    guard let root else { return }
    var ways: [(key: Int, node: OverlayNode, slot: Int)] = []
    ways.reserveCapacity(keys.count)
    for index in 0..<keys.count where references[index] == nil {
      if mayContain(keys.key(index)) { ways.append((index, root, 0)) }
    }
    for _ in 0..<root.level {
      for way in ways.indices {
        let node = ways[way].node
        let result = node.guess(keys.key(ways[way].key), from: 1)
        ways[way].node = node.child(result.isFound ? result.slot : result.slot &- 1)
        ways[way].node.prefetchHeads()
      }
    }
    for way in ways.indices {
      let node = ways[way].node
      ways[way].slot = node.guessedSlot(of: keys.key(ways[way].key))
      if ways[way].slot < node.count { node.prefetchReference(ways[way].slot) }
    }
    for way in ways.indices where ways[way].slot < ways[way].node.count {
      ways[way].node.reference(ways[way].slot).prefetch()
    }
    for (index, leaf, _) in ways {
      let result = leaf.guess(keys.key(index))
      // A key that was not found may be one whose way was guessed wrong.
      references[index] =
        result.isFound ? leaf.reference(result.slot) : reference(for: keys.key(index))
    }
  }
}

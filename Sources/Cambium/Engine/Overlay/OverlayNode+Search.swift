extension OverlayNode {
  /// The first slot from `start` on whose key is not below `key`, and whether it is `key`.
  ///
  /// - Complexity: O(log count), in the heads; keys that agree in the head are compared whole.
  @inline(__always)
  func search(_ key: RawSpan, from start: Int = 0) -> SearchResult {
    let prefixLength = prefixLength
    if prefixLength > 0, start < count {
      let order = compareWithPrefix(key)
      if order != 0 { return SearchResult(slot: order < 0 ? start : count, isFound: false) }
    }
    return searchHeads(key, head: key.head(prefixLength), from: start)
  }

  /// What `search` says, if `key` begins with the prefix; else anything but that a key is `key` that is
  /// not. It does not read a key to compare the prefix.
  @inline(__always)
  func guess(_ key: RawSpan, from start: Int = 0) -> SearchResult {
    searchHeads(key, head: key.head(prefixLength), from: start)
  }

  /// The first slot whose head is not below that of `key`, if `key` begins with the prefix.
  @inline(__always)
  func guessedSlot(of key: RawSpan) -> Int {
    firstSlot(notBelow: key.head(prefixLength), from: 0)
  }

  /// The child of a branch that holds `key`.
  @inline(__always)
  func childIndex(for key: RawSpan) -> Int {
    let result = search(key, from: 1)
    return result.isFound ? result.slot : result.slot &- 1
  }

  /// Negative if `key` is below all keys that begin with the prefix, positive if above, else 0.
  private func compareWithPrefix(_ key: RawSpan) -> Int {
    let length = prefixLength
    // The last slot, as the first of a branch has no say.
    let known = reference(count - 1)
    if key.byteCount >= length { return key.part(0, length).compare(known.key.part(0, length)) }
    let order = key.compare(known.key.part(0, key.byteCount))
    return order == 0 ? -1 : order
  }

  @inline(__always)
  private func searchHeads(_ key: RawSpan, head: UInt64, from start: Int) -> SearchResult {
    let slot = firstSlot(notBelow: head, from: start)
    guard slot < count, self.head(slot) == head else {
      return SearchResult(slot: slot, isFound: false)
    }
    let order = key.compare(reference(slot).key)
    if order <= 0 { return SearchResult(slot: slot, isFound: order == 0) }
    if slot &+ 1 == count || self.head(slot &+ 1) != head {
      return SearchResult(slot: slot &+ 1, isFound: false)
    }
    return searchTies(key, head: head, after: slot)
  }

  @inline(never)
  private func searchTies(_ key: RawSpan, head: UInt64, after slot: Int) -> SearchResult {
    var low = slot + 1
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self.head(middle) == head, key.compare(reference(middle).key) > 0 {
        low = middle + 1
      } else {
        high = middle
      }
    }
    let isFound = low < count && key.compare(reference(low).key) == 0
    return SearchResult(slot: low, isFound: isFound)
  }

  /// Halves the slots by sums of comparisons, where a branch would be guessed wrong every other time.
  @inline(__always)
  private func firstSlot(notBelow head: UInt64, from start: Int) -> Int {
    var base = start
    var length = count &- start
    if length <= 0 { return start }
    while length > 1 {
      let half = length &>> 1
      base &+= self.head(base &+ half &- 1) < head ? half : 0
      length &-= half
    }
    return base &+ (self.head(base) < head ? 1 : 0)
  }
}

// MARK: Prefixes

extension OverlayNode {
  /// The first slot whose key has a say: a branch's first has none.
  private var firstKeyed: Int { isLeaf ? 0 : 1 }

  /// Sets the parts of `slot` that come from a key, whatever prefix the node's other keys share.
  func setKey(_ reference: EntryReference, _ slot: Int) {
    setReference(reference, slot)
    if slot < firstKeyed { return setHead(0, slot) }
    if prefixLength > 0 { shortenPrefix(toKeyOf: slot, reference) }
    setHead(reference.key.head(prefixLength), slot)
  }

  /// Shortens the prefix to what the key of `slot` has in common with the others.
  private func shortenPrefix(toKeyOf slot: Int, _ reference: EntryReference) {
    let other = slot == count - 1 ? firstKeyed : count - 1
    let common = self.reference(other).key.commonPrefix(with: reference.key, atMost: prefixLength)
    if common < prefixLength { setPrefixLength(Self.usefulPrefix(common)) }
  }

  /// Chooses the prefix anew, after a node was divided.
  func choosePrefix() {
    guard count > firstKeyed else { return setPrefixLength(0) }
    let last = reference(count - 1)
    let common = reference(firstKeyed).key.commonPrefix(with: last.key, atMost: Int(UInt16.max))
    let length = count - firstKeyed == 1 ? prefixLength : Self.usefulPrefix(common)
    if length != prefixLength { setPrefixLength(length) }
  }

  /// How much of what keys have in common is taken for the prefix.
  ///
  /// At least the last byte in common stays in the heads, mostly more: so the next keys, which differ
  /// a bit earlier, do not change the prefix; and keys that have little in common, by chance, none.
  private static func usefulPrefix(_ common: Int) -> Int { max(0, common - 1) & ~3 }

  private func setPrefixLength(_ length: Int) {
    prefixLength = length
    for slot in firstKeyed..<max(firstKeyed, count) {
      setHead(reference(slot).key.head(length), slot)
    }
  }
}

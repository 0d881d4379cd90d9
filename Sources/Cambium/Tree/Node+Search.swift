/// Where a key is in a node, or would be.
struct SearchResult: Equatable {
  /// The first slot whose key is not below the one sought; the count if there is none.
  var slot: Int
  /// Whether the key at `slot` is the one sought.
  var isFound: Bool
}

extension Node {
  /// Finds `key` among the node's keys.
  ///
  /// - Complexity: O(log count), in the heads; the tails of those that agree in the head are compared
  ///   whole.
  ///
  /// - Parameter start: A slot that the key is probably in or a few behind; nil if nothing is known of it.
  @inline(__always)
  func search(_ key: RawSpan, near start: Int? = nil) -> SearchResult {
    guard prefixLength == 0 || key.byteCount >= prefixLength + 8 else { return searchShort(key) }
    if prefixLength > 0 {
      let order = compareWithPrefix(key)
      if order != 0 { return SearchResult(slot: order < 0 ? 0 : count, isFound: false) }
    }
    let head = key.head(prefixLength)
    let near = start.flatMap { firstSlot(notBelow: head, near: $0) }
    return search(key, head: head, from: near ?? firstSlot(notBelow: head))
  }

  /// The same for keys that may end within the prefix or the head.
  @inline(never)
  private func searchShort(_ key: RawSpan) -> SearchResult {
    let order = compareWithPrefix(key)
    if order != 0 { return SearchResult(slot: order < 0 ? 0 : count, isFound: false) }
    let head = key.head(prefixLength)
    return search(key, head: head, from: firstSlot(notBelow: head))
  }

  /// Where `key` may be, as far as its head tells: the first slot whose head is not below it.
  ///
  /// Of no meaning for a key that does not begin with the prefix.
  @inline(__always)
  func firstSlot(notBelowHeadOf key: RawSpan) -> Int {
    firstSlot(notBelow: key.head(prefixLength))
  }

  /// About where `key` is if the node's keys are evenly spread: numbers in a row, or random ones.
  @inline(__always)
  func guessedSlot(of key: RawSpan) -> Int {
    guard count > 1 else { return 0 }
    let (first, last, head) = (head(0), head(count &- 1), key.head(prefixLength))
    if head <= first { return 0 }
    if head >= last { return count &- 1 }
    return Int(Double(head &- first) / Double(last &- first) * Double(count &- 1))
  }

  /// The same as `firstSlot(notBelowHeadOf:)`, and whether it was found within a few steps from `guess`.
  @inline(__always)
  func firstSlot(notBelowHeadOf key: RawSpan, near guess: Int) -> (slot: Int, isNear: Bool) {
    let head = key.head(prefixLength)
    var (slot, steps) = (guess, 0)
    while steps < 8, slot > 0, self.head(slot &- 1) >= head {
      slot &-= 1
      steps &+= 1
    }
    while steps < 8, slot < count, self.head(slot) < head {
      slot &+= 1
      steps &+= 1
    }
    return steps < 8 ? (slot, true) : (firstSlot(notBelow: head), false)
  }

  /// The slot of `key`, where `slot` is what `firstSlot(notBelowHeadOf:)` said; nil if it is not there.
  @inline(__always)
  func slot(of key: RawSpan, from slot: Int) -> Int? {
    guard hasPrefix(key) else { return nil }
    let head = key.head(prefixLength)
    guard slot < count, self.head(slot) == head else { return nil }
    let suffixLength = key.byteCount &- prefixLength
    if headLength(slot) == min(8, suffixLength) {
      let tail = tail(slot)
      if tail.byteCount == max(0, suffixLength &- 8), key.ends(with: tail) { return slot }
    }
    guard slot + 1 < count, self.head(slot + 1) == head else { return nil }
    let suffix = key.extracting(prefixLength..<key.byteCount)
    let result = searchManyTies(of: suffix, after: slot, head: head)
    return result.isFound ? result.slot : nil
  }

  @inline(__always)
  private func hasPrefix(_ key: RawSpan) -> Bool {
    prefixLength == 0 || compareWithPrefix(key) == 0
  }

  /// The first eight bytes of the key of `slot` as a number, with zeros for bytes that it does not have: numbers order as keys do, but for
  /// keys that agree in them.
  @inline(__always)
  func keyHead(_ slot: Int) -> UInt64 {
    if prefixLength == 0 { return head(slot) }
    let own = UInt64.max >> (8 &* prefixLength)
    return page.head(Self.headerSize) & ~own | head(slot) >> (8 &* prefixLength)
  }

  /// The first slot whose key is not below one of which `keyHead` is known; nil if that does not tell.
  ///
  /// - Parameter start: A slot that it is probably in or a few behind.
  @inline(__always)
  func firstSlot(notBelowKeyHead keyHead: UInt64, near start: Int) -> Int? {
    // Of the key's head in this node, the last bytes are not known.
    let unknown = 8 &* min(prefixLength, 8)
    let prefix = page.head(Self.headerSize)
    if keyHead >> (64 - unknown) != prefix >> (64 - unknown) {
      return keyHead < prefix ? 0 : count
    }
    let head = keyHead << unknown
    let slot = firstSlot(notBelow: head, near: start) ?? firstSlot(notBelow: head)
    return slot < count && self.head(slot) >> unknown == head >> unknown ? nil : slot
  }

  /// The child of a branch that holds `key`.
  @inline(__always)
  func childIndex(for key: RawSpan) -> Int {
    let result = search(key)
    return result.slot &+ (result.isFound ? 1 : 0)
  }

  /// Finds `key`, which begins with the prefix; `slot` is the first whose head is not below its own.
  @inline(__always)
  private func search(_ key: RawSpan, head: UInt64, from slot: Int) -> SearchResult {
    guard slot < count, self.head(slot) == head else {
      return SearchResult(slot: slot, isFound: false)
    }
    return searchTies(of: key, from: slot, head: head)
  }

  /// Negative if `key` is below all keys that begin with the prefix, which is not empty, positive if above, else 0.
  @inline(__always)
  private func compareWithPrefix(_ key: RawSpan) -> Int {
    if prefixLength <= 8, key.byteCount >= 8 {
      // A word of each, without the bytes behind the prefix.
      let behind = UInt64(64 &- 8 &* prefixLength)
      let (word, own) = (key.head(0) >> behind, page.head(Self.headerSize) >> behind)
      return word == own ? 0 : word < own ? -1 : 1
    }
    if key.byteCount < prefixLength {
      let order = key.compare(prefix.part(0, key.byteCount))
      return order == 0 ? -1 : order
    }
    return key.part(0, prefixLength).compare(prefix)
  }

  /// The same as `firstSlot(notBelow:)` if it is one of the eight from `start` on; nil if it may be another.
  @inline(__always)
  private func firstSlot(notBelow head: UInt64, near start: Int) -> Int? {
    guard count >= 8 else { return nil }
    let base = max(0, min(start, count &- 8))
    let heads = Heads(page.part(layout.headsOffset, 8 &* count))
    var below = 0
    for slot in 0..<8 { below &+= heads.isBelow(head, base &+ slot) }
    let isCertain = (below > 0 || base == 0) && (below < 8 || base &+ 8 == count)
    return isCertain ? base &+ below : nil
  }

  /// The first slot whose head is not below `head`.
  ///
  /// Every round compares with seven heads at once and goes on with an eighth of the slots: as many
  /// loads as a binary search, but a third of the waits, and sums of comparisons, where a choice
  /// between halves would be a branch that the processor guesses wrong every other time.
  @inline(__always)
  private func firstSlot(notBelow head: UInt64) -> Int {
    let heads = Heads(page.part(layout.headsOffset, 8 &* count))
    var base = 0
    var length = count
    while length > 15 {
      let step = length &>> 3
      var below = 0
      for part in 1...7 { below &+= heads.isBelow(head, base &+ part &* step &- 1) }
      base &+= below &* step
      // Right for the last eighth, which has the remainder; for the others a few slots too many,
      // none of which is below `head`.
      length &-= 7 &* step
    }
    while length > 3 {
      let step = length &>> 2
      var below = 0
      for part in 1...3 { below &+= heads.isBelow(head, base &+ part &* step &- 1) }
      base &+= below &* step
      length &-= 3 &* step
    }
    var below = 0
    if length > 0 { below = heads.isBelow(head, base) }
    if length > 1 { below &+= heads.isBelow(head, base &+ 1) }
    if length > 2 { below &+= heads.isBelow(head, base &+ 2) }
    return base &+ below
  }

  /// Finds `key` among the slots from `slot` on that have the same head.
  @inline(__always)
  private func searchTies(of key: RawSpan, from slot: Int, head: UInt64) -> SearchResult {
    let suffix = key.extracting(prefixLength..<key.byteCount)
    let order = compare(suffix, with: slot)
    if order <= 0 { return SearchResult(slot: slot, isFound: order == 0) }
    if slot + 1 == count || self.head(slot + 1) != head {
      return SearchResult(slot: slot + 1, isFound: false)
    }
    return searchManyTies(of: suffix, after: slot, head: head)
  }

  @inline(never)
  private func searchManyTies(of suffix: RawSpan, after slot: Int, head: UInt64) -> SearchResult {
    var low = slot + 1
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self.head(middle) == head, compare(suffix, with: middle) > 0 {
        low = middle + 1
      } else {
        high = middle
      }
    }
    let isFound = low < count && self.head(low) == head && compare(suffix, with: low) == 0
    return SearchResult(slot: low, isFound: isFound)
  }

  /// Compares a key, but for the prefix, with the key of a slot that has the same head.
  @inline(__always)
  private func compare(_ suffix: RawSpan, with slot: Int) -> Int {
    let length = headLength(slot)
    let suffixLength = min(8, suffix.byteCount)
    if suffixLength != length { return suffixLength - length }
    if length < 8 { return 0 }
    return suffix.extracting(8..<suffix.byteCount).compare(tail(slot))
  }
}

/// The heads of a node, bounds-checked as a whole: every slot below the count is in them.
private struct Heads: ~Escapable {
  private let bytes: RawSpan

  @_lifetime(copy bytes)
  @inline(__always)
  init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// 1 if the head of `slot` is below `head`, else 0.
  @inline(__always)
  func isBelow(_ head: UInt64, _ slot: Int) -> Int {
    let probe = unsafe bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: slot &<< 3, as: UInt64.self)
    return UInt64(littleEndian: probe) < head ? 1 : 0
  }
}

extension OpenEntries {
  /// The entries from `start` on that fit into one node.
  ///
  /// Entries weigh no less than they take, so as many fit as weigh what is left, but for those that
  /// shorten the common prefix; it takes a few measures to leave no room for one more.
  func filledNode(from start: Int) -> FilledNode {
    var end = min(start + nodeCountMin, count)
    var measure = NodeMeasure(self, start..<end)
    while end < count {
      var more = endOfWeight(capacity - measure.size, from: end)
      // Keys that share much weigh much more than they take.
      if measure.size < capacity / 2 { more = max(more, min(count, 2 * end - start)) }
      var extended = measure.extended(to: more, of: self)
      while extended.size > capacity, more > end + 1 {
        more = (end + more) / 2
        extended = measure.extended(to: more, of: self)
      }
      if extended.size > capacity { break }
      end = more
      measure = extended
    }
    return FilledNode(entries: start..<end, measure: measure)
  }

  /// The end of the entries from `start` on that weigh no more than `room`; one at least.
  private func endOfWeight(_ room: Int, from start: Int) -> Int {
    var end = start + 1
    var passed = weight(start)
    while end < count, passed + weight(end) <= room {
      passed += weight(end)
      end += 1
    }
    return end
  }
}

/// Entries that fill a node, and its exact size.
struct FilledNode {
  var entries: Range<Int>
  var measure: NodeMeasure
}

// MARK: Dividing

extension OpenEntries {
  /// The entries divided over the fewest nodes they fit into, the last two as even as can be.
  func evenParts() -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = 0
    while true {
      let end = filledNode(from: start).entries.upperBound
      if end == count || count - start < 2 * nodeCountMin { break }
      if let cut = evenCut(from: start, notBehind: end) {
        parts.append(start..<cut)
        start = cut
        break
      }
      // What follows a full node is more than another holds, so there is enough for each.
      let full = min(end, count - nodeCountMin)
      parts.append(start..<full)
      start = full
    }
    parts.append(start..<count)
    return parts
  }

  /// Where to divide the entries from `start` on, nearest to halves of the same weight.
  ///
  /// Weight alone does not tell what fits: a key that has little in common with the rest makes a node
  /// of it larger by all that the others share.
  ///
  /// - Returns: nil if two nodes do not hold them, the first ending at `end` at most.
  private func evenCut(from start: Int, notBehind end: Int) -> Int? {
    let low = start + nodeCountMin
    let high = min(end, count - nodeCountMin)
    guard low <= high else { return nil }
    let even = min(max(halfWay(from: start), low), high)
    if fits(even..<count) { return even }
    guard fits(high..<count) else { return nil }
    var lowest = even + 1
    var found = high
    while lowest < found {
      let middle = (lowest + found) / 2
      if fits(middle..<count) { found = middle } else { lowest = middle + 1 }
    }
    return found
  }

  /// The entry before which half the weight of those from `start` on lies, or nearly.
  private func halfWay(from start: Int) -> Int {
    let total = (start..<count).reduce(0) { $0 + weight($1) }
    var passed = 0
    var index = start
    while index < count, 2 * passed + weight(index) < total {
      passed += weight(index)
      index += 1
    }
    return index
  }

  private func fits(_ range: Range<Int>) -> Bool {
    range.count <= nodeCountMin || NodeMeasure(self, range).size <= capacity
  }
}

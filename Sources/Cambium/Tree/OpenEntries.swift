/// The entries of one level that are not yet in a node: keys and values of leaves to come, or
/// separators and references of branches to come.
///
/// It holds a little more than two nodes, so that what is left at an end can always be divided into
/// nodes at least half full.
struct OpenEntries {
  private struct Entry {
    var offset: Int
    var keyLength: Int
    var valueLength: Int
    var isExternal: Bool
  }

  let isBranch: Bool
  /// What a node of this level holds at most.
  let capacity: Int
  /// Keys and values, one behind the other, up to `used`.
  private var bytes: [UInt8] = []
  private var used = 0
  private var entries: [Entry] = []
  /// How many of `entries` are in nodes already; they are removed many at a time.
  private var removed = 0
  /// What all entries weigh.
  private(set) var weight = 0
  /// The weight from which on it is worth measuring whether there is a full node and enough for
  /// another. Entries weigh no less than they take, so a little over two capacities at first.
  private var measureWeight: Int

  init(isBranch: Bool, capacity: Int) {
    self.isBranch = isBranch
    self.capacity = capacity
    measureWeight = Self.firstMeasureWeight(capacity)
  }

  private static func firstMeasureWeight(_ capacity: Int) -> Int { 2 * capacity + capacity / 8 }

  var count: Int { entries.count &- removed }
  var isEmpty: Bool { count == 0 }

  /// The fewest entries that make a node, however large they are.
  var nodeCountMin: Int { isBranch ? 2 : 1 }

  /// Too little for a node that is to stay.
  ///
  /// By size, as weight does not know what entries save together: of long keys that begin alike, five
  /// can weigh half a node that holds four hundred.
  var isUnderHalf: Bool { NodeMeasure(self, 0..<count).size < capacity / 2 }

  /// More than a node, and so little more that it would make two nodes less than two thirds full.
  var isThinForTwo: Bool {
    let size = NodeMeasure(self, 0..<count).size
    return size > capacity && size < capacity / 3 * 4
  }

  /// Too little for any node that has another of its kind beside it.
  var isUnderThird: Bool { Self.isUnderThird(weight: weight, capacity: capacity) }

  /// Whether a node of entries of this weight is under a third full, its header included: two nodes
  /// have two headers, so halves of what just does not fit one are never under a third.
  static func isUnderThird(weight: Int, capacity: Int) -> Bool {
    Node.headerSize + weight < capacity / 3
  }

  /// Whether there may be a full node and enough for another.
  var mayBeTwoNodes: Bool { weight >= measureWeight }
}

// MARK: Entries

extension OpenEntries {
  /// What an entry counts for when nodes are compared or divided: its size without regard to what
  /// its neighbours let it save. It is never less than what it adds to a node, and unlike that it can
  /// be added up.
  static func weight(keyLength: Int, valueLength: Int) -> Int {
    8 + max(0, keyLength - 8) + valueLength + 5
  }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ index: Int) -> RawSpan {
    let entry = entries[removed &+ index]
    return bytes.rawSpan.part(entry.offset, entry.keyLength)
  }

  @_lifetime(borrow self)
  @inline(__always)
  func value(_ index: Int) -> RawSpan {
    let entry = entries[removed &+ index]
    return bytes.rawSpan.part(entry.offset &+ entry.keyLength, entry.valueLength)
  }

  /// The shortest key above entry `index - 1` and not above entry `index`.
  func separator(before index: Int) -> [UInt8] {
    Separator.shortest(between: key(index - 1), and: key(index))
  }

  /// The shortest key above all entries and not above `key`.
  func separator(before key: RawSpan) -> [UInt8] {
    Separator.shortest(between: self.key(count - 1), and: key)
  }

  func keyBytes(_ index: Int) -> [UInt8] { key(index).array() }
  func keyLength(_ index: Int) -> Int { entries[removed &+ index].keyLength }
  func valueLength(_ index: Int) -> Int { entries[removed &+ index].valueLength }
  func isExternal(_ index: Int) -> Bool { entries[removed &+ index].isExternal }
  func weight(_ index: Int) -> Int {
    Self.weight(keyLength: keyLength(index), valueLength: valueLength(index))
  }

  /// The child that entry `index` of a branch refers to.
  func reference(_ index: Int) -> PageReference {
    PageReference(decoding: value(index), at: 0)
  }

  mutating func append(_ key: RawSpan, _ value: RawSpan, isExternal: Bool = false) {
    let keyLength = key.byteCount
    let valueLength = value.byteCount
    let end = used + keyLength + valueLength
    if end > bytes.count { grow(to: end) }
    bytes.replace(at: used, with: key, value)
    entries.append(
      Entry(
        offset: used, keyLength: keyLength, valueLength: valueLength, isExternal: isExternal))
    used = end
    weight &+= Self.weight(keyLength: keyLength, valueLength: valueLength)
  }

  @inline(never)
  private mutating func grow(to size: Int) {
    var grown = [UInt8](repeating: 0, count: max(2 * size, capacity))
    grown.replace(at: 0, with: bytes.rawSpan.part(0, used), RawSpan())
    bytes = grown
  }

  /// Takes the last entry off, to put its node's entries in its place.
  mutating func removeLast() {
    weight -= weight(count - 1)
    used = entries.removeLast().offset
    measureWeight = Self.firstMeasureWeight(capacity)
  }

  /// Drops the first `dropped` entries, which are in a node now.
  mutating func removeFirst(_ dropped: Int) {
    for index in 0..<dropped { weight -= weight(index) }
    removed += dropped
    measureWeight = Self.firstMeasureWeight(capacity)
    if count == 0 { return removeAll() }
    if entries[removed].offset > 8 * capacity { compact() }
  }

  /// Moves what is left to the front.
  private mutating func compact() {
    let cut = entries[removed].offset
    bytes.removeSubrange(..<cut)
    used -= cut
    entries.removeSubrange(..<removed)
    removed = 0
    for index in entries.indices { entries[index].offset -= cut }
  }

  mutating func removeAll() {
    used = 0
    entries.removeAll(keepingCapacity: true)
    removed = 0
    weight = 0
    measureWeight = Self.firstMeasureWeight(capacity)
  }
}

// MARK: Full nodes

extension OpenEntries {
  /// The first entries as a full node, if what remains is enough for another; nil if it is not.
  ///
  /// - Complexity: O(entries of a node), and not asked again before there is more.
  mutating func fullNode() -> FilledNode? {
    let node = filledNode(from: 0)
    let rest = (node.entries.upperBound..<count).reduce(0) { $0 + weight($1) }
    if node.entries.upperBound < count, rest >= capacity { return node }
    measureWeight = weight + max(capacity - rest, weight / 8)
    return nil
  }

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
      var extended = NodeMeasure(self, start..<more)
      while extended.size > capacity, more > end + 1 {
        more = (end + more) / 2
        extended = NodeMeasure(self, start..<more)
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

/// The entries of one level that are not yet in a node: keys and values of leaves to come, or
/// separators and references of branches to come.
///
/// It holds at most a little more than two nodes, so that what is left at an end can always be
/// divided into nodes at least half full.
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
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// The size of a node of the first `fitting` entries.
  private var measure: NodeMeasure
  /// How many entries, from the first on, fit into one node. All of them until one does not.
  private(set) var fitting = 0
  /// What all entries weigh.
  private(set) var weight = 0
  private var fittingWeight = 0

  init(isBranch: Bool, capacity: Int) {
    self.isBranch = isBranch
    self.capacity = capacity
    measure = NodeMeasure(isBranch: isBranch)
  }

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }

  /// The fewest entries that make a node, however large they are.
  var nodeCountMin: Int { isBranch ? 2 : 1 }

  /// Too little for a node that is to stay.
  var isUnderHalf: Bool { weight < capacity / 2 }

  /// Too little for any node that has another of its kind beside it.
  var isUnderThird: Bool { Self.isUnderThird(weight: weight, capacity: capacity) }

  /// Whether a node of entries of this weight is under a third full, its header included: two nodes
  /// have two headers, so halves of what just does not fit one are never under a third.
  static func isUnderThird(weight: Int, capacity: Int) -> Bool {
    Node.headerSize + weight < capacity / 3
  }

  /// Enough for a full node, and for one more at least.
  var isTwoNodes: Bool { fitting < count && weight - fittingWeight >= capacity }
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
  func key(_ index: Int) -> RawSpan {
    bytes.rawSpan.part(entries[index].offset, entries[index].keyLength)
  }

  @_lifetime(borrow self)
  func value(_ index: Int) -> RawSpan {
    let entry = entries[index]
    return bytes.rawSpan.part(entry.offset + entry.keyLength, entry.valueLength)
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
  func keyLength(_ index: Int) -> Int { entries[index].keyLength }
  func valueLength(_ index: Int) -> Int { entries[index].valueLength }
  func isExternal(_ index: Int) -> Bool { entries[index].isExternal }
  func weight(_ index: Int) -> Int {
    Self.weight(keyLength: keyLength(index), valueLength: valueLength(index))
  }

  /// The child that entry `index` of a branch refers to.
  func reference(_ index: Int) -> PageReference {
    PageReference(decoding: value(index), at: 0)
  }

  mutating func append(_ key: RawSpan, _ value: RawSpan, isExternal: Bool = false) {
    entries.append(
      Entry(
        offset: bytes.count, keyLength: key.byteCount, valueLength: value.byteCount,
        isExternal: isExternal))
    bytes.append(key)
    bytes.append(value)
    weight += Self.weight(keyLength: key.byteCount, valueLength: value.byteCount)
    if fitting == count - 1 { extendFit() }
  }

  /// Takes the last entry off, to put its node's entries in its place.
  mutating func removeLast() {
    weight -= weight(count - 1)
    let entry = entries.removeLast()
    bytes.removeSubrange(entry.offset...)
    measureAgain()
  }

  /// Drops the first `removed` entries, which are in a node now.
  mutating func removeFirst(_ removed: Int) {
    let cut = removed < count ? entries[removed].offset : bytes.count
    for index in 0..<removed { weight -= weight(index) }
    bytes.removeSubrange(..<cut)
    entries.removeSubrange(..<removed)
    for index in entries.indices { entries[index].offset -= cut }
    measureAgain()
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    weight = 0
    measureAgain()
  }

  private mutating func measureAgain() {
    measure = NodeMeasure(isBranch: isBranch)
    fitting = 0
    fittingWeight = 0
    while fitting < count {
      let before = fitting
      extendFit()
      if fitting == before { return }
    }
  }

  /// Counts the first entry that was not yet tried as fitting, if it does.
  private mutating func extendFit() {
    let index = fitting
    if isBranch && index == 0 {
      fitting = 1
      fittingWeight = weight(0)
      return
    }
    var extended = measure
    extended.add(index, of: self, firstKey: isBranch ? 1 : 0)
    if extended.size > capacity && index >= nodeCountMin { return }
    measure = extended
    fitting += 1
    fittingWeight += weight(index)
  }
}

// MARK: Dividing

extension OpenEntries {
  /// The entries divided over the fewest nodes they fit into, the last two as even as can be.
  func evenParts() -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = 0
    while true {
      let end = fittingEnd(from: start)
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

  /// The end of the entries from `start` on that fit into one node.
  private func fittingEnd(from start: Int) -> Int {
    if start == 0 { return fitting }
    var low = min(start + nodeCountMin, count)
    var high = count
    while low < high {
      let middle = (low + high + 1) / 2
      if fits(start..<middle) { low = middle } else { high = middle - 1 }
    }
    return low
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

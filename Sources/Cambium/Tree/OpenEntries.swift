/// The entries of one level that are not yet in a node: keys and values of leaves to come, or
/// separators and references of branches to come.
///
/// It holds a little more than two nodes, so that what is left at an end can always be divided into
/// nodes at least half full.
struct OpenEntries {
  /// Where a key and behind it its value are.
  private struct Entry {
    private var place: UInt32
    // A key is at most 1 KiB long, and a value is in a node.
    private let lengths: (key: UInt16, value: UInt16)
    let isExternal: Bool

    init(offset: Int, keyLength: Int, valueLength: Int, isExternal: Bool) {
      place = UInt32(offset)
      lengths = (UInt16(keyLength), UInt16(valueLength))
      self.isExternal = isExternal
    }

    var offset: Int {
      get { Int(place) }
      set { place = UInt32(newValue) }
    }
    var keyLength: Int { Int(lengths.key) }
    var valueLength: Int { Int(lengths.value) }
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

  /// Enough for nodes of which none lacks more than one part in so many.
  func isFull(lacking share: Int) -> Bool {
    let size = NodeMeasure(self, 0..<count).size
    let nodeCount = (size + capacity - 1) / capacity
    return size >= nodeCount * (capacity - capacity / share)
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

  /// What is left of the key behind its first `start` bytes, and right behind it the value.
  @_lifetime(borrow self)
  @inline(__always)
  func cell(_ index: Int, from start: Int) -> RawSpan {
    let entry = entries[removed &+ index]
    let skipped = min(start, entry.keyLength)
    return bytes.rawSpan.part(
      entry.offset &+ skipped, entry.keyLength &- skipped &+ entry.valueLength)
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

  /// Appends entries of a leaf, until there may be a full node or one comes that weighs more than
  /// `weightMax` and has its value in the leaf.
  ///
  /// - Returns: the slot behind the last that was appended.
  mutating func append(
    _ node: borrowing Node, _ slots: Range<Int>, weightMax: Int
  ) -> Int {
    let page = node.page
    let cellsOffset = node.cellsOffset
    let prefix = node.prefix
    let hasExternals = node.hasExternals
    let end = used + slots.count * (prefix.byteCount + 8) + node.cellsSize(slots)
    if end > bytes.count { grow(to: end) }
    entries.reserveCapacity(entries.count + slots.count)
    for slot in slots {
      let cell = node.cell(slot)
      let headLength = node.headLength(slot)
      let tailLength = node.tailLength(slot)
      let keyLength = prefix.byteCount &+ headLength &+ tailLength
      let valueLength = cell.end &- cell.start &- tailLength
      let isExternal = hasExternals && node.isExternal(slot)
      let entryWeight = Self.weight(keyLength: keyLength, valueLength: valueLength)
      if entryWeight > weightMax, !isExternal { return slot }
      bytes.replace(
        at: used, with: prefix, node.head(slot), headLength,
        page.part(cellsOffset &+ cell.start, cell.end &- cell.start))
      entries.append(
        Entry(
          offset: used, keyLength: keyLength, valueLength: valueLength, isExternal: isExternal))
      used = used &+ keyLength &+ valueLength
      weight = weight &+ entryWeight
      if weight >= measureWeight { return slot + 1 }
    }
    return slots.upperBound
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
    bytes.move(cut..<used)
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
}

extension [UInt8] {
  /// Writes a prefix, the first bytes of a head and a cell, one behind the other, over what is at
  /// `offset`, and past short heads a few bytes more.
  @inline(__always)
  fileprivate mutating func replace(
    at offset: Int, with prefix: RawSpan, _ head: UInt64, _ headLength: Int, _ cell: RawSpan
  ) {
    unsafe withUnsafeMutableBytes { bytes in
      var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
      span.copy(prefix, to: offset)
      let middle = offset &+ prefix.byteCount
      span.store(head.byteSwapped, at: middle)
      span.copy(cell, to: middle &+ headLength)
    }
  }

  /// Copies the bytes in `range` to the front.
  fileprivate mutating func move(_ range: Range<Int>) {
    unsafe withUnsafeMutableBytes { bytes in
      let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
      unsafe bytes.copyMemory(from: source)
    }
  }
}

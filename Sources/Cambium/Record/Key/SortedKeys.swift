/// Primary keys, each after its sort key, in one run of memory; with a limit, only the first of them.
///
/// The first eight bytes of each are kept beside it, which tell most apart. Rows may be kept as well, as long as they are
/// small together.
struct SortedKeys {
  private struct Entry: HeadSorted {
    var head: UInt64
    /// Below 4 GiB, as the size of all of them is.
    var start: UInt32
    /// The number of keys that were added before it; of no meaning with a limit.
    let number: UInt32
    let length: Int32
    let keyLength: Int32
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// Bytes of entries that were left out again.
  private var garbage = 0
  /// The bytes of the rows, of which each comes after its key and its length; nil if rows are not kept.
  private var rowsSize: Int?
  private let limit: Int?
  private let sizeMax: Int
  /// For errors.
  private let record: String

  /// - Parameters:
  ///   - limit: How many are kept: the first in order.
  ///   - sizeMax: The bytes that keys may take in memory.
  ///   - keepsRows: True if keys are added with their rows, which are kept.
  init(
    of record: String, limit: Int? = nil, sizeMax: Int = 1 << 30, keepsRows: Bool = false
  ) {
    self.record = record
    self.limit = limit
    self.sizeMax = sizeMax
    rowsSize = keepsRows ? 0 : nil
  }

  /// The most bytes of rows that are kept. Beyond, they are looked up again.
  private static var rowsSizeMax: Int { 1 << 20 }

  var count: Int { entries.count }

  /// Makes room for a number of keys.
  mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

  /// True if another is kept only in place of the last of these, which is first as long as keys are added.
  var isFull: Bool { limit.map { entries.count >= $0 } ?? false }

  /// Returns true if all of them come before every key that begins so. They are full.
  func areBefore(start: RawSpan) -> Bool {
    guard let last = entries.first else { return true }
    let count = min(start.byteCount, Int(last.length))
    return start.part(0, count).compare(part(last).part(0, count)) > 0
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    garbage = 0
    if rowsSize != nil { rowsSize = 0 }
  }
}

// MARK: Adding

extension SortedKeys {
  /// Adds a primary key, which `key` ends with.
  ///
  /// - Returns: False if there are enough before it.
  /// - Complexity: Constant time; with a limit, O(log limit) for those that are among the first so far.
  /// - Throws: `.sortTooLarge` where it gets too much to be sorted in memory.
  @discardableResult
  mutating func add(_ key: RawSpan, keyLength: Int) throws(StoreError) -> Bool {
    dropRows()
    return try add(key, keyLength, row: key.part(0, 0))
  }

  /// Adds a primary key, which `key` ends with, and its row.
  ///
  /// - Returns: False if there are enough before it.
  /// - Throws: as `add(_:keyLength:)`.
  @discardableResult
  mutating func add(_ key: RawSpan, keyLength: Int, row: RawSpan) throws(StoreError) -> Bool {
    if let rowsSize, rowsSize + row.byteCount > Self.rowsSizeMax { dropRows() }
    return try add(key, keyLength, row: row)
  }

  @inline(__always)
  private mutating func add(
    _ key: RawSpan, _ keyLength: Int, row: RawSpan
  ) throws(StoreError) -> Bool {
    let head = key.head(0)
    if let limit, entries.count >= limit {
      guard limit > 0, isBefore(key, head, entries[0]) else { return false }
      let entry = try stored(key, head, keyLength, row)
      let size = rowSize(entries[0])
      garbage += Int(entries[0].length) + size
      if let rowsSize { self.rowsSize = rowsSize - size }
      entries[0] = entry
      sink(0)
      if garbage > 1 << 16, garbage > bytes.count / 2 { compact() }
      return true
    }
    entries.append(try stored(key, head, keyLength, row))
    if limit != nil { rise(entries.count - 1) }
    return true
  }

  private mutating func dropRows() {
    guard let rowsSize else { return }
    garbage += rowsSize
    self.rowsSize = nil
  }

  /// The bytes of an entry's row and its length.
  private func rowSize(_ entry: Entry) -> Int {
    rowsSize == nil ? 0 : 4 + rowLength(entry)
  }

  private func rowLength(_ entry: Entry) -> Int {
    Int(bytes.rawSpan.load(Int(entry.start) + Int(entry.length), as: UInt32.self))
  }

  /// Adds all of `other` after these; both are sorted.
  ///
  /// - Throws: as `add`.
  mutating func append(_ other: SortedKeys) throws(StoreError) {
    dropRows()
    for index in 0..<other.count {
      let entry = other.entries[index]
      let key = other.whole(index)
      entries.append(try stored(key, entry.head, Int(entry.keyLength), key.part(0, 0)))
    }
  }

  private mutating func stored(
    _ key: RawSpan, _ head: UInt64, _ keyLength: Int, _ row: RawSpan
  ) throws(StoreError) -> Entry {
    var size = bytes.count + key.byteCount + entries.count * MemoryLayout<Entry>.stride
    if size > sizeMax, garbage > 0 {
      size -= garbage
      compact()
    }
    guard size <= sizeMax else { throw .sortTooLarge(record: record, size: size) }
    let start = bytes.count
    bytes.append(key)
    if let rowsSize {
      bytes.append(integer: UInt32(row.byteCount))
      bytes.append(row)
      self.rowsSize = rowsSize + 4 + row.byteCount
    }
    return Entry(
      head: head, start: UInt32(start), number: UInt32(entries.count),
      length: Int32(key.byteCount), keyLength: Int32(keyLength))
  }

  private mutating func compact() {
    var kept: [UInt8] = []
    kept.reserveCapacity(2 * (bytes.count - garbage))
    for index in entries.indices {
      let start = kept.count
      append(index, to: &kept)
      entries[index].start = UInt32(start)
    }
    bytes = kept
    garbage = 0
  }
}

// MARK: Order

extension SortedKeys {
  private func isBefore(_ one: Entry, _ other: Entry) -> Bool {
    Self.isBefore(one, other, bytes)
  }

  private static func isBefore(_ one: Entry, _ other: Entry, _ bytes: [UInt8]) -> Bool {
    if one.head != other.head { return one.head < other.head }
    return bytes.rawSpan.part(Int(one.start), Int(one.length))
      .compare(bytes.rawSpan.part(Int(other.start), Int(other.length))) < 0
  }

  /// Returns true if one sorts before another.
  func isBefore(_ one: Int, _ other: Int) -> Bool { isBefore(entries[one], entries[other]) }

  private func isSame(_ one: Int, _ other: Int) -> Bool { whole(one).equals(whole(other)) }

  private func append(_ index: Int, to bytes: inout [UInt8]) {
    let entry = entries[index]
    bytes.append(self.bytes.rawSpan.part(Int(entry.start), Int(entry.length) + rowSize(entry)))
  }

  private func isBefore(_ key: RawSpan, _ head: UInt64, _ other: Entry) -> Bool {
    if head != other.head { return head < other.head }
    return key.compare(part(other)) < 0
  }

  /// Puts the keys in order, once all were added.
  mutating func sort() {
    let bytes = bytes
    if entries.count < Self.radixCountMin {
      return entries.sort { Self.isBefore($0, $1, bytes) }
    }
    if isSortedByHead { return sortTies() }
    var spare: [Entry] = []
    entries.sortByHead(&spare)
    sortTies()
  }

  /// The number of keys from which on a radix sort takes less time than comparisons.
  private static var radixCountMin: Int { 1 << 10 }

  private var isSortedByHead: Bool {
    for index in 1..<entries.count where entries[index].head < entries[index - 1].head {
      return false
    }
    return true
  }

  /// Sorts those that agree in their heads.
  private mutating func sortTies() {
    let bytes = bytes
    var start = 0
    while start < entries.count {
      let ties = entries.ties(from: start)
      if ties.count > 1 { entries[ties].sort { Self.isBefore($0, $1, bytes) } }
      start = ties.upperBound
    }
  }

  /// Keeps one of those that are the same, once they are sorted.
  ///
  /// - Parameter note: Is given the number of each key, counted as they were added, and its place from now on.
  @inline(__always)
  mutating func removeDuplicates(_ note: (_ number: Int, _ place: Int) -> Void = { _, _ in }) {
    var kept = 0
    for index in entries.indices {
      let entry = entries[index]
      if kept == 0 || !isSame(kept - 1, index) {
        entries[kept] = entry
        kept += 1
      }
      note(Int(entry.number), kept - 1)
    }
    entries.removeLast(entries.count - kept)
  }

  /// Keeps the keys of some places, in their order.
  mutating func keep(_ places: some Sequence<Int>) { entries = places.map { entries[$0] } }

  /// The last of those kept is first, as long as keys are added.
  private mutating func rise(_ index: Int) {
    var index = index
    while index > 0 {
      let parent = (index - 1) / 2
      guard isBefore(entries[parent], entries[index]) else { return }
      entries.swapAt(parent, index)
      index = parent
    }
  }

  private mutating func sink(_ index: Int) {
    var index = index
    while true {
      var last = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < entries.count && isBefore(entries[last], entries[child]) {
        last = child
      }
      if last == index { return }
      entries.swapAt(last, index)
      index = last
    }
  }
}

// MARK: Searching

extension SortedKeys {
  /// Returns the place of a key, once they are sorted; nil if it is not among them.
  ///
  /// - Complexity: O(log count).
  func place(of key: RawSpan) -> Int? {
    let (place, isThere) = search(key, key.head(0))
    return isThere ? place : nil
  }

  /// Returns the place of a key, once they are sorted; nil if it is not among them.
  ///
  /// - Parameter near: The place that another key had or would have had. It is this one's when the function returns.
  /// - Complexity: Constant time if the two follow one another, or almost; otherwise O(log count).
  func place(of key: RawSpan, near: inout Int) -> Int? {
    let head = key.head(0)
    let end = min(near + 2, entries.count)
    var next = near
    while next < end, !isBefore(key, head, entries[next]) {
      if whole(next).equals(key) {
        near = next
        return next
      }
      next += 1
    }
    if next < end || next == entries.count,
      next == 0 || next > near || isBehind(key, head, entries[next - 1])
    {
      near = next
      return nil
    }
    let found = search(key, head)
    near = found.place
    return found.isThere ? found.place : nil
  }

  private func isBehind(_ key: RawSpan, _ head: UInt64, _ other: Entry) -> Bool {
    head == other.head ? key.compare(part(other)) > 0 : head > other.head
  }

  /// Returns the place that a key has or would have.
  private func search(_ key: RawSpan, _ head: UInt64) -> (place: Int, isThere: Bool) {
    var range = entries.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if isBefore(key, head, entries[middle]) {
        range = range.lowerBound..<middle
      } else if whole(middle).equals(key) {
        return (middle, true)
      } else {
        range = middle + 1..<range.upperBound
      }
    }
    return (range.lowerBound, false)
  }
}

// MARK: Taking

extension SortedKeys {
  /// A primary key.
  @_lifetime(borrow self)
  func key(_ index: Int) -> RawSpan {
    let entry = entries[index]
    let start = Int(entry.start) + Int(entry.length - entry.keyLength)
    return unsafe _overrideLifetime(
      bytes.rawSpan.part(start, Int(entry.keyLength)), borrowing: self)
  }

  /// True if rows were added, and are kept.
  var hasRows: Bool { rowsSize != nil }

  /// A row; there have to be rows.
  @_lifetime(borrow self)
  func row(_ index: Int) -> RawSpan {
    let entry = entries[index]
    let start = Int(entry.start) + Int(entry.length) + 4
    return unsafe _overrideLifetime(
      bytes.rawSpan.part(start, rowLength(entry)), borrowing: self)
  }

  /// A primary key after its sort key.
  @_lifetime(borrow self)
  func whole(_ index: Int) -> RawSpan {
    unsafe _overrideLifetime(part(entries[index]), borrowing: self)
  }

  /// Replaces `bytes` by a primary key after its sort key.
  func copy(_ index: Int, to bytes: inout [UInt8]) { bytes.assign(whole(index)) }

  @_lifetime(borrow self)
  private func part(_ entry: Entry) -> RawSpan {
    unsafe _overrideLifetime(
      bytes.rawSpan.part(Int(entry.start), Int(entry.length)), borrowing: self)
  }
}

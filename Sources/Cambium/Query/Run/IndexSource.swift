/// Records in the order of an index.
final class IndexSource {
  private let entries: RangeCursor
  private let found: FoundRow
  private let index: IndexLayout
  private let layout: RowLayout
  private let condition: RowCondition?
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The entries of the keys that are looked up ahead: their keys, and which have a value.
  @exclusivity(unchecked) private var readKeys = KeyBatch()
  @exclusivity(unchecked) private var readValues: [Bool] = []
  /// The present one of them.
  @exclusivity(unchecked) private var place = -1

  init(
    _ entries: RangeCursor, _ index: IndexLayout, _ condition: RowCondition?, _ found: FoundRow,
    _ layout: RowLayout
  ) {
    self.entries = entries
    self.index = index
    self.condition = condition
    self.found = found
    self.layout = layout
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let found = found
      return unsafe _overrideLifetime(found.key, borrowing: self)
    }
  }

  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    let found = found
    return unsafe _overrideLifetime(try found.row(), borrowing: self)
  }

  func next() throws(StoreError) -> Bool {
    while try nextEntry() {
      guard let condition else { return true }
      if try found.meets(condition) { return true }
    }
    return false
  }

  /// How many entries were read and come no more.
  var entryCount: Int {
    unsafe found.ahead == nil ? entries.count : entries.count - readKeys.count + place + 1
  }

  var rowCount: Int { unsafe found.rowCount }
}

// MARK: Entries

extension IndexSource {
  private func nextEntry() throws(StoreError) -> Bool {
    guard let ahead = found.ahead else {
      let (entries, layout) = (entries, layout)
      guard try entries.next() else { return false }
      found.move(
        to: try index.primaryKey(key: entries.key, value: try entries.value(), layout: layout))
      return true
    }
    unsafe place += 1
    if unsafe place >= readKeys.count, try !read(ahead) { return false }
    unsafe found.move(to: place)
    return true
  }

  /// Reads the next entries. False if there are none.
  private func read(_ ahead: RowsAhead) throws(StoreError) -> Bool {
    ahead.begin()
    unsafe readKeys.removeAll()
    unsafe readValues.removeAll(keepingCapacity: true)
    unsafe place = 0
    let (entries, layout) = (entries, layout)
    while !ahead.isFull, try entries.next() {
      ahead.append(
        try index.primaryKey(key: entries.key, value: try entries.value(), layout: layout))
      unsafe readKeys.append(entries.key)
      unsafe readValues.append(try entries.value().byteCount > 0)
    }
    return ahead.count > 0
  }

  /// The key of the index's entry.
  var entryKey: RawSpan {
    @_lifetime(borrow self)
    get {
      let entries = entries
      if found.ahead == nil { return unsafe _overrideLifetime(entries.key, borrowing: self) }
      return unsafe _overrideLifetime(readKeys.key(place), borrowing: self)
    }
  }

  /// Whether the index's entry has a value.
  func entryHasValue() throws(StoreError) -> Bool {
    if found.ahead != nil { return unsafe readValues[place] }
    let entries = entries
    return try entries.value().byteCount > 0
  }
}

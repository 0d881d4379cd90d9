/// Records in the order of an index.
///
/// The first is looked up alone, since there may be no other; then more and more together.
final class IndexSource {
  private let entries: RangeCursor
  private let found: FoundRow
  private let index: IndexLayout
  private let layout: RowLayout
  private let condition: RowCondition?
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The highest number of entries still needed, to be read ahead; 0 if none.
  @exclusivity(unchecked) private var wantedCount: Int
  /// The number of entries that are read ahead next.
  @exclusivity(unchecked) private var size = 1
  /// The entries that were read ahead: their keys, and which have a value.
  @exclusivity(unchecked) private var readKeys = KeyBatch()
  @exclusivity(unchecked) private var readValues: [Bool] = []
  /// The present one of them; -1 where it is the one that the cursor stands on.
  @exclusivity(unchecked) private var place = -1
  /// The offset of the primary key in the key of the cursor's entry; -1 if it is a copy of the value.
  @exclusivity(unchecked) private var keyStart = 0
  @exclusivity(unchecked) private var keyCopy: [UInt8] = []

  /// - Parameter wantedCount: How many records are wanted at most; 0 where their rows are not.
  init(
    _ entries: RangeCursor, _ index: IndexLayout, _ condition: RowCondition?, _ found: FoundRow,
    _ layout: RowLayout, wantedCount: Int
  ) {
    self.entries = entries
    self.index = index
    self.condition = condition
    self.found = found
    self.layout = layout
    unsafe self.wantedCount = condition == nil || wantedCount == 0 ? wantedCount : .max
  }

  func next() throws(StoreError) -> Bool {
    while try nextEntry() {
      guard let condition else { return true }
      if try found.meets(condition, key) { return true }
    }
    return false
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      if unsafe place >= 0, let ahead = unsafe found.ahead {
        return unsafe _overrideLifetime(ahead.key(place), borrowing: self)
      }
      if unsafe keyStart < 0 {
        let copy = unsafe keyCopy
        return unsafe _overrideLifetime(copy.rawSpan, borrowing: self)
      }
      let entries = entries
      let key = entries.key
      return unsafe _overrideLifetime(
        key.part(keyStart, key.byteCount - keyStart), borrowing: self)
    }
  }

  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    let found = found
    return unsafe _overrideLifetime(try found.row(of: key), borrowing: self)
  }

  /// The number of entries read so far.
  var entryCount: Int {
    unsafe place < 0 ? entries.count : entries.count - readKeys.count + place + 1
  }

  var rowCount: Int { unsafe found.rowCount }
}

// MARK: Entries

extension IndexSource {
  private func nextEntry() throws(StoreError) -> Bool {
    if unsafe place >= 0 {
      unsafe place += 1
      if unsafe place < readKeys.count {
        unsafe found.move(to: place)
        return true
      }
    }
    unsafe place = -1
    guard try entries.next() else { return false }
    if unsafe size > 1, unsafe wantedCount > 0, let ahead = found.begin() {
      try read(ahead)
      return true
    }
    try findKey()
    found.move()
    unsafe size = 8
    unsafe wantedCount = max(0, wantedCount - 1)
    return true
  }

  private func findKey() throws(StoreError) {
    let (entries, layout) = (entries, layout)
    let value = try entries.value()
    let key = try index.soughtKey(key: entries.key, value: value, layout: layout)
    // Of a key that ends with it nothing is copied.
    if value.byteCount == 0 {
      unsafe keyStart = entries.key.byteCount - key.byteCount
    } else {
      unsafe keyStart = -1
      unsafe keyCopy.assign(key)
    }
  }

  /// Reads the entry that the cursor stands on, and the next.
  private func read(_ ahead: RowsAhead) throws(StoreError) {
    let count = unsafe min(size, wantedCount)
    unsafe readKeys.removeAll()
    unsafe readValues.removeAll(keepingCapacity: true)
    let (entries, layout) = (entries, layout)
    while true {
      let value = try entries.value()
      ahead.append(try index.soughtKey(key: entries.key, value: value, layout: layout))
      unsafe readKeys.append(entries.key)
      unsafe readValues.append(value.byteCount > 0)
      guard ahead.count < count, try entries.next() else { break }
    }
    unsafe size = RowsAhead.countMax
    unsafe wantedCount -= ahead.count
    unsafe place = 0
    found.move(to: 0)
  }

  /// The key of the index's entry.
  var entryKey: RawSpan {
    @_lifetime(borrow self)
    get {
      let entries = entries
      if unsafe place < 0 { return unsafe _overrideLifetime(entries.key, borrowing: self) }
      return unsafe _overrideLifetime(readKeys.key(place), borrowing: self)
    }
  }

  /// Returns true if the index's entry has a value.
  func entryHasValue() throws(StoreError) -> Bool {
    if unsafe place >= 0 { return unsafe readValues[place] }
    let entries = entries
    return try entries.value().byteCount > 0
  }
}

/// A source from which a query takes records one by one. Rejected records are neither copied nor decoded.
enum RecordSource {
  case rows(RowSource)
  case index(IndexSource)
  case listed(KeySource)

  /// Moves on. False after the last.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @inline(__always)
  func next() throws(StoreError) -> Bool {
    switch self {
    case .rows(let source): try source.next()
    case .index(let source): try source.next()
    case .listed(let source): try source.next()
    }
  }

  /// The primary key. Until the source moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      switch self {
      case .rows(let source): unsafe _overrideLifetime(source.key, borrowing: self)
      case .index(let source): unsafe _overrideLifetime(source.key, borrowing: self)
      case .listed(let source): unsafe _overrideLifetime(source.key, borrowing: self)
      }
    }
  }

  /// The row. Until the source moves.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  @inline(__always)
  func row() throws(StoreError) -> RawSpan {
    switch self {
    case .rows(let source): unsafe _overrideLifetime(try source.row(), borrowing: self)
    case .index(let source): unsafe _overrideLifetime(try source.row(), borrowing: self)
    case .listed(let source): unsafe _overrideLifetime(try source.row(), borrowing: self)
    }
  }

  /// True if it is on an entry of an index that was cut, or may have to be compared with one that was.
  @inline(__always)
  var isOnLongKey: Bool {
    guard case .index(let source) = self else { return false }
    return source.entryKey.byteCount >= IndexLayout.cutPrefix
  }

  /// The number of entries read, of any tree.
  var entryCount: Int {
    switch self {
    case .rows(let source): unsafe source.entries.count
    case .index(let source): source.entryCount
    case .listed(let source): source.entryCount
    }
  }

  /// The number of rows read.
  var rowCount: Int {
    switch self {
    case .rows(let source): unsafe source.entries.count
    case .index(let source): source.rowCount
    case .listed(let source): source.rowCount
    }
  }
}

/// Records in the order of their rows, by primary key.
final class RowSource {
  let entries: RangeCursor
  private let layout: RowLayout
  private let condition: RowCondition?
  /// Rejects rows that come after enough others in the order that is wanted, where the tree is passed at once.
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) var limit: QuickTerm?

  init(_ entries: RangeCursor, _ condition: RowCondition?, _ layout: RowLayout) {
    self.entries = entries
    self.condition = condition
    self.layout = layout
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let entries = entries
      return unsafe _overrideLifetime(entries.key, borrowing: self)
    }
  }

  @_lifetime(borrow self)
  @inline(__always)
  func row() throws(StoreError) -> RawSpan {
    let entries = entries
    return unsafe _overrideLifetime(try entries.value(), borrowing: self)
  }

  func next() throws(StoreError) -> Bool {
    let limit = unsafe limit
    if condition == nil, limit == nil { return try entries.next() }
    if try entries.next(meeting: condition, within: limit, layout) != nil {
      return true
    }
    while try entries.next() {
      guard let condition else { return true }
      if try meets(condition) { return true }
      if try entries.next(meeting: condition, within: limit, layout) != nil {
        return true
      }
    }
    return false
  }

  /// Moves on within the present range to the next row of which a function returns true. False if there is none, or
  /// that is not done in one loop: `next` continues.
  func next(
    where isWanted: (_ row: RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    unsafe try entries.next(meeting: condition, within: limit, layout, where: isWanted) ?? false
  }

  @inline(__always)
  private func meets(_ condition: RowCondition) throws(StoreError) -> Bool {
    let (cursor, layout) = (entries.cursor, layout)
    let record = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
    return try condition.holds(for: record)
  }
}

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
  /// The number of entries that are probably still needed, to be read ahead; 0 if none.
  @exclusivity(unchecked) private var wantedCount: Int
  /// True if rows are needed.
  private let needsRows: Bool
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
    needsRows = wantedCount > 0
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
    // After a record, more entries than one are passed if others have the same values.
    if needsRows, unsafe wantedCount == 0 { unsafe wantedCount = RowsAhead.countMax }
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

/// Records whose primary keys are known.
@usableFromInline
final class KeySource {
  private let found: FoundRow
  /// The number of entries read to find the first keys.
  private let firstEntryCount: Int
  /// The source of further keys; `nil` if all are known.
  private let further: CommonKeys?
  private let condition: RowCondition?
  /// True if rows may not be there, as in a transaction that continues.
  private let isChanging: Bool
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys: SortedKeys
  /// The number of keys that are found next: few at first, since no more may be wanted.
  @exclusivity(unchecked) private var size = 4
  /// The place of the key that it stands on; −1 before the first.
  @exclusivity(unchecked) private(set) var place = -1
  /// The first of the keys that are looked up ahead, and the one after the last.
  @exclusivity(unchecked) private var aheadStart = 0
  @exclusivity(unchecked) private var aheadEnd = 0

  init(
    _ keys: SortedKeys, then further: CommonKeys? = nil, _ condition: RowCondition?,
    _ found: FoundRow, isChanging: Bool, entryCount: Int = 0
  ) {
    unsafe self.keys = keys
    self.further = further
    self.condition = condition
    self.found = found
    self.isChanging = isChanging
    firstEntryCount = entryCount
  }

  /// The number of entries read to find the keys.
  var entryCount: Int { firstEntryCount + (further?.entryCount ?? 0) }

  @usableFromInline
  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let keys = unsafe keys
      return unsafe _overrideLifetime(keys.key(place), borrowing: self)
    }
  }

  @usableFromInline
  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    if unsafe keys.hasRows {
      let keys = unsafe keys
      return unsafe _overrideLifetime(keys.row(place), borrowing: self)
    }
    let found = found
    return unsafe _overrideLifetime(try found.row(of: key), borrowing: self)
  }

  @usableFromInline
  func next() throws(StoreError) -> Bool {
    while try hasNext() {
      unsafe place += 1
      move()
      if isChanging, try !found.isThere(key) { continue }
      guard let condition else { return true }
      if try found.meets(condition, key) { return true }
    }
    return false
  }

  /// Returns true if there is another key; reads more of them if necessary.
  private func hasNext() throws(StoreError) -> Bool {
    if unsafe place + 1 < keys.count { return true }
    guard let further else { return false }
    unsafe keys.removeAll()
    while unsafe keys.count < size, try further.next() {
      try unsafe keys.add(further.key, keyLength: further.key.byteCount)
    }
    unsafe (place, aheadStart, aheadEnd, size) = (-1, 0, 0, RowsAhead.countMax)
    return unsafe keys.count > 0
  }

  private func move() {
    if unsafe keys.hasRows { return }
    if unsafe place >= aheadEnd { lookAhead() }
    if unsafe place < aheadEnd {
      unsafe found.move(to: place - aheadStart)
    } else {
      found.move()
    }
  }

  private func lookAhead() {
    let left = unsafe keys.count - place
    guard left > 1, let ahead = found.begin() else { return }
    unsafe aheadStart = place
    unsafe aheadEnd = place + min(left, RowsAhead.countMax)
    let keys = unsafe keys
    for next in unsafe aheadStart..<aheadEnd { ahead.append(keys.key(next)) }
  }

  /// Leaves out the next `count`, which need not meet anything.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func skip(_ count: Int) throws(StoreError) {
    var left = count
    while left > 0, try hasNext() {
      let step = unsafe min(left, keys.count - 1 - place)
      unsafe place += step
      left -= step
    }
  }

  var rowCount: Int { unsafe found.rowCount }
}

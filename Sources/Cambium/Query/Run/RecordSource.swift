/// Where a query takes records from, one by one. What the condition rejects is neither copied nor decoded.
enum RecordSource {
  case rows(RowSource)
  case index(IndexSource)
  case listed(KeySource)

  /// Moves on. False behind the last.
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

  /// Whether it is on an entry of an index that was cut, or may have to be compared with one that was.
  @inline(__always)
  var isOnLongKey: Bool {
    guard case .index(let source) = self else { return false }
    let entries = source.entries
    return entries.key.byteCount >= IndexLayout.cutPrefix
  }

  /// How many entries were read, of whatever tree.
  var entryCount: Int {
    switch self {
    case .rows(let source): unsafe source.entries.count
    case .index(let source): unsafe source.entries.count
    case .listed(let source): source.entryCount
    }
  }

  /// How many rows were looked at.
  var rowCount: Int {
    switch self {
    case .rows(let source): unsafe source.entries.count
    case .index(let source): unsafe source.found.rowCount
    case .listed(let source): unsafe source.found.rowCount
    }
  }
}

// MARK: - Rows in their order

final class RowSource {
  let entries: RangeCursor
  private let layout: RowLayout
  private let condition: RowCondition?

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
    guard let condition else { return try entries.next() }
    if try entries.next(meeting: condition, layout) != nil { return true }
    while try entries.next() {
      if try meets(condition) { return true }
      if try entries.next(meeting: condition, layout) != nil { return true }
    }
    return false
  }

  /// Adds up a field of the present row and all behind it in the range. False where they have to be looked at one
  /// by one.
  func add(to sum: inout FieldSum) throws(StoreError) -> Bool {
    if condition != nil { return false }
    return try entries.add(to: &sum, layout)
  }

  @inline(__always)
  private func meets(_ condition: RowCondition) throws(StoreError) -> Bool {
    let (cursor, layout) = (entries.cursor, layout)
    let record = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
    return try condition.holds(for: record)
  }
}

// MARK: - Rows that are looked up

/// The row of a primary key, looked up when it is asked for.
final class FoundRow {
  private let record: RecordTrees
  private let trees: TreeAccess
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  @exclusivity(unchecked) private var primaryKey: [UInt8] = []
  @exclusivity(unchecked) private var isLoaded = false
  @exclusivity(unchecked) private(set) var rowCount = 0

  init(of record: RecordTrees, in trees: TreeAccess) {
    self.record = record
    self.trees = trees
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(primaryKey.rawSpan, borrowing: self) }
  }

  /// Goes to another primary key.
  func move(to key: RawSpan) {
    unsafe primaryKey.assign(key)
    unsafe isLoaded = false
  }

  /// Whether there is a row of the key.
  func isThere() throws(StoreError) -> Bool {
    if unsafe isLoaded { return true }
    unsafe rowCount += 1
    let key = unsafe primaryKey
    unsafe isLoaded = try trees.copyValue(of: key.rawSpan, in: record.rows, to: &bytes)
    return unsafe isLoaded
  }

  /// The row, which must be there.
  ///
  /// - Throws: `.corrupt` (K3) if it is not, `.io`.
  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    guard try isThere() else { throw fault }
    return unsafe _overrideLifetime(bytes.rawSpan, borrowing: self)
  }

  func meets(_ condition: RowCondition) throws(StoreError) -> Bool {
    let layout = record.layout
    let record = try RowReader(key: key, row: try row(), layout: layout)
    return try condition.holds(for: record)
  }

  private var fault: StoreError {
    record.layout.fault(key: key, .indexEntries, "an index has an entry of it, but there is no row")
  }
}

/// Records in the order of an index.
final class IndexSource {
  let entries: RangeCursor
  let found: FoundRow
  private let index: IndexLayout
  private let layout: RowLayout
  private let condition: RowCondition?

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
    let (entries, layout) = (entries, layout)
    while try entries.next() {
      let key = try index.primaryKey(
        key: entries.key, value: try entries.value(), layout: layout)
      found.move(to: key)
      guard let condition else { return true }
      if try found.meets(condition) { return true }
    }
    return false
  }
}

extension IndexSource {
  /// The key of the index's entry.
  var entryKey: RawSpan {
    @_lifetime(borrow self)
    get {
      let entries = entries
      return unsafe _overrideLifetime(entries.key, borrowing: self)
    }
  }
}

/// Records whose primary keys are known.
final class KeySource {
  let found: FoundRow
  /// What finding the keys has read.
  let entryCount: Int
  private let keys: SortedKeys
  private let condition: RowCondition?
  /// Whether rows may be gone since, as in a transaction that goes on.
  private let isChanging: Bool
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var place = -1

  init(
    _ keys: SortedKeys, _ condition: RowCondition?, _ found: FoundRow, isChanging: Bool,
    entryCount: Int
  ) {
    self.keys = keys
    self.condition = condition
    self.found = found
    self.isChanging = isChanging
    self.entryCount = entryCount
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
    while unsafe place + 1 < keys.count {
      unsafe place += 1
      let keys = keys
      found.move(to: unsafe keys.key(place))
      if isChanging, try !found.isThere() { continue }
      guard let condition else { return true }
      if try found.meets(condition) { return true }
    }
    return false
  }

  /// Leaves out the next `count`, which need not meet anything.
  func skip(_ count: Int) {
    unsafe place = min(place + count, keys.count - 1)
  }
}

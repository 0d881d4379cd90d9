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
    return source.entryKey.byteCount >= IndexLayout.cutPrefix
  }

  /// How many entries were read, of whatever tree.
  var entryCount: Int {
    switch self {
    case .rows(let source): unsafe source.entries.count
    case .index(let source): source.entryCount
    case .listed(let source): source.entryCount
    }
  }

  /// How many rows were looked at.
  var rowCount: Int {
    switch self {
    case .rows(let source): unsafe source.entries.count
    case .index(let source): source.rowCount
    case .listed(let source): source.rowCount
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

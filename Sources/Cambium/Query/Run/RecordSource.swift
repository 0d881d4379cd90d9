/// A source from which a query takes records one by one. Rejected records are neither copied nor decoded.
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

/// A cursor over the records of a type, by primary key.
///
/// It reads one state, and does not see later commits. A cursor of a transaction sees the transaction's changes after
/// its place, so records can be changed and deleted on the way; when the transaction ends, it throws
/// `StoreError.closed`.
public final class RecordCursor<Subject: Record> {
  @usableFromInline let type: RecordType<Subject>
  @usableFromInline let rows: RowCursor
  @usableFromInline let blobs: BlobFinder?

  init(_ type: RecordType<Subject>, _ cursor: CursorAccess, _ blobs: BlobFinder?) {
    self.type = type
    self.blobs = blobs
    rows = RowCursor(cursor)
  }

  /// Moves to the next record, and returns it; nil after the last.
  ///
  /// - Complexity: mostly that of making the record.
  /// - Throws: `StoreError.corrupt`, `.io`; what the type's hook after loading throws.
  @inlinable
  public func next() throws -> Subject? {
    let rows = rows
    guard try rows.next() else { return nil }
    return try type.load(key: rows.key, row: try rows.value(), blobs: blobs)
  }

  /// Returns at most `count` of the next records, but at least one; none if there are no more.
  ///
  /// - Throws: as `next()`.
  @inlinable
  public func next(_ count: Int) throws -> [Subject] {
    let count = max(1, count)
    var batch: [Subject] = []
    batch.reserveCapacity(min(count, 1 << 12))
    while batch.count < count, let record = try next() { batch.append(record) }
    return batch
  }

  /// Moves to a primary key: `next()` then returns the record with it, or else the first one after it.
  ///
  /// - Throws: `StoreError.invalidQuery` if the key is of other types, `.corrupt`, `.io`.
  public func seek(to parts: any FieldValueConvertible...) throws(StoreError) {
    let key = KeyEncoder()
    try key.encode(primaryKey: parts, of: type)
    try rows.seek(to: key.key)
  }
}

/// A place among rows, whichever type they are of. It begins before the first.
@usableFromInline
final class RowCursor {
  private let cursor: CursorAccess
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private var isAtEnd = false

  init(_ cursor: CursorAccess) {
    self.cursor = cursor
  }

  /// Moves on. False behind the last.
  @usableFromInline
  func next() throws(StoreError) -> Bool {
    if unsafe isAtEnd { return false }
    let isOn = unsafe hasBegun ? try cursor.next() : try cursor.first()
    unsafe hasBegun = true
    unsafe isAtEnd = !isOn
    return isOn
  }

  /// Goes to where `key` is or would be; it, or the first behind, comes next.
  func seek(to key: RawSpan) throws(StoreError) {
    unsafe hasBegun = true
    unsafe isAtEnd = try !cursor.seek(to: key)
    // `next` moves on before it returns.
    if unsafe !isAtEnd, try !cursor.previous() { unsafe hasBegun = false }
  }

  /// The key of the row. Until the cursor moves.
  @usableFromInline
  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let cursor = cursor
      return unsafe _overrideLifetime(cursor.key, borrowing: self)
    }
  }

  /// The row. Until the cursor moves.
  @usableFromInline
  @_lifetime(borrow self)
  func value() throws(StoreError) -> RawSpan {
    let cursor = cursor
    return unsafe _overrideLifetime(try cursor.value(), borrowing: self)
  }
}

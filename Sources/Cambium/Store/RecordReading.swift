/// A source of records: a store, of which each call reads the newest committed state; a snapshot, which does not
/// change; or a transaction, with its own changes.
public protocol RecordReading: ~Copyable {
  /// Returns a reader of the present state.
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  func recordReader() throws(StoreError) -> RecordReader
}

// MARK: All

extension RecordReading where Self: ~Copyable {
  /// Returns all records of a type, by primary key, all in memory; `cursor(_:)` and `forEach(_:_:)` take constant memory.
  ///
  /// ```swift
  /// let items = try store.fetch(Item.self)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`; errors of the type's hook after
  ///   loading.
  @inlinable
  public func fetch<Subject: Record>(_ type: Subject.Type) throws -> [Subject] {
    var records: [Subject] = []
    let cursor = try cursor(type)
    records.reserveCapacity(Swift.min(try count(type), 1 << 16))
    while let record = try cursor.next() { records.append(record) }
    return records
  }

  /// Returns the number of records of a type, in constant time; of a kind, as `count(_:)` of a query.
  ///
  /// ```swift
  /// let count = try store.count(Item.self)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.closed`.
  public func count<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> Int {
    let reader = try recordReader()
    let entity = try reader.entities.type(type)
    guard entity.kind != nil else { return try reader.trees.count(in: entity.rows) }
    return try QueryRunner(entity, in: reader).count(
      FieldQuery(condition: entity.kindCondition))
  }

  /// Returns a cursor before the first record of a type, by primary key. It keeps the state that it reads.
  ///
  /// ```swift
  /// let cursor = try store.cursor(Item.self)
  /// while let item = try cursor.next() { print(item.name) }
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.closed`.
  public func cursor<Subject: Record>(
    _ type: Subject.Type
  ) throws(StoreError) -> RecordCursor<Subject> {
    let reader = try recordReader()
    let type = try reader.entities.type(type)
    return RecordCursor(
      type, try reader.trees.cursor(in: type.rows), reader.blobs(of: type))
  }

  /// Calls `body` with each record of a type, by primary key, in constant memory.
  ///
  /// ```swift
  /// try store.forEach(Item.self) { item in print(item.name) }
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`; errors of the type's hook after
  ///   loading, and errors of `body`, which ends it.
  @inlinable
  public func forEach<Subject: Record>(
    _ type: Subject.Type, _ body: (Subject) throws -> Void
  ) throws {
    let cursor = try cursor(type)
    while let record = try cursor.next() { try body(record) }
  }

  /// Calls `body` with all records of a type, by primary key, in batches of `size`, at least one.
  ///
  /// ```swift
  /// try store.forEachBatch(Item.self, of: 1_000) { items in send(items) }
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`; errors of the type's hook after
  ///   loading, and errors of `body`, which ends it.
  @inlinable
  public func forEachBatch<Subject: Record>(
    _ type: Subject.Type, of size: Int, _ body: ([Subject]) throws -> Void
  ) throws {
    let cursor = try cursor(type)
    while true {
      let batch = try cursor.next(size)
      if batch.isEmpty { return }
      try body(batch)
    }
  }
}

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
  /// - Throws: `StoreError.corrupt`, `.io`; errors of the type's hook after loading.
  @inlinable
  public func next() throws -> Subject? {
    let rows = rows
    while try rows.next() {
      let row = try rows.value()
      if type.has(row) { return try type.load(key: rows.key, row: row, blobs: blobs) }
    }
    return nil
  }

  /// Returns at most `count` of the next records, but at least one; none if there are no more.
  ///
  /// - Throws: `StoreError.corrupt`, `.io`; errors of the type's hook after loading.
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
  /// ```swift
  /// let cursor = try store.cursor(Account.self)
  /// try cursor.seek(to: 1_000)
  /// ```
  ///
  /// - Complexity: O(log records).
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func seek(to key: Subject.KeyType) throws(StoreError)
  where Subject.KeyType: FieldValueConvertible {
    try seek(keyParts: [key])
  }

  /// Moves to a primary key whose type the compiler does not know: `next()` then returns the record with it, or else the
  /// first one after it. The parts of a compound key are given in its order.
  ///
  /// - Complexity: O(log records).
  /// - Throws: `StoreError.invalidQuery` if the key is of other types, `.corrupt`, `.io`.
  public func seek(to parts: any FieldValueConvertible...) throws(StoreError)
  where Subject.KeyType == AnyKey {
    try seek(keyParts: parts)
  }

  private func seek(keyParts parts: [any FieldValueConvertible]) throws(StoreError) {
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

  /// Moves on. False after the last.
  @usableFromInline
  func next() throws(StoreError) -> Bool {
    if unsafe isAtEnd { return false }
    let isOn = unsafe hasBegun ? try cursor.next() : try cursor.first()
    unsafe hasBegun = true
    unsafe isAtEnd = !isOn
    return isOn
  }

  /// Goes to where `key` is or would be; it, or the first after, comes next.
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

/// A source of records: a store, of which each call reads the newest committed state; a snapshot, which does not
/// change; or a transaction, with its own changes.
public protocol RecordReading: ~Copyable {
  /// Returns a reader of the present state.
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  func recordReader() throws(StoreError) -> RecordReader
}

// MARK: By key

extension RecordReading where Self: ~Copyable {
  /// Returns the record with a primary key; nil if there is none. The parts of a compound key are given in its order.
  ///
  /// - Complexity: O(log records): a lookup in memory, and in pages that are mostly in memory, too.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, `.corrupt`, `.io`, `.closed`;
  ///   errors of the type's hook after loading.
  @inlinable
  public func fetch<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject? {
    try recordReader().fetch(type, key: keyParts(part, others))
  }

  /// Returns the record with a primary key, which has to exist. The parts of a compound key are given in its order.
  ///
  /// ```swift
  /// let order = try store.find(Order.self, key: id)
  /// ```
  ///
  /// - Complexity: That of `fetch(_:key:)`.
  /// - Throws: `StoreError.noSuchRecord` if there is none; as `fetch(_:key:)`.
  @inlinable
  public func find<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject {
    try recordReader().find(type, key: keyParts(part, others))
  }

  /// Returns the record with an identifier; nil if there is none. `id` must be the primary key.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`; errors of the type's hook after
  ///   loading.
  @inlinable
  public func fetch<Subject: Record & Identifiable>(
    _ type: Subject.Type, id: Subject.ID
  ) throws -> Subject? where Subject.ID: FieldValueConvertible {
    try recordReader().fetch(type, key: [id])
  }

  /// Returns the records with these primary keys, in their order. Each key has one part; keys without a record are left
  /// out.
  ///
  /// - Complexity: A lookup for each, several at a time.
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`; errors of the type's hook after
  ///   loading.
  @inlinable
  public func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject] where Keys.Element: FieldValueConvertible {
    let rows = try recordReader().rows(of: type)
    var records: [Subject] = []
    for key in keys {
      try rows.append(key: key)
      if rows.isFull { try rows.load { record in records.append(record) } }
    }
    try rows.load { record in records.append(record) }
    return records
  }

  /// Returns true if there is a record with a primary key. Cheaper than fetching it.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`.
  public func contains<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> Bool {
    let reader = try recordReader()
    let entity = try reader.entities.type(type)
    let key = KeyEncoder()
    try key.encode(primaryKey: keyParts(part, others), of: entity)
    guard entity.kind != nil else { return try reader.trees.contains(key.key, in: entity.rows) }
    var row: [UInt8] = []
    return try reader.trees.copyValue(of: key.key, in: entity.rows, to: &row)
      && entity.has(row.rawSpan)
  }
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

extension RecordReader {
  /// Makes the record with a primary key, if there is one.
  @inlinable
  func fetch<Subject: Record>(
    _ type: Subject.Type, key parts: [any FieldValueConvertible]
  ) throws -> Subject? {
    let type = try entities.type(type)
    var record: Subject?
    let blobs = blobs(of: type)
    try withRow(of: type, key: parts) { key, row in
      if type.has(row) { record = try type.load(key: key, row: row, blobs: blobs) }
    }
    // Moved, which saves counting all that is in it.
    return record.take()
  }

  /// Makes the record with a primary key.
  ///
  /// - Throws: `.noSuchRecord` if there is none.
  @inlinable
  func find<Subject: Record>(
    _ type: Subject.Type, key parts: [any FieldValueConvertible]
  ) throws -> Subject {
    if let record = try fetch(type, key: parts) { return record }
    let entity = try entities.type(type)
    throw try noSuchRecord(entity, key: parts)
  }

  /// Returns the error that there is no record with a primary key.
  @usableFromInline
  func noSuchRecord(
    _ record: Entity, key parts: [any FieldValueConvertible]
  ) throws(StoreError) -> StoreError {
    let key = KeyEncoder()
    try key.encode(primaryKey: parts, of: record)
    return .noSuchRecord(record: record.record.name, key: record.text(ofKey: key.key))
  }

  /// Returns a finder of the blobs of a record's rows; nil if it has none.
  @usableFromInline
  func blobs(of record: Entity) -> BlobFinder? {
    record.readsOutside ? trees.blobFinder(of: record) : nil
  }

  /// Lends `body` the key and the row of the record with a primary key, if there is one.
  @usableFromInline
  func withRow(
    of record: Entity, key parts: [any FieldValueConvertible],
    _ body: (_ key: RawSpan, _ row: RawSpan) throws -> Void
  ) throws {
    if let short = ShortKey(parts, of: record.layout.key) {
      return try trees.withValue(of: short.key, in: record.rows) { row in try body(short.key, row) }
    }
    let key = KeyEncoder()
    try key.encode(primaryKey: parts, of: record)
    try trees.withValue(of: key.key, in: record.rows) { row in try body(key.key, row) }
  }
}

/// The parts of a primary key: one at least.
@inlinable
func keyParts(
  _ first: any FieldValueConvertible, _ others: [any FieldValueConvertible]
) -> [any FieldValueConvertible] {
  others.isEmpty ? [first] : [first] + others
}

// MARK: Many at once

extension RecordReader {
  @usableFromInline
  func rows<Subject: Record>(of type: Subject.Type) throws(StoreError) -> KeyedRows<Subject> {
    let type = try entities.type(type)
    return KeyedRows(type, trees, blobs(of: type))
  }
}

/// Records of given primary keys, which are looked up several at a time.
@usableFromInline
final class KeyedRows<Subject: Record> {
  @usableFromInline let type: RecordType<Subject>
  @usableFromInline let blobs: BlobFinder?
  private let trees: TreeAccess
  private let encoder = KeyEncoder()
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys: SortedKeys

  fileprivate init(_ type: RecordType<Subject>, _ trees: TreeAccess, _ blobs: BlobFinder?) {
    self.type = type
    self.trees = trees
    self.blobs = blobs
    unsafe keys = SortedKeys(of: type.record.name)
  }

  /// True if so many keys are waiting that their records are to be loaded.
  @usableFromInline var isFull: Bool { unsafe keys.count >= 1 << 10 }

  @usableFromInline
  func append(key: any FieldValueConvertible) throws(StoreError) {
    let encoder = encoder
    try encoder.encode(primaryKey: [key], of: type)
    try unsafe keys.add(encoder.key, keyLength: encoder.key.byteCount)
  }

  /// Calls `body` with the records of the keys that are waiting, in the order of the keys.
  @inlinable
  func load(_ body: (Subject) throws -> Void) throws {
    let source = takeKeys()
    while let record = try next(of: source) { try body(record) }
  }

  @inlinable
  func next(of source: KeySource) throws -> Subject? {
    while try source.next() {
      let row = try source.row()
      if type.has(row) { return try type.load(key: source.key, row: row, blobs: blobs) }
    }
    return nil
  }

  @usableFromInline
  func takeKeys() -> KeySource {
    // Each key is looked up.
    let source = unsafe KeySource(
      keys, nil, FoundRow(of: type, in: trees, nil), isChanging: true, entryCount: 0)
    unsafe keys.removeAll()
    return source
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

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
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, `.corrupt`, `.io`, `.closed`; what
  ///   the type's hook after loading throws.
  @inlinable
  public func fetch<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject? {
    try recordReader().fetch(type, key: keyParts(part, others))
  }

  /// Returns the record with an identifier; nil if there is none. `id` must be the primary key.
  ///
  /// - Throws: as `fetch(_:key:)`.
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
  /// - Throws: as `fetch(_:key:)`.
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
  /// - Throws: as `fetch(_:key:)`.
  public func contains<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> Bool {
    let reader = try recordReader()
    let entity = try reader.entities.type(type)
    let key = KeyEncoder()
    try key.encode(primaryKey: keyParts(part, others), of: entity)
    return try reader.trees.contains(key.key, in: entity.rows)
  }
}

// MARK: All

extension RecordReading where Self: ~Copyable {
  /// Returns all records of a type, by primary key, all in memory; `cursor(_:)` and `forEach(_:_:)` take constant memory.
  ///
  /// - Throws: as `fetch(_:key:)`.
  @inlinable
  public func fetch<Subject: Record>(_ type: Subject.Type) throws -> [Subject] {
    var records: [Subject] = []
    let cursor = try cursor(type)
    records.reserveCapacity(Swift.min(try count(type), 1 << 16))
    while let record = try cursor.next() { records.append(record) }
    return records
  }

  /// Returns the number of records of a type, in constant time.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.closed`.
  public func count<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> Int {
    let reader = try recordReader()
    return try reader.trees.count(in: try reader.entities.type(type).rows)
  }

  /// Returns a cursor before the first record of a type, by primary key. It keeps the state that it reads.
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
  /// - Throws: as `fetch(_:key:)`, and what `body` throws, which ends it.
  @inlinable
  public func forEach<Subject: Record>(
    _ type: Subject.Type, _ body: (Subject) throws -> Void
  ) throws {
    let cursor = try cursor(type)
    while let record = try cursor.next() { try body(record) }
  }

  /// Calls `body` with all records of a type, by primary key, in batches of `size`, at least one.
  ///
  /// - Throws: as `forEach(_:_:)`.
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

// Records by their primary keys. A key has the type that the record's `KeyType` names, or any if it names none.

extension RecordReading where Self: ~Copyable {
  /// Returns the record with a primary key; nil if there is none.
  ///
  /// ```swift
  /// let order = try store.fetch(Order.self, key: id)
  /// ```
  ///
  /// - Parameter key: The primary key. One of another type than the record's `KeyType` does not compile.
  /// - Complexity: O(log records): a lookup in memory, and in pages that are mostly in memory, too.
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`; errors of the type's hook after loading.
  @inlinable
  public func fetch<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject? where Subject.KeyType: FieldValueConvertible {
    try recordReader().fetch(type, key: [key])
  }

  /// Returns the record with a primary key whose type the compiler does not know; nil if there is none.
  ///
  /// ```swift
  /// let seat = try store.fetch(Seat.self, key: "A", 12)
  /// ```
  ///
  /// - Parameters:
  ///   - part: The primary key, or the first part of a compound one.
  ///   - others: The other parts of a compound key, in its order.
  /// - Complexity: O(log records): a lookup in memory, and in pages that are mostly in memory, too.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, `.corrupt`, `.io`, `.closed`;
  ///   errors of the type's hook after loading.
  @inlinable
  public func fetch<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject? where Subject.KeyType == AnyKey {
    try recordReader().fetch(type, key: keyParts(part, others))
  }

  /// Returns the record with a primary key, which has to exist.
  ///
  /// ```swift
  /// let order = try store.find(Order.self, key: id)
  /// ```
  ///
  /// - Parameter key: The primary key. One of another type than the record's `KeyType` does not compile.
  /// - Complexity: That of `fetch(_:key:)`.
  /// - Throws: `StoreError.noSuchRecord` if there is none; `.unknownRecord`, `.corrupt`, `.io`, `.closed`; errors of the
  ///   type's hook after loading.
  @inlinable
  public func find<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject where Subject.KeyType: FieldValueConvertible {
    try recordReader().find(type, key: [key])
  }

  /// Returns the record with a primary key whose type the compiler does not know, and which has to exist.
  ///
  /// ```swift
  /// let seat = try store.find(Seat.self, key: "A", 12)
  /// ```
  ///
  /// - Parameters:
  ///   - part: The primary key, or the first part of a compound one.
  ///   - others: The other parts of a compound key, in its order.
  /// - Complexity: That of `fetch(_:key:_:)`.
  /// - Throws: `StoreError.noSuchRecord` if there is none; `.unknownRecord`, `.invalidQuery` if the key is of other types,
  ///   `.corrupt`, `.io`, `.closed`; errors of the type's hook after loading.
  @inlinable
  public func find<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject where Subject.KeyType == AnyKey {
    try recordReader().find(type, key: keyParts(part, others))
  }

  /// Returns the records with these primary keys, in their order. Keys without a record are left out.
  ///
  /// ```swift
  /// let orders = try store.fetch(Order.self, keys: ids)
  /// ```
  ///
  /// - Complexity: A lookup for each, several at a time.
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`; errors of the type's hook after loading.
  @inlinable
  public func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject]
  where Keys.Element == Subject.KeyType, Subject.KeyType: FieldValueConvertible {
    try recordReader().fetch(type, keys: keys)
  }

  /// Returns the records with these primary keys, whose type the compiler does not know, in their order. Each key has one
  /// part; keys without a record are left out.
  ///
  /// ```swift
  /// let notes = try store.fetch(Note.self, keys: ["a", "b"])
  /// ```
  ///
  /// - Complexity: A lookup for each, several at a time.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if a key is of another type, `.corrupt`, `.io`, `.closed`;
  ///   errors of the type's hook after loading.
  @inlinable
  public func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject] where Keys.Element: FieldValueConvertible, Subject.KeyType == AnyKey {
    try recordReader().fetch(type, keys: keys)
  }

  /// Returns true if there is a record with a primary key. Cheaper than fetching it.
  ///
  /// ```swift
  /// guard try store.contains(Order.self, key: id) else { return }
  /// ```
  ///
  /// - Complexity: O(log records).
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`.
  public func contains<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws(StoreError) -> Bool where Subject.KeyType: FieldValueConvertible {
    try recordReader().contains(type, key: [key])
  }

  /// Returns true if there is a record with a primary key whose type the compiler does not know. Cheaper than fetching it.
  ///
  /// ```swift
  /// guard try store.contains(Seat.self, key: "A", 12) else { return }
  /// ```
  ///
  /// - Parameters:
  ///   - part: The primary key, or the first part of a compound one.
  ///   - others: The other parts of a compound key, in its order.
  /// - Complexity: O(log records).
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, `.corrupt`, `.io`, `.closed`.
  public func contains<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> Bool where Subject.KeyType == AnyKey {
    try recordReader().contains(type, key: keyParts(part, others))
  }
}

/// The parts of a primary key: one at least.
@inlinable
func keyParts(
  _ first: any FieldValueConvertible, _ others: [any FieldValueConvertible]
) -> [any FieldValueConvertible] {
  others.isEmpty ? [first] : [first] + others
}

// MARK: - The reader

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

  /// Makes the records with primary keys of one part, in the order of the keys.
  @inlinable
  func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject] where Keys.Element: FieldValueConvertible {
    let rows = try rows(of: type)
    var records: [Subject] = []
    for key in keys {
      try rows.append(key: key)
      if rows.isFull { try rows.load { record in records.append(record) } }
    }
    try rows.load { record in records.append(record) }
    return records
  }

  /// Returns true if there is a record with a primary key.
  func contains<Subject: Record>(
    _ type: Subject.Type, key parts: [any FieldValueConvertible]
  ) throws(StoreError) -> Bool {
    let entity = try entities.type(type)
    let key = KeyEncoder()
    try key.encode(primaryKey: parts, of: entity)
    guard entity.kind != nil else { return try trees.contains(key.key, in: entity.rows) }
    var row: [UInt8] = []
    return try trees.copyValue(of: key.key, in: entity.rows, to: &row) && entity.has(row.rawSpan)
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

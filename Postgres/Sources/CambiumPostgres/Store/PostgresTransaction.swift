public import Cambium

/// Changes to the records of a `PostgresStore` that are committed together, or not at all. It must not be kept; after the end of
/// `PostgresStore.write` it throws `StoreError.closed`.
public struct PostgresTransaction: PortableWriting, ServerReading {
  let server: ServerTransaction
}

extension PostgresTransaction {
  /// Writes a record: adds it, or replaces the one with its primary key.
  ///
  /// - Throws: as `WriteTransaction.save(_:onConflict:)`; `PostgresStoreError.unsupported` for another policy than `.refuse`,
  ///   `.impossibleValue`, `.server`, `.connectionLost`.
  public mutating func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try server.write(record, .any, policy)
  }

  /// Adds a record. There must be none with its primary key.
  ///
  /// - Throws: as `save(_:onConflict:)`; `StoreError.duplicateKey`.
  public mutating func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try server.write(record, .isNew, policy)
  }

  /// Replaces the record with the primary key of this one. There must be one.
  ///
  /// - Throws: as `save(_:onConflict:)`; `StoreError.noSuchRecord`.
  public mutating func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try server.write(record, .isThere, policy)
  }

  /// Deletes the record with the primary key of this one; the server applies the delete rules. Returns false if it does not exist.
  @discardableResult
  public mutating func delete<Subject: Record>(_ record: Subject) throws -> Bool {
    let key = ServerTransaction.key(
      of: try server.mapping.values(of: record), try server.table(of: Subject.self))
    return try server.delete(Subject.self, key: key)
  }

  /// Deletes the record with a primary key. Returns false if there is none.
  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Bool where Subject.KeyType: FieldValueConvertible {
    try server.delete(type, key: try server.mapping.key(of: type, [key]))
  }

  /// Deletes the record with a primary key whose type the compiler does not know. Returns false if there is none.
  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Bool where Subject.KeyType == AnyKey {
    try server.delete(type, key: try server.mapping.key(of: type, [part] + others))
  }

  /// Deletes the records of a query, and returns their number.
  @discardableResult
  public mutating func delete<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    try server.delete(query)
  }
}

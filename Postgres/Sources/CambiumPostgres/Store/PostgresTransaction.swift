public import Cambium

/// Changes to the records of a `PostgresStore` that are committed together, or not at all. It must not be kept; after the end of
/// `PostgresStore.write` it throws `StoreError.closed`.
public struct PostgresTransaction: PortableWriting, PostgresReading {
  public let reader: PostgresReader

  init(server: ServerTransaction) { reader = PostgresReader(server: server) }

  private var server: ServerTransaction { reader.server }
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

// MARK: - Many records

extension PostgresTransaction {
  /// Changes the records of a query, by primary key. They are determined before the first one is changed.
  ///
  /// ```swift
  /// try transaction.update(Item.where { $0.price > 100 }) { item in item.stock = 0 }
  /// ```
  ///
  /// The records are read by one statement, and written by one for each few hundred of them; one whose unique values change, by
  /// several of its own.
  ///
  /// - Parameter change: Changes a record, but not its primary key. It is called again if the transaction is.
  /// - Returns: The number of records.
  /// - Throws: As `WriteTransaction.update(_:onConflict:set:)`; `PostgresStoreError.unsupportedQuery`, `.unsupported` for another
  ///   policy than `.refuse`, `.impossibleValue`, `.server`, `.connectionLost`. The records before the one that cannot be changed
  ///   are changed.
  @discardableResult
  public mutating func update<Subject: Record>(
    _ query: Query<Subject>, onConflict policy: ConflictPolicy = .refuse,
    set change: (inout Subject) throws -> Void
  ) throws -> Int {
    try server.update(query, policy, change)
  }

  /// Adds records, one after the other.
  ///
  /// - Throws: as `insert(_:onConflict:)`, of the first that cannot be added; those before it are.
  public mutating func insert<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    for record in records { try server.write(record, .isNew, policy) }
  }

  /// Writes records, one after the other: adds each, or replaces the one with its primary key.
  ///
  /// - Throws: as `save(_:onConflict:)`, of the first that cannot be written; those before it are.
  public mutating func save<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    for record in records { try server.write(record, .any, policy) }
  }

  /// Deletes records, one after the other. Records that do not exist are passed over.
  ///
  /// - Returns: The number of these records deleted.
  @discardableResult
  public mutating func delete<Records: Sequence>(contentsOf records: Records) throws -> Int
  where Records.Element: Record {
    var count = 0
    for record in records where try delete(record) { count += 1 }
    return count
  }

  /// Deletes all records of a type.
  public mutating func deleteAll<Subject: Record>(_ type: Subject.Type) throws {
    _ = try server.delete(Query<Subject>())
  }
}

// MARK: - Savepoints

extension PostgresTransaction {
  /// Runs `body`, and undoes its changes if it throws. Savepoints may be nested.
  ///
  /// ```swift
  /// do {
  ///   try transaction.savepoint { transaction in try transaction.insert(item) }
  /// } catch StoreError.duplicateKey {
  ///   print("it is there already")
  /// }
  /// ```
  ///
  /// An error of the server, after which the transaction could otherwise not go on, is undone as well, even if `body` hides it. After
  /// a conflict with another transaction, or the loss of the connection, only the whole transaction can be run again.
  ///
  /// - Throws: errors of `body`; `PostgresStoreError.server`, `.connectionLost`.
  public mutating func savepoint<Result: ~Copyable>(
    _ body: (inout PostgresTransaction) throws -> Result
  ) throws -> Result {
    let server = server
    return try server.savepoint { try body(&self) }
  }
}

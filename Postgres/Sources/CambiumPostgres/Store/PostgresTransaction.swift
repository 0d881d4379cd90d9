public import Cambium

/// Changes to the records of a `PostgresStore` that are committed together, or not at all. It must not be kept; after the end of
/// `PostgresStore.write` it throws `StoreError.closed`.
public struct PostgresTransaction: PortableWriting {
  let server: ServerTransaction
}

extension PostgresTransaction {
  public func fetch<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject? where Subject.KeyType: FieldValueConvertible {
    try server.fetch(type, key: [key])
  }

  public func fetch<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject? where Subject.KeyType == AnyKey {
    try server.fetch(type, key: [part] + others)
  }

  public func find<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject where Subject.KeyType: FieldValueConvertible {
    try server.find(type, key: [key])
  }

  public func find<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject where Subject.KeyType == AnyKey {
    try server.find(type, key: [part] + others)
  }

  public func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject]
  where Keys.Element == Subject.KeyType, Subject.KeyType: FieldValueConvertible {
    try server.fetch(type, keys: Array(keys))
  }

  public func fetch<Target: Record & Identifiable>(
    _ reference: Reference<Target>?
  ) throws -> Target? {
    try reference.flatMap { try server.fetch(Target.self, key: [$0.id]) }
  }

  public func find<Target: Record & Identifiable>(_ reference: Reference<Target>) throws -> Target {
    try server.find(Target.self, key: [reference.id])
  }

  public func fetch<Subject: Record>(_ type: Subject.Type) throws -> [Subject] {
    try server.fetch(Query<Subject>(), after: nil)
  }

  public func count<Subject: Record>(_ type: Subject.Type) throws -> Int {
    try server.count(Query<Subject>())
  }

  public func fetch<Subject: Record>(
    _ query: Query<Subject>, after record: Subject?
  ) throws -> [Subject] {
    try server.fetch(query, after: record)
  }

  public func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject? {
    try server.first(query)
  }

  public func count<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    try server.count(query)
  }

  public func contains<Subject: Record>(_ query: Query<Subject>) throws -> Bool {
    try server.contains(query)
  }

  /// Returns properties of a query's records, as tuples. Whole records are read.
  public func select<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)] {
    try server.fetch(query, after: nil).map { record in (repeat record[keyPath: each fields]) }
  }

  public func fetch<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws -> [RecordGroup<Key, Value>] {
    try server.groups(query)
  }

  public func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Total {
    try server.sum(field, of: query)
  }

  public func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Average? {
    try server.average(field, of: query)
  }
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

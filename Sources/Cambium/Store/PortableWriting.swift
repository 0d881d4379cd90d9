/// Changes to records that are part of a `RecordStore`, and are committed together or not at all.
///
/// The functions are those of `WriteTransaction`, where each is described with its errors. A store throws
/// `StoreError.invalidQuery` for a policy that it does not have.
public protocol PortableWriting: PortableReading, ~Copyable {
  /// Writes a record: adds it, or replaces the one with its primary key.
  mutating func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy
  ) throws

  /// Adds a record. There must be none with its primary key.
  mutating func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy
  ) throws

  /// Replaces the record with the primary key of this one. There must be one.
  mutating func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy
  ) throws

  /// Deletes the record with the primary key of this one, and applies the delete rules of references to others. Returns
  /// false if it does not exist.
  @discardableResult
  mutating func delete<Subject: Record>(_ record: Subject) throws -> Bool

  /// Deletes the record with a primary key. Returns false if there is none.
  @discardableResult
  mutating func delete<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Bool where Subject.KeyType: FieldValueConvertible

  /// Deletes the record with a primary key whose type the compiler does not know. Returns false if there is none.
  @discardableResult
  mutating func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Bool where Subject.KeyType == AnyKey

  /// Deletes the records of a query, and returns their number.
  @discardableResult
  mutating func delete<Subject: Record>(_ query: Query<Subject>) throws -> Int

  /// Changes the records of a query, and returns their number. They are determined before the first one is changed.
  ///
  /// - Parameter change: Changes a record, but not its primary key.
  @discardableResult
  mutating func update<Subject: Record>(
    _ query: Query<Subject>, onConflict policy: ConflictPolicy,
    set change: (inout Subject) throws -> Void
  ) throws -> Int

  /// Adds records, one after the other.
  mutating func insert<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy
  ) throws where Records.Element: Record

  /// Writes records, one after the other: adds each, or replaces the one with its primary key.
  mutating func save<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy
  ) throws where Records.Element: Record

  /// Deletes records, and returns the number of those that existed.
  @discardableResult
  mutating func delete<Records: Sequence>(contentsOf records: Records) throws -> Int
  where Records.Element: Record

  /// Deletes all records of a type.
  mutating func deleteAll<Subject: Record>(_ type: Subject.Type) throws

  /// Runs `body`, and undoes its changes if it throws. Savepoints may be nested.
  mutating func savepoint<Result: ~Copyable>(
    _ body: (inout Self) throws -> Result
  ) throws -> Result
}

extension PortableWriting where Self: ~Copyable {
  /// Writes a record: adds it, or replaces the one with its primary key.
  @_disfavoredOverload
  @inlinable
  public mutating func save<Subject: Record>(_ record: Subject) throws {
    try save(record, onConflict: .refuse)
  }

  /// Adds a record. There must be none with its primary key.
  @_disfavoredOverload
  @inlinable
  public mutating func insert<Subject: Record>(_ record: Subject) throws {
    try insert(record, onConflict: .refuse)
  }

  /// Replaces the record with the primary key of this one. There must be one.
  @_disfavoredOverload
  @inlinable
  public mutating func update<Subject: Record>(_ record: Subject) throws {
    try update(record, onConflict: .refuse)
  }

  /// Changes the records of a query, and returns their number. They are determined before the first one is changed.
  @_disfavoredOverload
  @discardableResult
  @inlinable
  public mutating func update<Subject: Record>(
    _ query: Query<Subject>, set change: (inout Subject) throws -> Void
  ) throws -> Int {
    try update(query, onConflict: .refuse, set: change)
  }

  /// Adds records, one after the other.
  @_disfavoredOverload
  @inlinable
  public mutating func insert<Records: Sequence>(contentsOf records: Records) throws
  where Records.Element: Record {
    try insert(contentsOf: records, onConflict: .refuse)
  }

  /// Writes records, one after the other: adds each, or replaces the one with its primary key.
  @_disfavoredOverload
  @inlinable
  public mutating func save<Records: Sequence>(contentsOf records: Records) throws
  where Records.Element: Record {
    try save(contentsOf: records, onConflict: .refuse)
  }
}

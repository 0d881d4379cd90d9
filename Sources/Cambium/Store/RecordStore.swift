/// A store of records, whatever keeps them: a `PersistentStore`, or a database on a server that another package opens.
///
/// Code that is written for `some RecordStore` runs on each of them:
///
/// ```swift
/// func ship(_ id: UUID, in store: some RecordStore) async throws {
///   try await store.write { transaction in
///     var order = try transaction.find(Order.self, key: id)
///     order.state = .shipped
///     try transaction.update(order)
///   }
/// }
/// ```
///
/// The protocol has the functions that every store has. Features of a `PersistentStore` alone, such as observing queries, keeping a
/// snapshot or migrating, are not part of it, so code that needs them does not compile for another store. A store that cannot run a
/// query, or keep a model, throws an error; the results of all stores are the same.
public protocol RecordStore: Sendable {
  /// One committed state.
  associatedtype Snapshot: PortableReading
  /// Changes that are committed together.
  associatedtype Transaction: PortableWriting

  /// Calls `body` with one committed state, and returns its result.
  ///
  /// - Parameter body: Runs on a thread of the store, and must not keep the snapshot. A store on a server may call it again.
  /// - Throws: errors of the store, and of `body`; `CancellationError` if the task is cancelled before `body` is called.
  @concurrent
  func read<Result: Sendable>(
    _ body: @Sendable (Snapshot) throws -> Result
  ) async throws -> Result

  /// Calls `body` with a transaction, and commits its changes, or none of them if `body` throws.
  ///
  /// - Parameters:
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  ///   - author: A name for the writer, which a store that keeps a history writes there.
  ///   - body: Runs on a thread of the store, and must not keep the transaction. A store with several writers calls it again if its
  ///     changes conflict with those of another; so it should have no other effect than the changes and its result.
  /// - Throws: errors of the store, and of `body`: then nothing was committed, but after `StoreError.outcomeUnknown`.
  ///   `CancellationError` if the task is cancelled before `body` is called.
  @concurrent
  func write<Result: Sendable>(
    durability: Durability?, author: String?,
    _ body: @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result
}

// MARK: - Reading

/// A source of records that is part of a `RecordStore`: one committed state, or a transaction with its own changes.
///
/// The functions are those of `RecordReading`, where each is described with its errors.
public protocol PortableReading: ~Copyable {
  /// Returns the record with a primary key; nil if there is none.
  func fetch<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject? where Subject.KeyType: FieldValueConvertible

  /// Returns the record with a primary key whose type the compiler does not know; nil if there is none.
  func fetch<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject? where Subject.KeyType == AnyKey

  /// Returns the record with a primary key, which has to exist.
  func find<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject where Subject.KeyType: FieldValueConvertible

  /// Returns the record with a primary key whose type the compiler does not know, and which has to exist.
  func find<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject where Subject.KeyType == AnyKey

  /// Returns the records with these primary keys, in their order. Keys without a record are left out.
  func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject]
  where Keys.Element == Subject.KeyType, Subject.KeyType: FieldValueConvertible

  /// Returns the record that a reference leads to; nil if there is no reference, or if it is not checked and leads nowhere.
  func fetch<Target: Record & Identifiable>(_ reference: Reference<Target>?) throws -> Target?

  /// Returns the record that a reference leads to, which has to exist.
  func find<Target: Record & Identifiable>(_ reference: Reference<Target>) throws -> Target

  /// Returns all records of a type, by primary key, all in memory.
  func fetch<Subject: Record>(_ type: Subject.Type) throws -> [Subject]

  /// Returns the number of records of a type.
  func count<Subject: Record>(_ type: Subject.Type) throws -> Int

  /// Returns the records of a query.
  ///
  /// - Parameter record: The last record of the page before; only records after it are returned.
  func fetch<Subject: Record>(_ query: Query<Subject>, after record: Subject?) throws -> [Subject]

  /// Returns the records of a query, each with related records.
  ///
  /// - Parameters:
  ///   - record: The last record of the page before; only records after it are returned.
  ///   - first: A relation of the records.
  ///   - others: Further relations.
  func fetch<Subject: Record, First, each Other>(
    _ query: Query<Subject>, after record: Subject?,
    including first: Inclusion<Subject, First>, _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)]

  /// Returns records that were fetched before, each with related records as they are now.
  func fetch<Subject: Record, First, each Other>(
    _ records: [Subject], including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)]

  /// Returns the records that lead to a record over a reference, those that lead to these, and so on, each once at its least depth.
  ///
  /// - Parameter depth: The greatest depth; nil for any.
  func descendants<Subject: Record & Identifiable>(
    of record: Subject, along inverse: Inverse<Subject, Subject>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)]

  /// Returns the records that lead to records of a query over a reference, those that lead to these, and so on.
  func descendants<Subject: Record & Identifiable>(
    of query: Query<Subject>, along inverse: Inverse<Subject, Subject>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)]

  /// Returns the records that the references of a record lead to, those that their references lead to, and so on, each once at its
  /// least depth.
  ///
  /// - Parameter depth: The greatest depth; nil for any.
  func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of record: Subject, along reference: KeyPath<Subject, Relation>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject

  /// Returns the records that references of a query's records lead to, those that their references lead to, and so on.
  func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of query: Query<Subject>, along reference: KeyPath<Subject, Relation>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject

  /// Returns the first record of a query; nil if there is none.
  func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject?

  /// Returns the number of records of a query.
  func count<Subject: Record>(_ query: Query<Subject>) throws -> Int

  /// Returns true if a query has any record.
  func contains<Subject: Record>(_ query: Query<Subject>) throws -> Bool

  /// Returns properties of a query's records, as tuples.
  func select<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)]

  /// Returns the different values of properties among a query's records.
  func distinct<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)]

  /// Returns the value that the store computes of the fields of each record of a query.
  func select<Subject: Record, One: FieldOperand>(
    from query: Query<Subject>, _ value: (Fields<Subject>) -> One
  ) throws -> [One.Value] where One.Subject == Subject, One.Value: OrderedFieldValue

  /// Returns the two values that the store computes of the fields of each record of a query.
  func select<Subject: Record, One: FieldOperand, Two: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two)
  ) throws -> [(One.Value, Two.Value)]
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue

  /// Returns the three values that the store computes of the fields of each record of a query.
  func select<Subject: Record, One: FieldOperand, Two: FieldOperand, Three: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two, Three)
  ) throws -> [(One.Value, Two.Value, Three.Value)]
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue,
    Three.Subject == Subject, Three.Value: OrderedFieldValue

  /// Returns the groups of a query.
  func fetch<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws -> [RecordGroup<Key, Value>]

  /// Returns the records of a query, in its order, each with the value of those from the first up to it.
  func fetch<Subject: Record, Value>(
    _ query: RunningQuery<Subject, Value>
  ) throws -> [(record: Subject, value: Value)]

  /// Returns the rows of a union.
  func fetch<Row, Columns>(_ query: UnionQuery<Row, Columns>) throws -> [Row]

  /// Returns the sum of a property; 0 for no records.
  func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Total

  /// Returns the average of a property; nil for no records.
  func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Average?
}

extension PortableReading where Self: ~Copyable {
  /// Returns the records of a query.
  @_disfavoredOverload
  @inlinable
  public func fetch<Subject: Record>(_ query: Query<Subject>) throws -> [Subject] {
    try fetch(query, after: nil)
  }

  /// Returns the records of a query, each with related records.
  @_disfavoredOverload
  @inlinable
  public func fetch<Subject: Record, First, each Other>(
    _ query: Query<Subject>, including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)] {
    try fetch(query, after: nil, including: first, repeat each others)
  }

  /// Returns the records that lead to a record over a reference, those that lead to these, and so on.
  @_disfavoredOverload
  @inlinable
  public func descendants<Subject: Record & Identifiable>(
    of record: Subject, along inverse: Inverse<Subject, Subject>
  ) throws -> [(record: Subject, depth: Int)] {
    try descendants(of: record, along: inverse, upTo: nil)
  }

  /// Returns the records that lead to records of a query over a reference, those that lead to these, and so on.
  @_disfavoredOverload
  @inlinable
  public func descendants<Subject: Record & Identifiable>(
    of query: Query<Subject>, along inverse: Inverse<Subject, Subject>
  ) throws -> [(record: Subject, depth: Int)] {
    try descendants(of: query, along: inverse, upTo: nil)
  }

  /// Returns the records that the references of a record lead to, those that their references lead to, and so on.
  @_disfavoredOverload
  @inlinable
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of record: Subject, along reference: KeyPath<Subject, Relation>
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    try ancestors(of: record, along: reference, upTo: nil)
  }

  /// Returns the records that references of a query's records lead to, those that their references lead to, and so on.
  @_disfavoredOverload
  @inlinable
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of query: Query<Subject>, along reference: KeyPath<Subject, Relation>
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    try ancestors(of: query, along: reference, upTo: nil)
  }

  /// Returns the sum of a property of all records; 0 for no records.
  @_disfavoredOverload
  @inlinable
  public func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>
  ) throws -> Value.Total {
    try sum(field, of: Query())
  }

  /// Returns the average of a property of all records; nil for no records.
  @_disfavoredOverload
  @inlinable
  public func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>
  ) throws -> Value.Average? {
    try average(field, of: Query())
  }
}

// MARK: - Writing

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

// MARK: - In transactions of their own

extension RecordStore {
  /// Calls `body` with a transaction, and commits its changes, or none of them if `body` throws.
  ///
  /// - Throws: as `write(durability:author:_:)`.
  @_disfavoredOverload
  @concurrent
  public func write<Result: Sendable>(
    _ body: @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result {
    try await write(durability: nil, author: nil, body)
  }

  /// Writes a record, in a transaction of its own: adds it, or replaces the one with its primary key.
  @_disfavoredOverload
  @concurrent
  public func save<Subject: Record>(_ record: Subject) async throws {
    try await write { transaction in try transaction.save(record, onConflict: .refuse) }
  }

  /// Adds a record, in a transaction of its own. There must be none with its primary key.
  @_disfavoredOverload
  @concurrent
  public func insert<Subject: Record>(_ record: Subject) async throws {
    try await write { transaction in try transaction.insert(record, onConflict: .refuse) }
  }

  /// Replaces a record, in a transaction of its own. There must be one with its primary key.
  @_disfavoredOverload
  @concurrent
  public func update<Subject: Record>(_ record: Subject) async throws {
    try await write { transaction in try transaction.update(record, onConflict: .refuse) }
  }

  /// Deletes a record, in a transaction of its own. Returns false if no record has its primary key.
  @_disfavoredOverload
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(_ record: Subject) async throws -> Bool {
    try await write { transaction in try transaction.delete(record) }
  }

  /// Deletes the records of a query, in a transaction of its own, and returns their number.
  ///
  /// - Throws: as `write(durability:author:_:)`. Then none is deleted.
  @_disfavoredOverload
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(
    _ query: Query<Subject>, durability: Durability? = nil
  ) async throws -> Int {
    try await write(durability: durability, author: nil) { transaction in
      try transaction.delete(query)
    }
  }

  /// Changes the records of a query, in a transaction of its own, and returns their number.
  ///
  /// - Parameter change: Changes a record, but not its primary key. It is called again if the transaction is.
  /// - Throws: as `write(durability:author:_:)`. Then none is changed.
  @_disfavoredOverload
  @discardableResult
  @concurrent
  public func update<Subject: Record>(
    _ query: Query<Subject>, durability: Durability? = nil,
    set change: @Sendable (inout Subject) throws -> Void
  ) async throws -> Int {
    try await write(durability: durability, author: nil) { transaction in
      try transaction.update(query, onConflict: .refuse, set: change)
    }
  }
}

// MARK: - The embedded store

extension StoreSnapshot: PortableReading {}
extension WriteTransaction: PortableWriting {}

extension PersistentStore: RecordStore {
  public typealias Snapshot = StoreSnapshot
  public typealias Transaction = PortableTransaction

  /// As `write` with a `WriteTransaction`, for code that is written for any `RecordStore`.
  @_disfavoredOverload
  @concurrent
  public func write<Result: Sendable>(
    durability: Durability?, author: String?,
    _ body: @Sendable (inout PortableTransaction) throws -> Result
  ) async throws -> Result {
    try await write(durability: durability, author: author) {
      (transaction: inout WriteTransaction) throws -> Result in
      var portable = PortableTransaction(writer: transaction.writer)
      return try body(&portable)
    }
  }
}

/// The `WriteTransaction` of a `PersistentStore`, for code that is written for any `RecordStore`: a protocol cannot have an
/// associated type that cannot be copied.
///
/// It must not be kept; after the end of its transaction it throws `StoreError.closed`.
public struct PortableTransaction: RecordReading, PortableWriting {
  let writer: RecordWriter

  public func recordReader() throws(StoreError) -> RecordReader {
    try WriteTransaction(writer: writer).recordReader()
  }

  public mutating func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    var transaction = WriteTransaction(writer: writer)
    try transaction.save(record, onConflict: policy)
  }

  public mutating func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    var transaction = WriteTransaction(writer: writer)
    try transaction.insert(record, onConflict: policy)
  }

  public mutating func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    var transaction = WriteTransaction(writer: writer)
    try transaction.update(record, onConflict: policy)
  }

  @discardableResult
  public mutating func delete<Subject: Record>(_ record: Subject) throws -> Bool {
    var transaction = WriteTransaction(writer: writer)
    return try transaction.delete(record)
  }

  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Bool where Subject.KeyType: FieldValueConvertible {
    var transaction = WriteTransaction(writer: writer)
    return try transaction.delete(type, keyParts: [key])
  }

  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Bool where Subject.KeyType == AnyKey {
    var transaction = WriteTransaction(writer: writer)
    return try transaction.delete(type, keyParts: keyParts(part, others))
  }

  @discardableResult
  public mutating func delete<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    var transaction = WriteTransaction(writer: writer)
    return try transaction.delete(query)
  }

  @discardableResult
  public mutating func update<Subject: Record>(
    _ query: Query<Subject>, onConflict policy: ConflictPolicy = .refuse,
    set change: (inout Subject) throws -> Void
  ) throws -> Int {
    var transaction = WriteTransaction(writer: writer)
    return try transaction.update(query, onConflict: policy, set: change)
  }

  public mutating func insert<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    var transaction = WriteTransaction(writer: writer)
    try transaction.insert(contentsOf: records, onConflict: policy)
  }

  public mutating func save<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    var transaction = WriteTransaction(writer: writer)
    try transaction.save(contentsOf: records, onConflict: policy)
  }

  @discardableResult
  public mutating func delete<Records: Sequence>(contentsOf records: Records) throws -> Int
  where Records.Element: Record {
    var transaction = WriteTransaction(writer: writer)
    return try transaction.delete(contentsOf: records)
  }

  public mutating func deleteAll<Subject: Record>(_ type: Subject.Type) throws {
    var transaction = WriteTransaction(writer: writer)
    try transaction.deleteAll(type)
  }

  public mutating func savepoint<Result: ~Copyable>(
    _ body: (inout PortableTransaction) throws -> Result
  ) throws -> Result {
    try writer.savepoint { try body(&self) }
  }
}

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

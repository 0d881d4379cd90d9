/// Changes to records that are committed together, or not at all.
///
/// It exists within the closure of `PersistentStore.write`, and can be neither kept nor copied. It reads its own
/// changes; others see them when they are committed.
public struct WriteTransaction: ~Copyable, RecordReading {
  let writer: RecordWriter
  @usableFromInline let types: RecordTypes
  @usableFromInline let buffers: WriteBuffers
  /// The author given to `write`, which observers and the history see.
  public let author: String?

  /// Returns a finder of the blobs of a record's rows; nil if it has none.
  @usableFromInline
  func blobs(of record: RecordTrees) -> BlobFinder? { writer.blobFinder(of: record) }

  public func recordReader() throws(StoreError) -> RecordReader {
    try writer.checkUsable()
    return RecordReader(types: types, trees: .transaction(writer.trees))
  }
}

/// The memory that records are put together in. Of a store, for whoever has the writer's turn.
@usableFromInline
final class WriteBuffers: @unchecked Sendable {
  @usableFromInline let key = KeyEncoder()
  @usableFromInline let row = RowWriter()
  var old: [UInt8] = []
  let newEntry = KeyEncoder()
  let oldEntry = KeyEncoder()

  /// Gives memory back that unusually long rows have needed.
  func trim() {
    row.trim()
    if old.capacity > 1 << 16 { old = [] }
  }
}

// MARK: One record

extension WriteTransaction {
  /// Writes a record: adds it, or replaces the one with its primary key.
  ///
  /// - Parameter policy: Refuses the record if another has the same values in unique fields, or deletes that one.
  /// - Complexity: A change in memory; if the type has indexes, a lookup, and two changes for each index that the record
  ///   changes.
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.limitExceeded`, and what a hook throws:
  ///   then nothing has changed. `.corrupt`, `.full`, `.io`.
  @inlinable
  public mutating func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try write(record, .any, policy)
  }

  /// Adds a record. There must be none with its primary key.
  ///
  /// - Throws: as `save`, and `StoreError.duplicateKey`: then nothing has changed.
  @inlinable
  public mutating func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try write(record, .isNew, policy)
  }

  /// Replaces the record with the primary key of this one. There must be one.
  ///
  /// - Throws: as `save`, and `StoreError.noSuchRecord`: then nothing has changed.
  @inlinable
  public mutating func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try write(record, .isThere, policy)
  }

  /// Deletes the record with the primary key of this one. Returns false if there is none.
  ///
  /// - Throws: `StoreError.unknownRecord`, what a hook throws: then nothing has changed. `.corrupt`, `.full`,
  ///   `.io`.
  @inlinable
  @discardableResult
  public mutating func delete<Subject: Record>(_ record: Subject) throws -> Bool {
    let type = try types.type(Subject.self)
    try type.encodeKey(record, to: buffers.key, row: buffers.row)
    return try delete(type)
  }

  /// Deletes the record with a primary key. Returns false if there is none.
  ///
  /// - Throws: As `delete(_:)`, and `StoreError.invalidValue` if the key is of other types.
  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Bool {
    try delete(type, keyParts: keyParts(part, others))
  }

  mutating func delete<Subject: Record>(
    _ type: Subject.Type, keyParts: [any FieldValueConvertible]
  ) throws -> Bool {
    let type = try types.type(type)
    try buffers.key.encode(primaryKey: keyParts, of: type.trees)
    return try delete(type)
  }

  @inlinable
  func write<Subject: Record>(
    _ record: Subject, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) throws {
    try write(record, of: try types.type(Subject.self), presence, policy)
  }

  @inlinable
  func write<Subject: Record>(
    _ record: Subject, of type: RecordType<Subject>, _ presence: RecordWriter.Presence,
    _ policy: ConflictPolicy
  ) throws {
    if type.needsOld {
      try type.encode(
        try prepared(record, of: type, presence), to: buffers.row, key: buffers.key)
    } else {
      try type.encode(record, to: buffers.row, key: buffers.key)
    }
    if policy == .replaceOther, type.needsDeleted { try runDeletionHooks(type) }
    try writeRow(of: type.trees, presence, policy)
  }

  /// Writes the row that is in the buffers.
  @usableFromInline
  func writeRow(
    of record: RecordTrees, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) throws(StoreError) {
    let (key, row) = (buffers.key, buffers.row)
    try writer.write(
      key.key, row.row, row.waiting, of: record, presence: presence, onConflict: policy)
  }

  /// A record as its hook leaves it. What is refused for its key is so before any hook runs; whether
  /// the rest is valid, counts afterwards.
  @usableFromInline
  func prepared<Subject: Record>(
    _ record: Subject, of type: RecordType<Subject>, _ presence: RecordWriter.Presence
  ) throws -> Subject {
    let key = buffers.key
    try type.encodeKey(record, to: key, row: buffers.row)
    let isThere = try writer.trees.copyValue(of: key.key, in: type.trees.rows, to: &buffers.old)
    try writer.check(isThere, presence, key.key, of: type.trees)
    var old: Subject?
    if isThere {
      let row = buffers.old
      old = try type.load(key: key.key, row: row.rawSpan, blobs: blobs(of: type.trees))
    }
    var record = record
    try type.willWrite(&record, replacing: old)
    return record
  }

  /// Runs the deletion hooks of the records that the one in the buffers replaces.
  @usableFromInline
  func runDeletionHooks<Subject: Record>(_ type: RecordType<Subject>) throws {
    let (key, row) = (buffers.key, buffers.row)
    for other in try writer.conflicts(of: key.key, row.row, of: type.trees) {
      try runDeletionHook(type, other)
    }
  }

  /// False if there is no record with the key.
  @discardableResult
  private func runDeletionHook<Subject: Record>(
    _ type: RecordType<Subject>, _ key: [UInt8]
  ) throws -> Bool {
    guard try writer.trees.copyValue(of: key.rawSpan, in: type.trees.rows, to: &buffers.old) else {
      return false
    }
    let row = buffers.old
    try type.willDelete(
      try type.load(key: key.rawSpan, row: row.rawSpan, blobs: blobs(of: type.trees)))
    return true
  }

  /// Deletes the record whose key is in the buffer.
  @usableFromInline
  func delete<Subject: Record>(_ type: RecordType<Subject>) throws -> Bool {
    let key = buffers.key
    if type.needsDeleted, try !runDeletionHook(type, key.key.array()) { return false }
    return try writer.delete(key.key, of: type.trees)
  }
}

// MARK: Many records

extension WriteTransaction {
  /// Adds records, one after the other. Memory is needed for the transaction's budget, not for all of them.
  ///
  /// - Throws: as `insert(_:onConflict:)`, of the first that cannot be added; those before it are.
  @inlinable
  public mutating func insert<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    let type = try types.type(Records.Element.self)
    for record in records { try write(record, of: type, .isNew, policy) }
  }

  /// Writes records, one after the other: adds each, or replaces the one with its primary key.
  ///
  /// - Throws: as `save(_:onConflict:)`, of the first that cannot be written; those before it are.
  @inlinable
  public mutating func save<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    let type = try types.type(Records.Element.self)
    for record in records { try write(record, of: type, .any, policy) }
  }

  /// Deletes records, one after the other. Records that do not exist are passed over.
  ///
  /// - Returns: The number of records deleted.
  /// - Throws: as `delete(_:)`.
  @inlinable
  @discardableResult
  public mutating func delete<Records: Sequence>(contentsOf records: Records) throws -> Int
  where Records.Element: Record {
    var count = 0
    for record in records where try delete(record) { count += 1 }
    return count
  }

  /// Deletes all records of a type.
  ///
  /// - Complexity: Linear in the changes that are in memory; if the type has a hook before deletion, in the records.
  /// - Throws: as `delete(_:)`.
  public mutating func deleteAll<Subject: Record>(_ type: Subject.Type) throws {
    let opened = try types.type(type)
    if opened.needsDeleted {
      try forEach(type) { record in try opened.willDelete(record) }
    }
    try writer.deleteAll(of: opened.trees)
  }
}

// MARK: Savepoints

extension WriteTransaction {
  /// Runs `body`, and undoes its changes if it throws. Savepoints may be nested.
  ///
  /// - Throws: what `body` throws.
  public mutating func savepoint<Result: ~Copyable>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let writer = writer
    return try writer.savepoint { try body(&self) }
  }
}

/// Changes to records that are committed together, or not at all.
///
/// It exists within the closure of `PersistentStore.write`, and can be neither kept nor copied. It reads its own
/// changes; others see them when they are committed.
public struct WriteTransaction: ~Copyable, RecordReading {
  @usableFromInline let writer: RecordWriter
  /// The author given to `write`, which observers and the history see.
  public var author: String? { writer.author }

  /// The description of the store's records, in the version that the transaction has: in a migration's hook, the one before or
  /// after the step.
  public var schema: Schema { entities.schema }

  @inlinable
  var entities: Entities { writer.entities }
  @inlinable
  var buffers: WriteBuffers { writer.buffers }

  init(writer: RecordWriter) { self.writer = writer }

  public func recordReader() throws(StoreError) -> RecordReader {
    try writer.checkUsable()
    return RecordReader(
      entities: entities, trees: .transaction(writer.trees),
      meter: writer.queryBudget.map { QueryMeter($0) })
  }
}

// MARK: One record

extension WriteTransaction {
  /// Writes a record: adds it, or replaces the one with its primary key.
  ///
  /// ```swift
  /// try transaction.save(Item(name: "Lamp", price: 20))
  /// ```
  ///
  /// - Parameter policy: The action if another record has the same values in unique fields. To replace one that has
  ///   elements of a unique list of references takes these elements out of its list.
  /// - Complexity: A change in memory; if the type has indexes, a lookup, and two changes for each index that the record
  ///   changes; a lookup for each checked reference that changes.
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`, and any error of a
  ///   hook: then nothing has changed. `.corrupt`, `.full`, `.io`. The commit throws `.deleteDenied` if other records deny the
  ///   deletion of one in the way.
  @inlinable
  public mutating func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try write(record, .any, policy)
  }

  /// Adds a record. There must be none with its primary key.
  ///
  /// ```swift
  /// try transaction.insert(Item(name: "Lamp", price: 20))
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   `.duplicateKey` if there is one, and any error of a hook: then nothing has changed. `.corrupt`, `.full`,
  ///   `.io`.
  @inlinable
  public mutating func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try write(record, .isNew, policy)
  }

  /// Replaces the record with the primary key of this one. There must be one.
  ///
  /// ```swift
  /// item.price = 25
  /// try transaction.update(item)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   `.noSuchRecord` if there is none, and any error of a hook: then nothing has changed. `.corrupt`, `.full`,
  ///   `.io`.
  @inlinable
  public mutating func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse
  ) throws {
    try write(record, .isThere, policy)
  }

  /// Deletes the record with the primary key of this one, and applies the delete rules of references to others.
  /// Returns false if it does not exist.
  ///
  /// ```swift
  /// try transaction.delete(item)
  /// ```
  ///
  /// Whether other records deny it is decided when the transaction commits, so two records that require each other can be
  /// deleted in any order; `deletion(of:)` says it before.
  ///
  /// - Complexity: A lookup and a few changes in memory; a seek for each reference that leads to the type, and the cost
  ///   of a deletion or an update for each record that is deleted with it, or cut.
  /// - Throws: `StoreError.unknownRecord`, any error of a hook: then nothing has changed. `.corrupt`, `.full`, `.io`. The
  ///   commit throws `.deleteDenied` if other records deny it then.
  @inlinable
  @discardableResult
  public mutating func delete<Subject: Record>(_ record: Subject) throws -> Bool {
    let type = try entities.type(Subject.self)
    try type.encodeKey(record, to: buffers.key, row: buffers.row)
    return try delete(type)
  }

  /// Deletes the record with a primary key. Returns false if there is none.
  ///
  /// ```swift
  /// try transaction.delete(Order.self, key: id)
  /// ```
  ///
  /// - Parameter key: The primary key. One of another type than the record's `KeyType` does not compile.
  /// - Throws: As `delete(_:)`.
  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Bool where Subject.KeyType: FieldValueConvertible {
    try delete(type, keyParts: [key])
  }

  /// Deletes the record with a primary key whose type the compiler does not know. Returns false if there is none.
  ///
  /// ```swift
  /// try transaction.delete(Seat.self, key: "A", 12)
  /// ```
  ///
  /// - Parameters:
  ///   - part: The primary key, or the first part of a compound one.
  ///   - others: The other parts of a compound key, in its order.
  /// - Throws: As `delete(_:)`, and `StoreError.invalidQuery` if the key is of other types.
  @discardableResult
  public mutating func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Bool where Subject.KeyType == AnyKey {
    try delete(type, keyParts: keyParts(part, others))
  }

  mutating func delete<Subject: Record>(
    _ type: Subject.Type, keyParts: [any FieldValueConvertible]
  ) throws -> Bool {
    let type = try entities.type(type)
    try buffers.key.encode(primaryKey: keyParts, of: type)
    return try delete(type)
  }

  @inlinable
  func write<Subject: Record>(
    _ record: Subject, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) throws {
    try write(record, of: try entities.type(Subject.self), presence, policy)
  }

  @inlinable
  func write<Subject: Record>(
    _ record: Subject, of type: RecordType<Subject>, _ presence: RecordWriter.Presence,
    _ policy: ConflictPolicy
  ) throws {
    if type.hasWriteHook || policy == .replaceOther && writer.runsHooks(deleting: type)
      || policy == .updateOther && type.isOfHierarchy
    {
      return try writeWithHooks(record, of: type, presence, policy)
    }
    try type.encode(record, to: buffers.row, key: buffers.key)
    try writeValue(of: type, presence, policy)
  }

  /// Writes the row in the buffers, which is that of a value of a type.
  @inlinable
  func writeValue(
    of entity: Entity, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) throws(StoreError) {
    if entity.isOfHierarchy {
      try writeKind(of: entity, presence, policy)
    } else {
      try writeRow(of: entity, presence, policy)
    }
  }

  /// Writes the row that is in the buffers.
  @usableFromInline
  func writeRow(
    of entity: Entity, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) throws(StoreError) {
    let (key, row) = (buffers.key, buffers.row)
    try writer.write(
      key.key, row.row, row.waiting, tracked: row.tracked, of: entity, presence: presence,
      onConflict: policy)
  }

  /// Writes a record as its hooks leave it, in the place of others whose hooks have run.
  ///
  /// A record is refused for its key before any hook runs; the rest is validated afterwards.
  @usableFromInline
  func writeWithHooks<Subject: Record>(
    _ record: Subject, of type: RecordType<Subject>, _ presence: RecordWriter.Presence,
    _ policy: ConflictPolicy
  ) throws {
    let (writer, key, row) = (writer, buffers.key, buffers.row)
    let replaces = policy == .replaceOther && writer.runsHooks(deleting: type)
    guard let settled = try settle(record, of: type, presence, policy) else { return }
    var record = settled.record
    let presence = settled.presence
    try writer.run {
      try type.encodeKey(record, to: key, row: row)
      let old = try storedRow(of: type, presence)
      if type.hasWriteHook {
        try type.willWrite(&record, key: keyInBuffer, replacing: old, in: writer)
      }
      guard replaces else { return }
      try type.encode(record, to: row, key: key)
      if let others = try writer.conflicts(of: key.key, row.row, of: type) {
        try writer.clearWithHooks(others, of: type)
      }
    } before: {
      try type.encode(record, to: row, key: key)
      // A record that conflicts now was written by a hook.
      try writeValue(of: type, presence, replaces ? .refuse : policy)
    }
  }

  /// Returns the record that is written where another one has its unique values: nil if that one is kept; with its primary key
  /// if that one is updated.
  ///
  /// The record as a hook has changed it may conflict with others; then the policy counts, and no hook runs for those.
  private func settle<Subject: Record>(
    _ record: Subject, of type: RecordType<Subject>, _ presence: RecordWriter.Presence,
    _ policy: ConflictPolicy
  ) throws -> (record: Subject, presence: RecordWriter.Presence)? {
    guard policy == .keepOther || policy == .updateOther else { return (record, presence) }
    let (key, row) = (buffers.key, buffers.row)
    try type.encodeKey(record, to: key, row: row)
    let isThere = try writer.trees.copyValue(of: key.key, in: type.rows, to: &buffers.old)
    try writer.check(isThere, of: type, buffers.old, presence, key.key)
    guard let others = try writer.conflicts(of: key.key, row.row, of: type) else {
      return (record, presence)
    }
    if policy == .keepOther { return nil }
    let other = try others.sole(isNew: !isThere)
    let tracked = row.tracked
    let adopted = try type.read(
      key: other.rawSpan, row: row.row,
      blobs: BlobFinder(row.waiting) { _ in tracked ?? UnstoredEntry() })
    // One of another kind becomes one of this, as if it was saved.
    return (adopted, try writer.has(other, of: type) ? .isThere : .any)
  }

  /// Returns the row of the record whose key is in the buffers, for hooks before an update.
  private func storedRow(
    of type: Entity, _ presence: RecordWriter.Presence
  ) throws(StoreError) -> [UInt8]? {
    let key = buffers.key
    let isThere = try writer.trees.copyValue(of: key.key, in: type.rows, to: &buffers.old)
    try writer.check(isThere, of: type, buffers.old, presence, key.key)
    return isThere ? buffers.old : nil
  }

  /// Deletes the record whose key is in the buffer.
  @usableFromInline
  func delete(_ entity: Entity) throws -> Bool {
    let key = buffers.key
    if entity.kind != nil, try !writer.has(key.key, of: entity) { return false }
    if writer.runsHooks(deleting: entity) {
      return try writer.deleteWithHook(key.key.array(), of: entity)
    }
    return try writer.delete(key.key, of: entity)
  }

  /// Deletes records and applies the delete rules: to all of them, or to none.
  @usableFromInline
  func delete(_ keys: [[UInt8]], of entity: Entity) throws -> Int {
    try writer.deleteWithHooks(keys, of: entity)
  }
}

// MARK: Many records

extension WriteTransaction {
  /// Adds records, one after the other. Memory is needed for the transaction's budget, not for all of them.
  ///
  /// ```swift
  /// try transaction.insert(contentsOf: items)
  /// ```
  ///
  /// - Throws: as `insert(_:onConflict:)`, of the first that cannot be added; those before it are.
  @inlinable
  public mutating func insert<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    let type = try entities.type(Records.Element.self)
    for record in records { try write(record, of: type, .isNew, policy) }
  }

  /// Writes records, one after the other: adds each, or replaces the one with its primary key.
  ///
  /// ```swift
  /// try transaction.save(contentsOf: items)
  /// ```
  ///
  /// - Throws: as `save(_:onConflict:)`, of the first that cannot be written; those before it are.
  @inlinable
  public mutating func save<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse
  ) throws where Records.Element: Record {
    let type = try entities.type(Records.Element.self)
    for record in records { try write(record, of: type, .any, policy) }
  }

  /// Deletes records, one after the other; as one set if references lead to them, so in any order. Records that do not
  /// exist are passed over.
  ///
  /// ```swift
  /// let count = try transaction.delete(contentsOf: items)
  /// ```
  ///
  /// - Returns: The number of these records deleted.
  /// - Throws: as `delete(_:)`.
  @inlinable
  @discardableResult
  public mutating func delete<Records: Sequence>(contentsOf records: Records) throws -> Int
  where Records.Element: Record {
    let type = try entities.type(Records.Element.self)
    guard writer.hasRules(for: type) else {
      var count = 0
      for record in records where try delete(record) { count += 1 }
      return count
    }
    var keys: [[UInt8]] = []
    for record in records {
      try type.encodeKey(record, to: buffers.key, row: buffers.row)
      let key = keyInBuffer
      if try writer.has(key, of: type) { keys.append(key) }
    }
    return try delete(keys, of: type)
  }

  @usableFromInline
  var keyInBuffer: [UInt8] {
    let key = buffers.key
    return key.key.array()
  }

  /// Deletes all records of a type, and applies the delete rules of references to others. Hooks before deletion
  /// run for the records that exist at the beginning.
  ///
  /// ```swift
  /// try transaction.deleteAll(Item.self)
  /// ```
  ///
  /// - Complexity: Linear in the changes that are in memory; if the type has a hook before deletion, or others lead to it,
  ///   in the records.
  /// - Throws: as `delete(_:)`: then nothing has changed.
  public mutating func deleteAll<Subject: Record>(_ type: Subject.Type) throws {
    let entity = try entities.type(type)
    if entity.kind != nil {
      _ = try delete(Query<Subject>())
    } else {
      try writer.deleteAllWithHooks(of: entity)
    }
  }
}

// MARK: Savepoints

extension WriteTransaction {
  /// Accepts references that lead to records that do not exist, as those of a copy that leaves out unreadable records:
  /// the store knows from then on that these records are lost.
  ///
  /// - Returns: The names of their types, and their keys as text.
  /// - Throws: `StoreError.corrupt`, `.full`, `.io`.
  package mutating func acceptMissing() throws(StoreError) -> [SalvageReport.MissingRecord] {
    try writer.checkUsable()
    guard let keeper = writer.keeper else { return [] }
    return try keeper.acceptMissing(in: writer.trees).map { entity, key in
      SalvageReport.MissingRecord(
        record: entity.record.name, key: entity.text(ofKey: key.rawSpan))
    }
  }

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
  /// - Throws: errors of `body`.
  public mutating func savepoint<Result: ~Copyable>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let writer = writer
    return try writer.savepoint { try body(&self) }
  }
}

extension RecordHooks {
  /// Creates the hooks of a record type. One that is nil costs nothing.
  ///
  /// ```swift
  /// static var hooks: RecordHooks<Folder> {
  ///   RecordHooks(beforeDelete: { folder, transaction in
  ///     try transaction.delete(Note.where { $0.folder == folder.id })
  ///   })
  /// }
  /// ```
  ///
  /// A hook that is given the transaction may read it, and change other records: these run their own hooks. Whatever it
  /// does is part of the operation that it runs in. If it throws, or the operation fails after it, nothing of both
  /// remains. At most a hundred hooks run within one another; the next throws
  /// `StoreError.limitExceeded`, so a hook that leads back to its own record ends with an error.
  ///
  /// Hooks do not run in a migration, nor for records that are written or deleted as `DynamicRecord`s.
  ///
  /// - Parameters:
  ///   - beforeInsert: Called before a new record is written; may change it.
  ///   - beforeUpdate: Called before a record replaces an old one, which is the second argument; may change the new one.
  ///   - beforeDelete: Called before a record is deleted, by value, key or condition, or by one that takes its place.
  ///   - afterLoad: Called after a record was read; may change it.
  public init(
    beforeInsert: (@Sendable (inout Subject, inout WriteTransaction) throws -> Void)? = nil,
    beforeUpdate: (@Sendable (inout Subject, Subject, inout WriteTransaction) throws -> Void)? =
      nil,
    beforeDelete: (@Sendable (Subject, inout WriteTransaction) throws -> Void)? = nil,
    afterLoad: (@Sendable (inout Subject) throws -> Void)? = nil
  ) {
    var hooks = WriteHooks<Subject>()
    if let beforeInsert {
      hooks.beforeInsert = { record, writer in
        var transaction = WriteTransaction(writer: writer)
        try beforeInsert(&record, &transaction)
      }
    }
    if let beforeUpdate {
      hooks.beforeUpdate = { record, old, writer in
        var transaction = WriteTransaction(writer: writer)
        try beforeUpdate(&record, old, &transaction)
      }
    }
    if let beforeDelete {
      hooks.beforeDelete = { record, writer in
        var transaction = WriteTransaction(writer: writer)
        try beforeDelete(record, &transaction)
      }
    }
    let isEmpty = beforeInsert == nil && beforeUpdate == nil && beforeDelete == nil
    self.init(afterLoad: afterLoad, writing: isEmpty ? nil : hooks)
  }
}

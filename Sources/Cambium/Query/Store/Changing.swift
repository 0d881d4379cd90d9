extension WriteTransaction {
  /// Deletes the records of a query.
  ///
  /// - Returns: The number of records.
  /// - Complexity: that of finding them, and of a deletion for each; their keys are in memory.
  /// - Throws: As `fetch(_:after:)` and `delete(_:)`. The records before the one that cannot be deleted are deleted; if
  ///   references lead to such records, none is.
  @discardableResult
  public mutating func delete<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    let type = try entities.type(Subject.self)
    let keys = try foundKeys(query, type)
    if writer.hasRules(for: type) {
      return try delete((0..<keys.count).map { keys.key($0).array() }, of: type)
    }
    for place in 0..<keys.count {
      buffers.key.begin()
      buffers.key.appendRaw(keys.key(place))
      _ = try delete(type)
    }
    return keys.count
  }

  /// Changes the records of a query. The records are determined before the first one is changed.
  ///
  /// ```swift
  /// try transaction.update(Item.where { $0.price > 100 }) { item in item.stock = 0 }
  /// ```
  ///
  /// - Parameter change: Changes a record, but not its primary key.
  /// - Returns: The number of records.
  /// - Complexity: that of finding them, and of an update for each; their keys are in memory.
  /// - Throws: As `fetch(_:after:)` and `update(_:onConflict:)`; errors of `change`; `StoreError.invalidValue` if it
  ///   changes a primary key. The records before the one that cannot be changed are changed.
  @discardableResult
  public mutating func update<Subject: Record>(
    _ query: Query<Subject>, onConflict policy: ConflictPolicy = .refuse,
    set change: (inout Subject) throws -> Void
  ) throws -> Int {
    let type = try entities.type(Subject.self)
    let keys = try foundKeys(query, type)
    var row: [UInt8] = []
    var count = 0
    for place in 0..<keys.count {
      let key = keys.key(place).array()
      // An update before may have replaced it.
      guard try writer.trees.copyValue(of: key.rawSpan, in: type.rows, to: &row) else {
        continue
      }
      var record = try type.load(
        key: key.rawSpan, row: row.rawSpan, blobs: writer.blobFinder(of: type))
      try change(&record)
      let buffer = buffers.key
      try type.encodeKey(record, to: buffer, row: buffers.row)
      guard buffer.key.equals(key.rawSpan) else { throw type.changedKey(key) }
      try write(record, of: type, .isThere, policy)
      count += 1
    }
    return count
  }

  /// The primary keys of a query's records, before anything changes.
  private func foundKeys<Subject: Record>(
    _ query: Query<Subject>, _ type: RecordType<Subject>
  ) throws(StoreError) -> SortedKeys {
    let found = try recordReader().find(query, of: type, for: .keysInAnyOrder)
    var keys = SortedKeys(of: type.record.name)
    while try found.next() { try keys.add(found.key, keyLength: found.key.byteCount) }
    return keys
  }
}

extension RecordType {
  fileprivate func changedKey(_ key: [UInt8]) -> StoreError {
    .invalidValue(
      record: record.name, field: nil,
      reason: "an update has changed the primary key of \(text(ofKey: key.rawSpan))")
  }
}

// MARK: - In a transaction of its own

extension PersistentStore {
  /// Deletes the record with a primary key, in a transaction of its own. Returns false if there is none.
  ///
  /// ```swift
  /// try store.delete(Order.self, key: id)
  /// ```
  ///
  /// - Parameter key: The primary key. One of another type than the record's `KeyType` does not compile.
  /// - Throws: `StoreError.unknownRecord`, and any error of a hook. At the commit, `.deleteDenied` if other records
  ///   depend on it, and `.relationCount`. `.full`, `.io`, `.corrupt`, `.poisoned`, `.readOnly`, `.reentrant`,
  ///   `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`, when the next opening
  ///   decides.
  @discardableResult
  public func delete<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Bool where Subject.KeyType: FieldValueConvertible {
    try write { transaction in try transaction.delete(type, keyParts: [key]) }
  }

  /// Deletes the record with a primary key whose type the compiler does not know, in a transaction of its own. Returns
  /// false if there is none.
  ///
  /// ```swift
  /// try store.delete(Seat.self, key: "A", 12)
  /// ```
  ///
  /// - Parameters:
  ///   - part: The primary key, or the first part of a compound one.
  ///   - others: The other parts of a compound key, in its order.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, and any error of a hook.
  ///   At the commit, `.deleteDenied` if other records depend on it, and `.relationCount`. `.full`, `.io`,
  ///   `.corrupt`, `.poisoned`, `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but
  ///   after `.outcomeUnknown`, when the next opening decides.
  @discardableResult
  public func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Bool where Subject.KeyType == AnyKey {
    try write { transaction in
      try transaction.delete(type, keyParts: Cambium.keyParts(part, others))
    }
  }

  /// Deletes the records of a query, in a transaction of its own.
  ///
  /// - Returns: The number of records deleted.
  /// - Complexity: That of finding them, and of a deletion for each; their keys are in memory.
  /// - Throws: as `write` and `WriteTransaction.delete(_:)` of a query. Then none is deleted.
  @discardableResult
  public func delete<Subject: Record>(
    _ query: Query<Subject>, durability: Durability? = nil
  ) throws -> Int {
    try write(durability: durability) { transaction in try transaction.delete(query) }
  }

  /// Changes the records of a query, in a transaction of its own.
  ///
  /// - Parameter change: Changes a record, but not its primary key.
  /// - Returns: The number of records changed.
  /// - Complexity: That of finding them, and of an update for each; their keys are in memory.
  /// - Throws: as `write` and `WriteTransaction.update(_:onConflict:set:)`. Then none is changed.
  @discardableResult
  public func update<Subject: Record>(
    _ query: Query<Subject>, onConflict policy: ConflictPolicy = .refuse,
    durability: Durability? = nil, set change: (inout Subject) throws -> Void
  ) throws -> Int {
    try write(durability: durability) { transaction in
      try transaction.update(query, onConflict: policy, set: change)
    }
  }

  /// Writes records, in a transaction of its own: adds each, or replaces the one with its primary key.
  ///
  /// - Throws: as `write` and `WriteTransaction.save(contentsOf:onConflict:)`. Then none is written.
  @inlinable
  public func save<Records: Sequence>(
    contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse,
    durability: Durability? = nil
  ) throws where Records.Element: Record {
    try write(durability: durability) { transaction in
      try transaction.save(contentsOf: records, onConflict: policy)
    }
  }
}

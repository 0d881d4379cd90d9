// Saving over concurrent changes.

extension WriteTransaction {
  /// Adds a record, or merges it into the stored one: the one with its primary key, or with the same values in unique fields.
  ///
  /// ```swift
  /// try transaction.save(delivery) { stored, new in stored.stock += new.stock }
  /// ```
  ///
  /// - Parameter merge: Called with the stored record, which it changes, and the new one. It must not change the primary key.
  /// - Complexity: As `save(_:onConflict:)`, and reading the stored record.
  /// - Throws: as `update(_:onConflict:)`, and errors of `merge`; `StoreError.uniqueConflict` if several stored records
  ///   have the new one's values, `.invalidValue` if `merge` changes the primary key: then nothing has changed.
  public mutating func save<Subject: Record>(
    _ record: Subject, merging merge: (inout Subject, Subject) throws -> Void
  ) throws {
    let type = try entities.type(Subject.self)
    let (key, row) = (buffers.key, buffers.row)
    try type.encodeKey(record, to: key, row: row)
    var stored = key.key.array()
    let isThere = try writer.trees.copyValue(of: key.key, in: type.rows, to: &buffers.old)
    if let others = try writer.conflicts(of: key.key, row.row, of: type) {
      stored = try others.sole(isNew: !isThere)
    } else if !isThere {
      return try write(record, of: type, .isNew, .refuse)
    }
    guard var merged = try self.stored(stored, of: type) else {
      throw StoreError.noSuchRecord(
        record: type.record.name, key: type.text(ofKey: stored.rawSpan))
    }
    try merge(&merged, record)
    try type.encodeKey(merged, to: key, row: row)
    guard key.key.equals(stored.rawSpan) else {
      throw StoreError.invalidValue(
        record: type.record.name, field: nil,
        reason:
          "merging has changed the primary key \(type.text(ofKey: stored.rawSpan)); keep the stored one's"
      )
    }
    try write(merged, of: type, .isThere, .refuse)
  }

  /// Replaces a record if its revision is still that of the stored one, and counts the revision up. So a save of a copy that was
  /// read before another program, task or transaction changed the record is noticed.
  ///
  /// ```swift
  /// item = try transaction.update(item, revision: \.revision)
  /// ```
  ///
  /// - Parameter revision: A stored property. After the highest number comes the lowest.
  /// - Returns: The record as it is stored, with the next revision.
  /// - Complexity: As `update(_:onConflict:)`, and reading the stored record.
  /// - Throws: as `update(_:onConflict:)`, and `StoreError.staleRecord` if the revisions differ: then nothing has changed.
  @discardableResult
  public mutating func update<Subject: Record, Revision: FixedWidthInteger>(
    _ record: Subject, revision: WritableKeyPath<Subject, Revision>
  ) throws -> Subject {
    let type = try entities.type(Subject.self)
    let key = buffers.key
    try type.encodeKey(record, to: key, row: buffers.row)
    let own = key.key.array()
    let text = type.text(ofKey: own.rawSpan)
    guard let stored = try self.stored(own, of: type) else {
      throw StoreError.noSuchRecord(record: type.record.name, key: text)
    }
    guard stored[keyPath: revision] == record[keyPath: revision] else {
      throw StoreError.staleRecord(record: type.record.name, key: text)
    }
    var next = record
    next[keyPath: revision] &+= 1
    try write(next, of: type, .isThere, .refuse)
    return next
  }

  private func stored<Subject: Record>(
    _ key: [UInt8], of type: RecordType<Subject>
  ) throws -> Subject? {
    guard try writer.trees.copyValue(of: key.rawSpan, in: type.rows, to: &buffers.old) else {
      return nil
    }
    let row = buffers.old
    guard type.has(row.rawSpan) else { return nil }
    return try type.load(key: key.rawSpan, row: row.rawSpan, blobs: writer.blobFinder(of: type))
  }
}

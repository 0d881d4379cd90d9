extension RecordHooks {
  /// Creates the hooks of a record type. One that is nil costs nothing.
  ///
  /// ```swift
  /// static var hooks: RecordHooks<Folder> {
  ///   RecordHooks(beforeDelete: { folder, transaction in
  ///     try transaction.delete(Note.self, where: \.folder == folder.id)
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

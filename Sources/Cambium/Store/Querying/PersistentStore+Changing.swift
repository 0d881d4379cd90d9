// Deletions and updates by key or condition, each in a transaction of its own.

extension PersistentStore {
  /// Deletes the record with a primary key, in a transaction of its own. Returns false if there is none.
  ///
  /// - Throws: as `write` and `WriteTransaction.delete(_:key:_:)`.
  @discardableResult
  public func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Bool {
    try write { transaction in
      try transaction.delete(type, keyParts: Cambium.keyParts(part, others))
    }
  }

  /// Deletes the records that meet a condition, in a transaction of its own.
  ///
  /// ```swift
  /// let count = try store.delete(Item.self, where: \.stock == 0)
  /// ```
  ///
  /// - Returns: The number of records deleted.
  /// - Complexity: That of finding them, and of a deletion for each; their keys are in memory.
  /// - Throws: as `write` and `WriteTransaction.delete(_:)` of a query. Then none is deleted.
  @discardableResult
  public func delete<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>, _ durability: Durability? = nil
  ) throws -> Int {
    try write(durability) { transaction in try transaction.delete(type, where: condition) }
  }

  /// Changes the records that meet a condition, in a transaction of its own.
  ///
  /// ```swift
  /// try store.update(Item.self, where: \.price < 1) { item in item.price = 1 }
  /// ```
  ///
  /// - Parameter change: Changes a record, but not its primary key.
  /// - Returns: The number of records changed.
  /// - Complexity: That of finding them, and of an update for each; their keys are in memory.
  /// - Throws: as `write` and `WriteTransaction.update(_:onConflict:set:)`. Then none is changed.
  @discardableResult
  public func update<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>,
    onConflict policy: ConflictPolicy = .refuse, _ durability: Durability? = nil,
    set change: (inout Subject) throws -> Void
  ) throws -> Int {
    try write(durability) { transaction in
      try transaction.update(type, where: condition, onConflict: policy, set: change)
    }
  }

  /// Gives a property of the records that meet a condition a value, in a transaction of its own.
  ///
  /// ```swift
  /// try store.update(Item.self, where: \.price > 100, set: \.stock, to: 0)
  /// ```
  ///
  /// - Returns: The number of records changed.
  /// - Throws: as `write` and `WriteTransaction.update(_:onConflict:set:)`. Then none is changed.
  @discardableResult
  public func update<Subject: Record, Value>(
    _ type: Subject.Type, where condition: Condition<Subject>,
    set field: WritableKeyPath<Subject, Value>, to value: Value,
    onConflict policy: ConflictPolicy = .refuse, _ durability: Durability? = nil
  ) throws -> Int {
    try update(type, where: condition, onConflict: policy, durability) {
      $0[keyPath: field] = value
    }
  }
}

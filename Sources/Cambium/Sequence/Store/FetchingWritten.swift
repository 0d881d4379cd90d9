// Writing a record and reading it back, with the values that the store has given it.

extension WriteTransaction {
  /// Adds a record, and returns it as it is stored: with the numbers of its sequences, its derived fields, and the
  /// changes of hooks. There must be none with its primary key.
  ///
  /// ```swift
  /// let order = try transaction.insertAndFetch(Order(customer: customer.id))
  /// try transaction.insert(Line(order: order.number, product: product.id))
  /// ```
  ///
  /// - Complexity: As `insert`, and a lookup.
  /// - Throws: As `insert`, and as `fetch(_:key:)`.
  public mutating func insertAndFetch<Subject: Record>(_ record: Subject) throws -> Subject {
    try insert(record)
    return try fetchWritten(Subject.self)
  }

  /// Writes a record, and returns it as it is stored: with the numbers of its sequences, its derived fields, and the
  /// changes of hooks.
  ///
  /// ```swift
  /// let saved = try transaction.saveAndFetch(draft)
  /// ```
  ///
  /// - Complexity: As `save`, and a lookup.
  /// - Throws: As `save`, and as `fetch(_:key:)`.
  public mutating func saveAndFetch<Subject: Record>(_ record: Subject) throws -> Subject {
    try save(record)
    return try fetchWritten(Subject.self)
  }

  /// Returns the record that was written last, whose key is in the buffers, or was numbered.
  private func fetchWritten<Subject: Record>(_ subject: Subject.Type) throws -> Subject {
    let type = try entities.type(subject)
    let isNumbered = entities.derivations?.sequences(type).contains(where: \.isKey) ?? false
    let key = isNumbered ? writer.numberedKey : keyInBuffer
    var row: [UInt8] = []
    guard try writer.trees.copyValue(of: key.rawSpan, in: type.rows, to: &row) else {
      throw StoreError.noSuchRecord(
        record: type.record.name, key: type.text(ofKey: key.rawSpan))
    }
    return try type.load(key: key.rawSpan, row: row.rawSpan, blobs: writer.blobFinder(of: type))
  }
}

extension PersistentStore {
  /// Adds a record, in a transaction of its own, and returns it as it is stored: with the numbers of its sequences, its derived
  /// fields, and the changes of hooks.
  ///
  /// ```swift
  /// let order = try store.insertAndFetch(Order(customer: customer.id))
  /// print(order.number)
  /// ```
  ///
  /// - Parameter durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  /// - Complexity: As `insert`, and a lookup.
  /// - Throws: As `write` and `WriteTransaction.insertAndFetch`.
  public func insertAndFetch<Subject: Record>(
    _ record: Subject, durability: Durability? = nil
  ) throws -> Subject {
    try write(durability: durability) { transaction in try transaction.insertAndFetch(record) }
  }

  /// Writes a record, in a transaction of its own, and returns it as it is stored: with the numbers of its sequences, its derived
  /// fields, and the changes of hooks.
  ///
  /// ```swift
  /// let saved = try store.saveAndFetch(draft)
  /// ```
  ///
  /// - Parameter durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  /// - Complexity: As `save`, and a lookup.
  /// - Throws: As `write` and `WriteTransaction.saveAndFetch`.
  public func saveAndFetch<Subject: Record>(
    _ record: Subject, durability: Durability? = nil
  ) throws -> Subject {
    try write(durability: durability) { transaction in try transaction.saveAndFetch(record) }
  }

  /// Adds a record, in a transaction of its own, and returns it as it is stored. Its work runs on threads of the library.
  ///
  /// ```swift
  /// let order = try await store.insertAndFetch(Order(customer: customer.id))
  /// ```
  ///
  /// - Parameter durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  /// - Complexity: As `insert`, and a lookup.
  /// - Throws: As the synchronous one, and `CancellationError`.
  @concurrent
  public func insertAndFetch<Subject: Record>(
    _ record: Subject, durability: Durability? = nil
  ) async throws -> Subject {
    try await write(durability: durability) { transaction in
      try transaction.insertAndFetch(record)
    }
  }

  /// Writes a record, in a transaction of its own, and returns it as it is stored. Its work runs on threads of the library.
  ///
  /// ```swift
  /// let saved = try await store.saveAndFetch(draft)
  /// ```
  ///
  /// - Parameter durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  /// - Complexity: As `save`, and a lookup.
  /// - Throws: As the synchronous one, and `CancellationError`.
  @concurrent
  public func saveAndFetch<Subject: Record>(
    _ record: Subject, durability: Durability? = nil
  ) async throws -> Subject {
    try await write(durability: durability) { transaction in try transaction.saveAndFetch(record) }
  }
}

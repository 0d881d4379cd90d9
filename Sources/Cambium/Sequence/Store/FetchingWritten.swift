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

extension RecordReading where Self: ~Copyable {
  /// Returns the records at the other end of a relation of a record without a Swift type.
  ///
  /// ```swift
  /// let books = try store.related(to: author, "books")
  /// let tags = try store.related(to: books[0], "tags")
  /// ```
  ///
  /// - Parameter relation: The stored name of a reference of the record, or the name of one of its inverses.
  /// - Returns: The records that a reference leads to, in the order of its list; or those that lead to the record, by primary
  ///   key.
  /// - Complexity: A lookup for each record that a reference leads to; that of a query for an inverse.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the record has no such relation, `.corrupt`, `.io`, `.closed`.
  public func related(
    to record: DynamicRecord, _ relation: String
  ) throws(StoreError) -> [DynamicRecord] {
    let reader = try recordReader()
    let schema = try reader.entities.entity(named: record.name).record
    if let reference = schema.field(named: relation)?.reference {
      return try reader.targets(of: record.value(at: relation) ?? .null, reference)
    }
    guard let inverse = schema.inverses.first(where: { $0.name == relation }) else {
      throw .invalidQuery(
        record: record.name, field: relation,
        reason: "it is neither a reference of the record nor an inverse")
    }
    return try reader.sources(of: record, schema, inverse)
  }
}

extension RecordReader {
  fileprivate func targets(
    of value: FieldValue, _ reference: ReferenceSchema
  ) throws(StoreError) -> [DynamicRecord] {
    var records: [DynamicRecord] = []
    for key in value.elements ?? [value] where key != .null {
      if let record = try fetch(record: reference.destination, key: [key]) {
        records.append(record)
      }
    }
    return records
  }

  fileprivate func sources(
    of record: DynamicRecord, _ schema: RecordSchema, _ inverse: InverseSchema
  ) throws(StoreError) -> [DynamicRecord] {
    let owner = try entities.entity(named: record.name)
    let related = try entities.entity(named: inverse.related)
    let link = try entities.link(of: related, inverse.reference, to: owner)
    guard let field = schema.field(schema.primaryKey[0].field),
      let key = record.value(at: field.name)
    else {
      throw .invalidQuery(
        record: record.name, field: inverse.name, reason: "the record has no primary key")
    }
    let condition: FieldCondition =
      link.isList
      ? .contains(field: inverse.reference, key)
      : .comparison(field: inverse.reference, .equal, key)
    let runner = QueryRunner(related, in: self)
    let found = try runner.find(FieldQuery(condition: condition))
    let blobs = blobs(of: related)
    var records: [DynamicRecord] = []
    while try found.next() {
      records.append(
        try DynamicRecord(try related.row(key: found.key, row: try found.row(), blobs: blobs)))
    }
    return records
  }
}

extension FieldValue {
  /// The elements of an array; nil for any other value.
  fileprivate var elements: [FieldValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}

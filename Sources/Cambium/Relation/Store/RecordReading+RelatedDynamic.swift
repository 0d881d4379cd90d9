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
  /// - Complexity: A lookup for each record that is returned; for an inverse without an index, as of a reference that is not
  ///   checked, a pass over all rows.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the record has no such relation, `.corrupt`, `.io`, `.closed`.
  public func related(
    to record: DynamicRecord, _ relation: String
  ) throws(StoreError) -> [DynamicRecord] {
    try related(to: [record], relation)[0]
  }

  /// Returns the records at the other end of a relation of each of several records without a Swift type.
  ///
  /// ```swift
  /// let books = try store.fetch(record: "Book", limit: 50)
  /// for (book, authors) in zip(books, try store.related(to: books, "author")) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - records: Records of one type.
  ///   - relation: The stored name of a reference of the records, or the name of one of their inverses.
  ///   - stringsAsBlobs: As for `forEach(record:where:sortedBy:limit:offset:after:fields:stringsAsBlobs:_:)`.
  /// - Returns: For each record, the result of `related(to:_:)`.
  /// - Complexity: One pass over the related records, as for ``Inclusion``: each is looked up once, however many records it
  ///   is related to.
  /// - Throws: As `related(to:_:)`, and `StoreError.invalidQuery` if the records are not of one type.
  package func related(
    to records: [DynamicRecord], _ relation: String, stringsAsBlobs: Bool = false
  ) throws(StoreError) -> [[DynamicRecord]] {
    let reader = try recordReader()
    guard let name = records.first?.name else { return [] }
    if let other = records.first(where: { $0.name != name }) {
      throw .invalidQuery(
        record: name, field: relation, reason: "there are records of \(other.name), too")
    }
    let schema = try reader.entities.entity(named: name).record
    if let reference = schema.field(named: relation)?.reference {
      let values = records.map { $0.value(at: relation) ?? .null }
      return try reader.targets(of: values, reference, stringsAsBlobs)
    }
    guard let inverse = schema.inverses.first(where: { $0.name == relation }) else {
      throw schema.refusal(ofUnknownRelation: relation)
    }
    return try reader.sources(of: records, schema, inverse, stringsAsBlobs)
  }
}

extension RecordReader {
  /// Returns the records that each value of a reference leads to.
  fileprivate func targets(
    of values: [FieldValue], _ reference: ReferenceSchema, _ stringsAsBlobs: Bool
  ) throws(StoreError) -> [[DynamicRecord]] {
    let shared = SharedRows(of: try entities.destination(of: reference), in: self)
    var (ends, count): ([Int], Int) = ([], 0)
    for value in values {
      for key in value.elements ?? [value] where key != .null {
        try shared.append(key)
        count += 1
      }
      ends.append(count)
    }
    let records = try shared.find().load(stringsAsBlobs: stringsAsBlobs)
    var start = 0
    return ends.map { end in
      defer { start = end }
      return (start..<end).compactMap { shared.place($0).map { records[$0] } }
    }
  }

  /// Returns the records that lead to each of some others.
  fileprivate func sources(
    of records: [DynamicRecord], _ schema: RecordSchema, _ inverse: InverseSchema,
    _ stringsAsBlobs: Bool
  ) throws(StoreError) -> [[DynamicRecord]] {
    let link = try entities.link(
      of: try entities.entity(named: inverse.related), inverse.reference,
      to: try entities.entity(named: schema.name))
    let related = try SourceRows(link, FieldQuery(), in: self)
    for record in records {
      guard let field = schema.field(schema.primaryKey[0].field),
        let key = record.value(at: field.name)
      else {
        throw .invalidQuery(
          record: record.name, field: inverse.name, reason: "the record has no primary key")
      }
      try related.append(key)
    }
    let rows = try related.find()
    let found = try rows.load(stringsAsBlobs: stringsAsBlobs)
    related.divide(rows)
    return records.indices.map { index in related.places(index).map { found[$0] } }
  }
}

extension FieldValue {
  /// The elements of an array; nil for any other value.
  fileprivate var elements: [FieldValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}

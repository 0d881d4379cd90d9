/// A section of a query's records: those that have the same value in one property.
public struct RecordSection<Subject: Record, Key> {
  /// The common value, read from the section's first record.
  public let key: Key
  /// The records in the query's order; at least one.
  public internal(set) var records: [Subject]
}

extension RecordSection: Sendable where Key: Sendable {}

extension RecordReading where Self: ~Copyable {
  /// Returns the records of a query in sections, one for each value of a property.
  ///
  /// ```swift
  /// for section in try store.sections(of: Book.sorted(by: .ascending(\.title)), by: \.genre) {
  ///   print(section.key, section.records.map(\.title))
  /// }
  /// ```
  ///
  /// Sections are sorted by the property, ascending with nil first, unless the query's order begins with that property: then
  /// they are sorted as it says. `Book.sorted(by: .descending(\.year), .ascending(\.title))` by `\.year` has the newest year
  /// first. The records of a section are in the query's order.
  ///
  /// Two values are the same if they have the same place in the order. Strings are compared by their UTF-8 bytes, so “Rock”
  /// and “rock” are two sections, even if the query's order ignores case. All NaN are one section, after the numbers.
  ///
  /// The query's limit and offset, and the record after which it begins, apply to the whole list, section after section:
  /// `limit(20)` returns its first 20 records, and the last section may be incomplete. The query of the next page begins
  /// after the last of them.
  ///
  /// Idea: `sectionNameKeyPath` of Core Data, `SectionBy` of CoreStore.
  ///
  /// - Parameters:
  ///   - query: The records, and their order within each section.
  ///   - field: The key path of a stored property whose values have an order. For sections by something computed, such as an
  ///     initial letter, store it in a field.
  /// - Returns: The sections, none of which is empty.
  /// - Complexity: That of fetching the query's records, sorted by the property first. They need not be sorted if an index
  ///   begins with the property and continues with the query's order.
  /// - Throws: `StoreError.invalidQuery` if the property is not stored, its values have no order, or the query does not fit
  ///   the record; `.noSuchRecord` if the record to begin after does not exist; `.unknownRecord`, `.sortTooLarge`,
  ///   `.corrupt`, `.io`, `.closed`; errors of the type's hook after loading.
  public func sections<Subject: Record, Key>(
    of query: Query<Subject>, by field: KeyPath<Subject, Key>
  ) throws -> [RecordSection<Subject, Key>] {
    try recordReader().sections(of: query, by: field)
  }
}

extension RecordReader {
  fileprivate func sections<Subject: Record, Key>(
    of query: Query<Subject>, by field: KeyPath<Subject, Key>
  ) throws -> [RecordSection<Subject, Key>] {
    let type = try entities.type(Subject.self)
    let keys = try type.sectionKeys(of: query, by: PropertyReference(field), in: entities)
    let found = try QueryRunner(type, in: self).find(keys.query)
    let encoder = KeyEncoder()
    var sections: [RecordSection<Subject, Key>] = []
    var present: [UInt8] = []
    while try found.next() {
      try keys.encode(key: found.key, row: try found.row(), to: encoder)
      let record = try type.load(key: found.key, row: try found.row(), blobs: found.blobs)
      if !sections.isEmpty, encoder.key.equals(present.rawSpan) {
        sections[sections.count - 1].records.append(record)
      } else {
        present.assign(encoder.key)
        sections.append(RecordSection(key: record[keyPath: field], records: [record]))
      }
    }
    return sections
  }
}

extension RecordType {
  /// - Throws: `.invalidQuery` if a property is not stored, or cannot be queried or sorted so.
  func sectionKeys(
    of query: Query<Subject>, by property: PropertyReference, in entities: Entities
  ) throws(StoreError) -> SectionKeys {
    try SectionKeys(try query.resolved(in: self, entities), by: try field(of: property), of: self)
  }
}

/// A query whose records are divided into sections by one field, and the keys that tell the sections apart.
///
/// A key has the bytes by which records are sorted by the field: keys sort as the sections do, and all records of a section
/// have the same key. So a string in two Unicode forms has two sections, and NaN has one, whatever its bits.
struct SectionKeys: Sendable {
  /// The query, sorted by the field before its own order.
  let query: FieldQuery
  private let columns: [KeyColumn]
  private let record: Entity

  /// - Parameter field: Sections are sorted by it, ascending unless the query's order begins with it.
  /// - Throws: `.invalidQuery` if there is no such field, or its values have no order.
  init(_ query: FieldQuery, by field: String, of record: Entity) throws(StoreError) {
    let order = Self.order(by: field, query.order.first).map {
      $0.providingCollation(of: record.layout)
    }
    var columns: [KeyColumn] = []
    for order in order { columns.append(try BoundOrder.column(of: order, in: record.layout)) }
    var query = query
    query.order.insert(contentsOf: order, at: 0)
    self.query = query
    self.columns = columns
    self.record = record
  }

  /// Returns the order of sections. If it ignores case, or is a collation's, sections whose keys are equal in its
  /// order are neighbours, but not one.
  private static func order(by field: String, _ first: FieldOrder?) -> [FieldOrder] {
    guard let first, first.value == .field(field) else { return [FieldOrder(field: field)] }
    let exact = FieldOrder(field: field, isDescending: first.isDescending)
    return first.isCaseInsensitive || first.collation != nil ? [first, exact] : [exact]
  }

  /// Returns the key of a record's section.
  ///
  /// - Throws: `.corrupt`.
  func section(
    of key: [UInt8], _ row: [UInt8], _ encoder: KeyEncoder
  ) throws(StoreError) -> [UInt8] {
    try encode(key: key.rawSpan, row: row.rawSpan, to: encoder)
    return encoder.key.array()
  }

  /// Encodes the key of a record's section.
  ///
  /// - Throws: `.corrupt`.
  func encode(key: RawSpan, row: RawSpan, to encoder: KeyEncoder) throws(StoreError) {
    let record = record
    let reader = try record.row(key: key, row: row)
    encoder.begin()
    for column in columns { try encoder.appendSorted(column, from: reader) }
  }
}

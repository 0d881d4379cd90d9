/// A field of the record that a reference leads to, by which records are sorted: null without one.
final class RelatedColumn: OrderTerm {
  /// As a part of keys to sort by; it is no column of the record.
  let form: KeyColumn
  let side: RelationSide
  private let rows: RelatedRows
  /// The layout of the records that have the field, if they are not led to by another reference.
  private let inner: RelatedColumn?
  /// The field among the columns of its own record, the last one.
  let column: KeyColumn
  /// The columns refer to it.
  private let collation: Collation?
  // One owner on one thread uses it, so accesses cannot overlap.
  /// The bytes of records that were led to, by their keys.
  @exclusivity(unchecked) private var known: KnownResults<[UInt8]>

  /// - Parameter steps: The number of references that led to the record.
  /// - Returns: nil for a field of the record's own.
  /// - Throws: `.invalidQuery` for a name that leads to several records, over too many references, or whose values have no
  ///   order.
  init?(
    _ order: FieldOrder, of record: Entity, in reader: RecordReader, steps: Int = 0
  ) throws(StoreError) {
    guard let field = order.field, record.layout.index(named: field) == nil,
      let (relation, rest) = record.record.divided(field)
    else { return nil }
    side = try reader.entities.relation(relation, of: record)
    guard !side.isInverse, !side.link.isList else {
      throw .invalidQuery(
        record: record.record.name, field: field,
        reason: "\(relation) leads to several records, so its fields are in no order")
    }
    let steps = try record.steps(after: steps, relation)
    rows = try RelatedRows(relation, of: record, where: .and([]), in: RelatedScope(reader: reader))
    unsafe known = KnownResults(in: reader.trees)
    let innerOrder = try FieldOrder(
      field: rest, isDescending: order.isDescending, isCaseInsensitive: order.isCaseInsensitive,
      collation: order.collation
    ).resolved(
      from: side.other, in: reader.entities, isChanging: reader.trees.isChanging
    ).providingCollation(of: side.other.layout)
    collation = innerOrder.collation
    inner = try RelatedColumn(innerOrder, of: side.other, in: reader, steps: steps)
    let found =
      if let inner { inner.column } else {
        try BoundOrder.column(of: innerOrder, in: side.other.layout)
      }
    column = KeyColumn(
      column: found.column, place: found.place, type: found.type,
      form: found.form.union(.isOptional), collation: found.collation)
    form = KeyColumn(
      column: KeyColumn.related, place: column.place, type: column.type, form: column.form,
      collation: column.collation)
  }

  /// True if the field is of the record that the first reference leads to.
  var isOfNext: Bool { inner == nil }

  /// Appends the value of the record that one leads to.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func append(of record: RowReader, to key: KeyEncoder) throws(StoreError) {
    let rows = rows
    guard let knownKey = try rows.knownKey(of: record) else {
      return try appendFound(of: record, to: key)
    }
    if let bytes = unsafe known.result(for: knownKey) { return key.appendRaw(bytes.rawSpan) }
    let start = key.key.byteCount
    try appendFound(of: record, to: key)
    let bytes = key.key.part(start, key.key.byteCount - start).array()
    unsafe known.insert(bytes, for: knownKey, size: bytes.count)
  }

  private func appendFound(of record: RowReader, to key: KeyEncoder) throws(StoreError) {
    var isFound = false
    let (inner, column) = (inner, column)
    try rows.forEach(of: record) { row throws(StoreError) in
      isFound = true
      if let inner {
        try inner.append(of: row, to: key)
      } else {
        try key.appendSorted(column, from: row)
      }
      return false
    }
    if !isFound { try key.append(.null, column, of: rows.other.layout) }
  }
}

extension KeyColumn {
  /// In place of the number of a column: the field is another record's.
  static var related: UInt32 { .max }

  var isRelated: Bool { column == Self.related }
}

/// A change of the one field of a record that leads to another: from the other end of the relation.
struct ReferenceChange {
  /// The kind of change.
  enum Kind {
    /// It leads to the record; a list does so with its last element.
    case lead
    /// It does not lead to the record any more.
    case cut
  }

  private let source: Entity
  private let field: FieldSchema
  private let column: Int
  /// The primary key of the record that it leads to, as the field has it.
  private let target: FieldValue
  private let inverse: String

  /// - Parameters:
  ///   - field: The stored name of the reference.
  ///   - inverse: The name of the other end, for errors.
  /// - Throws: `.invalidQuery` if the field is no reference to such a record, or its key is of another type.
  init(
    of source: Entity, _ field: String, to destination: RecordSchema, _ key: FieldValue,
    inverse: String
  ) throws(StoreError) {
    func fault(_ reason: String) -> StoreError {
      .invalidQuery(record: source.record.name, field: field, reason: reason)
    }
    guard let schema = source.record.field(named: field),
      let column = source.layout.index(named: field),
      schema.reference?.record == destination.number
    else { throw fault("it is no reference to \(destination.name)") }
    let type = schema.type.scalar ?? schema.type.keyType(.elements)
    guard let target = type.flatMap({ key.converted(to: .scalar($0)) }) else {
      throw fault("it leads to \(destination.name) by \(schema.type), and \(key) is none")
    }
    self.source = source
    self.field = schema
    self.column = column
    self.target = target
    self.inverse = inverse
  }

  /// Puts the row of a record with the changed reference together.
  ///
  /// - Returns: False if the reference has that value already; then no row is written.
  /// - Throws: `.invalidValue` for a reference that cannot be changed: one in a primary key, in a composite that is null,
  ///   or one that is not optional and would be cut. `.corrupt`, `.limitExceeded`.
  func apply(
    _ kind: Kind, key: RawSpan, row: RawSpan, to writer: RowWriter
  ) throws(StoreError) -> Bool {
    let reader = try source.row(key: key, row: row)
    guard let new = value(try reader.value(column), kind) else { return false }
    guard !source.record.primaryKey.contains(where: { $0.field == field.number }) else {
      throw refusal(
        key, "is in its primary key, which never changes; save a record with another key")
    }
    guard new != .null || field.isOptional else {
      throw refusal(
        key,
        "is not optional, so the record cannot be taken out of \(inverse); delete it, or let it lead elsewhere"
      )
    }
    for number in source.record.composites(field) {
      guard let outer = source.layout.index(number: number) else { continue }
      if reader.isNull(source.layout.columns[outer].place) {
        throw refusal(key, "is in \(source.layout.columns[outer].field.name), which is nil there")
      }
    }
    try reader.copy(to: writer, replacing: [column: new])
    return true
  }

  /// The changed value of the field; nil if it has that value already.
  private func value(_ old: FieldValue, _ kind: Kind) -> FieldValue? {
    // Where a value is expected too, `nil` would be null.
    let unchanged = FieldValue?.none
    guard field.type.scalar == nil else {
      let isThere = old.isSame(as: target)
      return switch kind {
      case .lead: isThere ? unchanged : target
      case .cut: isThere ? .some(.null) : unchanged
      }
    }
    let elements = if case .array(let elements) = old { elements } else { [FieldValue]() }
    let others = elements.filter { !$0.isSame(as: target) }
    let isThere = others.count < elements.count
    return switch kind {
    case .lead: isThere ? unchanged : .array(elements + [target])
    case .cut: isThere ? .array(others) : unchanged
    }
  }

  private func refusal(_ key: RawSpan, _ reason: String) -> StoreError {
    .invalidValue(
      record: source.record.name, field: field.name,
      reason: "the reference of the record \(source.text(ofKey: key)) \(reason)")
  }
}

extension RowReader {
  /// Copies the row, with other values in some columns.
  ///
  /// - Parameter lists: The bytes of other columns, which are variable and not null, as a row has them.
  /// - Throws: `.invalidValue` if a value is not one of its column's type, `.limitExceeded`.
  borrowing func copy(
    to writer: RowWriter, replacing values: [Int: FieldValue], lists: [Int: [UInt8]] = [:]
  ) throws(StoreError) {
    let layout = layout
    writer.begin(layout)
    for (index, column) in layout.columns.enumerated() {
      if let value = values[index] {
        try writer.set(value, of: column, in: layout)
        continue
      }
      if let list = lists[index] {
        try writer.append(list.rawSpan, to: column.place.index)
        continue
      }
      try copyColumn(column, to: writer)
    }
    writer.finish()
  }

  /// Copies one column; variable ones in their order.
  ///
  /// - Throws: `.limitExceeded`.
  @inline(__always)
  borrowing func copyColumn(_ column: Column, to writer: RowWriter) throws(StoreError) {
    let (source, offset) = (column.place, column.place.index)
    if isNull(source) { return writer.setNull(at: source) }
    switch source.kind {
    case .key, .composite: return
    case .variable: try writer.append(bytes(offset), to: offset)
    case .fixed:
      switch column.field.type.fixedWidth ?? 0 {
      case 1: writer.store(load(offset, as: UInt8.self), at: offset)
      case 2: writer.store(load(offset, as: UInt16.self), at: offset)
      case 4: writer.store(load(offset, as: UInt32.self), at: offset)
      case 8: writer.store(load(offset, as: UInt64.self), at: offset)
      default: writer.store(load(offset, as: UInt128.self), at: offset)
      }
    }
  }
}

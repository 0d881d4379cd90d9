internal import FoundationEssentials

// Parts from stored records, and from whoever has no Swift type for them.

extension KeyEncoder {
  /// Appends a part with the value that a stored record has there.
  ///
  /// - Throws: `.invalidValue` for what is not a number, `.corrupt` for a damaged record.
  func append(_ column: KeyColumn, from record: RowReader) throws(StoreError) {
    if record.isNull(column.place) { return appendNull(column.form) }
    let index = column.place.index
    switch column.place.kind {
    case .fixed: try appendFixed(column, at: index, from: record)
    case .variable where column.type == .decimal:
      try append(try record.decimal(index), column, of: record.layout)
    case .variable: append(record.bytes(index), column.form)
    case .key: try append(try record.keyValue(index), column, of: record.layout)
    case .composite: preconditionFailure("a composite is in no key")
    }
  }

  private func appendFixed(
    _ column: KeyColumn, at offset: Int, from record: RowReader
  ) throws(StoreError) {
    let form = column.form
    switch column.type {
    case .boolean: append(try record.boolean(offset), form)
    case .int8: append(record.load(offset, as: Int8.self), form)
    case .int16: append(record.load(offset, as: Int16.self), form)
    case .int32: append(record.load(offset, as: Int32.self), form)
    case .int64: append(record.load(offset, as: Int64.self), form)
    case .uint8: append(record.load(offset, as: UInt8.self), form)
    case .uint16: append(record.load(offset, as: UInt16.self), form)
    case .uint32: append(record.load(offset, as: UInt32.self), form)
    case .uint64: append(record.load(offset, as: UInt64.self), form)
    case .float: try append(record.float(offset), column, of: record.layout)
    case .double, .date: try append(record.double(offset), column, of: record.layout)
    case .uuid: append(UUID(bytesOf: record.load(offset, as: UInt128.self)), form)
    case .decimal, .string, .url, .binaryData: preconditionFailure("their width varies")
    }
  }

  /// Appends a part with a value of the column's type.
  ///
  /// - Throws: `.invalidValue` for what is of another type, out of its range, null where that cannot be,
  ///   or not a number.
  func append(
    _ value: FieldValue, _ column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) {
    if case .null = value, column.form.contains(.isOptional) { return appendNull(column.form) }
    guard try column.type.swiftType.append(value, to: self, as: column, of: layout) else {
      throw layout.refusal(layout.columns[Int(column.column)], value)
    }
  }
}

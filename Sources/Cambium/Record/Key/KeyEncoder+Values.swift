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
    case .fixed: try appendFixed(column, from: record)
    case .variable where column.type == .decimal:
      try append(try record.decimal(index), column, of: record.layout)
    case .variable: append(record.bytes(index), column.form)
    case .key: try append(try record.keyValue(index), column, of: record.layout)
    case .composite: preconditionFailure("a composite is in no key")
    }
  }

  private func appendFixed(
    _ column: KeyColumn, from record: RowReader
  ) throws(StoreError) {
    switch column.type {
    case .boolean: try append(Bool.self, column, from: record)
    case .int8: try append(Int8.self, column, from: record)
    case .int16: try append(Int16.self, column, from: record)
    case .int32: try append(Int32.self, column, from: record)
    case .int64: try append(Int64.self, column, from: record)
    case .uint8: try append(UInt8.self, column, from: record)
    case .uint16: try append(UInt16.self, column, from: record)
    case .uint32: try append(UInt32.self, column, from: record)
    case .uint64: try append(UInt64.self, column, from: record)
    case .float: try append(Float.self, column, from: record)
    case .double, .date: try append(Double.self, column, from: record)
    case .uuid: try append(UUID.self, column, from: record)
    case .decimal, .string, .url, .binaryData: preconditionFailure("their width varies")
    }
  }

  @inline(__always)
  private func append<Scalar: FixedScalar>(
    _ type: Scalar.Type, _ column: KeyColumn, from record: RowReader
  ) throws(StoreError) {
    let value = try Scalar.get(from: record, at: column.place.index)
    try value.append(to: self, as: column, of: record.layout)
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

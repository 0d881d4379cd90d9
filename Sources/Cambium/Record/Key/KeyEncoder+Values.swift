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
    case .uuid: append(record.uuid(offset), form)
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
    let form = column.form
    switch value {
    case .null where form.contains(.isOptional): appendNull(form)
    case .string(let value) where column.type == .string: append(value, form)
    case .url(let value) where column.type == .url: append(value, form)
    case .data(let value) where column.type == .binaryData: append(value, form)
    case .decimal(let value) where column.type == .decimal: try append(value, column, of: layout)
    case .float(let value) where column.type == .float: try append(value, column, of: layout)
    case .double(let value) where column.type == .double: try append(value, column, of: layout)
    case .date(let value) where column.type == .date: try append(value, column, of: layout)
    default:
      guard let bits = value.bits(of: column.type) else {
        throw layout.refusal(layout.columns[Int(column.column)], value)
      }
      append(bits: bits, column)
    }
  }

  private func append(bits: UInt128, _ column: KeyColumn) {
    let form = column.form
    switch column.type {
    case .int8: append(Int8(truncatingIfNeeded: bits), form)
    case .int16: append(Int16(truncatingIfNeeded: bits), form)
    case .int32: append(Int32(truncatingIfNeeded: bits), form)
    case .int64: append(Int64(truncatingIfNeeded: bits), form)
    case .boolean, .uint8: append(UInt8(truncatingIfNeeded: bits), form)
    case .uint16: append(UInt16(truncatingIfNeeded: bits), form)
    case .uint32: append(UInt32(truncatingIfNeeded: bits), form)
    case .uint64: append(UInt64(truncatingIfNeeded: bits), form)
    default: append(UUID(bytesOf: bits), form)
    }
  }
}

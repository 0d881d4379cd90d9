internal import FoundationEssentials

// Columns of any type, from whoever has no Swift type for them.

extension RowWriter {
  /// Gives a column of the row its value; variable columns come in their order. Fields of the key and
  /// composites that are not null have no bytes of their own.
  ///
  /// - Throws: `.invalidValue` where the value is not one of the column's type; `.limitExceeded`.
  func set(_ value: FieldValue, of column: Column, in layout: RowLayout) throws(StoreError) {
    guard value != .null else {
      guard column.field.isOptional else {
        throw layout.refusal(column, "it has no value, and is not optional")
      }
      return setNull(column)
    }
    switch column.place.kind {
    case .key: return
    case .composite:
      guard case .composite = value else { throw layout.refusal(column, value) }
    case .fixed:
      guard let type = column.field.type.scalar, let bits = value.bits(of: type) else {
        throw layout.refusal(column, value)
      }
      store(bits, of: type, at: column.place.index)
    case .variable where column.field.type.isExternal:
      guard let blob = value.external(as: column.field.type) else {
        throw layout.refusal(column, value)
      }
      try append(blob, to: column.place.index)
    case .variable:
      guard let bytes = value.variableBytes(of: column.field.type) else {
        throw layout.refusal(column, value)
      }
      try append(bytes.rawSpan, to: column.place.index)
    }
  }

  private func store(_ bits: UInt128, of type: ScalarType, at offset: Int) {
    switch type.fixedWidth {
    case 1: store(UInt8(truncatingIfNeeded: bits), at: offset)
    case 2: store(UInt16(truncatingIfNeeded: bits), at: offset)
    case 4: store(UInt32(truncatingIfNeeded: bits), at: offset)
    case 8: store(UInt64(truncatingIfNeeded: bits), at: offset)
    default: store(bits, at: offset)
    }
  }
}

extension FieldValue {
  /// Returns the bits that a fixed column of the type stores for it, lowest first; nil if it is of another type, or out of
  /// its range.
  func bits(of type: ScalarType) -> UInt128? {
    switch (type, self) {
    case (.boolean, .boolean(let value)): value ? 1 : 0
    case (.int8, .integer(let value)): Int8(exactly: value).map { UInt128(UInt8(bitPattern: $0)) }
    case (.int16, .integer(let value)):
      Int16(exactly: value).map { UInt128(UInt16(bitPattern: $0)) }
    case (.int32, .integer(let value)):
      Int32(exactly: value).map { UInt128(UInt32(bitPattern: $0)) }
    case (.int64, .integer(let value)): UInt128(UInt64(bitPattern: value))
    case (.uint8, .unsigned(let value)): UInt8(exactly: value).map { UInt128($0) }
    case (.uint16, .unsigned(let value)): UInt16(exactly: value).map { UInt128($0) }
    case (.uint32, .unsigned(let value)): UInt32(exactly: value).map { UInt128($0) }
    case (.uint64, .unsigned(let value)): UInt128(value)
    case (.int8, .unsigned), (.int16, .unsigned), (.int32, .unsigned), (.int64, .unsigned),
      (.uint8, .integer), (.uint16, .integer), (.uint32, .integer), (.uint64, .integer):
      converted(to: type.columnType)?.bits(of: type)
    case (.float, .float(let value)): UInt128(value.bitPattern)
    case (.double, .double(let value)): UInt128(value.bitPattern)
    case (.date, .date(let value)): UInt128(value.timeIntervalSinceReferenceDate.bitPattern)
    case (.uuid, .uuid(let value)): UInt128(bytesOf: value)
    default: nil
    }
  }

  /// Returns the value that an external column of the type stores for it; nil if it is of another type.
  fileprivate func external(as type: ColumnType) -> Blob? {
    switch (type, self) {
    case (.external(of: .binaryData, _), .blob(let value)): value
    case (.external(of: .binaryData, _), .data(let value)): Blob(value)
    case (.external(of: .string, _), .string(let value)): Blob(Data(value.utf8))
    default: nil
    }
  }

  /// Returns the bytes that a variable column of the type stores for it; nil if it is of another type.
  func variableBytes(of type: ColumnType) -> [UInt8]? {
    switch (type, self) {
    case (.string, .string(let value)): return Array(value.utf8)
    case (.url, .url(let value)): return Array(value.absoluteString.utf8)
    case (.binaryData, .data(let value)), (.transformable, .data(let value)): return Array(value)
    case (.decimal, .decimal(let value)):
      var bytes: [UInt8] = []
      DecimalParts(value).encode(to: &bytes)
      return bytes
    case (.array(let element), .array(let values)):
      return element.scalar.flatMap { Self.arrayBytes(values, of: $0) }
    default: return nil
    }
  }

  private static func arrayBytes(_ values: [FieldValue], of type: ScalarType) -> [UInt8]? {
    var writer = ArrayWriter(of: type)
    for value in values {
      if type.fixedWidth == nil {
        guard let bytes = value.variableBytes(of: type.columnType) else { return nil }
        writer.append(bytes.rawSpan)
      } else {
        guard let bits = value.bits(of: type) else { return nil }
        writer.append(bits, of: type)
      }
    }
    return writer.finish()
  }
}

extension ArrayWriter {
  fileprivate mutating func append(_ bits: UInt128, of type: ScalarType) {
    switch type.fixedWidth {
    case 1: append(UInt8(truncatingIfNeeded: bits))
    case 2: append(UInt16(truncatingIfNeeded: bits))
    case 4: append(UInt32(truncatingIfNeeded: bits))
    case 8: append(UInt64(truncatingIfNeeded: bits))
    default: append(bits)
    }
  }
}

extension RowLayout {
  func refusal(_ column: Column, _ value: FieldValue) -> StoreError {
    refusal(column, "\(value) is not \(column.field.type), or out of its range")
  }

  func queryRefusal(_ column: Column, _ value: FieldValue) -> StoreError {
    queryRefusal(column, "\(value) is not \(column.field.type), or out of its range")
  }

  func queryRefusal(_ column: Column, _ reason: String) -> StoreError {
    .invalidQuery(record: record.name, field: column.field.name, reason: reason)
  }

  func refusal(_ column: Column, _ reason: String) -> StoreError {
    .invalidValue(record: record.name, field: column.field.name, reason: reason)
  }
}

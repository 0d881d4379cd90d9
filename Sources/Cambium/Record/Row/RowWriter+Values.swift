internal import FoundationEssentials

// Columns of any type, from whoever has no Swift type for them.

extension RowWriter {
  /// Gives a column of the row its value; variable columns come in their order. Fields of the key and
  /// composites that are not null have no bytes of their own.
  ///
  /// - Throws: `.invalidValue` where the value is not one of the column's type; `.limitExceeded`.
  func set(_ value: FieldValue, of column: Column, in layout: RowLayout) throws(StoreError) {
    if case .null = value {
      guard column.field.isOptional else {
        throw layout.refusal(column, "it has no value, and is not optional")
      }
      return setNull(column)
    }
    switch column.place.kind {
    case .key: return
    case .composite:
      guard case .composite = value else { throw layout.refusal(column, value) }
    case .fixed, .variable:
      guard try put(value, column) else { throw layout.refusal(column, value) }
    }
  }

  private func put(_ value: FieldValue, _ column: Column) throws(StoreError) -> Bool {
    let index = column.place.index
    if let scalar = column.scalar { return try scalar.swiftType.put(value, in: self, at: index) }
    if column.field.type.isExternal {
      guard let blob = value.external(as: column.field.type) else { return false }
      try append(blob, to: index)
    } else {
      guard let bytes = value.rowBytes(of: column.field.type) else { return false }
      try append(bytes.rawSpan, to: index)
    }
    return true
  }
}

extension FieldValue {
  /// Returns the value that an external column of the type stores for it; nil if it is of another type.
  fileprivate func external(as type: ColumnType) -> Blob? {
    switch (type, self) {
    case (.external(of: .binaryData, _), .blob(let value)): value
    case (.external(of: .binaryData, _), .data(let value)): Blob(value)
    case (.external(of: .string, _), .string(let value)): Blob(Data(value.utf8))
    default: nil
    }
  }

  /// Returns the bytes that a row has of it in a column of the type; nil if it is of another type, or out of its range.
  func rowBytes(of type: ColumnType) -> [UInt8]? {
    switch (type, self) {
    case (.transformable, .data(let value)): return Array(value)
    case (.array(let element), .array(let values)):
      let type = element.swiftType
      var writer = ArrayWriter(of: element)
      for value in values {
        guard type.append(value, to: &writer) else { return nil }
      }
      return writer.finish()
    default: return type.scalar?.swiftType.rowBytes(of: self)
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

internal import FoundationEssentials

// Columns of any type, for whoever has no Swift type for them.

extension RowReader {
  /// The value of a field, wherever the record has it.
  ///
  /// - Parameter stringsAsBlobs: Whether strings that lie outside the row are not read but for whether they are UTF-8.
  /// - Throws: `.corrupt` where it is none of the type's (R4, K1).
  func value(_ index: Int, stringsAsBlobs: Bool = false) throws(StoreError) -> FieldValue {
    let column = layout.columns[index]
    if isNull(column.place) { return .null }
    switch column.place.kind {
    case .key: return try keyValue(column.place.index)
    case .fixed:
      guard let type = column.scalar, let width = type.fixedWidth else { return .null }
      return try scalar(type, row.part(column.place.index, width))
    case .variable:
      return try variable(column.field.type, bytes(column.place.index), stringsAsBlobs)
    case .composite: return try composite(column, stringsAsBlobs)
    }
  }

  /// The value of a part of the primary key.
  func keyValue(_ part: Int) throws(StoreError) -> FieldValue {
    let layout = layout
    var reader = KeyReader(key, layout: layout)
    for column in layout.key.columns.prefix(part) { try reader.skip(column) }
    let value = try reader.value(layout.key.columns[part])
    if part == layout.key.columns.count - 1 { try reader.finish() }
    return value
  }

  private func composite(
    _ column: Column, _ stringsAsBlobs: Bool
  ) throws(StoreError) -> FieldValue {
    var parts: [String: FieldValue] = [:]
    for part in column.parts {
      let name = layout.columns[part].shortName(in: column)
      parts[name] = try value(part, stringsAsBlobs: stringsAsBlobs)
    }
    return .composite(parts)
  }

  private func variable(
    _ type: ColumnType, _ bytes: RawSpan, _ stringsAsBlobs: Bool
  ) throws(StoreError) -> FieldValue {
    switch type {
    case .transformable: return .data(Data(copying: bytes))
    case .external(let type, _): return try external(type, bytes, stringsAsBlobs)
    case .array(let element):
      guard let array = ArrayReader(bytes, of: element) else {
        throw fault(.rowValues, "an array is not whole elements")
      }
      var values: [FieldValue] = []
      for index in 0..<array.count { values.append(try scalar(element, array.element(index))) }
      return .array(values)
    default:
      guard let type = type.scalar else { return .null }
      return try scalar(type, bytes)
    }
  }

  /// The value of an external column: a string as it is, bytes as a blob that reads them when they are asked for.
  private func external(
    _ type: ScalarType, _ bytes: RawSpan, _ stringsAsBlobs: Bool
  ) throws(StoreError) -> FieldValue {
    guard let value = ExternalValue(decoding: bytes) else {
      throw fault(.rowExternal, "an external value is neither bytes nor a reference")
    }
    let blob = try blob(value)
    // Of a row that is no more, what it says of its blob may be all that is left.
    guard type == .string, !(blob.source is DeletedBlob) else { return .blob(blob) }
    guard stringsAsBlobs, case .reference = value else { return .string(try string(of: blob)) }
    guard try blob.isUTF8 else { throw fault(.rowValues, "a string is not UTF-8") }
    return .blob(blob)
  }

  /// The value that bytes of a row are; where the type's width is fixed, they have it.
  private func scalar(_ type: ScalarType, _ bytes: RawSpan) throws(StoreError) -> FieldValue {
    guard let value = type.swiftType.fieldValue(ofRow: bytes) else {
      throw fault(.rowValues, "what is there is no \(type)")
    }
    return value
  }
}

extension Column {
  /// Its name without that of the composite it is in.
  func shortName(in composite: Column) -> String {
    String(field.name.utf8.dropFirst(composite.field.name.utf8.count + 1)) ?? field.name
  }
}

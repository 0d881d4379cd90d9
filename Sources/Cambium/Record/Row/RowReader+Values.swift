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
      guard let type = column.field.type.scalar, let width = type.fixedWidth else { return .null }
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
      guard let element = element.scalar, let array = ArrayReader(bytes, of: element) else {
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
    _ type: ColumnType, _ bytes: RawSpan, _ stringsAsBlobs: Bool
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
    guard let value = FieldValue(type, rowBytes: bytes) else {
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

extension FieldValue {
  /// - Returns: nil if the bytes are no value of the type, which has their width if it is fixed.
  init?(_ type: ScalarType, rowBytes bytes: RawSpan) {
    switch type {
    case .boolean:
      guard bytes.load(0, as: UInt8.self) <= 1 else { return nil }
      self = .boolean(bytes.load(0, as: UInt8.self) == 1)
    case .int8: self = .integer(Int64(bytes.load(0, as: Int8.self)))
    case .int16: self = .integer(Int64(bytes.load(0, as: Int16.self)))
    case .int32: self = .integer(Int64(bytes.load(0, as: Int32.self)))
    case .int64: self = .integer(bytes.load(0, as: Int64.self))
    case .uint8: self = .unsigned(UInt64(bytes.load(0, as: UInt8.self)))
    case .uint16: self = .unsigned(UInt64(bytes.load(0, as: UInt16.self)))
    case .uint32: self = .unsigned(UInt64(bytes.load(0, as: UInt32.self)))
    case .uint64: self = .unsigned(bytes.load(0, as: UInt64.self))
    case .float: self = .float(Float(bitPattern: bytes.load(0, as: UInt32.self)))
    case .double: self = .double(Double(bitPattern: bytes.load(0, as: UInt64.self)))
    case .date:
      let seconds = Double(bitPattern: bytes.load(0, as: UInt64.self))
      self = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .uuid: self = .uuid(UUID(bytesOf: bytes.load(0, as: UInt128.self)))
    default: self.init(type, variableBytes: bytes)
    }
  }

  private init?(_ type: ScalarType, variableBytes bytes: RawSpan) {
    switch type {
    case .decimal:
      guard let parts = DecimalParts(decoding: bytes) else { return nil }
      self = .decimal(parts.decimal)
    case .binaryData: self = .data(Data(copying: bytes))
    default:
      guard let text = String(utf8: bytes) else { return nil }
      if type == .string {
        self = .string(text)
      } else if let url = URL(stored: text) {
        self = .url(url)
      } else {
        return nil
      }
    }
  }
}

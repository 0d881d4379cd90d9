/// The type as which a field of a record is stored.
///
/// A composite field has no bytes of its own: its parts are fields, with its name before theirs
/// (`address.street`).
public indirect enum ColumnType: Hashable, Sendable {
  case boolean
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  case float, double
  /// Seconds since 2001-01-01 00:00:00 UTC, as a double.
  case date
  case uuid
  /// Up to 38 digits and a power of ten.
  case decimal
  /// UTF-8.
  case string
  /// An absolute URL, as its string.
  case url
  case binaryData
  /// Bytes that a codec makes of a value; the codec's identity is part of the schema, the value's type is not.
  case transformable(codec: String)
  /// Values of one type, none of them null. No array of arrays, of composites or of transformables.
  case array(of: ColumnType)
  /// A struct whose parts are fields of the record.
  case composite
  /// Binary data, or a string, that lies outside the row if it is long.
  case external(of: ColumnType, BlobOptions)
}

extension ColumnType {
  /// The number of bytes that a value takes in a row; nil if it varies, 0 for a composite.
  public var fixedWidth: Int? {
    switch self {
    case .composite: 0
    case .boolean, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double, .date: 8
    case .uuid: 16
    case .decimal, .string, .url, .binaryData, .transformable, .array, .external: nil
    }
  }

  /// True if values can be in keys, since the order of their bytes is that of the values.
  public var canBeKey: Bool {
    switch self {
    case .transformable, .array, .composite, .external: false
    default: true
    }
  }

  /// True if values may lie outside the row.
  public var isExternal: Bool { if case .external = self { true } else { false } }

  /// The type as far as rows depend on it: without the options by which new values of an external column are written.
  var stored: ColumnType {
    if case .external(let type, _) = self { .external(of: type, BlobOptions()) } else { self }
  }
}

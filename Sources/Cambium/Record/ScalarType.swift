/// The types of columns that are one value: those that keys and arrays can have.
enum ScalarType: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
  case boolean
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  case float, double, date
  case uuid, decimal, string, url, binaryData
}

extension ScalarType {
  var columnType: ColumnType {
    switch self {
    case .boolean: .boolean
    case .int8: .int8
    case .int16: .int16
    case .int32: .int32
    case .int64: .int64
    case .uint8: .uint8
    case .uint16: .uint16
    case .uint32: .uint32
    case .uint64: .uint64
    case .float: .float
    case .double: .double
    case .date: .date
    case .uuid: .uuid
    case .decimal: .decimal
    case .string: .string
    case .url: .url
    case .binaryData: .binaryData
    }
  }

  /// The bytes that a value takes; nil if they vary.
  var fixedWidth: Int? { columnType.fixedWidth }
}

extension ColumnType {
  /// Nil for what is more than one value, and for bytes of a codec.
  var scalar: ScalarType? {
    switch self {
    case .boolean: .boolean
    case .int8: .int8
    case .int16: .int16
    case .int32: .int32
    case .int64: .int64
    case .uint8: .uint8
    case .uint16: .uint16
    case .uint32: .uint32
    case .uint64: .uint64
    case .float: .float
    case .double: .double
    case .date: .date
    case .uuid: .uuid
    case .decimal: .decimal
    case .string: .string
    case .url: .url
    case .binaryData: .binaryData
    case .transformable, .array, .composite, .external: nil
    }
  }
}

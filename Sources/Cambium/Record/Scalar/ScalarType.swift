internal import FoundationEssentials

/// The types of columns that are one value: those that keys and arrays can have.
enum ScalarType: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
  case boolean
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  case float, double, date
  case uuid, decimal, string, url, binaryData
}

extension ScalarType {
  /// The Swift type of its values.
  var swiftType: any StoredScalar.Type {
    switch self {
    case .boolean: Bool.self
    case .int8: Int8.self
    case .int16: Int16.self
    case .int32: Int32.self
    case .int64: Int64.self
    case .uint8: UInt8.self
    case .uint16: UInt16.self
    case .uint32: UInt32.self
    case .uint64: UInt64.self
    case .float: Float.self
    case .double: Double.self
    case .date: Date.self
    case .uuid: UUID.self
    case .decimal: Decimal.self
    case .string: String.self
    case .url: URL.self
    case .binaryData: Data.self
    }
  }

  /// The type whose values a column of an integer type holds; nil for other columns.
  var integer: (any StoredInteger.Type)? { swiftType as? any StoredInteger.Type }

  /// Returns the type whose values are stored as they are; nil for types of the user's own, for arrays and for optionals.
  static func swiftType(_ type: any Any.Type) -> (any StoredScalar.Type)? {
    swiftTypes[ObjectIdentifier(type)]
  }

  private static let swiftTypes: [ObjectIdentifier: any StoredScalar.Type] = {
    precondition(MemoryLayout<Int>.size == 8, "integers of 64 bits are `Int`")
    let types = allCases.map(\.swiftType) + [Int.self, UInt.self]
    return Dictionary(types.map { (ObjectIdentifier($0), $0) }) { one, _ in one }
  }()

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

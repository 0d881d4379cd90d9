internal import FoundationEssentials

extension ScalarType {
  /// The type of column that holds values of a Swift type as they are; nil for types of the user's own, for
  /// arrays and for optionals.
  init?(valuesOf type: any Any.Type) {
    guard let scalar = ScalarType.known[ObjectIdentifier(type)] else { return nil }
    self = scalar
  }

  private static let known: [ObjectIdentifier: ScalarType] = {
    precondition(MemoryLayout<Int>.size == 8, "integers of 64 bits are `Int`")
    return [
      ObjectIdentifier(Bool.self): .boolean,
      ObjectIdentifier(Int8.self): .int8, ObjectIdentifier(Int16.self): .int16,
      ObjectIdentifier(Int32.self): .int32, ObjectIdentifier(Int64.self): .int64,
      ObjectIdentifier(Int.self): .int64,
      ObjectIdentifier(UInt8.self): .uint8, ObjectIdentifier(UInt16.self): .uint16,
      ObjectIdentifier(UInt32.self): .uint32, ObjectIdentifier(UInt64.self): .uint64,
      ObjectIdentifier(UInt.self): .uint64,
      ObjectIdentifier(Float.self): .float, ObjectIdentifier(Double.self): .double,
      ObjectIdentifier(Date.self): .date, ObjectIdentifier(UUID.self): .uuid,
      ObjectIdentifier(Decimal.self): .decimal, ObjectIdentifier(String.self): .string,
      ObjectIdentifier(URL.self): .url, ObjectIdentifier(Data.self): .binaryData,
    ]
  }()
}

extension ScalarType {
  /// The type whose values a column of an integer type holds; nil for other columns.
  var integer: (any ColumnInteger.Type)? {
    switch self {
    case .int8: Int8.self
    case .int16: Int16.self
    case .int32: Int32.self
    case .int64: Int64.self
    case .uint8: UInt8.self
    case .uint16: UInt16.self
    case .uint32: UInt32.self
    case .uint64: UInt64.self
    default: nil
    }
  }
}

internal import FoundationEssentials

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
}

extension RawSpan {
  /// Returns the number that a fixed column of a type of integers has; nil of other types.
  @inline(__always)
  func integer(_ type: ScalarType, at offset: Int) -> Int128? {
    switch type {
    case .int8: Int128(load(offset, as: Int8.self))
    case .int16: Int128(load(offset, as: Int16.self))
    case .int32: Int128(load(offset, as: Int32.self))
    case .int64: Int128(load(offset, as: Int64.self))
    case .uint8: Int128(load(offset, as: UInt8.self))
    case .uint16: Int128(load(offset, as: UInt16.self))
    case .uint32: Int128(load(offset, as: UInt32.self))
    case .uint64: Int128(load(offset, as: UInt64.self))
    default: nil
    }
  }
}

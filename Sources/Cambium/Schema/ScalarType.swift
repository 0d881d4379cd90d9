/// A type of columns that are one value, such as keys and arrays are made of.
///
/// The raw value is its number in the format.
public enum ScalarType: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
  case boolean = 1
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
}

extension ScalarType {
  /// The number of bytes that a value takes in a row; nil if it varies.
  @inline(__always)
  var fixedWidth: Int? { keyWidth == 0 ? nil : keyWidth }

  /// The `fixedWidth` of types that have one; 0 for others.
  @inline(__always)
  var keyWidth: Int {
    switch self {
    case .boolean, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double, .date: 8
    case .uuid: 16
    case .decimal, .string, .url, .binaryData: 0
    }
  }

  /// True of types whose values have a sum.
  var isNumber: Bool { isInteger || isFraction || self == .decimal }

  package var isInteger: Bool {
    (ScalarType.int8.rawValue...ScalarType.uint64.rawValue).contains(rawValue)
  }

  private var isFraction: Bool { self == .float || self == .double }

  private var isUnsigned: Bool {
    (ScalarType.uint8.rawValue...ScalarType.uint64.rawValue).contains(rawValue)
  }

  /// Returns true if every value of this type is one of the other, which takes more bits.
  func widens(to other: ScalarType) -> Bool {
    guard isInteger || isFraction, other.isInteger || other.isFraction,
      !other.isUnsigned || isUnsigned, other.isFraction || !isFraction
    else { return false }
    return bitCount < other.bitCount
  }

  /// The bits that a number has beside its sign.
  private var bitCount: Int {
    switch self {
    case .float: 24
    case .double: 53
    default: 8 * keyWidth - (isUnsigned ? 0 : 1)
    }
  }
}

/// The type as which a field of a record is stored.
///
/// A composite field has no bytes of its own: its parts are fields, with its name before theirs
/// (`address.street`).
package enum ColumnType: Hashable, Sendable {
  case scalar(ScalarType)
  /// Bytes that a codec makes of a value; the codec's identity is part of the schema, the value's type is not.
  case transformable(codec: String)
  /// Values of one type, none of them null.
  case array(of: ScalarType)
  /// A struct whose parts are fields of the record.
  case composite
  /// Binary data, or a string, that lies outside the row if it is long.
  case external(of: ScalarType, BlobOptions)
}

extension ColumnType {
  /// The type of the values, if each is one; nil for several values, and for bytes of a codec.
  package var scalar: ScalarType? { if case .scalar(let type) = self { type } else { nil } }

  /// The number of bytes that a value takes in a row; nil if it varies, 0 for a composite.
  var fixedWidth: Int? { self == .composite ? 0 : scalar?.fixedWidth }

  /// True if values can be in keys, since the order of their bytes is that of the values.
  var canBeKey: Bool { scalar != nil }

  /// Returns the type of the values that a part of a key makes of this type's; nil if it makes none.
  func keyType(_ expansion: KeyPart.Expansion) -> ScalarType? {
    switch (expansion, self) {
    case (.none, .scalar(let type)), (.elements, .array(of: let type)): type
    case (.words, .scalar(.string)): .string
    default: nil
    }
  }

  /// True if values may lie outside the row.
  var isExternal: Bool { if case .external = self { true } else { false } }

  /// The type as far as rows depend on it: without the options by which new values of an external column are written.
  var stored: ColumnType {
    if case .external(let type, _) = self { .external(of: type, BlobOptions()) } else { self }
  }
}

extension ColumnType {
  package static var boolean: ColumnType { .scalar(.boolean) }
  package static var int8: ColumnType { .scalar(.int8) }
  package static var int16: ColumnType { .scalar(.int16) }
  package static var int32: ColumnType { .scalar(.int32) }
  package static var int64: ColumnType { .scalar(.int64) }
  package static var uint8: ColumnType { .scalar(.uint8) }
  package static var uint16: ColumnType { .scalar(.uint16) }
  package static var uint32: ColumnType { .scalar(.uint32) }
  package static var uint64: ColumnType { .scalar(.uint64) }
  package static var float: ColumnType { .scalar(.float) }
  package static var double: ColumnType { .scalar(.double) }
  package static var date: ColumnType { .scalar(.date) }
  package static var uuid: ColumnType { .scalar(.uuid) }
  package static var decimal: ColumnType { .scalar(.decimal) }
  package static var string: ColumnType { .scalar(.string) }
  package static var url: ColumnType { .scalar(.url) }
  package static var binaryData: ColumnType { .scalar(.binaryData) }
}

/// A type of columns that are one value, such as keys and arrays are made of.
///
/// The raw value is its number in the format.
package enum ScalarType: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
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

  var isFraction: Bool { self == .float || self == .double }

  var isUnsigned: Bool {
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

extension ColumnType: CustomStringConvertible {
  /// The type as it is declared.
  package var description: String {
    switch self {
    case .scalar(let type): "\(type)"
    case .transformable(let codec): "transformable(\(codec))"
    case .array(let element): "array(of: \(element))"
    case .composite: "composite"
    case .external(let type, let options): "external(\(type), \(options))"
    }
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A value that a column of a row holds as it is.
///
/// `column` is the index of a `ColumnPlace`: the offset of a fixed column, the number of a variable one.
protocol ColumnValue {
  /// - Throws: `.limitExceeded` where the row gets too long.
  func put(in row: RowWriter, at column: Int) throws(StoreError)
  /// - Throws: `.corrupt` where the bytes are no such value.
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Self
  /// Appends it to a key. Values without an order are in none.
  ///
  /// - Throws: `.invalidValue` for NaN.
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError)
  /// - Throws: `.corrupt` where the bytes are no such value.
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Self
}

extension ColumnValue {
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { throw layout.noKey(column) }

  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Self {
    throw key.fault("a value without an order cannot be in a key")
  }
}

/// A Swift type whose values are stored as they are: in columns, in keys, as elements of arrays.
protocol StoredScalar: ColumnValue, ScalarFieldValue {
  /// Fails if the bytes of a column or an element are no such value.
  init?(rowBytes: RawSpan)
  /// The bytes that a column or an element has of it.
  var rowBytes: [UInt8] { get }
  func append(to array: inout ArrayWriter)
  /// False for a value that its Swift type has, and the type of columns has not.
  var isStorable: Bool { get }

  // The same for callers that have the type only as a value, so that each is compiled for its type.

  /// Returns the value that bytes of a row are; nil if they are none.
  static func fieldValue(ofRow bytes: RawSpan) -> FieldValue?
  /// Puts a value in its column.
  ///
  /// - Returns: False if it is of another type, or out of its range.
  static func put(_ value: FieldValue, in row: RowWriter, at column: Int) throws(StoreError) -> Bool
  /// Appends a value to a key.
  ///
  /// - Returns: False if it is of another type, or out of its range.
  static func append(
    _ value: FieldValue, to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) -> Bool
  /// Appends a value to a key, given its bytes in a row.
  ///
  /// - Returns: False if they are no such value.
  static func append(
    rowBytes: RawSpan, to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) -> Bool
  /// Reads the next part of a key.
  static func fieldValue(
    from key: inout KeyReader, as form: KeyForm
  ) throws(StoreError) -> FieldValue
  /// Fills an array of the type, or an optional one, that has no value yet. It has none either if this returns false, since an
  /// element is no value of the type.
  static func fill(
    _ property: UnsafeMutableRawPointer, isOptional: Bool, from array: ArrayReader
  ) -> Bool
}

extension StoredScalar {
  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Self {
    guard let value = Self(rowBytes: row.bytes(column)) else { throw row.fault(scalarType) }
    return value
  }

  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    try row.append(rowBytes.rawSpan, to: column)
  }

  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) { key.append(rowBytes.rawSpan, column.form) }

  func append(to array: inout ArrayWriter) { array.append(rowBytes.rawSpan) }

  @inline(__always)
  var isStorable: Bool { true }

  /// Returns the value that a column of exactly this type holds: a float is no double. Nil if there is none.
  private static func exactly(_ value: FieldValue) -> Self? {
    if case .float = value, scalarType != .float { return nil }
    return Self(fieldValue: value)
  }

  static func fieldValue(ofRow bytes: RawSpan) -> FieldValue? {
    Self(rowBytes: bytes)?.fieldValue
  }

  static func put(
    _ value: FieldValue, in row: RowWriter, at column: Int
  ) throws(StoreError) -> Bool {
    guard let value = exactly(value) else { return false }
    try value.put(in: row, at: column)
    return true
  }

  static func append(
    _ value: FieldValue, to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) -> Bool {
    guard let value = exactly(value) else { return false }
    try value.append(to: key, as: column, of: layout)
    return true
  }

  static func append(
    rowBytes: RawSpan, to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) -> Bool {
    guard let value = Self(rowBytes: rowBytes) else { return false }
    try value.append(to: key, as: column, of: layout)
    return true
  }

  static func fieldValue(
    from key: inout KeyReader, as form: KeyForm
  ) throws(StoreError) -> FieldValue { try take(from: &key, as: form).fieldValue }

  static func fill(
    _ property: UnsafeMutableRawPointer, isOptional: Bool, from array: ArrayReader
  ) -> Bool {
    var values: [Self] = []
    values.reserveCapacity(array.count)
    for index in 0..<array.count {
      guard let value = Self(rowBytes: array.element(index)) else { return false }
      values.append(value)
    }
    unsafe fill(property, isOptional: isOptional, with: values)
    return true
  }

  @inline(__always)
  fileprivate static func fill(
    _ property: UnsafeMutableRawPointer, isOptional: Bool, with values: [Self]
  ) {
    if isOptional {
      unsafe property.initializeMemory(as: [Self]?.self, to: values)
    } else {
      unsafe property.initializeMemory(as: [Self].self, to: values)
    }
  }

  /// Appends a value to an array.
  ///
  /// - Returns: False if it is of another type, or out of its range.
  static func append(_ value: FieldValue, to array: inout ArrayWriter) -> Bool {
    guard let value = exactly(value), value.isStorable else { return false }
    value.append(to: &array)
    return true
  }

  /// Returns the bytes that a row has of a value; nil if it is of another type, or out of its range.
  static func rowBytes(of value: FieldValue) -> [UInt8]? { exactly(value)?.rowBytes }
}

/// A scalar whose values all take as many bytes: in a row as `RowBits` has, in a key as `KeyBits` has.
protocol FixedScalar: StoredScalar {
  associatedtype RowBits: FixedWidthInteger & BitwiseCopyable
  associatedtype KeyBits: FixedWidthInteger & UnsignedInteger & BitwiseCopyable
  /// Fails if no value has these bits.
  init?(rowBits: RowBits)
  var rowBits: RowBits { get }
  /// Fails if no value has these bits in keys.
  init?(sortedBits: KeyBits)
  /// A number that sorts as the value does; nil for NaN.
  var sortedBits: KeyBits? { get }
}

extension FixedScalar {
  @inline(__always)
  func put(in row: RowWriter, at column: Int) throws(StoreError) {
    row.store(rowBits, at: column)
  }

  @inline(__always)
  static func get(from row: borrowing RowReader, at column: Int) throws(StoreError) -> Self {
    let bits = row.load(column, as: RowBits.self)
    guard let value = Self(rowBits: bits) else { throw row.fault(scalarType) }
    return value
  }

  @inline(__always)
  init?(rowBytes: RawSpan) { self.init(rowBits: rowBytes.load(0, as: RowBits.self)) }

  var rowBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: rowBits)
    return bytes
  }

  func append(to array: inout ArrayWriter) { array.append(rowBits) }

  static func fill(
    _ property: UnsafeMutableRawPointer, isOptional: Bool, from array: ArrayReader
  ) -> Bool {
    var values: [Self] = []
    values.reserveCapacity(array.count)
    for index in 0..<array.count {
      guard let value = Self(rowBits: array.word(index, as: RowBits.self)) else { return false }
      values.append(value)
    }
    unsafe fill(property, isOptional: isOptional, with: values)
    return true
  }

  @inline(__always)
  func append(
    to key: KeyEncoder, as column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) {
    guard let bits = sortedBits else { throw layout.notANumber(column) }
    key.append(bits, column.form)
  }

  @inline(__always)
  static func take(from key: inout KeyReader, as form: KeyForm) throws(StoreError) -> Self {
    guard let value = Self(sortedBits: try key.word(KeyBits.self, form)) else {
      throw key.fault(scalarType)
    }
    return value
  }
}

/// An integer of any width.
protocol StoredInteger: FixedScalar, FixedWidthInteger, BitwiseCopyable
where RowBits == Self, KeyBits == Magnitude, Magnitude: BitwiseCopyable {}

extension StoredInteger {
  @inline(__always)
  init?(rowBits: Self) { self = rowBits }

  @inline(__always)
  var rowBits: Self { self }

  @inline(__always)
  private static var sign: Magnitude {
    isSigned ? 1 &<< (Magnitude(truncatingIfNeeded: bitWidth) &- 1) : 0
  }

  @inline(__always)
  init?(sortedBits: Magnitude) { self.init(truncatingIfNeeded: sortedBits ^ Self.sign) }

  @inline(__always)
  var sortedBits: Magnitude? { Magnitude(truncatingIfNeeded: self) ^ Self.sign }
}

extension RowReader {
  @inline(never)
  fileprivate func fault(_ type: ScalarType) -> StoreError {
    fault(.rowValues, "the value is no \(type)")
  }
}

extension KeyReader {
  @inline(never)
  fileprivate func fault(_ type: ScalarType) -> StoreError {
    fault("the value is no \(type) that is in keys")
  }
}

extension RowLayout {
  /// Returns the error for a column whose values have no order; layouts have no such keys.
  func noKey(_ column: KeyColumn) -> StoreError {
    .invalidValue(
      record: record.name, field: columns[Int(column.column)].field.name,
      reason: "such values cannot be in a key")
  }
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

extension RawSpan {
  /// Returns the number that a fixed column of a type of integers has; nil of other types, and beyond 64 bits with a sign.
  @inline(__always)
  func smallInteger(_ type: ScalarType, at offset: Int) -> Int64? {
    switch type {
    case .int8: Int64(load(offset, as: Int8.self))
    case .int16: Int64(load(offset, as: Int16.self))
    case .int32: Int64(load(offset, as: Int32.self))
    case .int64: load(offset, as: Int64.self)
    case .uint8: Int64(load(offset, as: UInt8.self))
    case .uint16: Int64(load(offset, as: UInt16.self))
    case .uint32: Int64(load(offset, as: UInt32.self))
    case .uint64: Int64(exactly: load(offset, as: UInt64.self))
    default: nil
    }
  }
}

// The initializers of the standard library are not inlined, and take longer than all that is done with the number.

extension Int128 {
  @inline(__always)
  init(small value: Int64) { self.init(_low: UInt64(bitPattern: value), _high: value &>> 63) }

  /// The number in 64 bits; nil if it takes more.
  @inline(__always)
  var small: Int64? {
    let value = Int64(bitPattern: _low)
    return value &>> 63 == _high ? value : nil
  }
}

import Cambium
import FoundationEssentials

/// The change of a value that does not go over exactly.
package enum ValueLoss: String, Sendable, Hashable, CaseIterable, Encodable {
  case nul
  case noSuchTime
  case rounded
  case aboveBigint
  case sameKey
  case sameUnique

  /// True if the record cannot be moved.
  package var isFatal: Bool { self != .rounded && self != .aboveBigint }

  /// The change, as the end of a sentence that begins with the value.
  package var text: String {
    switch self {
    case .nul: "contains U+0000, which text in PostgreSQL cannot"
    case .noSuchTime:
      "is a time that PostgreSQL does not have: not a number, before 4714 BC or after 294276"
    case .rounded: "is rounded to a microsecond"
    case .aboveBigint: "is kept exactly, by numeric(20,0), and exceeds a bigint"
    case .sameKey: "has the key of the record before it, since dates are rounded"
    case .sameUnique: "has the same unique values as another record, since dates are rounded"
    }
  }
}

/// Writes values in PostgreSQL's binary form, most significant byte first: as COPY has them, and its `…send` functions.
package struct ValueEncoder {
  package var bytes: [UInt8] = []
  /// The losses of the last values.
  package var losses: Set<ValueLoss> = []
  let dates: DateForm

  package init(dates: DateForm) {
    self.dates = dates
  }

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }

  /// Appends a length, and after it the bytes that `body` appends.
  mutating func appendSized(_ body: (inout ValueEncoder) -> Void) {
    let start = bytes.count
    append(Int32(0))
    body(&self)
    let count = UInt32(bytes.count - start - 4)
    for place in 0..<4 {
      bytes[start + place] = UInt8(truncatingIfNeeded: count >> (24 - 8 * place))
    }
  }

  mutating func appendNull() { append(Int32(-1)) }

  /// Appends a value with its length, or null.
  mutating func append(_ value: FieldValue, of scalar: ScalarType) {
    if case .null = value { return appendNull() }
    appendSized { $0.appendContent(value, of: scalar) }
  }

  /// Appends an array with its length, or null.
  mutating func append(array value: FieldValue, of scalar: ScalarType) {
    guard case .array(let values) = value else { return appendNull() }
    appendSized { encoder in
      encoder.append(Int32(values.isEmpty ? 0 : 1))
      // None of the elements is null.
      encoder.append(Int32(0))
      encoder.append(SQLType(scalar, dates: encoder.dates).number)
      guard !values.isEmpty else { return }
      encoder.append(Int32(values.count))
      encoder.append(Int32(1))
      for value in values { encoder.append(value, of: scalar) }
    }
  }

  private mutating func appendContent(_ value: FieldValue, of scalar: ScalarType) {
    switch value {
    case .null, .array, .composite, .blob: break
    case .boolean(let value): bytes.append(value ? 1 : 0)
    case .integer(let value): append(integer: value, as: SQLType(scalar, dates: dates))
    case .unsigned(let value):
      if scalar == .uint64 {
        if value > UInt64(Int64.max) { losses.insert(.aboveBigint) }
        append(numeric: Array("\(value)".utf8), exponent: 0, isNegative: false)
      } else {
        append(integer: Int64(truncatingIfNeeded: value), as: SQLType(scalar, dates: dates))
      }
    case .float(let value): append(value.isNaN ? Float.nan.bitPattern : value.bitPattern)
    case .double(let value): append(double: value)
    case .decimal(let value): append(decimal: value)
    case .string(let value): append(text: value)
    case .url(let value): append(text: value.absoluteString)
    case .date(let value): append(date: value)
    case .data(let value): bytes += value
    case .uuid(let value): append(uuid: value)
    }
  }

  private mutating func append(integer value: Int64, as type: SQLType) {
    switch type {
    case .smallint: append(Int16(truncatingIfNeeded: value))
    case .integer: append(Int32(truncatingIfNeeded: value))
    default: append(value)
    }
  }

  private mutating func append(double value: Double) {
    append(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
  }

  private mutating func append(text: String) {
    let start = bytes.count
    bytes += text.utf8
    if bytes[start...].contains(0) { losses.insert(.nul) }
  }

  mutating func append(uuid: UUID) {
    let value = uuid.uuid
    bytes += [
      value.0, value.1, value.2, value.3, value.4, value.5, value.6, value.7, value.8, value.9,
      value.10, value.11, value.12, value.13, value.14, value.15,
    ]
  }

  private mutating func append(date: Date) {
    if dates == .double { return append(double: date.timeIntervalSinceReferenceDate) }
    switch Microseconds(date) {
    case .exact(let value): append(value)
    case .rounded(let value):
      losses.insert(.rounded)
      append(value)
    case .impossible:
      losses.insert(.noSuchTime)
      append(Int64(0))
    }
  }

  private mutating func append(decimal: Decimal) {
    if decimal.isNaN { return appendNumericHeader(0, weight: 0, sign: 0xC000, scale: 0) }
    append(
      numeric: Array(decimal.significand.magnitude.description.utf8), exponent: decimal.exponent,
      isNegative: decimal.isSignMinus)
  }

  /// Appends a number of decimal digits, times a power of ten, in groups of four digits from the point on.
  private mutating func append(numeric ascii: [UInt8], exponent: Int, isNegative: Bool) {
    var digits = ascii.drop { $0 == UInt8(ascii: "0") }.map { $0 - UInt8(ascii: "0") }
    var exponent = exponent
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    guard !digits.isEmpty else { return appendNumericHeader(0, weight: 0, sign: 0, scale: 0) }
    let scale = Swift.max(0, -exponent)
    let rest = ((exponent % 4) + 4) % 4
    let lowestGroup = (exponent - rest) / 4
    digits += [UInt8](repeating: 0, count: rest)
    digits = [UInt8](repeating: 0, count: (4 - digits.count % 4) % 4) + digits
    let groups = stride(from: 0, to: digits.count, by: 4).map { place in
      digits[place..<place + 4].reduce(Int16(0)) { $0 * 10 + Int16($1) }
    }
    appendNumericHeader(
      groups.count, weight: groups.count - 1 + lowestGroup, sign: isNegative ? 0x4000 : 0,
      scale: scale)
    for group in groups { append(group) }
  }

  private mutating func appendNumericHeader(
    _ count: Int, weight: Int, sign: UInt16, scale: Int
  ) {
    append(Int16(count))
    append(Int16(weight))
    append(sign)
    append(Int16(scale))
  }
}

extension SQLType {
  /// The number that the server knows it by, in `pg_type`.
  var number: Int32 {
    switch self {
    case .boolean: 16
    case .bytea: 17
    case .bigint: 20
    case .smallint: 21
    case .integer: 23
    case .text: 25
    case .real: 700
    case .double: 701
    case .timestamp: 1_184
    case .numeric, .unsigned: 1_700
    case .uuid: 2_950
    }
  }

  /// The function of the server that returns a value in the same form.
  var sendFunction: String {
    switch self {
    case .boolean: "boolsend"
    case .bytea: "byteasend"
    case .bigint: "int8send"
    case .smallint: "int2send"
    case .integer: "int4send"
    case .text: "textsend"
    case .real: "float4send"
    case .double: "float8send"
    case .timestamp: "timestamptz_send"
    case .numeric, .unsigned: "numeric_send"
    case .uuid: "uuid_send"
    }
  }
}

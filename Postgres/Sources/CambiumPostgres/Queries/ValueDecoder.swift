import Cambium
import FoundationEssentials

/// Reads values in PostgreSQL's binary form.
struct ValueDecoder {
  let dates: DateForm

  /// Returns a value of a scalar type; nil if it is none.
  func value(_ bytes: [UInt8]?, of scalar: ScalarType) -> FieldValue? {
    guard let bytes else { return .null }
    switch scalar {
    case .boolean: return bytes.count == 1 ? .boolean(bytes[0] != 0) : nil
    case .int8, .int16, .int32, .int64: return Self.integer(bytes).map { .integer($0) }
    case .uint8, .uint16, .uint32:
      return Self.integer(bytes).flatMap { UInt64(exactly: $0) }.map { .unsigned($0) }
    case .uint64:
      return Self.numeric(bytes)?.integer.flatMap { UInt64(exactly: $0) }.map { .unsigned($0) }
    case .float:
      guard bytes.count == 4 else { return nil }
      return .float(Float(bitPattern: UInt32(truncatingIfNeeded: Self.word(bytes))))
    case .double:
      return bytes.count == 8 ? .double(Double(bitPattern: Self.word(bytes))) : nil
    case .date: return date(bytes)
    case .uuid: return Self.uuid(bytes).map { .uuid($0) }
    case .decimal: return Self.numeric(bytes)?.decimal.map { .decimal($0) }
    case .string: return String(validating: bytes, as: UTF8.self).map { .string($0) }
    case .url:
      return String(validating: bytes, as: UTF8.self).flatMap { URL(string: $0) }.map { .url($0) }
    case .binaryData: return .data(Data(bytes))
    }
  }

  /// Returns an array of a scalar type; nil if it is none, or one of its elements is null.
  func array(_ bytes: [UInt8]?, of scalar: ScalarType) -> FieldValue? {
    guard let bytes else { return .null }
    guard bytes.count >= 12 else { return nil }
    let dimensions = Self.word(bytes[0..<4])
    if dimensions == 0 { return .array([]) }
    guard dimensions == 1, bytes.count >= 20 else { return nil }
    let count = Int(Self.word(bytes[12..<16]))
    var values: [FieldValue] = []
    var place = 20
    for _ in 0..<count {
      guard place + 4 <= bytes.count else { return nil }
      let length = Int(Int32(truncatingIfNeeded: Self.word(bytes[place..<place + 4])))
      place += 4
      guard length >= 0, place + length <= bytes.count,
        let value = value(Array(bytes[place..<place + length]), of: scalar)
      else { return nil }
      values.append(value)
      place += length
    }
    return .array(values)
  }

  static func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func integer(_ bytes: [UInt8]) -> Int64? {
    switch bytes.count {
    case 2: Int64(Int16(truncatingIfNeeded: word(bytes)))
    case 4: Int64(Int32(truncatingIfNeeded: word(bytes)))
    case 8: Int64(truncatingIfNeeded: word(bytes))
    default: nil
    }
  }

  private func date(_ bytes: [UInt8]) -> FieldValue? {
    guard bytes.count == 8 else { return nil }
    let word = Self.word(bytes)
    if dates == .double {
      return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word)))
    }
    return .date(Microseconds.date(Int64(truncatingIfNeeded: word)))
  }

  private static func uuid(_ bytes: [UInt8]) -> UUID? {
    guard bytes.count == 16 else { return nil }
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }

  // MARK: Numbers of any length

  /// A `numeric`: groups of four digits, of which the first counts 10000 to the power of the weight.
  struct Numeric {
    let groups: [Int]
    let weight: Int
    let isNegative: Bool
    let isNaN: Bool
    /// The number of digits after the point.
    let scale: Int
  }

  static func numeric(_ bytes: [UInt8]) -> Numeric? {
    guard bytes.count >= 8 else { return nil }
    func short(_ place: Int) -> Int { Int(word(bytes[place..<place + 2])) }
    let count = short(0)
    guard bytes.count == 8 + 2 * count else { return nil }
    let sign = short(4)
    // Infinity is none of ours.
    guard [0, 0x4000, 0xC000].contains(sign) else { return nil }
    return Numeric(
      groups: (0..<count).map { short(8 + 2 * $0) },
      weight: Int(Int16(truncatingIfNeeded: short(2))), isNegative: sign == 0x4000,
      isNaN: sign == 0xC000, scale: short(6))
  }
}

extension ValueDecoder.Numeric {
  /// The number, if it is an integer of 128 bits.
  var integer: Int128? {
    if isNaN { return nil }
    var value: Int128 = 0
    for place in 0..<max(weight + 1, groups.count) {
      let group = place < groups.count ? groups[place] : 0
      guard place <= weight else {
        if group != 0 { return nil }
        continue
      }
      let (product, isTooMuch) = value.multipliedReportingOverflow(by: 10_000)
      let (sum, isBeyond) = product.addingReportingOverflow(Int128(group))
      if isTooMuch || isBeyond { return nil }
      value = sum
    }
    return isNegative ? -value : value
  }

  /// The number as a decimal; nil if its digits or its exponent do not fit.
  var decimal: Decimal? {
    if isNaN { return .nan }
    var digits = groups.flatMap { [$0 / 1_000, $0 / 100 % 10, $0 / 10 % 10, $0 % 10] }
    var exponent = 4 * (weight - groups.count + 1)
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    digits = Array(digits.drop { $0 == 0 })
    if digits.isEmpty { return 0 }
    // The exponent of a decimal has a byte.
    while exponent > 127 {
      digits.append(0)
      exponent -= 1
      if digits.count > 39 { return nil }
    }
    guard exponent >= -128, digits.count <= 39 else { return nil }
    var significand: UInt128 = 0
    for digit in digits {
      let (product, isTooMuch) = significand.multipliedReportingOverflow(by: 10)
      let (sum, isBeyond) = product.addingReportingOverflow(UInt128(digit))
      if isTooMuch || isBeyond { return nil }
      significand = sum
    }
    // 2 to the power of 64 has no more digits than a decimal keeps.
    let high = Decimal(UInt64(truncatingIfNeeded: significand >> 64))
    let low = Decimal(UInt64(truncatingIfNeeded: significand))
    let whole = high * (Decimal(UInt64.max) + 1) + low
    return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: whole)
  }
}

extension Microseconds {
  /// Returns the date of microseconds since 2000.
  static func date(_ microseconds: Int64) -> Date {
    if microseconds == .max { return Date(timeIntervalSinceReferenceDate: .infinity) }
    if microseconds == .min { return Date(timeIntervalSinceReferenceDate: -.infinity) }
    let offset: Int64 = 366 * 86_400 * 1_000_000
    return Date(timeIntervalSinceReferenceDate: Double(microseconds - offset) / 1_000_000)
  }
}

extension SQLType {
  /// The number of the type of arrays of it.
  var arrayNumber: Int32 {
    switch self {
    case .boolean: 1_000
    case .bytea: 1_001
    case .bigint: 1_016
    case .smallint: 1_005
    case .integer: 1_007
    case .text: 1_009
    case .real: 1_021
    case .double: 1_022
    case .timestamp: 1_185
    case .numeric, .unsigned: 1_231
    case .uuid: 2_951
    }
  }
}

extension SQLParameter {
  /// Creates the parameter of a value; nil if PostgreSQL does not have it.
  init?(_ value: FieldValue, of scalar: ScalarType, dates: DateForm) {
    var encoder = ValueEncoder(dates: dates)
    encoder.append(value, of: scalar)
    guard !encoder.losses.contains(where: \.isFatal) else { return nil }
    self.init(
      type: SQLType(scalar, dates: dates).number,
      bytes: value == .null ? nil : Array(encoder.bytes.dropFirst(4)))
  }

  /// Creates the parameter of an array; nil if PostgreSQL does not have it.
  init?(array value: FieldValue, of scalar: ScalarType, dates: DateForm) {
    var encoder = ValueEncoder(dates: dates)
    encoder.append(array: value, of: scalar)
    guard !encoder.losses.contains(where: \.isFatal) else { return nil }
    self.init(
      type: SQLType(scalar, dates: dates).arrayNumber,
      bytes: value == .null ? nil : Array(encoder.bytes.dropFirst(4)))
  }
}

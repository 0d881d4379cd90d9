import FoundationEssentials
import TestSupport

@testable import Cambium

/// Values of every type that can be in a key, to be put in order.
enum SampleValues {
  /// Values at the edges of a type, in ascending order, no two equal.
  static func edges(_ type: ScalarType) -> [FieldValue] {
    switch type {
    case .boolean: [.boolean(false), .boolean(true)]
    case .int8: integers(Int8.self)
    case .int16: integers(Int16.self)
    case .int32: integers(Int32.self)
    case .int64: integers(Int64.self)
    case .uint8: unsigned(UInt8.self)
    case .uint16: unsigned(UInt16.self)
    case .uint32: unsigned(UInt32.self)
    case .uint64: unsigned(UInt64.self)
    case .float: floats.map { .float($0) }
    case .double: doubles.map { .double($0) }
    case .date: doubles.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: uuids
    case .decimal: decimals.map { .decimal($0) }
    case .string: strings.map { .string($0) }
    case .url: urls
    case .binaryData: runs.map { .data(Data($0)) }
    }
  }

  private static func integers<Value: FixedWidthInteger & SignedInteger>(
    _ type: Value.Type
  ) -> [FieldValue] {
    let values: [Value] = [.min, .min + 1, -2, -1, 0, 1, 2, .max - 1, .max]
    return values.map { .integer(Int64($0)) }
  }

  private static func unsigned<Value: FixedWidthInteger & UnsignedInteger>(
    _ type: Value.Type
  ) -> [FieldValue] {
    let values: [Value] = [0, 1, 2, .max / 2, .max / 2 + 1, .max - 1, .max]
    return values.map { .unsigned(UInt64($0)) }
  }

  private static let floats: [Float] = [
    -.infinity, -.greatestFiniteMagnitude, -1.5, -1, -.leastNormalMagnitude,
    -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, .leastNormalMagnitude, 1, 1.5,
    .greatestFiniteMagnitude, .infinity,
  ]

  private static let doubles: [Double] = [
    -.infinity, -.greatestFiniteMagnitude, -1e300, -1.5, -1, -.leastNormalMagnitude,
    -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, .leastNormalMagnitude, 1, 1.5, 1e300,
    .greatestFiniteMagnitude, .infinity,
  ]

  private static let decimals: [Decimal] = {
    let positive: [Decimal] = [
      .leastNonzeroMagnitude, Decimal(sign: .plus, exponent: -127, significand: 99),
      Decimal(sign: .plus, exponent: -1, significand: 1),
      Decimal(sign: .plus, exponent: -2, significand: 11), 1,
      Decimal(sign: .plus, exponent: -1, significand: 15), 9,
      Decimal(sign: .plus, exponent: -2, significand: 999), 10,
      Decimal(sign: .plus, exponent: -2, significand: 1001), 11, 99, 100, 101,
      Decimal(string: "12345678901234567890123456789012345678") ?? 0,
      Decimal.greatestFiniteMagnitude.significand,
      Decimal(sign: .plus, exponent: 127, significand: 1),
      DecimalParts(isNegative: false, exponent: 127, magnitude: 10).decimal,
      .greatestFiniteMagnitude,
    ]
    return positive.reversed().map { -$0 } + [0] + positive
  }()

  private static let uuids: [FieldValue] = {
    let words: [UInt128] = [.min, 1, 0xff, 0x100, 1 << 63, 1 << 64, 1 << 127, .max - 1, .max]
    return words.map { .uuid(UUID(bytesOf: $0.byteSwapped)) }
  }()

  private static let strings = [
    "", "\0", "\0\0", "\0a", "\u{1}", "A", "a", "a\0", "a\0\0", "a\0b", "a\u{1}", "aa", "ab", "b",
    "e\u{301}", "é", "ü", "\u{ffff}", "\u{10ffff}",
  ]

  private static let urls: [FieldValue] = [
    "file:///", "http://a", "http://a/", "http://a/b", "https://a.example/?q=1#f",
  ].compactMap { URL(string: $0).map { .url($0) } }

  private static let runs: [Bytes] = [
    [], [0], [0, 0], [0, 1], [0, 0xff], [0, 0xff, 0], [1], [0xfe], [0xff], [0xff, 0],
    [0xff, 0, 0xff], [0xff, 0xff],
  ]
}

// MARK: At random

extension SampleValues {
  static func random(_ type: ScalarType, using random: inout SplitMix64) -> FieldValue {
    let bits = random.next() >> UInt64.random(in: 0..<64, using: &random)
    switch type {
    case .boolean: return .boolean(bits & 1 == 1)
    case .int8: return .integer(Int64(Int8(truncatingIfNeeded: bits)))
    case .int16: return .integer(Int64(Int16(truncatingIfNeeded: bits)))
    case .int32: return .integer(Int64(Int32(truncatingIfNeeded: bits)))
    case .int64:
      return .integer(random.next() & 1 == 1 ? Int64(bitPattern: ~bits) : Int64(bitPattern: bits))
    case .uint8: return .unsigned(UInt64(UInt8(truncatingIfNeeded: bits)))
    case .uint16: return .unsigned(UInt64(UInt16(truncatingIfNeeded: bits)))
    case .uint32: return .unsigned(UInt64(UInt32(truncatingIfNeeded: bits)))
    case .uint64: return .unsigned(bits)
    case .float:
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      return .float(value.isNaN ? 0 : value)
    case .double: return .double(double(using: &random))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double(using: &random)))
    case .uuid: return .uuid(UUID(bytesOf: UInt128(random.next()) << 64 | UInt128(bits)))
    case .decimal: return .decimal(decimal(using: &random))
    case .string: return .string(string(using: &random))
    case .url: return URL(string: "http://a.example/\(bits)").map { .url($0) } ?? .null
    case .binaryData: return .data(Data(bytes(using: &random)))
    }
  }

  private static func double(using random: inout SplitMix64) -> Double {
    let value = Double(bitPattern: random.next())
    return value.isNaN ? 0 : value
  }

  private static func decimal(using random: inout SplitMix64) -> Decimal {
    let wide = UInt128(random.next()) << 64 | UInt128(random.next())
    return DecimalParts(
      isNegative: Bool.random(using: &random), exponent: Int8.random(in: -10...10, using: &random),
      magnitude: wide >> UInt128.random(in: 0..<128, using: &random)
    ).decimal
  }

  private static func string(using random: inout SplitMix64) -> String {
    let letters: [Character] = ["\0", "\u{1}", "a", "b", "Z", "é", "ü", "漢", "😀"]
    let count = Int.random(in: 0..<6, using: &random)
    return String((0..<count).map { _ in letters.randomElement(using: &random) ?? "a" })
  }

  private static func bytes(using random: inout SplitMix64) -> Bytes {
    let count = Int.random(in: 0..<5, using: &random)
    return (0..<count).map { _ in [0, 1, 0xfe, 0xff].randomElement(using: &random) ?? 0 }
  }
}

// MARK: Order

extension SampleValues {
  /// Compares a value with another of its type; null comes first.
  static func order(_ one: FieldValue, _ other: FieldValue) throws -> Int {
    switch (one, other) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.boolean(let one), .boolean(let other)): order(one ? 1 : 0, other ? 1 : 0)
    case (.integer(let one), .integer(let other)): order(one, other)
    case (.unsigned(let one), .unsigned(let other)): order(one, other)
    case (.float(let one), .float(let other)): order(one, other)
    case (.double(let one), .double(let other)): order(one, other)
    case (.decimal(let one), .decimal(let other)): order(one, other)
    case (.date(let one), .date(let other)): order(one, other)
    case (.string(let one), .string(let other)): order(Bytes(one.utf8), Bytes(other.utf8))
    case (.url(let one), .url(let other)):
      order(Bytes(one.absoluteString.utf8), Bytes(other.absoluteString.utf8))
    case (.data(let one), .data(let other)): order(Bytes(one), Bytes(other))
    case (.uuid(let one), .uuid(let other)):
      order(Bytes(one.uuidString.utf8), Bytes(other.uuidString.utf8))
    default: throw Disagreement(description: "\(one) and \(other) are of two types")
    }
  }

  private static func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int {
    one < other ? -1 : one > other ? 1 : 0
  }

  static func order(_ one: Bytes, _ other: Bytes) -> Int {
    one.lexicographicallyPrecedes(other) ? -1 : other.lexicographicallyPrecedes(one) ? 1 : 0
  }
}

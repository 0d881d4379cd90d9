#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A decimal as integers: `magnitude` × 10^`exponent`, or not a number.
///
/// It is reduced: a magnitude that ends in zeros in decimal has the highest exponent there is. So equal
/// decimals have equal parts.
struct DecimalParts: Hashable, Sendable {
  let isNegative: Bool
  let exponent: Int8
  let magnitude: UInt128
  let isNaN: Bool

  static let exponents = Int(Int8.min)...Int(Int8.max)

  init(isNegative: Bool, exponent: Int8, magnitude: UInt128) {
    var exponent = exponent
    var magnitude = magnitude
    // Odd numbers do not end in zero; dividing takes longer than all else.
    while magnitude != 0, magnitude & 1 == 0, exponent < .max {
      let (quotient, rest) = magnitude.quotientAndRemainder(dividingBy: 10)
      guard rest == 0 else { break }
      magnitude = quotient
      exponent += 1
    }
    self.isNegative = isNegative && magnitude != 0
    self.exponent = magnitude == 0 ? 0 : exponent
    self.magnitude = magnitude
    isNaN = false
  }

  private init() {
    isNegative = false
    exponent = 0
    magnitude = 0
    isNaN = true
  }

  static var nan: DecimalParts { DecimalParts() }
}

// MARK: Decimals

extension DecimalParts {
  init(_ value: Decimal) {
    if Self.isLayoutKnown {
      self.init(layoutOf: value)
    } else {
      self.init(publicly: value)
    }
  }

  var decimal: Decimal {
    if isNaN { return .nan }
    return Self.isLayoutKnown ? decimalOfLayout : publicDecimal
  }

  /// By the public interface, which has digits only as text: some ten times slower.
  init(publicly value: Decimal) {
    guard !value.isNaN, let magnitude = UInt128(value.significand.magnitude.description) else {
      self = .nan
      return
    }
    self.init(
      isNegative: value.isSignMinus, exponent: Int8(clamping: value.exponent), magnitude: magnitude)
  }

  var publicDecimal: Decimal {
    Decimal(string: "\(isNegative ? "-" : "")\(magnitude)e\(exponent)") ?? .nan
  }
}

extension DecimalParts {
  /// The bytes of a `Decimal`: exponent, a byte with flags and the number of 16-bit digits, two bytes of
  /// nothing, eight digits.
  private typealias Words = (head: UInt32, UInt32, UInt32, UInt32, UInt32)

  private static var compactFlag: UInt32 { 0x0400 }
  private static var negativeFlag: UInt32 { 0x0800 }

  /// True if decimals are laid out so: it is not documented.
  static let isLayoutKnown: Bool = {
    guard MemoryLayout<Decimal>.size == MemoryLayout<Words>.size else { return false }
    let samples = [
      "0", "1", "-1", "-12345e-2", "65536e127", "340282366920938463463374607431768211455e-128",
    ]
    return samples.allSatisfy { text in
      guard let value = Decimal(string: text) else { return false }
      let parts = DecimalParts(layoutOf: value)
      return parts == DecimalParts(publicly: value) && parts.decimalOfLayout == value
    } && DecimalParts(layoutOf: .nan).isNaN
  }()

  private init(layoutOf value: Decimal) {
    let words = unsafe unsafeBitCast(value, to: Words.self)
    let count = words.head >> 12 & 0xf
    let isNegative = words.head & Self.negativeFlag != 0
    guard count > 0 else {
      self = isNegative ? .nan : DecimalParts(isNegative: false, exponent: 0, magnitude: 0)
      return
    }
    let low = UInt128(words.1) | UInt128(words.2) << 32
    let all = low | UInt128(words.3) << 64 | UInt128(words.4) << 96
    self.init(
      isNegative: isNegative, exponent: Int8(truncatingIfNeeded: words.head),
      magnitude: count < 8 ? all & (1 << (16 * UInt128(count)) - 1) : all)
  }

  private var decimalOfLayout: Decimal {
    let count = (128 - magnitude.leadingZeroBitCount + 15) / 16
    let head =
      UInt32(UInt8(bitPattern: exponent)) | UInt32(count) << 12
      | (isNegative ? Self.negativeFlag : 0) | Self.compactFlag
    let words: Words = (head, word(0), word(32), word(64), word(96))
    return unsafe unsafeBitCast(words, to: Decimal.self)
  }

  private func word(_ shift: Int) -> UInt32 { UInt32(truncatingIfNeeded: magnitude >> shift) }
}

// MARK: In rows

extension DecimalParts {
  /// Appends the exponent, 1 if negative and else 0, and the magnitude in as many bytes as it needs,
  /// little-endian. Not a number is no byte.
  func encode(to bytes: inout [UInt8]) {
    if isNaN { return }
    bytes.append(UInt8(bitPattern: exponent))
    bytes.append(isNegative ? 1 : 0)
    var rest = magnitude
    while rest != 0 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  /// - Returns: nil if the bytes are not an encoding.
  init?(decoding bytes: RawSpan) {
    let count = bytes.byteCount
    if count == 0 {
      self = .nan
      return
    }
    guard (2...18).contains(count), bytes.load(1, as: UInt8.self) <= 1,
      count == 2 || bytes.load(count - 1, as: UInt8.self) != 0
    else { return nil }
    var magnitude: UInt128 = 0
    for offset in (2..<count).reversed() {
      magnitude = magnitude << 8 | UInt128(bytes.load(offset, as: UInt8.self))
    }
    let stored = (bytes.load(0, as: Int8.self), bytes.load(1, as: UInt8.self) == 1)
    self.init(isNegative: stored.1, exponent: stored.0, magnitude: magnitude)
    guard self.magnitude == magnitude, exponent == stored.0, isNegative == stored.1 else {
      return nil
    }
  }
}

// How a decimal is ordered: by its sign, by how many digits it has before the point, by its digits.

extension DecimalParts {
  private static var negative: UInt8 { 1 }
  private static var zero: UInt8 { 2 }
  private static var positive: UInt8 { 3 }
  /// Turns the number of digits before the point, from −127 on, into one that is not negative.
  private static var bias: Int { 0x8000 }

  /// Bytes that sort as values do: a class; then, not for zero, the number of digits before the point,
  /// two digits a byte from the first on, each pair plus one, and 0. Of negatives, all but the class is
  /// inverted.
  var keyBytes: [UInt8] {
    precondition(!isNaN, "not a number has no place in an order")
    guard magnitude != 0 else { return [Self.zero] }
    var digits = String(magnitude).utf8.map { Int($0 - 0x30) }
    let point = Int(exponent) + digits.count + Self.bias
    while digits.last == 0 { digits.removeLast() }
    if digits.count % 2 == 1 { digits.append(0) }
    var bytes = [UInt8(point >> 8), UInt8(point & 0xff)]
    for index in stride(from: 0, to: digits.count, by: 2) {
      bytes.append(UInt8(digits[index] * 10 + digits[index + 1] + 1))
    }
    bytes.append(0)
    return isNegative ? [Self.negative] + bytes.map { ~$0 } : [Self.positive] + bytes
  }

  /// Returns the number of bytes of such a key in `bytes` from `start` on, each inverted by `mask`; nil if there is none.
  static func keyLength(in bytes: RawSpan, from start: Int, mask: UInt8) -> Int? {
    guard start < bytes.byteCount else { return nil }
    let kind = bytes.load(start, as: UInt8.self) ^ mask
    if kind == zero { return 1 }
    let end = (kind == negative ? 0xff : 0) ^ mask
    var offset = start + 3
    while offset < bytes.byteCount {
      if bytes.load(offset, as: UInt8.self) == end { return offset + 1 - start }
      offset += 1
    }
    return nil
  }

  /// - Returns: nil if the bytes are not key bytes.
  init?(keyBytes bytes: [UInt8]) {
    switch bytes.first {
    case Self.zero where bytes.count == 1:
      self.init(isNegative: false, exponent: 0, magnitude: 0)
    case Self.negative: self.init(isNegative: true, bytes.dropFirst().map { ~$0 })
    case Self.positive: self.init(isNegative: false, Array(bytes.dropFirst()))
    default: return nil
    }
    guard keyBytes == bytes else { return nil }
  }

  private init?(isNegative: Bool, _ bytes: [UInt8]) {
    guard (4...23).contains(bytes.count), bytes.last == 0 else { return nil }
    let digits = bytes[2..<bytes.count - 1]
    guard let last = digits.last, digits.allSatisfy({ (1...100).contains($0) }) else { return nil }
    var magnitude: UInt128 = 0
    for digit in digits.dropLast() { magnitude = magnitude &* 100 &+ UInt128(digit - 1) }
    // A zero at the end only fills the pair, and may be one digit more than there is room for.
    let isPadded = last % 10 == 1
    let count = 2 * digits.count - (isPadded ? 1 : 0)
    let (high, isTooHigh) = magnitude.multipliedReportingOverflow(by: isPadded ? 10 : 100)
    let low = UInt128(isPadded ? (last - 1) / 10 : last - 1)
    let (sum, isTooMuch) = high.addingReportingOverflow(low)
    guard !isTooHigh, !isTooMuch else { return nil }
    let exponent = (Int(bytes[0]) << 8 | Int(bytes[1])) - Self.bias - count
    self.init(isNegative: isNegative, exponent: exponent, sum)
  }

  /// Moves zeros between magnitude and exponent until this is one that there is.
  private init?(isNegative: Bool, exponent: Int, _ magnitude: UInt128) {
    var exponent = exponent
    var magnitude = magnitude
    guard magnitude != 0 else { return nil }
    while exponent < Self.exponents.lowerBound {
      guard magnitude % 10 == 0 else { return nil }
      magnitude /= 10
      exponent += 1
    }
    while exponent > Self.exponents.upperBound {
      let (high, isTooHigh) = magnitude.multipliedReportingOverflow(by: 10)
      guard !isTooHigh else { return nil }
      magnitude = high
      exponent -= 1
    }
    self.init(isNegative: isNegative, exponent: Int8(exponent), magnitude: magnitude)
  }
}

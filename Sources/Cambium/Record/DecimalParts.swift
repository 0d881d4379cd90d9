internal import FoundationEssentials

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
    // What is odd does not end in zero; to divide takes longer than all else.
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

  /// True if decimals are laid out so: nobody promises it.
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

  /// - Returns: nil if the bytes are not what `encode` makes.
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

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

  /// - Returns: nil if the bytes are not what `keyBytes` makes.
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

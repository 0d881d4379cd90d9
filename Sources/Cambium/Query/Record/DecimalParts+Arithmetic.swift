// Arithmetic of decimals. `Decimal`'s own ends the process where exponents leave their range.

extension DecimalParts {
  /// Rounded, half away from zero, to the precision of a decimal; nil if it is too large.
  ///
  /// - Parameter isExact: True if a sum that would have to be rounded is nil.
  static func sum(
    _ one: DecimalParts, _ other: DecimalParts, isExact: Bool = false
  ) -> DecimalParts? {
    if one.magnitude == 0 { return other }
    if other.magnitude == 0 { return one }
    let (high, low) = one.exponent >= other.exponent ? (one, other) : (other, one)
    var gap = Int(high.exponent) - Int(low.exponent)
    var magnitude = high.magnitude
    while gap > 0 {
      let (scaled, overflows) = magnitude.multipliedReportingOverflow(by: 10)
      if overflows { break }
      magnitude = scaled
      gap -= 1
    }
    // The other number does not end in zero.
    if isExact, gap > 0 { return nil }
    return sum(
      high.isNegative, magnitude, low.isNegative, low.magnitude.droppingDigits(gap),
      exponent: Int(low.exponent) + gap, isExact: isExact)
  }

  private static func sum(
    _ isNegative: Bool, _ one: UInt128, _ isOtherNegative: Bool, _ other: UInt128, exponent: Int,
    isExact: Bool
  ) -> DecimalParts? {
    if isNegative == isOtherNegative {
      let (sum, overflows) = one.addingReportingOverflow(other)
      return DecimalParts(
        isNegative, exponent, high: overflows ? 1 : 0, low: sum, isExact: isExact)
    }
    return one >= other
      ? DecimalParts(isNegative, exponent, high: 0, low: one - other, isExact: isExact)
      : DecimalParts(isOtherNegative, exponent, high: 0, low: other - one, isExact: isExact)
  }

  /// - Parameter isExact: True if a product that would have to be rounded is nil.
  static func product(
    _ one: DecimalParts, _ other: DecimalParts, isExact: Bool = false
  ) -> DecimalParts? {
    let (high, low) = one.magnitude.multipliedFullWidth(by: other.magnitude)
    return DecimalParts(
      one.isNegative != other.isNegative, Int(one.exponent) + Int(other.exponent), high: high,
      low: low, isExact: isExact)
  }

  /// To 38 digits if it does not end before. Nil also for a division by zero.
  static func quotient(_ one: DecimalParts, _ other: DecimalParts) -> DecimalParts? {
    guard other.magnitude != 0 else { return nil }
    var (quotient, rest) = one.magnitude.quotientAndRemainder(dividingBy: other.magnitude)
    var exponent = Int(one.exponent) - Int(other.exponent)
    while rest != 0, quotient < power(37) {
      let digit: UInt128
      (digit, rest) = other.magnitude.dividingFullWidth(rest.multipliedFullWidth(by: 10))
      quotient = quotient * 10 + digit
      exponent -= 1
    }
    // At least half of the last digit.
    if rest >= other.magnitude - rest, rest != 0 { quotient += 1 }
    return DecimalParts(
      one.isNegative != other.isNegative, exponent, high: 0, low: quotient)
  }

  var negated: DecimalParts {
    isNaN
      ? self : DecimalParts(isNegative: !isNegative, exponent: exponent, magnitude: magnitude)
  }

  init(_ value: Int128) {
    self.init(isNegative: value < 0, exponent: 0, magnitude: value.magnitude)
  }

  /// A magnitude of 256 bits, rounded to one of 128 and to an exponent that there is; nil if that
  /// is too small, or if it is to be exact and is not.
  private init?(
    _ isNegative: Bool, _ exponent: Int, high: UInt128, low: UInt128, isExact: Bool = false
  ) {
    var (high, low, exponent) = (high, low, exponent)
    var dropped: UInt128 = 0
    while high != 0 || exponent < Self.exponents.lowerBound {
      let rest: UInt128
      (high, rest) = high.quotientAndRemainder(dividingBy: 10)
      (low, dropped) = UInt128(10).dividingFullWidth((rest, low))
      exponent += 1
      if isExact, dropped != 0 { return nil }
    }
    if dropped >= 5 {
      if low == .max {
        low /= 10
        exponent += 1
      }
      low += 1
    }
    while low != 0, exponent > Self.exponents.upperBound {
      let (scaled, overflows) = low.multipliedReportingOverflow(by: 10)
      if overflows { return nil }
      low = scaled
      exponent -= 1
    }
    self.init(
      isNegative: isNegative, exponent: low == 0 ? 0 : Int8(exponent), magnitude: low)
  }
}

extension UInt128 {
  /// Without its last decimal digits, rounded.
  fileprivate func droppingDigits(_ count: Int) -> UInt128 {
    var value = self
    var dropped: UInt128 = 0
    for _ in 0..<count {
      if value == 0, dropped == 0 { break }
      (value, dropped) = value.quotientAndRemainder(dividingBy: 10)
    }
    return dropped >= 5 ? value + 1 : value
  }
}

extension DecimalParts {
  /// Returns the order of `value` to this one, without making keys of either.
  func order(of value: DecimalParts) -> RowTerm.Orders {
    if value.isNaN || isNaN { return .none }
    if value == self { return .same }
    let signs = (value.sign, sign)
    if signs.0 != signs.1 { return signs.0 < signs.1 ? .less : .greater }
    return value.magnitudePrecedes(self) != value.isNegative ? .less : .greater
  }

  private var sign: Int { magnitude == 0 ? 0 : isNegative ? -1 : 1 }

  /// Compares the magnitudes of different values that are not zero and have the same sign.
  private func magnitudePrecedes(_ other: DecimalParts) -> Bool {
    let points = (digitCount + Int(exponent), other.digitCount + Int(other.exponent))
    if points.0 != points.1 { return points.0 < points.1 }
    // The same first digit's place: the one with the higher exponent has fewer digits, at most as many
    // as the other can have, so that it can be scaled, or is over all that the other can be.
    let distance = Int(exponent) - Int(other.exponent)
    if distance == 0 { return magnitude < other.magnitude }
    let scaled = (distance > 0 ? magnitude : other.magnitude).multipliedReportingOverflow(
      by: Self.power(abs(distance)))
    if scaled.overflow { return distance < 0 }
    return distance > 0
      ? scaled.partialValue < other.magnitude : magnitude < scaled.partialValue
  }

  /// Decimal digits of the magnitude, which is not zero.
  private var digitCount: Int {
    let bits = UInt128.bitWidth - magnitude.leadingZeroBitCount
    // 1233 / 4096 is just above the logarithm of two.
    let guess = (bits * 1233) >> 12
    return guess < Self.powers.count && magnitude >= Self.powers[guess] ? guess + 1 : guess
  }

  static func power(_ exponent: Int) -> UInt128 {
    exponent < powers.count ? powers[exponent] : .max
  }

  /// The powers of ten, from 1 to the highest there is.
  private static let powers: [UInt128] = {
    var powers: [UInt128] = [1]
    for _ in 0..<38 { powers.append((powers.last ?? 1) * 10) }
    return powers
  }()
}

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

/// A function of one value, as far as it is known before there is a row.
enum ComputedFunction: Sendable {
  case part(DatePart, UTCOffset)
  case prefix(Int)
  /// With the width of ranges, which is above zero and of the kind of the values; of dates, in seconds.
  case bucket(ComputedValue)

  /// Returns the value of the function; nil without a result.
  ///
  /// - Throws: `.corrupt` for a string that is not UTF-8.
  func value(
    of operand: ComputedValue, _ record: RowReader
  ) throws(StoreError) -> ComputedValue? {
    switch (self, operand) {
    case (.part(let part, let offset), .double(let seconds)):
      return part.value(at: seconds, offset).map { .integer($0) }
    case (.prefix(let count), .bytes(let bytes)):
      return .bytes(try Self.prefix(count, of: bytes, record))
    case (.bucket(.integer(let width)), .integer(let value)):
      return value.lowerBound(ofWidth: width).map { .integer($0) }
    case (.bucket(.double(let width)), .double(let value)):
      let bound = (value / width).rounded(.down) * width
      return bound.isFinite ? .double(bound) : nil
    case (.bucket(.decimal(let width)), .decimal(let value)):
      return DecimalParts.lowerBound(of: value, width: width).map { .decimal($0) }
    default: return nil
    }
  }

  private static func prefix(
    _ count: Int, of bytes: [UInt8], _ record: RowReader
  ) throws(StoreError) -> [UInt8] {
    if bytes.rawSpan.hasCharacterPerByte { return Array(bytes.prefix(count)) }
    guard let text = String(utf8: bytes.rawSpan) else {
      throw record.fault(.rowValues, "a string is not UTF-8")
    }
    return Array(text.prefix(count).utf8)
  }
}

extension Int128 {
  /// Returns the highest multiple of a width above zero that is not above the number; nil below all numbers.
  fileprivate func lowerBound(ofWidth width: Int128) -> Int128? {
    let rest = self % width
    if rest >= 0 { return self - rest }
    let (bound, overflows) = (self - rest).subtractingReportingOverflow(width)
    return overflows ? nil : bound
  }
}

extension DecimalParts {
  /// Returns the highest multiple of a width above zero that is not above the value; nil if it takes more digits than
  /// a decimal has.
  fileprivate static func lowerBound(of value: DecimalParts, width: DecimalParts) -> DecimalParts? {
    if value.isNaN { return nil }
    let exponent = min(value.exponent, width.exponent)
    guard let one = value.magnitude(at: exponent), let other = width.magnitude(at: exponent),
      let bound = one.lowerBound(ofWidth: other)
    else { return nil }
    return DecimalParts(isNegative: bound < 0, exponent: exponent, magnitude: bound.magnitude)
  }

  /// Returns the digits, with the sign, as a multiple of a power of ten that is not above the own one; nil if they are
  /// too many.
  private func magnitude(at exponent: Int8) -> Int128? {
    let distance = Int(self.exponent) - Int(exponent)
    if magnitude == 0 { return 0 }
    guard distance <= 38 else { return nil }
    let (scaled, overflows) = magnitude.multipliedReportingOverflow(by: Self.power(distance))
    guard !overflows, let digits = Int128(exactly: scaled) else { return nil }
    return isNegative ? -digits : digits
  }
}

// MARK: - Parts of dates

extension DatePart {
  /// The seconds around which dates have parts: beyond, there are no whole seconds in a double to tell days apart.
  private static var secondsMax: Double { 1e15 }

  /// Returns the part of a date; nil for one that is not a number, or more than thirty million years away.
  ///
  /// - Parameter seconds: Since 2001-01-01 00:00:00 UTC.
  func value(at seconds: Double, _ offset: UTCOffset) -> Int128? {
    guard seconds.magnitude < Self.secondsMax else { return nil }
    let local = Int(seconds.rounded(.down)) + offset.minutes * 60
    // From 1970-01-01 to 2001-01-01 there are 11,323 days.
    let day = local.dividedDown(by: 86_400) + 11_323
    switch self {
    case .hour: return Int128((local - local.dividedDown(by: 86_400) * 86_400) / 3_600)
    // 1970-01-01 was a Thursday.
    case .weekday: return Int128(day + 4 - (day + 4).dividedDown(by: 7) * 7 + 1)
    case .year: return Int128(CivilDate(daysSince1970: day).year)
    case .month: return Int128(CivilDate(daysSince1970: day).month)
    case .day: return Int128(CivilDate(daysSince1970: day).day)
    }
  }
}

/// A date of the Gregorian calendar.
///
/// Idea: Howard Hinnant's `civil_from_days`, by years that begin in March, so that the day of a leap year is the last.
private struct CivilDate {
  let year: Int
  let month: Int
  let day: Int

  init(daysSince1970: Int) {
    // From 0000-03-01, in eras of 400 years, which have equally many days.
    let days = daysSince1970 + 719_468
    let era = days.dividedDown(by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}

extension Int {
  /// Divides towards lower numbers.
  fileprivate func dividedDown(by divisor: Int) -> Int {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// Dates as text, by the Gregorian calendar and in UTC, without a formatter: some cannot take every date.

extension Date {
  /// `2026-01-02`, `2026-01-02T03:04`, with seconds and their fraction too, and with `Z` or an offset such
  /// as `+02:00` after a time; without, it is UTC. Also `@` and the seconds since 2001-01-01. Nil for any
  /// other text.
  package init?(iso text: String) {
    var rest = Array(text.utf8)[...]
    if rest.first == UInt8(ascii: "@") {
      guard let seconds = Double(numberText: String(text.dropFirst())) else { return nil }
      self.init(timeIntervalSinceReferenceDate: seconds)
      return
    }
    guard let days = rest.takeDay() else { return nil }
    var seconds = 0
    var fraction: [UInt8] = []
    if !rest.isEmpty {
      guard rest.take("T") || rest.take(" "), let time = rest.takeTime() else { return nil }
      seconds = time
      if rest.take(".") {
        fraction = Array(rest.prefix { (0x30...0x39).contains($0) })
        guard !fraction.isEmpty else { return nil }
        rest = rest.dropFirst(fraction.count)
      }
      guard let offset = rest.takeOffset() else { return nil }
      seconds -= offset
    }
    guard rest.isEmpty,
      let interval = Self.interval((days - Self.referenceDay) * 86_400 + seconds, fraction)
    else { return nil }
    self.init(timeIntervalSinceReferenceDate: interval)
  }

  /// The text of which `init(iso:)` makes exactly this date, with as many digits as that takes. `@` and seconds only before
  /// the year 1 and after 9999.
  var isoText: String {
    let seconds = timeIntervalSinceReferenceDate
    // From the year 1 to 9999.
    guard seconds >= -63_113_904_000, seconds < 252_423_993_600 else { return "@\(seconds)" }
    let whole = Int(seconds.rounded(.down))
    let days = Int((Double(whole) / 86_400).rounded(.down))
    let time = whole - days * 86_400
    let base =
      Self.text(ofDay: days + Self.referenceDay) + "T" + Self.digits(time / 3600, 2) + ":"
      + Self.digits(time / 60 % 60, 2) + ":" + Self.digits(time % 60, 2)
    if Double(whole) == seconds { return base + "Z" }
    let fraction = String(decoding: Self.fraction(of: seconds), as: UTF8.self)
    return base + "." + fraction + String(repeating: "0", count: max(0, 3 - fraction.utf8.count))
      + "Z"
  }

  /// The double nearest to whole seconds and the digits of a fraction that is added to them. It is rounded once, so that
  /// the shortest digits of a double make it again.
  private static func interval(_ whole: Int, _ fraction: [UInt8]) -> Double? {
    guard let last = fraction.lastIndex(where: { $0 != 0x30 }) else { return Double(whole) }
    let digits = Array(fraction[...last])
    if whole >= 0 { return Double("\(whole)." + String(decoding: digits, as: UTF8.self)) }
    return Double("-\(-whole - 1)." + String(decoding: rest(of: digits), as: UTF8.self))
  }

  /// The digits of a number's fraction, above the next smaller whole number.
  private static func fraction(of seconds: Double) -> [UInt8] {
    let parts = "\(seconds.magnitude)".utf8.split(separator: UInt8(ascii: "e"))
    let mantissa = Array(parts[0])
    var digits = Array(mantissa.drop { $0 != UInt8(ascii: ".") }.dropFirst())
    // Of numbers that have an exponent, one digit stands before the point.
    if parts.count == 2, let exponent = Int(String(decoding: Array(parts[1]), as: UTF8.self)) {
      digits = [UInt8](repeating: 0x30, count: max(0, -exponent - 1)) + mantissa[..<1] + digits
    }
    return seconds < 0 ? rest(of: digits) : digits
  }

  /// The digits of 1 less a fraction, whose last digit is not 0.
  private static func rest(of digits: [UInt8]) -> [UInt8] {
    var rest = digits.map { 0x69 - $0 }
    if let last = rest.indices.last { rest[last] += 1 }
    return rest
  }

  /// 2001-01-01, in days since 1970-01-01.
  private static let referenceDay = 11_323

  private static func digits(_ value: Int, _ count: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }

  private static func text(ofDay day: Int) -> String {
    // Years that begin in March, in eras of 400: leap days are then the last of a year.
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return digits(year, 4) + "-" + digits(month, 2) + "-"
      + digits(dayOfYear - (153 * part + 2) / 5 + 1, 2)
  }
}

extension ArraySlice<UInt8> {
  fileprivate mutating func take(_ sign: Unicode.Scalar) -> Bool {
    guard first == UInt8(ascii: sign) else { return false }
    removeFirst()
    return true
  }

  fileprivate mutating func takeNumber(_ digits: Int, _ range: ClosedRange<Int>) -> Int? {
    guard count >= digits, prefix(digits).allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    let number = prefix(digits).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    removeFirst(digits)
    return range.contains(number) ? number : nil
  }

  /// A day, in days since 1970-01-01.
  fileprivate mutating func takeDay() -> Int? {
    guard let year = takeNumber(4, 1...9999), take("-"), let month = takeNumber(2, 1...12),
      take("-"), let day = takeNumber(2, 1...31)
    else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= lengths[month - 1] else { return nil }
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Hours, minutes and, where they are there, seconds.
  fileprivate mutating func takeTime() -> Int? {
    guard let hour = takeNumber(2, 0...23), take(":"), let minute = takeNumber(2, 0...59) else {
      return nil
    }
    guard take(":") else { return hour * 3600 + minute * 60 }
    guard let second = takeNumber(2, 0...60) else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  /// Seconds before UTC; none for no offset.
  fileprivate mutating func takeOffset() -> Int? {
    if isEmpty || take("Z") { return 0 }
    let isNegative = first == UInt8(ascii: "-")
    guard take("+") || take("-"), let hour = takeNumber(2, 0...23) else { return nil }
    _ = take(":")
    guard let minute = takeNumber(2, 0...59) else { return nil }
    return (isNegative ? -1 : 1) * (hour * 3600 + minute * 60)
  }
}

import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How the values of a column are read, if the caller chooses it.
enum ColumnReading: Hashable, Sendable {
  /// As values of a type. Dates are ISO 8601 then.
  case type(ScalarType)
  /// As dates that are numbers.
  case date(DateNumber)

  /// How the store holds a value.
  enum Fit {
    case exact
    /// The value is the same, but it was spelled in another way, such as 12.50.
    case respelled
    case inexact
  }

  /// - Parameter name: The name of a type as in the Swift that describes a store, or of a kind of numbers.
  /// - Returns: nil for any other name.
  init?(_ name: String) {
    if let number = DateNumber(rawValue: name) {
      self = .date(number)
    } else if let type = ScalarType.allCases.first(where: {
      "\(Self.type($0))" == name || "\($0)" == name
    }) {
      self = .type(type)
    } else {
      return nil
    }
  }

  /// The names of all readings.
  static var names: [String] {
    ScalarType.allCases.map { "\(Self.type($0))" } + DateNumber.allCases.map(\.rawValue)
  }

  /// The type of the field.
  var type: ScalarType { if case .type(let type) = self { type } else { .date } }
}

extension ColumnReading: CustomStringConvertible {
  var description: String {
    switch self {
    case .type(.int64): "integer"
    case .type(let type): "\(type)"
    case .date(let number): number.rawValue
    }
  }
}

// MARK: - Values

extension ColumnReading {
  /// Returns the value of the field, and how well it holds the one of the source, which is found by converting it back.
  ///
  /// - Parameter source: An integer, a double, a string, data or null.
  /// - Returns: If nothing of the type is like the value: null, which is inexact.
  func read(_ source: FieldValue) -> (value: FieldValue, fit: Fit) {
    if case .null = source { return (.null, .exact) }
    guard let value = value(of: source) else { return (.null, .inexact) }
    return (value, fit(of: value, to: source))
  }

  private func value(of source: FieldValue) -> FieldValue? {
    switch (self, source) {
    case (.date(let number), _): return number.date(of: source).map { .date($0) }
    case (.type(.boolean), .string(let text)):
      switch text.lowercased() {
      case "true", "1": return .boolean(true)
      case "false", "0": return .boolean(false)
      default: return nil
      }
    case (.type(.uuid), .data(let bytes)): return UUID(bytes).map { .uuid($0) }
    case (.type(.binaryData), .integer), (.type(.binaryData), .double):
      return source.converting(to: .string)?.converting(to: .binaryData)
    case (.type(let type), _): return source.converting(to: .scalar(type))
    }
  }

  private func fit(of value: FieldValue, to source: FieldValue) -> Fit {
    switch (self, value, source) {
    case (.date(let number), .date(let date), _): return number.fit(of: date, to: source)
    case (_, _, .string(let text)): return Self.fit(of: value, to: text)
    case (_, .data, .integer), (_, .data, .double):
      return value.converting(to: .string).map { fit(of: $0, to: source) } ?? .inexact
    case (_, _, .integer): return value.converting(to: .int64) == source ? .exact : .inexact
    case (_, _, .double): return value.converting(to: .double) == source ? .exact : .inexact
    // Data, which converts to its text and to a UUID of the same bytes.
    default: return .exact
    }
  }

  private static func fit(of value: FieldValue, to text: String) -> Fit {
    switch value {
    case .date(let date):
      return date.isExactly(text) ? text.hasOffset ? .respelled : .exact : .inexact
    case .uuid(let uuid):
      let capitals = uuid.uuidString
      return text == capitals ? .exact : text.uppercased() == capitals ? .respelled : .inexact
    case .boolean: return ["true", "false"].contains(text) ? .exact : .respelled
    // They are made of the text itself.
    case .string, .data, .url: return .exact
    default:
      guard case .string(let back)? = value.converting(to: .string) else { return .inexact }
      return back.fit(ofNumber: text)
    }
  }
}

extension String {
  /// Compares the text of a number with another that it was read from: zeros at the end of a fraction are a matter of
  /// spelling, those at the beginning are not.
  fileprivate func fit(ofNumber text: String) -> ColumnReading.Fit {
    self == text ? .exact : withoutLastZeros == text.withoutLastZeros ? .respelled : .inexact
  }

  private var withoutLastZeros: Substring {
    guard contains("."), !contains("e"), !contains("E") else { return self[...] }
    var rest = self[...]
    while rest.last == "0" { rest.removeLast() }
    if rest.last == "." { rest.removeLast() }
    return rest
  }
}

extension UUID {
  /// Fails if there are not 16 bytes.
  init?(_ bytes: Data) {
    guard bytes.count == 16 else { return nil }
    self = unsafe Array(bytes).withUnsafeBytes {
      unsafe UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
    }
  }
}

extension Date {
  /// Returns true if a text that was read as the date is not rounded by it, and no leap second.
  fileprivate func isExactly(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.first != UInt8(ascii: "@"), !bytes.dropFirst(17).starts(with: "60".utf8) else {
      return false
    }
    guard let point = bytes.firstIndex(of: UInt8(ascii: ".")) else { return true }
    let digits = bytes[(point + 1)...].prefix { (0x30...0x39).contains($0) }
    guard digits.count <= 9, let stated = Int(String(decoding: digits, as: UTF8.self)) else {
      return false
    }
    let scale = digits.reduce(1.0) { scale, _ in scale * 10 }
    let seconds = timeIntervalSinceReferenceDate
    return Int(((seconds - seconds.rounded(.down)) * scale).rounded()) == stated
  }
}

extension String {
  /// True for a date that is not in UTC by its offset.
  var hasOffset: Bool {
    utf8.dropFirst(10).contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
  }
}

// MARK: - Dates that are numbers

/// A kind of numbers that dates are stored as in other databases.
enum DateNumber: String, CaseIterable, Sendable {
  case unixSeconds = "unix-seconds"
  case unixMilliseconds = "unix-milliseconds"
  case unixMicroseconds = "unix-microseconds"
  /// Days since noon in Greenwich on January 1, 4713 BC, as SQLite's `julianday` counts them.
  case julianDay = "julian-day"
  /// As Core Data and `Date` count them.
  case secondsSince2001 = "seconds-since-2001"

  /// The number of 2001-01-01 00:00:00 UTC, a whole one but for days.
  private var origin: Double {
    switch self {
    case .unixSeconds, .unixMilliseconds, .unixMicroseconds: 978_307_200 * perSecond
    case .julianDay: 2_451_910.5
    case .secondsSince2001: 0
    }
  }

  /// 1 for days, which are converted otherwise.
  private var perSecond: Double {
    switch self {
    case .unixSeconds, .julianDay, .secondsSince2001: 1
    case .unixMilliseconds: 1e3
    case .unixMicroseconds: 1e6
    }
  }

  private enum Number {
    case whole(Int64)
    case fraction(Double)
  }

  /// Returns nil for anything but a number.
  private func number(_ source: FieldValue) -> Number? {
    let whole: Int64?
    let fraction: Double?
    switch source {
    case .integer(let value): (whole, fraction) = (value, Double(exactly: value))
    case .double(let value): (whole, fraction) = (Int64(exactly: value), value)
    case .string(let text):
      (whole, fraction) = (Int64(text), Double(numberText: text))
    default: (whole, fraction) = (nil, nil)
    }
    if self != .julianDay, let whole { return .whole(whole) }
    return fraction.flatMap { $0.isFinite ? .fraction($0) : nil }
  }

  /// Returns the date that a number is; nil if it is no number, or too large.
  func date(of source: FieldValue) -> Date? {
    let seconds: Double
    switch number(source) {
    case .whole(let number):
      let (difference, isTooLarge) = number.subtractingReportingOverflow(Int64(origin))
      if isTooLarge { return nil }
      seconds = Double(difference) / perSecond
    case .fraction(let number) where self == .julianDay: seconds = (number - origin) * 86_400
    case .fraction(let number): seconds = (number - origin) / perSecond
    case nil: return nil
    }
    return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
  }

  /// Returns how well a date holds the number that it was made of.
  func fit(of date: Date, to source: FieldValue) -> ColumnReading.Fit {
    let seconds = date.timeIntervalSinceReferenceDate
    let isSame: Bool
    let digits: String
    switch number(source) {
    case .whole(let number):
      let difference = number.subtractingReportingOverflow(Int64(origin))
      isSame =
        !difference.overflow
        && Int64(exactly: (seconds * perSecond).rounded()) == difference.partialValue
      digits = "\(number)"
    case .fraction(let number):
      // Rounded once, so that only the digits that the date has lost show.
      let back =
        self == .julianDay ? seconds / 86_400 + origin : origin.addingProduct(seconds, perSecond)
      isSame = back == number
      digits = "\(number)"
    case nil: (isSame, digits) = (false, "")
    }
    guard isSame else { return .inexact }
    if case .string(let text) = source { return digits.fit(ofNumber: text) }
    return .exact
  }
}

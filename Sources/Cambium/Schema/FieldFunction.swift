/// A function of one value in an expression: `month(date)`, `prefix(name, 1)`, `bucket(price, 10)`.
///
/// The function of null is null.
@usableFromInline
package enum FieldFunction: Hashable, Sendable {
  /// A part of a date in the Gregorian calendar, as a clock with an offset from UTC shows it; an integer.
  case part(DatePart, in: UTCOffset)
  /// The first characters of a string, at most so many.
  case prefix(Int)
  /// The lower bound of the range that a number or date lies in, if ranges of a width follow one another from zero: the
  /// highest multiple of the width that is not above the value. Ranges of dates begin at 2001-01-01 00:00 UTC, and their
  /// width is in seconds. The width has to be above zero.
  case bucket(of: FieldValue)
}

/// A part of a date in the Gregorian calendar, which is also used for dates before its time.
@usableFromInline
package enum DatePart: Hashable, Sendable, CaseIterable, BitwiseCopyable {
  /// The year; the one before 1 is 0.
  case year
  /// The month, from 1 to 12.
  case month
  /// The day of the month, from 1 to 31.
  case day
  /// The day of the week, from 1 for Sunday to 7 for Saturday, as `Calendar` counts.
  case weekday
  /// The hour, from 0 to 23.
  case hour
}

/// The distance of a clock from UTC, the same at all dates.
///
/// There are no zones with summer time: their rules change, and with them the groups and orders that a query was tested with.
public struct UTCOffset: Hashable, Sendable, BitwiseCopyable {
  /// The minutes by which the clock is ahead of UTC.
  package let minutes: Int

  /// The offset of a clock that is so many minutes ahead of UTC. Beyond 18 hours in either direction, it is an error when
  /// the expression is checked.
  public static func minutes(_ minutes: Int) -> UTCOffset { UTCOffset(minutes: minutes) }

  /// No offset.
  public static var utc: UTCOffset { UTCOffset(minutes: 0) }

  /// True if there can be such a clock.
  var isValid: Bool { (-18 * 60...18 * 60).contains(minutes) }
}

// MARK: As text

extension DatePart {
  /// Creates the part with a name; nil if there is none.
  init?(named name: Substring) {
    switch name {
    case "year": self = .year
    case "month": self = .month
    case "day": self = .day
    case "weekday": self = .weekday
    case "hour": self = .hour
    default: return nil
    }
  }
}

extension UTCOffset: CustomStringConvertible {
  /// The offset as ISO 8601 writes it: `+05:30`, `-08:00`.
  public var description: String {
    let (hours, rest) = minutes.magnitude.quotientAndRemainder(dividingBy: 60)
    return (minutes < 0 ? "-" : "+") + Self.twoDigits(hours) + ":" + Self.twoDigits(rest)
  }

  private static func twoDigits(_ number: UInt) -> String { (number < 10 ? "0" : "") + "\(number)" }

  /// Creates the offset that a text as `+05:30` has; nil if it is none.
  init?(parsing text: String) {
    guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
    let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let hours = UInt16(parts[0]), let rest = UInt16(parts[1]), rest < 60,
      parts.allSatisfy({ $0.utf8.count == 2 })
    else { return nil }
    let minutes = Int(hours) * 60 + Int(rest)
    self.init(minutes: sign == "-" ? -minutes : minutes)
  }
}

extension FieldFunction {
  /// Returns the function of an operand as text, which is parsed as the same function.
  func text(of operand: String) -> String {
    switch self {
    case .part(let part, in: .utc): "\(part)(\(operand))"
    case .part(let part, in: let offset): "\(part)(\(operand), \"\(offset)\")"
    case .prefix(let count): "prefix(\(operand), \(count))"
    case .bucket(of: let width): "bucket(\(operand), \(width.literal))"
    }
  }

  /// Creates the function with a name, as text has it, and the argument after the operand, if there is one; nil if there is
  /// no such function.
  init?(named name: String, _ argument: FieldValue?) {
    switch (name, argument) {
    case ("prefix", .integer(let count)?): self = .prefix(Int(count))
    case ("bucket", let width?): self = .bucket(of: width)
    default:
      guard let part = DatePart(named: name[...]) else { return nil }
      switch argument {
      case .none: self = .part(part, in: .utc)
      case .string(let text)?:
        guard let offset = UTCOffset(parsing: text) else { return nil }
        self = .part(part, in: offset)
      default: return nil
      }
    }
  }
}

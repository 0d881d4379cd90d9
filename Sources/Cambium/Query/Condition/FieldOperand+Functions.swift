#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Functions of one field or computed value: parts of dates, beginnings of strings, ranges.

// MARK: Dates

/// A date, or an optional of one.
public protocol FieldDate: OrderedFieldValue {
  /// The type of the parts of the date: optional if the date is.
  associatedtype Part: FieldNumber
}

extension Date: FieldDate {
  public typealias Part = Int
}

extension Optional: FieldDate where Wrapped: FieldDate {
  public typealias Part = Wrapped.Part?
}

extension FieldOperand where Value: FieldDate {
  /// Returns the year of the date on a clock: `{ $0.date.year(in: .utc) }`.
  @inlinable
  public func year(in offset: UTCOffset = .utc) -> ComputedField<Subject, Value.Part> {
    mapped { .function(.part(.year, in: offset), $0) }
  }

  /// Returns the month of the date on a clock, from 1 to 12.
  @inlinable
  public func month(in offset: UTCOffset = .utc) -> ComputedField<Subject, Value.Part> {
    mapped { .function(.part(.month, in: offset), $0) }
  }

  /// Returns the day of the month on a clock, from 1 to 31.
  @inlinable
  public func day(in offset: UTCOffset = .utc) -> ComputedField<Subject, Value.Part> {
    mapped { .function(.part(.day, in: offset), $0) }
  }

  /// Returns the day of the week on a clock, from 1 for Sunday to 7 for Saturday, as `Calendar` counts.
  @inlinable
  public func weekday(in offset: UTCOffset = .utc) -> ComputedField<Subject, Value.Part> {
    mapped { .function(.part(.weekday, in: offset), $0) }
  }

  /// Returns the hour on a clock, from 0 to 23.
  @inlinable
  public func hour(in offset: UTCOffset = .utc) -> ComputedField<Subject, Value.Part> {
    mapped { .function(.part(.hour, in: offset), $0) }
  }

  /// Returns the difference of two dates in seconds; null if one of them is.
  @inlinable @_disfavoredOverload
  public static func - <Other: FieldDate>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Double?> {
    one.combined(.minus, other)
  }

  /// Returns the beginning of the range that the date lies in, if ranges of so many seconds follow one another from
  /// 2001-01-01 00:00 UTC on: `{ $0.date.bucket(of: 86_400) }` is the day in UTC.
  ///
  /// - Parameter seconds: The width of ranges. If it is not above zero, that is an error when the query is run.
  @inlinable
  public func bucket(of seconds: Double) -> ComputedField<Subject, Value> {
    mapped { .function(.bucket(of: .double(seconds)), $0) }
  }
}

extension FieldOperand where Value == Date? {
  /// Returns the difference to a date in seconds; null if the operand is.
  @inlinable
  public static func - (one: Self, other: Date) -> ComputedField<Subject, Double?> {
    one.combined(.minus, ComputedField<Subject, Date>(constant: other))
  }

  /// Returns the date that is so many seconds later.
  @inlinable
  public static func + (one: Self, seconds: Double) -> ComputedField<Subject, Date?> {
    one.combined(.plus, ComputedField<Subject, Double>(constant: seconds))
  }
}

// MARK: Strings

extension FieldOperand where Value == String {
  /// Returns the first characters of the string, at most so many. A negative number is an error when the query is run.
  @inlinable
  public func prefix(_ count: Int) -> ComputedField<Subject, String> {
    mapped { .function(.prefix(count), $0) }
  }

  /// The first character of the string, or an empty string.
  @inlinable public var initial: ComputedField<Subject, String> { prefix(1) }
}

extension FieldOperand where Value == String? {
  @inlinable
  public func prefix(_ count: Int) -> ComputedField<Subject, String?> {
    mapped { .function(.prefix(count), $0) }
  }

  @inlinable public var initial: ComputedField<Subject, String?> { prefix(1) }
}

// MARK: Ranges of numbers

extension FieldOperand where Value: FieldNumber {
  /// Returns the lower bound of the range that the number lies in, if ranges of a width follow one another from zero:
  /// `{ $0.price.bucket(of: 10) }` is 20 for prices from 20 to below 30, and -10 for those from -10 to below zero.
  ///
  /// - Parameter width: The width of ranges. If it is not above zero, that is an error when the query is run.
  @inlinable
  public func bucket(of width: Value) -> ComputedField<Subject, Value> {
    mapped { .function(.bucket(of: width.fieldValue), $0) }
  }
}

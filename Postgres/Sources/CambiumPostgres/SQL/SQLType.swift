package import Cambium
package import FoundationEssentials

/// A type of PostgreSQL that a scalar type of a store goes over to.
package enum SQLType: String, Sendable, Hashable {
  case boolean
  case smallint, integer, bigint
  /// Unsigned integers of 64 bits.
  case unsigned = "numeric(20,0)"
  case real
  case double = "double precision"
  case timestamp = "timestamp with time zone"
  case uuid, numeric, text, bytea

  /// - Parameter dates: The type of dates.
  package init(_ scalar: ScalarType, dates: DateForm) {
    self =
      switch scalar {
      case .boolean: .boolean
      case .int8, .int16, .uint8: .smallint
      case .int32, .uint16: .integer
      case .int64, .uint32: .bigint
      case .uint64: .unsigned
      case .float: .real
      case .double: .double
      case .date: dates == .timestamp ? .timestamp : .double
      case .uuid: .uuid
      case .decimal: .numeric
      case .string, .url: .text
      case .binaryData: .bytea
      }
  }

  /// The type as columns have it. Strings are sorted by their bytes, as in the store.
  package var columnText: String { self == .text ? "text COLLATE \"C\"" : rawValue }
}

/// How dates go over, which are stored as seconds since 2001, as a double.
package enum DateForm: String, CaseIterable, Sendable, Codable {
  /// `timestamp with time zone`: microseconds, so that most dates change by less than one.
  case timestamp
  /// The stored number.
  case double
}

extension ScalarType {
  /// The range of an integer type that the type of the column exceeds; nil if both have the same.
  var checkedRange: (low: String, high: String)? {
    switch self {
    case .int8: ("-128", "127")
    case .uint8: ("0", "255")
    case .uint16: ("0", "65535")
    case .uint32: ("0", "4294967295")
    case .uint64: ("0", "18446744073709551615")
    default: nil
    }
  }

  /// True if a value can be NaN.
  var hasNaN: Bool { [.float, .double, .decimal].contains(self) }
}

extension FieldValue {
  /// The value as a literal of a type; nil if SQL has none, or none that is sure to be the same.
  ///
  /// - Parameters:
  ///   - type: The scalar type of the field.
  ///   - rounding: True for the value that a column has instead, of a date that is rounded.
  func literal(of type: ScalarType, dates: DateForm, rounding: Bool = false) -> String? {
    switch self {
    case .null: "NULL"
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): value.isNaN ? nil : "'\(value)'::real"
    case .double(let value): value.isNaN ? nil : "'\(value)'::double precision"
    case .decimal(let value): value.isNaN ? nil : "\(value)"
    case .string(let value): value.unicodeScalars.contains("\0") ? nil : SQL.literal(value)
    case .url(let value): SQL.literal(value.absoluteString)
    case .uuid(let value): "'\(value.uuidString.lowercased())'::uuid"
    case .data(let value): SQL.literal(value)
    case .date(let value): value.literal(dates, rounding: rounding)
    case .array(let values):
      Self.list(values.map { $0.literal(of: type, dates: dates) }, of: SQLType(type, dates: dates))
    case .blob, .composite: nil
    }
  }

  private static func list(_ values: [String?], of type: SQLType) -> String? {
    let texts = values.compactMap { $0 }
    guard texts.count == values.count else { return nil }
    return "ARRAY[\(texts.joined(separator: ", "))]::\(type.rawValue)[]"
  }
}

extension Date {
  fileprivate func literal(_ form: DateForm, rounding: Bool) -> String? {
    let seconds = timeIntervalSinceReferenceDate
    if seconds.isNaN { return nil }
    if form == .double { return "'\(seconds)'::double precision" }
    let microseconds: Int64
    switch Microseconds(self) {
    case .exact(.max): return "('infinity'::timestamp AT TIME ZONE 'UTC')"
    case .exact(.min): return "('-infinity'::timestamp AT TIME ZONE 'UTC')"
    case .exact(let value): microseconds = value
    case .rounded(let value) where rounding: microseconds = value
    case .rounded, .impossible: return nil
    }
    // Immutable, so that conditions of indexes can have it.
    let (days, rest) = microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
    return
      "(('2000-01-01 00:00:00'::timestamp + interval '\(days) days' + interval '\(rest) microseconds')"
      + " AT TIME ZONE 'UTC')"
  }
}

/// A date as PostgreSQL has it.
package enum Microseconds: Equatable {
  /// Microseconds since 2000.
  case exact(Int64)
  /// The closest number of microseconds.
  case rounded(Int64)
  /// PostgreSQL has no such time: it is NaN, or before 4713 BC, or after 294276.
  case impossible

  package init(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds.isInfinite {
      self = .exact(seconds > 0 ? .max : .min)
      return
    }
    // The year 2000 has 366 days.
    let offset: Int64 = 366 * 86_400 * 1_000_000
    let whole = seconds.rounded(.down)
    // Within them nothing overflows: the last is the end of PostgreSQL's calendar, and the first is before its beginning.
    guard let wholeSeconds = Int64(exactly: whole),
      (-300_000_000_000...9_223_339_708_800).contains(wholeSeconds)
    else {
      self = .impossible
      return
    }
    // The fraction is exact, and so are the seconds; only their product is rounded.
    let part = (seconds - whole) * 1_000_000
    let rounded = part.rounded(.toNearestOrEven)
    let microseconds = wholeSeconds * 1_000_000 + Int64(rounded) + offset
    guard Self.range.contains(microseconds) else {
      self = .impossible
      return
    }
    // A double has fewer digits than the microseconds far from 2001, so the way back decides.
    let back = Double(microseconds - offset) / 1_000_000
    self = back == seconds ? .exact(microseconds) : .rounded(microseconds)
  }

  /// From 4714-11-24 BC up to the end of 294276, as PostgreSQL's documentation has it.
  static let range: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000
}

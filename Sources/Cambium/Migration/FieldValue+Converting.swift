internal import FoundationEssentials

// Conversions that have to be asked for, since not every value has a counterpart.

extension FieldValue {
  /// The value in another type of column; nil if it has none there.
  ///
  /// Beside what converts exactly: numbers, booleans, dates, UUIDs, URLs and UTF-8 bytes to strings and back,
  /// booleans to 0 and 1 and back, decimals and floating-point numbers to integers where they are whole.
  ///
  /// - Parameter source: The type of the column that the value is from.
  func converting(to type: ColumnType) -> FieldValue? {
    if let exact = converted(to: type) { return exact }
    if case .external(of: let inner, _) = type {
      return converting(to: .scalar(inner))?.converted(to: type)
    }
    switch type.scalar {
    case .string: return text.map { .string($0) }
    case .boolean: return boolean.map { .boolean($0) }
    case .binaryData:
      if case .string(let text) = self { return .data(Data(text.utf8)) }
      return nil
    case .date:
      if case .string(let text) = self { return Date(iso: text).map { .date($0) } }
      return nil
    case .decimal:
      // Decimal itself takes what only begins with a number.
      if case .string(let text) = self, Double(text) != nil {
        return Decimal(string: text).map { .decimal($0) }
      }
      return number?.converted(to: type)
    case .url, .uuid, nil: return nil
    default: return number?.converted(to: type)
    }
  }

  private var text: String? {
    switch self {
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .date(let value): value.isoText
    case .uuid(let value): value.uuidString
    case .url(let value): value.absoluteString
    case .data(let value): String(validating: value, as: UTF8.self)
    default: nil
    }
  }

  private var boolean: Bool? {
    switch self {
    case .integer(0), .unsigned(0), .string("false"), .string("0"): false
    case .integer(1), .unsigned(1), .string("true"), .string("1"): true
    default: nil
    }
  }

  /// A number that says exactly the same.
  private var number: FieldValue? {
    switch self {
    case .boolean(let value): .integer(value ? 1 : 0)
    case .string(let text): Self.number(text)
    case .float(let value): Int64(exactly: value).map { .integer($0) }
    case .double(let value):
      Int64(exactly: value).map { .integer($0) } ?? UInt64(exactly: value).map { .unsigned($0) }
    case .decimal(let value):
      Self.number("\(value)").flatMap { $0.converted(to: .decimal) == self ? $0 : nil }
    default: nil
    }
  }

  private static func number(_ text: String) -> FieldValue? {
    if let value = Int64(text) { return .integer(value) }
    if let value = UInt64(text) { return .unsigned(value) }
    return Double(text).flatMap { $0.isNaN ? nil : .double($0) }
  }
}

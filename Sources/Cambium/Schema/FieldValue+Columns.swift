#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FieldValue {
  /// Returns the value as a column of a type holds it; nil if it does not convert exactly.
  ///
  /// Numbers convert to numbers, strings to UUIDs and absolute URLs. A double also converts to a float if both are written
  /// with the same digits, so that 0.1 can be the default of a float. −0.0 becomes 0.0. Null, and types with a codec, do not
  /// convert.
  func converted(to type: ColumnType) -> FieldValue? {
    switch type {
    case .scalar(let type): converted(to: type)
    case .external(let type, _): external(type)
    case .array(let element): array(of: element)
    case .transformable, .composite: nil
    }
  }

  private func converted(to type: ScalarType) -> FieldValue? {
    switch type {
    case .boolean: if case .boolean = self { self } else { nil }
    case .int8: integer(Int8.self)
    case .int16: integer(Int16.self)
    case .int32: integer(Int32.self)
    case .int64: integer(Int64.self)
    case .uint8: integer(UInt8.self)
    case .uint16: integer(UInt16.self)
    case .uint32: integer(UInt32.self)
    case .uint64: integer(UInt64.self)
    case .float: float.map { .float($0 == 0 ? 0 : $0) }
    case .double: double.map { .double($0 == 0 ? 0 : $0) }
    case .decimal: decimal.map { .decimal($0) }
    case .string: if case .string = self { self } else { nil }
    case .date: date
    case .uuid: uuid.map { .uuid($0) }
    case .url: absoluteURL.map { .url($0) }
    case .binaryData: if case .data = self { self } else { nil }
    }
  }

  /// True if it is no number though its type is one of numbers.
  var isNaN: Bool {
    switch self {
    case .float(let value): value.isNaN
    case .double(let value): value.isNaN
    case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
    case .decimal(let value): value.isNaN
    default: false
    }
  }

  private func integer<Value: FieldNumber>(_ type: Value.Type) -> FieldValue? {
    Value(fieldValue: self)?.fieldValue
  }

  private var float: Float? {
    switch self {
    case .float(let value): value
    case .double(let value):
      Float(exactly: value) ?? ("\(Float(value))" == "\(value)" ? Float(value) : nil)
    case .integer(let value): Float(exactly: value)
    case .unsigned(let value): Float(exactly: value)
    default: nil
    }
  }

  private var double: Double? {
    switch self {
    case .float(let value): Double(value)
    case .double(let value): value
    case .integer(let value): Double(exactly: value)
    case .unsigned(let value): Double(exactly: value)
    default: nil
    }
  }

  private var decimal: Decimal? {
    switch self {
    case .decimal(let value): value
    case .integer(let value): Decimal(value)
    case .unsigned(let value): Decimal(value)
    // By its digits: 0.1 is one tenth.
    case .double(let value): value.isFinite ? Decimal(numberText: "\(value)") : nil
    default: nil
    }
  }

  private var date: FieldValue? {
    guard case .date(let value) = self else { return nil }
    return value.timeIntervalSinceReferenceDate == 0
      ? .date(Date(timeIntervalSinceReferenceDate: 0)) : self
  }

  private var uuid: UUID? {
    switch self {
    case .uuid(let value): value
    case .string(let text): UUID(uuidString: text)
    default: nil
    }
  }

  private var absoluteURL: URL? {
    switch self {
    case .url(let value): value.isAbsolute ? value.absoluteURL : nil
    case .string(let text): URL(absolute: text)
    default: nil
    }
  }

  /// The value as an external column of a type holds it: binary data also as a blob.
  private func external(_ type: ScalarType) -> FieldValue? {
    switch (type, self) {
    case (.binaryData, .blob), (.binaryData, .data), (.string, .string): self
    default: nil
    }
  }

  private func array(of element: ScalarType) -> FieldValue? {
    guard case .array(let values) = self else { return nil }
    var converted: [FieldValue] = []
    for value in values {
      guard let value = value.converted(to: element) else { return nil }
      converted.append(value)
    }
    return .array(converted)
  }
}

extension FieldValue {
  /// Compares it with a value of the same type: negative, 0 or positive if it comes before, with, or after that; nil if
  /// the two have no order.
  func compare(to other: FieldValue) -> Int? {
    switch (self, other) {
    case (.integer(let one), .integer(let other)): Self.order(one, other)
    case (.unsigned(let one), .unsigned(let other)): Self.order(one, other)
    case (.float(let one), .float(let other)): Self.order(one, other)
    case (.double(let one), .double(let other)): Self.order(one, other)
    case (.decimal(let one), .decimal(let other)): Self.order(one, other)
    case (.date(let one), .date(let other)):
      Self.order(one.timeIntervalSinceReferenceDate, other.timeIntervalSinceReferenceDate)
    case (.string(let one), .string(let other)):
      one.utf8.elementsEqual(other.utf8)
        ? 0 : one.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    default: nil
    }
  }

  /// Returns true if both are stored alike: strings that Swift takes for equal may have other bytes, and NaN is what it was,
  /// though it equals nothing. The sign of zero makes no difference.
  package func isSame(as other: FieldValue) -> Bool {
    switch (self, other) {
    case (.string, .string): compare(to: other) == 0
    case (.url(let one), .url(let other)):
      one.absoluteString.utf8.elementsEqual(other.absoluteString.utf8)
    case (.array(let one), .array(let other)):
      one.count == other.count && zip(one, other).allSatisfy { $0.isSame(as: $1) }
    case (.composite(let one), .composite(let other)):
      one.count == other.count
        && one.allSatisfy { name, value in other[name]?.isSame(as: value) ?? false }
    default: self == other || isNaN && other.isNaN
    }
  }

  private static func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int? {
    one < other ? -1 : one > other ? 1 : one == other ? 0 : nil
  }
}

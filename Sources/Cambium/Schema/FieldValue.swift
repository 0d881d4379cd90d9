#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The value of one field without its Swift type: in defaults, conditions and dynamic records.
public enum FieldValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// A signed integer of any width.
  case integer(Int64)
  /// An unsigned integer of any width.
  case unsigned(UInt64)
  case float(Float)
  case double(Double)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  /// The value of an external field, which is read on request.
  case blob(Blob)
  case uuid(UUID)
  case url(URL)
  case array([FieldValue])
  /// The values of a composite's parts, by name.
  case composite([String: FieldValue])
}

extension FieldValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral values: FieldValue...) { self = .array(values) }
}

/// A Swift value that a column can hold, and that is made of the value of a field.
public protocol FieldValueConvertible: Sendable {
  /// Fails for null, and where the value is of another kind or out of range.
  init?(fieldValue: FieldValue)
  var fieldValue: FieldValue { get }
}

/// A value of a type with an order: conditions can compare it as lower or higher.
public protocol OrderedFieldValue: FieldValueConvertible {
  /// The type of values that are not null: of an optional, the wrapped one.
  associatedtype Present: FieldValueConvertible = Self
}

/// A number: conditions can compute with it, and queries sum it up.
public protocol FieldNumber: OrderedFieldValue {
  /// The type of sums.
  associatedtype Total: FieldValueConvertible = Int
  /// The type of averages.
  associatedtype Average: FieldValueConvertible = Double
}

/// A value with a length.
public protocol MeasuredFieldValue: FieldValueConvertible {}

/// A value with a text that conditions can match.
public protocol FieldText: OrderedFieldValue, MeasuredFieldValue {}

extension FieldValue {
  /// Returns the value as a Swift value; nil for null.
  ///
  /// ```swift
  /// let name = try record["name"].as(String.self) ?? ""
  /// ```
  ///
  /// - Throws: `FieldMismatch` if it is of another kind, or out of the type's range.
  public func `as`<Value: FieldValueConvertible>(_ type: Value.Type) throws(FieldMismatch) -> Value?
  {
    if case .null = self { return nil }
    if let value = Value(fieldValue: self) { return value }
    throw FieldMismatch(reason: "its value is \(kind), which is not \(type)")
  }

  /// The name of the case, for errors.
  var kind: String {
    switch self {
    case .null: "null"
    case .boolean(let value): "the boolean \(value)"
    case .integer(let value): "the integer \(value)"
    case .unsigned(let value): "the unsigned integer \(value)"
    case .float(let value): "the float \(value)"
    case .double(let value): "the double \(value)"
    case .decimal(let value): "the decimal \(value)"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .blob: "a blob"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .array: "an array"
    case .composite: "a composite"
    }
  }
}

// MARK: Numbers

extension FieldValueConvertible where Self: FixedWidthInteger {
  public init?(fieldValue: FieldValue) {
    switch fieldValue {
    case .integer(let value): self.init(exactly: value)
    case .unsigned(let value): self.init(exactly: value)
    default: return nil
    }
  }

  @inlinable public var fieldValue: FieldValue {
    Self.isSigned ? .integer(Int64(self)) : .unsigned(UInt64(self))
  }
}

extension Int: FieldNumber {}
extension Int8: FieldNumber {}
extension Int16: FieldNumber {}
extension Int32: FieldNumber {}
extension Int64: FieldNumber {}
extension UInt: FieldNumber {}
extension UInt8: FieldNumber {}
extension UInt16: FieldNumber {}
extension UInt32: FieldNumber {}
extension UInt64: FieldNumber {}

extension Float: FieldNumber {
  public typealias Total = Double

  public init?(fieldValue: FieldValue) {
    guard case .float(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .float(self) }
}

extension Double: FieldNumber {
  public typealias Total = Double

  public init?(fieldValue: FieldValue) {
    switch fieldValue {
    case .double(let value): self = value
    case .float(let value): self = Double(value)
    default: return nil
    }
  }

  @inlinable public var fieldValue: FieldValue { .double(self) }
}

extension Decimal: FieldNumber {
  public typealias Total = Decimal
  public typealias Average = Decimal

  public init?(fieldValue: FieldValue) {
    guard case .decimal(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .decimal(self) }
}

// MARK: Other scalars

extension Bool: OrderedFieldValue {
  public init?(fieldValue: FieldValue) {
    guard case .boolean(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .boolean(self) }
}

extension String: FieldText {
  public init?(fieldValue: FieldValue) {
    guard case .string(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .string(self) }
}

extension URL: FieldText {
  public init?(fieldValue: FieldValue) {
    guard case .url(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .url(self) }
}

extension Date: OrderedFieldValue {
  public init?(fieldValue: FieldValue) {
    guard case .date(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .date(self) }
}

extension UUID: OrderedFieldValue {
  public init?(fieldValue: FieldValue) {
    guard case .uuid(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .uuid(self) }
}

extension Data: OrderedFieldValue, MeasuredFieldValue {
  public init?(fieldValue: FieldValue) {
    guard case .data(let value) = fieldValue else { return nil }
    self = value
  }

  @inlinable public var fieldValue: FieldValue { .data(self) }
}

extension Blob: MeasuredFieldValue {
  public init?(fieldValue: FieldValue) {
    switch fieldValue {
    case .blob(let value): self = value
    case .data(let value): self.init(value)
    default: return nil
    }
  }

  public var fieldValue: FieldValue { .blob(self) }
}

// MARK: Values of values

extension FieldValue: FieldValueConvertible {
  public init?(fieldValue: FieldValue) { self = fieldValue }

  public var fieldValue: FieldValue { self }
}

extension Array: FieldValueConvertible where Element: FieldValueConvertible {
  public init?(fieldValue: FieldValue) {
    guard case .array(let values) = fieldValue else { return nil }
    self = []
    for value in values {
      guard let element = Element(fieldValue: value) else { return nil }
      append(element)
    }
  }

  public var fieldValue: FieldValue { .array(map { $0.fieldValue }) }
}

extension Array: MeasuredFieldValue where Element: FieldValueConvertible {}

extension Optional: FieldValueConvertible where Wrapped: FieldValueConvertible {
  /// Creates nil of null.
  public init?(fieldValue: FieldValue) {
    if case .null = fieldValue {
      self = .none
    } else if let value = Wrapped(fieldValue: fieldValue) {
      self = value
    } else {
      return nil
    }
  }

  /// The value as a field has it; null for nil.
  @inlinable public var fieldValue: FieldValue {
    // Each call would make the key path of a generic type again.
    if let value = self { value.fieldValue } else { .null }
  }
}

extension Optional: OrderedFieldValue where Wrapped: OrderedFieldValue {
  public typealias Present = Wrapped.Present
}
extension Optional: MeasuredFieldValue where Wrapped: MeasuredFieldValue {}
extension Optional: FieldText where Wrapped: FieldText {}
extension Optional: FieldNumber where Wrapped: FieldNumber {
  public typealias Total = Wrapped.Total
  public typealias Average = Wrapped.Average
}

extension FieldValue {
  /// Creates the value that a column holds of any Swift value; nil if that takes a codec.
  init?(converting value: Any) {
    switch value {
    case let value as any FieldValueConvertible: self = value.fieldValue
    case let values as [any FieldValueConvertible]: self = .array(values.map { $0.fieldValue })
    default: return nil
    }
  }
}

/// The error of reading a field that the record does not have, or as a Swift type that its value is not.
public struct FieldMismatch: Error, Hashable, Sendable {
  /// The stored name of the record; nil if a value was read by itself.
  public let record: String?
  /// The field as the program named it; nil if a value was read by itself.
  public let field: String?
  /// The reason, as a sentence.
  public let reason: String

  init(record: String? = nil, field: String? = nil, reason: String) {
    self.record = record
    self.field = field
    self.reason = reason
  }

  /// Returns the mismatch with the field of the value.
  func naming(_ field: String, of record: String) -> FieldMismatch {
    FieldMismatch(record: record, field: field, reason: reason)
  }
}

extension FieldMismatch: CustomStringConvertible {
  public var description: String {
    guard let field else { return reason }
    return "\(record.map { "\($0)." } ?? "")\(field): \(reason)"
  }
}

extension FieldMismatch {
  static func noField(_ field: String, of record: String, but known: [String]) -> FieldMismatch {
    FieldMismatch(
      record: record, field: field,
      reason: "there is no such field, but \(known.sortedRarely().joined(separator: ", "))")
  }
}

extension FieldValue: CustomStringConvertible {
  /// The value, without its type.
  public var description: String {
    switch self {
    case .null: "nil"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .date(let value):
      // A date too far away for the calendar has no description, and asking for one ends the process.
      abs(value.timeIntervalSinceReferenceDate) < 1e12
        ? "\(value)" : "\(value.timeIntervalSinceReferenceDate) seconds from 2001"
    case .data(let value): "\(value.count) bytes"
    case .blob(let value): "\(value.count) bytes"
    case .uuid(let value): "\(value)"
    case .url(let value): value.absoluteString
    case .array(let values): "\(values)"
    case .composite(let parts):
      "["
        + parts.sortedRarely { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        .joined(separator: ", ") + "]"
    }
  }
}

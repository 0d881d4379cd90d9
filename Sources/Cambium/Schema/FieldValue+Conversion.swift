public import FoundationEssentials

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

/// A Swift value that a column can hold.
public protocol FieldValueConvertible: Sendable {
  var fieldValue: FieldValue { get }
}

/// A value of a type with an order: conditions can compare it as lower or higher.
public protocol OrderedFieldValue: FieldValueConvertible {}

/// A number: conditions can compute with it.
public protocol FieldNumber: OrderedFieldValue {}

/// A value with a text that conditions can match.
public protocol FieldText: OrderedFieldValue, MeasuredFieldValue {}

/// A value with a length.
public protocol MeasuredFieldValue: FieldValueConvertible {}

extension FieldValue: FieldValueConvertible {
  public var fieldValue: FieldValue { self }
}

extension FieldValueConvertible where Self: SignedInteger {
  @inlinable
  public var fieldValue: FieldValue { .integer(Int64(self)) }
}

extension FieldValueConvertible where Self: UnsignedInteger {
  @inlinable
  public var fieldValue: FieldValue { .unsigned(UInt64(self)) }
}

extension Bool: OrderedFieldValue {
  @inlinable public var fieldValue: FieldValue { .boolean(self) }
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
  @inlinable public var fieldValue: FieldValue { .float(self) }
}

extension Double: FieldNumber {
  @inlinable public var fieldValue: FieldValue { .double(self) }
}

extension Decimal: FieldNumber {
  @inlinable public var fieldValue: FieldValue { .decimal(self) }
}

extension String: FieldText {
  @inlinable public var fieldValue: FieldValue { .string(self) }
}

extension URL: FieldText {
  @inlinable public var fieldValue: FieldValue { .url(self) }
}

extension Date: OrderedFieldValue {
  @inlinable public var fieldValue: FieldValue { .date(self) }
}

extension Data: OrderedFieldValue, MeasuredFieldValue {
  @inlinable public var fieldValue: FieldValue { .data(self) }
}

extension Blob: MeasuredFieldValue {
  public var fieldValue: FieldValue { .blob(self) }
}

extension UUID: OrderedFieldValue {
  @inlinable public var fieldValue: FieldValue { .uuid(self) }
}

extension Array: FieldValueConvertible where Element: FieldValueConvertible {
  public var fieldValue: FieldValue { .array(map(\.fieldValue)) }
}

extension Optional: FieldValueConvertible where Wrapped: FieldValueConvertible {
  /// The value as a field has it; null for nil.
  @inlinable public var fieldValue: FieldValue { map(\.fieldValue) ?? .null }
}

extension Optional: OrderedFieldValue where Wrapped: OrderedFieldValue {}
extension Array: MeasuredFieldValue where Element: FieldValueConvertible {}
extension Optional: MeasuredFieldValue where Wrapped: MeasuredFieldValue {}
extension Optional: FieldNumber where Wrapped: FieldNumber {}
extension Optional: FieldText where Wrapped: FieldText {}

extension FieldValue {
  /// Creates the value that a column holds of any Swift value; nil if that takes a codec.
  init?(converting value: Any) {
    switch value {
    case let value as any FieldValueConvertible: self = value.fieldValue
    case let values as [any FieldValueConvertible]: self = .array(values.map(\.fieldValue))
    default: return nil
    }
  }
}

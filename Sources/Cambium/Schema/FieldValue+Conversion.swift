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

extension FieldValue: FieldValueConvertible {
  public var fieldValue: FieldValue { self }
}

extension Bool: FieldValueConvertible {
  public var fieldValue: FieldValue { .boolean(self) }
}

extension FieldValueConvertible where Self: SignedInteger {
  public var fieldValue: FieldValue { .integer(Int64(self)) }
}

extension FieldValueConvertible where Self: UnsignedInteger {
  public var fieldValue: FieldValue { .unsigned(UInt64(self)) }
}

extension Int: FieldValueConvertible {}
extension Int8: FieldValueConvertible {}
extension Int16: FieldValueConvertible {}
extension Int32: FieldValueConvertible {}
extension Int64: FieldValueConvertible {}
extension UInt: FieldValueConvertible {}
extension UInt8: FieldValueConvertible {}
extension UInt16: FieldValueConvertible {}
extension UInt32: FieldValueConvertible {}
extension UInt64: FieldValueConvertible {}

extension Float: FieldValueConvertible {
  public var fieldValue: FieldValue { .float(self) }
}

extension Double: FieldValueConvertible {
  public var fieldValue: FieldValue { .double(self) }
}

extension Decimal: FieldValueConvertible {
  public var fieldValue: FieldValue { .decimal(self) }
}

extension String: FieldValueConvertible {
  public var fieldValue: FieldValue { .string(self) }
}

extension Date: FieldValueConvertible {
  public var fieldValue: FieldValue { .date(self) }
}

extension Data: FieldValueConvertible {
  public var fieldValue: FieldValue { .data(self) }
}

extension UUID: FieldValueConvertible {
  public var fieldValue: FieldValue { .uuid(self) }
}

extension URL: FieldValueConvertible {
  public var fieldValue: FieldValue { .url(self) }
}

extension FieldValue {
  /// What a column would hold of any value; nil where it takes a codec.
  init?(converting value: Any) {
    switch value {
    case let value as any FieldValueConvertible: self = value.fieldValue
    case let value as any RecordIntegerEnum: self = .integer(Int64(value.intRawValue))
    case let value as any RecordStringEnum: self = .string(value.stringRawValue)
    case let values as [any FieldValueConvertible]: self = .array(values.map(\.fieldValue))
    default: return nil
    }
  }
}

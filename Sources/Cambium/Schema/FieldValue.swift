public import FoundationEssentials

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

/// An enum that is stored as an integer. If its raw values are `Int`s, conforming needs no code.
public protocol RecordIntegerEnum: Codable, FieldValueConvertible {
  /// Fails if no case has the value.
  init?(intRawValue: Int)
  var intRawValue: Int { get }
}

extension RecordIntegerEnum {
  public init?(fieldValue: FieldValue) {
    guard let value = Int(fieldValue: fieldValue) else { return nil }
    self.init(intRawValue: value)
  }

  public var fieldValue: FieldValue { .integer(Int64(intRawValue)) }
}

extension RecordIntegerEnum where Self: RawRepresentable, RawValue == Int {
  public init?(intRawValue: Int) {
    self.init(rawValue: intRawValue)
  }

  public var intRawValue: Int { rawValue }
}

/// An enum that is stored as a string. If its raw values are `String`s, conforming needs no code.
public protocol RecordStringEnum: Codable, FieldValueConvertible {
  /// Fails if no case has the value.
  init?(stringRawValue: String)
  var stringRawValue: String { get }
}

extension RecordStringEnum {
  public init?(fieldValue: FieldValue) {
    guard case .string(let value) = fieldValue else { return nil }
    self.init(stringRawValue: value)
  }

  public var fieldValue: FieldValue { .string(stringRawValue) }
}

extension RecordStringEnum where Self: RawRepresentable, RawValue == String {
  public init?(stringRawValue: String) {
    self.init(rawValue: stringRawValue)
  }

  public var stringRawValue: String { rawValue }
}

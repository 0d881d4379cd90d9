public import FoundationEssentials

/// A Swift type that values of fields can be read as.
public protocol FieldValueReadable: FieldValueConvertible {
  /// - Returns: nil for null, and where the value is of another kind or out of range.
  init?(fieldValue: FieldValue)
}

extension FieldValue {
  /// Returns the value as a Swift value; nil for null.
  ///
  /// ```swift
  /// let name = try record["name"].as(String.self) ?? ""
  /// ```
  ///
  /// - Throws: `FieldMismatch` if it is of another kind, or out of the type's range.
  public func `as`<Value: FieldValueReadable>(_ type: Value.Type) throws(FieldMismatch) -> Value? {
    if case .null = self { return nil }
    if let value = Value(fieldValue: self) { return value }
    throw FieldMismatch(reason: "its value is \(kind), which is not \(type)")
  }

  /// The name of the case, for errors.
  private var kind: String {
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

extension FieldValueReadable where Self: FixedWidthInteger {
  public init?(fieldValue: FieldValue) {
    switch fieldValue {
    case .integer(let value): self.init(exactly: value)
    case .unsigned(let value): self.init(exactly: value)
    default: return nil
    }
  }
}

extension Int: FieldValueReadable {}
extension Int8: FieldValueReadable {}
extension Int16: FieldValueReadable {}
extension Int32: FieldValueReadable {}
extension Int64: FieldValueReadable {}
extension UInt: FieldValueReadable {}
extension UInt8: FieldValueReadable {}
extension UInt16: FieldValueReadable {}
extension UInt32: FieldValueReadable {}
extension UInt64: FieldValueReadable {}

extension Bool: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .boolean(let value) = fieldValue else { return nil }
    self = value
  }
}

extension Float: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .float(let value) = fieldValue else { return nil }
    self = value
  }
}

extension Double: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    switch fieldValue {
    case .double(let value): self = value
    case .float(let value): self = Double(value)
    default: return nil
    }
  }
}

extension Decimal: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .decimal(let value) = fieldValue else { return nil }
    self = value
  }
}

extension String: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .string(let value) = fieldValue else { return nil }
    self = value
  }
}

extension URL: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .url(let value) = fieldValue else { return nil }
    self = value
  }
}

extension Date: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .date(let value) = fieldValue else { return nil }
    self = value
  }
}

extension Data: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .data(let value) = fieldValue else { return nil }
    self = value
  }
}

extension Blob: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    switch fieldValue {
    case .blob(let value): self = value
    case .data(let value): self.init(value)
    default: return nil
    }
  }
}

extension UUID: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .uuid(let value) = fieldValue else { return nil }
    self = value
  }
}

extension Array: FieldValueReadable where Element: FieldValueReadable {
  public init?(fieldValue: FieldValue) {
    guard case .array(let values) = fieldValue else { return nil }
    self = []
    for value in values {
      guard let element = Element(fieldValue: value) else { return nil }
      append(element)
    }
  }
}

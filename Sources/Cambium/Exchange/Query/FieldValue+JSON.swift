#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The writer of JSON that values are read from: not all write the same.
package enum JSONForm: Sendable {
  /// `cambium export`: values of types with a codec are their bytes in base64. All names are known.
  case export
  /// `JSONEncoder`, and programs like it: values of types with a codec are any JSON, dates may be numbers of seconds since
  /// 2001, and names that are not known are passed over.
  case codable
}

extension FieldValue {
  /// Reads the value of a field from JSON.
  ///
  /// - Throws: The fault, in words.
  package init(
    _ json: JSONValue, of field: FieldShape, form: JSONForm = .export
  ) throws(JSONFault) {
    if case .null = json {
      self = .null
    } else if field.type == .composite {
      self = .composite(try Self.parts(json, of: field.parts, in: field.name, form: form))
    } else {
      self = try Self.value(json, of: field.type, in: field.name, form)
    }
  }

  /// Reads the values of fields by their names from a JSON object.
  package static func parts(
    _ json: JSONValue, of fields: [FieldShape], in name: String, form: JSONForm = .export
  ) throws(JSONFault) -> [String: FieldValue] {
    guard case .object(let members) = json else {
      throw JSONFault(reason: "\(name) is no object")
    }
    var values: [String: FieldValue] = [:]
    for member in members {
      guard let field = fields.first(where: { $0.hasName(member.name) }) else {
        if form == .codable { continue }
        throw JSONFault(reason: "\(name) has no field \(member.name)")
      }
      values[field.name] = try FieldValue(member.value, of: field, form: form)
    }
    return values
  }

  private static func value(
    _ json: JSONValue, of type: ColumnType, in name: String, _ form: JSONForm
  ) throws(JSONFault) -> FieldValue {
    if case .array(let element) = type, case .array(let values) = json {
      var elements: [FieldValue] = []
      for value in values {
        elements.append(try self.value(value, of: .scalar(element), in: name, form))
      }
      return .array(elements)
    }
    if case .external(let stored, _) = type {
      return try value(json, of: .scalar(stored), in: name, form)
    }
    if form == .codable, case .transformable = type { return .data(Data("\(json)".utf8)) }
    let value: FieldValue? =
      switch json {
      case .boolean(let value): type == .boolean ? .boolean(value) : nil
      case .number(let digits): FieldValue(number: digits, type, form)
      case .string(let text): FieldValue(jsonText: text, type)
      case .null, .array, .object: nil
      }
    guard let value else { throw JSONFault(reason: "\(name): \(json) is not \(type)") }
    return value
  }

  /// Nil if it is out of range, or if the type has no numbers.
  private init?(number digits: String, _ type: ColumnType, _ form: JSONForm) {
    let value: FieldValue? =
      switch type.scalar {
      case .int8, .int16, .int32, .int64: Int64(digits).map { .integer($0) }
      case .uint8, .uint16, .uint32, .uint64: UInt64(digits).map { .unsigned($0) }
      case .float: Float(numberText: digits).map { .float($0) }
      case .double: Double(numberText: digits).map { .double($0) }
      case .decimal: FieldValue(text: digits, type)
      case .date where form == .codable:
        Double(numberText: digits).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }

  private init?(jsonText text: String, _ type: ColumnType) {
    switch type {
    case .scalar(.binaryData), .transformable:
      guard let data = Data(wholeBase64: text) else { return nil }
      self = .data(data)
    case .scalar(.boolean), .array, .composite: return nil
    case .scalar(let type) where type.isInteger: return nil
    default: self.init(text: text, type)
    }
  }
}

import FoundationEssentials

extension JSONValue {
  /// Creates an object of a value's members, and with its text as the member `text`.
  init(describing value: some Encodable & CustomStringConvertible) throws {
    let encoded = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    let text = Member(name: "text", value: .string("\(value)"))
    guard case .object(let members) = encoded else {
      self = .object([text])
      return
    }
    self = .object([text] + members)
  }
}

// For values that programs have put into a store under names, whatever their types are.

extension JSONValue: Codable {
  init(from decoder: any Decoder) throws {
    if let members = try? decoder.container(keyedBy: Name.self) {
      self = .object(
        try members.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
          Member(name: $0.stringValue, value: try members.decode(JSONValue.self, forKey: $0))
        })
      return
    }
    if var values = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !values.isAtEnd { elements.append(try values.decode(JSONValue.self)) }
      self = .array(elements)
      return
    }
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let boolean = try? value.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let integer = try? value.decode(Int64.self) {
      self = .number("\(integer)")
    } else if let integer = try? value.decode(UInt64.self) {
      self = .number("\(integer)")
    } else if let number = try? value.decode(Double.self) {
      self = .number("\(number)")
    } else {
      self = .string(try value.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: Name.self)
      for member in members {
        try container.encode(member.value, forKey: Name(stringValue: member.name))
      }
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
    default: try encodeScalar(to: encoder)
    }
  }

  private func encodeScalar(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .boolean(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .number(let digits):
      if let value = Int64(digits) {
        try container.encode(value)
      } else if let value = UInt64(digits) {
        try container.encode(value)
      } else {
        try container.encode(Double(digits))
      }
    case .null, .array, .object: try container.encodeNil()
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A value of JSON. Numbers are kept as they are written, so that none loses a digit.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
  /// The members stay in their order.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member(name: $0.0, value: $0.1) })
  }

  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(booleanLiteral value: Bool) { self = .boolean(value) }

  package init(_ value: Int) { self = .number("\(value)") }
  package init(_ value: UInt64) { self = .number("\(value)") }
  package init(_ value: String?) { self = value.map { .string($0) } ?? .null }
  /// Null where it is no number.
  package init(_ value: Double) { self = value.isFinite ? .number("\(value)") : .null }

  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  package var text: String? { if case .string(let text) = self { text } else { nil } }
  package var integer: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
}

// MARK: - Writing

extension JSONValue: CustomStringConvertible {
  /// In one line.
  package var description: String {
    var text = ""
    write(to: &text)
    return text
  }

  package func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let value): Self.write(value, to: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.write(member.name, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  private static func write(_ value: String, to text: inout String) {
    text += "\""
    text += escaped(value)
    text += "\""
  }

  /// Returns a string, or a part of one, as JSON has it between quotes. Scalars that a terminal acts on are escaped.
  package static func escaped(_ value: String) -> String {
    // Most have nothing to be escaped.
    if value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }) {
      return value
    }
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default:
        if scalar.isActedOn {
          text += scalar.jsonEscape
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// True if a terminal acts on it, such as by another colour or direction of the text, or shows nothing, or whatever
  /// its font has for private use. Scalars that join letters and pictures are part of how those look.
  package var isActedOn: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .privateUse: true
    case .format: ![0x200c, 0x200d].contains(value) && !(0xe0020...0xe007f).contains(value)
    default: false
    }
  }

  /// The scalar as the escapes of its UTF-16 code units, of which JSON has one or two.
  package var jsonEscape: String {
    Character(self).utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}

extension JSONValue {
  /// Creates an object of a value's members, and with its text as the member `text`.
  package init(describing value: some Encodable & CustomStringConvertible) throws {
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
  package init(from decoder: any Decoder) throws {
    if let members = try? decoder.container(keyedBy: Name.self) {
      self = .object(
        try members.allKeys.sortedRarely { $0.stringValue < $1.stringValue }.map {
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

  package func encode(to encoder: any Encoder) throws {
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

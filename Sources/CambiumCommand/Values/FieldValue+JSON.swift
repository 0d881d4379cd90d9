import Cambium
import FoundationEssentials

// Values in JSON, so that reading makes exactly what was written: what JSON has no number or word for is a string
// that the field's type says how to read.

extension FieldValue {
  /// Writes the value of a field of a type, in pieces: of a blob as they are read, so that no blob is in memory as a
  /// whole.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`, and what `write` throws.
  func writeJSON(of field: FieldShape, to write: (String) throws -> Void) throws {
    switch self {
    case .composite(let parts):
      let members = field.parts.sorted { $0.name < $1.name }.map { part in
        (part, parts[part.name] ?? .null)
      }
      try Self.writeJSON(members, to: write)
    case .blob(let blob):
      try write("\"")
      if field.isString {
        try blob.writeText { try write(JSONValue.escaped($0)) }
      } else {
        try blob.writeBase64(to: write)
      }
      try write("\"")
    default: try write("\(json)")
    }
  }

  /// Writes an object of the values of fields.
  static func writeJSON(
    _ members: [(field: FieldShape, value: FieldValue)], to write: (String) throws -> Void
  ) throws {
    try write("{")
    for (index, member) in members.enumerated() {
      try write("\(index > 0 ? "," : "")\(JSONValue.string(member.field.name)):")
      try member.value.writeJSON(of: member.field, to: write)
    }
    try write("}")
  }

  /// Of what is no blob; of one, how long it is.
  var json: JSONValue {
    switch self {
    case .null: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .number("\(value)")
    case .unsigned(let value): .number("\(value)")
    case .float(let value): Self.json(Double(value), "\(value)")
    case .double(let value): Self.json(value, "\(value)")
    case .decimal(let value): .string(value.isNaN ? "nan" : "\(value)")
    case .string(let value): .string(value)
    case .date, .uuid: .string(quotedText)
    case .data(let value): .string(value.base64EncodedString())
    case .blob(let value): JSONValue(value.count)
    case .url(let value): .string(value.absoluteString)
    case .array(let values): .array(values.map(\.json))
    case .composite(let parts):
      .object(
        parts.sorted { $0.key < $1.key }.map {
          JSONValue.Member(name: $0.key, value: $0.value.json)
        })
    }
  }

  private static func json(_ value: Double, _ digits: String) -> JSONValue {
    if value.isNaN { return "nan" }
    return value.isFinite ? .number(digits) : value > 0 ? "inf" : "-inf"
  }

  /// What stands between the quotes of the literal.
  var quotedText: String {
    let text = literal
    guard let first = text.firstIndex(of: "\""), let last = text.lastIndex(of: "\""), first < last
    else { return text }
    return String(text[text.index(after: first)..<last])
  }
}

extension Blob {
  /// Writes the content, which is UTF-8, in pieces of whole characters.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`, and what `write` throws.
  func writeText(to write: (String) throws -> Void) throws {
    let reader = try reader()
    var rest = Data()
    while let piece = try reader.read(upTo: 3 << 16) {
      rest.append(piece)
      // A character begins with a byte that is none of its later ones, of which it has three at most.
      let start = rest.suffix(4).lastIndex { $0 & 0b1100_0000 != 0b1000_0000 } ?? rest.startIndex
      try write(String(decoding: rest[..<start], as: UTF8.self))
      rest = Data(rest[start...])
    }
    try write(String(decoding: rest, as: UTF8.self))
  }

  /// Writes the content in pieces.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`, and what `write` throws.
  func writeBase64(to write: (String) throws -> Void) throws {
    let reader = try reader()
    // Three bytes are four letters, so pieces of such a size can stand one behind the other.
    while let piece = try reader.read(upTo: 3 << 16) { try write(piece.base64EncodedString()) }
  }
}

// MARK: - Reading

extension FieldValue {
  /// - Throws: what is wrong with it, in words.
  init(_ json: JSONValue, of field: FieldShape) throws(JSONFault) {
    if case .null = json {
      self = .null
    } else if field.type == .composite {
      self = .composite(try Self.parts(json, of: field.parts, in: field.name))
    } else {
      self = try Self.value(json, of: field.type, in: field.name)
    }
  }

  /// The values of fields by their names.
  static func parts(
    _ json: JSONValue, of fields: [FieldShape], in name: String
  ) throws(JSONFault) -> [String: FieldValue] {
    guard case .object(let members) = json else {
      throw JSONFault(reason: "\(name) is no object")
    }
    var values: [String: FieldValue] = [:]
    for member in members {
      guard let field = fields.first(where: { $0.name == member.name }) else {
        throw JSONFault(reason: "\(name) has no field \(member.name)")
      }
      values[field.name] = try FieldValue(member.value, of: field)
    }
    return values
  }

  private static func value(
    _ json: JSONValue, of type: ColumnType, in name: String
  ) throws(JSONFault) -> FieldValue {
    if case .array(let element) = type, case .array(let values) = json {
      var elements: [FieldValue] = []
      for value in values { elements.append(try self.value(value, of: .scalar(element), in: name)) }
      return .array(elements)
    }
    if case .external(let stored, _) = type {
      return try value(json, of: .scalar(stored), in: name)
    }
    let value: FieldValue? =
      switch json {
      case .boolean(let value): type == .boolean ? .boolean(value) : nil
      case .number(let digits): FieldValue(number: digits, type)
      case .string(let text): FieldValue(jsonText: text, type)
      case .null, .array, .object: nil
      }
    guard let value else { throw JSONFault(reason: "\(name): \(json) is not \(type)") }
    return value
  }

  /// Nil where it is out of range, or the type has no numbers.
  private init?(number digits: String, _ type: ColumnType) {
    let value: FieldValue? =
      switch type.scalar {
      case .int8, .int16, .int32, .int64: Int64(digits).map { .integer($0) }
      case .uint8, .uint16, .uint32, .uint64: UInt64(digits).map { .unsigned($0) }
      case .float: Float(digits).map { .float($0) }
      case .double: Double(digits).map { .double($0) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }

  private init?(jsonText text: String, _ type: ColumnType) {
    switch type {
    case .scalar(.binaryData), .transformable:
      guard let data = Data(base64Encoded: text) else { return nil }
      self = .data(data)
    case .scalar(.boolean), .array, .composite: return nil
    case .scalar(let type) where type.isInteger: return nil
    default: self.init(text: text, type)
    }
  }
}

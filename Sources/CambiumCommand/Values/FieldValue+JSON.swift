import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Values in JSON, so that reading gives exactly the values written: a value without a number or word in JSON is a
// string that the field's type says how to read.

extension FieldValue {
  /// Writes the value of a field of a type, in pieces: of a blob as they are read, so that no blob is in memory as a
  /// whole.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`, and errors of `write`.
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

  /// The value, unless it is a blob; of one, its length.
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

  /// The text between the quotes of the literal.
  var quotedText: String {
    let text = literal
    guard let first = text.firstIndex(of: "\""), let last = text.lastIndex(of: "\""), first < last
    else { return text }
    return String(text[text.index(after: first)..<last])
  }
}

extension Blob {
  /// The most bytes of a string that a table shows.
  private static var shownMax: Int { 1 << 20 }

  /// The content, which is UTF-8, if it is not long; otherwise its beginning, and how long it is.
  var beginning: String {
    get throws {
      let piece = try reader().read(upTo: Self.shownMax) ?? Data()
      let text = String(decoding: piece, as: UTF8.self)
      return piece.count == count ? text : "\(text)… (\(count) bytes)"
    }
  }

  /// Writes the content, which is UTF-8, in pieces of whole characters.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`, and errors of `write`.
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
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io`, and errors of `write`.
  func writeBase64(to write: (String) throws -> Void) throws {
    let reader = try reader()
    // Three bytes are four letters, so pieces of such a size can stand one after the other.
    while let piece = try reader.read(upTo: 3 << 16) { try write(piece.base64EncodedString()) }
  }
}

extension DynamicRecord {
  /// Its fields; of blobs, how long they are.
  var json: JSONValue {
    .object(fields.map { JSONValue.Member(name: $0.key, value: $0.value.json) })
  }
}

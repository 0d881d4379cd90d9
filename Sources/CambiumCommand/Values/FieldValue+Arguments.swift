import Cambium
import FoundationEssentials

extension FieldValue {
  /// A value as people write it where its type is known: a string without quotes, a date as
  /// `2026-01-02T03:04:05Z`, data in hexadecimal digits. Nil where it is none.
  init?(text: String, _ type: ColumnType) {
    let value: FieldValue? =
      switch type.scalar {
      case .string: .string(text)
      case .url: URL(string: text).map { .url($0) }
      case .boolean: Bool(text).map { .boolean($0) }
      case .int8, .int16, .int32, .int64: Int64(text).map { .integer($0) }
      case .uint8, .uint16, .uint32, .uint64: UInt64(text).map { .unsigned($0) }
      case .float: Float(text).map { .float($0) }
      case .double: Double(text).map { .double($0) }
      case .decimal: Self.literal("decimal", text)
      case .date: Self.literal("date", text)
      case .uuid: Self.literal("uuid", text)
      case .binaryData: Self.literal("data", text)
      case nil:
        switch type {
        case .external(let type, _): FieldValue(text: text, .scalar(type))
        case .transformable: Self.literal("data", text)
        case .scalar, .array, .composite: nil
        }
      }
    guard let value else { return nil }
    self = value
  }

  private static func literal(_ type: String, _ text: String) -> FieldValue? {
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }
    return isPlain ? try? FieldValue(parsing: "\(type)\"\(text)\"") : nil
  }

  /// The value for a table: in one line, without the quotes and types of literals.
  var cell: String {
    switch self {
    case .null: "–"
    case .string(let value): value.inOneLine
    case .date, .uuid, .decimal: quotedText
    case .url(let value): value.absoluteString.inOneLine
    case .data(let value): "\(value.count) bytes"
    case .blob(let value): "\(value.count) bytes"
    case .float(let value): "\(value)"
    case .array(let values): "[" + values.map(\.cell).joined(separator: ", ") + "]"
    case .composite(let parts):
      "{"
        + parts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.cell)" }
        .joined(separator: ", ") + "}"
    case .boolean, .integer, .unsigned, .double: "\(self)"
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer, .unsigned, .float, .double, .decimal: true
    default: false
    }
  }
}

extension RecordShape {
  /// Returns the values of a primary key whose parts are written as arguments.
  ///
  /// - Throws: `CommandFailure` if they are too few or too many, or of other types.
  func keyValues(_ parts: [String]) throws -> [FieldValue] {
    guard parts.count == key.count else {
      let names = key.map(\.name).joined(separator: ", ")
      throw CommandFailure(
        .usage, "The key of \(name) has \(Figures.count(key.count, "part")): \(names).")
    }
    return try zip(parts, key).map { text, field in
      if text == "null", field.isOptional { return .null }
      guard let value = FieldValue(text: text, field.type) else {
        throw CommandFailure(.usage, "\(text) is not \(field.type), which \(field.name) is.")
      }
      return value
    }
  }
}

extension String {
  /// What a terminal would act on, escaped.
  var inOneLine: String {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
      ? unicodeScalars.map { scalar in
        scalar.properties.generalCategory == .control
          ? scalar.escaped(asASCII: true) : String(Character(scalar))
      }.joined() : self
  }
}

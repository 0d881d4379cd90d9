import Cambium
import FoundationEssentials

extension FieldValue {
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

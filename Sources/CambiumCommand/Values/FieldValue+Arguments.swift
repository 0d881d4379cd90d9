import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
        + parts.sorted { $0.key < $1.key }.map { "\($0.key.inOneLine): \($0.value.cell)" }
        .joined(separator: ", ") + "}"
    case .boolean, .integer, .unsigned, .double: "\(self)"
    }
  }

  /// The value of a field as a table shows it. Of a string outside its row, no more than the beginning is read.
  ///
  /// - Throws: `StoreError.corrupt`, `.missing`, `.io` where it cannot be read.
  func cell(of field: FieldShape) throws -> String {
    switch self {
    case .blob(let blob) where field.isString: return try blob.beginning.inOneLine
    case .composite(let parts):
      let cells = try parts.sorted { $0.key < $1.key }.map { name, value in
        let part = field.parts.first { $0.name == name }
        return "\(name.inOneLine): \(try part.map { try value.cell(of: $0) } ?? value.cell)"
      }
      return "{" + cells.joined(separator: ", ") + "}"
    default: return cell
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
  /// The text in one line, with characters escaped that a terminal would act on, or that are invisible.
  var inOneLine: String {
    if !unicodeScalars.contains(where: \.isActedOn) { return self }
    return unicodeScalars.map {
      $0.isActedOn ? $0.escaped(asASCII: true) : String(Character($0))
    }.joined()
  }

  /// The text with the same escaped as in JSON, which so stays JSON, but for ends of lines, and for styles.
  var onTerminal: String {
    if !unicodeScalars.contains(where: { $0.isActedOn && $0 != "\n" }) { return self }
    var text = ""
    var rest = unicodeScalars[...]
    while let scalar = rest.first {
      if let style = Style.prefix(of: rest) {
        text += style
        rest = rest.dropFirst(style.unicodeScalars.count)
        continue
      }
      rest.removeFirst()
      if scalar.isActedOn, scalar != "\n" {
        text += scalar.jsonEscape
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

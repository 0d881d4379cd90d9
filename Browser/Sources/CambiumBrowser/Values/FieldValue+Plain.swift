import Cambium
import FoundationEssentials

extension FieldValue {
  /// The value without the quotes and types of literals, for people.
  var plainText: String {
    switch self {
    case .null: "–"
    case .string(let value): value
    case .date, .uuid, .decimal: quotedText
    case .url(let value): value.absoluteString
    case .data(let value): Figures.size(value.count)
    case .blob(let value): Figures.size(value.count)
    case .float(let value): "\(value)"
    case .array(let values): values.map(\.plainText).joined(separator: ", ")
    case .composite(let parts):
      parts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.plainText)" }
        .joined(separator: ", ")
    case .boolean, .integer, .double: literal
    case .unsigned(let value): "\(value)"
    }
  }

  /// The text between the quotes of the literal.
  private var quotedText: String { literal.quotedOrWhole }

  /// True of numbers, which tables align at the right.
  var isNumber: Bool {
    switch self {
    case .integer, .unsigned, .float, .double, .decimal: true
    default: false
    }
  }

  /// The elements of a list; the value itself for all others; none for null.
  var elements: [FieldValue] {
    switch self {
    case .null: []
    case .array(let values): values
    default: [self]
    }
  }
}

extension String {
  /// The part between the first and the last quote; all of it if there are none.
  fileprivate var quotedOrWhole: String {
    guard let first = firstIndex(of: "\""), let last = lastIndex(of: "\""), first < last else {
      return self
    }
    return String(self[index(after: first)..<last])
  }

  /// Returns at most `count` characters of it in one line; an ellipsis stands for the others.
  func shortened(to count: Int) -> String {
    let line = prefix(count + 1).map { $0.isNewline ? " " : $0 }
    return line.count > count ? String(line.prefix(count)) + "…" : String(line)
  }
}

internal import FoundationEssentials

extension FieldValue {
  /// The value as it is written in conditions; after the type's name, if the type has no spelling of its own.
  public var literal: String {
    switch self {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): #"unsigned"\#(value)""#
    case .float(let value): #"float"\#(value.isNaN ? "nan" : "\(value)")""#
    case .double(let value):
      value.isFinite ? "\(value)" : #"double"\#(value.isNaN ? "nan" : "\(value)")""#
    case .decimal(let value): #"decimal"\#(value.isNaN ? "nan" : value.reducedText)""#
    case .string(let value): value.quoted
    case .date(let value): #"date"\#(value.isoText)""#
    case .data(let value):
      #"data"\#(value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())""#
    case .blob(let value): #"blob"\#(value.count)""#
    case .uuid(let value): #"uuid"\#(value.uuidString.lowercased())""#
    case .url(let value): "url" + value.absoluteString.quoted
    case .array(let values): "[\(values.map(\.literal).joined(separator: ", "))]"
    case .composite(let parts):
      "{"
        + parts.sortedRarely { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .map { "\($0.key.quoted): \($0.value.literal)" }.joined(separator: ", ") + "}"
    }
  }
}

extension String {
  /// Between quotes, with backslashes before what would end or hide it.
  package var quoted: String { "\"" + escaped("\"") + "\"" }

  /// A field's name as conditions have it: parts that are no identifiers, or words with a meaning, between
  /// backticks.
  var asPath: String {
    split(separator: ".", omittingEmptySubsequences: false)
      .map { String($0).isPlainName ? String($0) : "`" + String($0).escaped("`") + "`" }
      .joined(separator: ".")
  }

  private func escaped(_ quote: Unicode.Scalar) -> String {
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar {
      case quote, "\\": text.append(contentsOf: ["\\", scalar])
      case "\n": text.append(contentsOf: ["\\", "n"])
      case "\t": text.append(contentsOf: ["\\", "t"])
      case "\r": text.append(contentsOf: ["\\", "r"])
      default:
        if scalar.isHidden {
          text.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
        } else {
          text.append(scalar)
        }
      }
    }
    return String(text)
  }

  private var isPlainName: Bool {
    guard let first = unicodeScalars.first, first.beginsName, !Self.words.contains(lowercased())
    else { return false }
    return unicodeScalars.allSatisfy(\.continuesName)
  }

  /// Words that mean something in conditions.
  static let words: Set<String> = [
    "and", "or", "not", "in", "between", "beginswith", "endswith", "contains", "equals", "like",
    "has", "true", "false", "null", "nil", "is",
  ]
}

extension Unicode.Scalar {
  package var beginsName: Bool { self == "_" || properties.isAlphabetic && !isHidden }
  package var continuesName: Bool { beginsName || (0x30...0x39).contains(value) }

  /// It would not be seen, or would be taken for part of another character.
  fileprivate var isHidden: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned, .nonspacingMark, .enclosingMark, .spacingMark:
      true
    default: false
    }
  }
}

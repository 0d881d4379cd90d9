#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FieldCondition: CustomStringConvertible {
  /// The condition as text, which `init(parsing:)` parses as the same condition, unless its parentheses are nested over a
  /// hundred deep.
  public var description: String {
    isDeeper(than: Self.writtenDepthMax) ? "(nested too deep)" : text
  }

  /// As deep as the parser reads.
  fileprivate static var writtenDepthMax: Int { 100 }

  fileprivate var text: String {
    switch self {
    case .comparison(let field, let comparison, let value):
      "\(field.asPath) \(comparison.sign) \(value.literal)"
    case .isIn(let field, let values):
      "\(field.asPath) in [\(values.map(\.literal).joined(separator: ", "))]"
    case .isInQuery(let field, let queried):
      "\(field.asPath) in (select \(queried.value.text) \(queried.query.text))"
    case .match(let field, let match): "\(field.asPath) \(match)"
    case .contains(let field, let value): "\(field.asPath) has \(value.literal)"
    case .kind(let name, let isExact): "\(isExact ? "isExactly" : "is")(\(name.asPath))"
    case .any(let relation, let operand):
      "\(relation.asPath).any(\(operand == .and([]) ? "" : operand.text))"
    case .computed(let computed):
      Self.isPlain(computed.one, computed.other)
        ? "(\(computed.one.text)) \(computed.comparison.sign) \(computed.other.text)"
        : "\(computed.one.text) \(computed.comparison.sign) \(computed.other.text)"
    case .and(let operands): Self.joined(operands, "&&", empty: "true", single: "all")
    case .or(let operands): Self.joined(operands, "||", empty: "false", single: "any")
    case .not(let operand): operand.isInParentheses ? "!\(operand.text)" : "!(\(operand.text))"
    }
  }

  private var isInParentheses: Bool {
    switch self {
    case .and(let operands), .or(let operands): operands.count > 1
    default: false
    }
  }

  /// Without parentheses it would be read as a comparison of a field with a value.
  private static func isPlain(_ one: FieldExpression, _ other: FieldExpression) -> Bool {
    switch (one, other) {
    case (.field, .value), (.value, .field): true
    default: false
    }
  }

  private static func joined(
    _ operands: [FieldCondition], _ sign: String, empty: String, single: String
  ) -> String {
    switch operands.count {
    case 0: empty
    case 1: "\(single)(\(operands[0].text))"
    default: "(" + operands.map(\.text).joined(separator: " \(sign) ") + ")"
    }
  }
}

extension FieldComparison {
  package var sign: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}

extension TextMatch: CustomStringConvertible {
  public var description: String { "\(kind.word)\(options) \(text.quoted)" }
}

extension TextMatch.Kind {
  var word: String {
    switch self {
    case .prefix: "beginswith"
    case .suffix: "endswith"
    case .contains: "contains"
    case .equals: "equals"
    case .like: "like"
    case .words: "matches"
    }
  }
}

extension TextMatch.Options: CustomStringConvertible {
  /// `[cd]`, or nothing.
  public var description: String {
    if isEmpty { return "" }
    return "[\(contains(.caseInsensitive) ? "c" : "")\(contains(.diacriticInsensitive) ? "d" : "")]"
  }
}

extension FieldExpression: CustomStringConvertible {
  @usableFromInline
  package var description: String {
    isDeeper(than: FieldCondition.writtenDepthMax) ? "(nested too deep)" : text
  }

  fileprivate var text: String {
    switch self {
    case .field(let name): name.asPath
    case .value(let value): value.literal
    case .arithmetic(let one, let operation, let other):
      "(\(one.text) \(operation.sign) \(other.text))"
    case .negated(let operand): "-(\(operand.text))"
    case .length(let operand): "length(\(operand.text))"
    case .lowercased(let operand): "lowercased(\(operand.text))"
    case .function(let function, let operand): function.text(of: operand.text)
    case .coalesced(let one, let other): "(\(one.text) ?? \(other.text))"
    case .count(let relation, let condition):
      "\(relation.asPath).count(\(condition == .and([]) ? "" : condition.text))"
    case .aggregate(let aggregate, let relation, let operand, let condition):
      "\(relation.asPath).\(aggregate)(\(operand.text)\(condition == .and([]) ? "" : ", \(condition.text)"))"
    case .query(.count, of: _, let query): "(select count() \(query.text))"
    case .query(let aggregate, let operand, let query):
      "(select \(aggregate)(\(operand.text)) \(query.text))"
    }
  }
}

extension FieldSubquery {
  /// The text from the record's name on: `from Book where price > 10 sorted by price descending limit 3`.
  fileprivate var text: String {
    var text = "from \(record.asPath)"
    if condition != .and([]) { text += " where \(condition.text)" }
    if !order.isEmpty { text += " sorted by " + order.map(\.text).joined(separator: ", ") }
    if let limit { text += " limit \(limit)" }
    if offset != 0 { text += " offset \(offset)" }
    if let after { text += " after [\(after.map(\.literal).joined(separator: ", "))]" }
    return text
  }
}

extension FieldSubquery.Order {
  fileprivate var text: String {
    value.text + (isDescending ? " descending" : "") + (isCaseInsensitive ? " [c]" : "")
      + (collation.map { " collated [\($0.name.quoted), \($0.version.quoted)]" } ?? "")
  }
}

extension FieldArithmetic {
  var sign: String {
    switch self {
    case .plus: "+"
    case .minus: "-"
    case .times: "*"
    case .divided: "/"
    case .remainder: "%"
    }
  }
}

extension FieldValue {
  /// The value as it is written in conditions; after the type's name, if the type has no spelling of its own.
  package var literal: String {
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
  /// Between quotes, with backslashes before characters that would end or hide it.
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
    "matches", "has", "true", "false", "null", "nil", "is",
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

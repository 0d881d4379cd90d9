extension FieldCondition: CustomStringConvertible {
  /// The condition as text, which `init(parsing:)` parses as the same condition, unless it is nested deeper than any
  /// query may be.
  public var description: String {
    isDeeper(than: Self.writtenDepthMax) ? "(nested too deep)" : text
  }

  /// As deep as the parser reads.
  fileprivate static var writtenDepthMax: Int { 400 }

  private var text: String {
    switch self {
    case .comparison(let field, let comparison, let value):
      "\(field.asPath) \(comparison.sign) \(value.literal)"
    case .isIn(let field, let values):
      "\(field.asPath) in [\(values.map(\.literal).joined(separator: ", "))]"
    case .match(let field, let match): "\(field.asPath) \(match)"
    case .contains(let field, let value): "\(field.asPath) has \(value.literal)"
    case .computed(let one, let comparison, let other):
      Self.isPlain(one, other)
        ? "(\(one.text)) \(comparison.sign) \(other.text)"
        : "\(one.text) \(comparison.sign) \(other.text)"
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
  public var description: String {
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
    case .coalesced(let one, let other): "(\(one.text) ?? \(other.text))"
    }
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

extension FieldCondition: CustomStringConvertible {
  /// With the signs of Swift.
  public var description: String {
    switch self {
    case .comparison(let field, let comparison, let value): "\(field) \(comparison.sign) \(value)"
    case .isIn(let field, let values): "\(field) in \(values)"
    case .match(let field, let match): "\(field) \(match)"
    case .contains(let field, let value): "\(field) contains \(value)"
    case .computed(let one, let comparison, let other): "\(one) \(comparison.sign) \(other)"
    case .and(let operands): Self.joined(operands, "&&", empty: "true")
    case .or(let operands): Self.joined(operands, "||", empty: "false")
    case .not(let operand): "!(\(operand))"
    }
  }

  private static func joined(
    _ operands: [FieldCondition], _ sign: String, empty: String
  ) -> String {
    operands.isEmpty
      ? empty : "(" + operands.map(\.description).joined(separator: " \(sign) ") + ")"
  }
}

extension FieldCondition.Comparison {
  fileprivate var sign: String {
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
  public var description: String {
    let word =
      switch kind {
      case .prefix: "beginswith"
      case .suffix: "endswith"
      case .contains: "contains"
      case .equals: "equals"
      case .like: "like"
      }
    return "\(word)\(options) \"\(text)\""
  }
}

extension TextMatch.Options: CustomStringConvertible {
  public var description: String {
    if isEmpty { return "" }
    return "[\(contains(.caseInsensitive) ? "c" : "")\(contains(.diacriticInsensitive) ? "d" : "")]"
  }
}

extension FieldExpression: CustomStringConvertible {
  public var description: String {
    switch self {
    case .field(let name): name
    case .value(let value): "\(value)"
    case .arithmetic(let one, let operation, let other): "(\(one) \(operation.sign) \(other))"
    case .negated(let operand): "-(\(operand))"
    case .length(let operand): "length(\(operand))"
    case .lowercased(let operand): "lowercased(\(operand))"
    case .coalesced(let one, let other): "(\(one) ?? \(other))"
    }
  }
}

extension FieldExpression.Operation {
  fileprivate var sign: String {
    switch self {
    case .plus: "+"
    case .minus: "-"
    case .times: "*"
    case .divided: "/"
    case .remainder: "%"
    }
  }
}

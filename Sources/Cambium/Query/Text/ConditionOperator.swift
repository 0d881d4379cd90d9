/// A parsed part of a text: a condition or an expression, which only operators distinguish.
enum ParsedCondition {
  case condition(FieldCondition)
  /// `isBare`, a field or a value without parentheses.
  case expression(FieldExpression, isBare: Bool, depth: Int)
}

/// From the loosest to the tightest.
enum ConditionPrecedence: Int, Comparable {
  case or, and, not, comparison, coalescing, sum, product, sign

  static func < (one: ConditionPrecedence, other: ConditionPrecedence) -> Bool {
    one.rawValue < other.rawValue
  }

  var tighter: ConditionPrecedence { ConditionPrecedence(rawValue: rawValue + 1) ?? .sign }
}

/// An operator between two operands.
enum ConditionOperator {
  case or, and
  case comparison(FieldCondition.Comparison)
  case isIn, between, has, isNull
  case match(TextMatch.Kind)
  case coalescing
  case arithmetic(FieldExpression.Operation)

  var precedence: ConditionPrecedence {
    switch self {
    case .or: .or
    case .and: .and
    case .comparison, .isIn, .between, .has, .isNull, .match: .comparison
    case .coalescing: .coalescing
    case .arithmetic(.plus), .arithmetic(.minus): .sum
    case .arithmetic: .product
    }
  }

  init?(_ token: ConditionToken.Kind) {
    switch token {
    case .sign(let sign):
      guard let found = Self.signs[sign] else { return nil }
      self = found
    case .name(let name, isQuoted: false):
      guard let found = Self.words[name.lowercased()] else { return nil }
      self = found
    default: return nil
    }
  }

  private static let signs: [String: ConditionOperator] = [
    "||": .or, "&&": .and, "==": .comparison(.equal), "=": .comparison(.equal),
    "!=": .comparison(.notEqual), "<": .comparison(.less), "<=": .comparison(.lessOrEqual),
    ">": .comparison(.greater), ">=": .comparison(.greaterOrEqual), "??": .coalescing,
    "+": .arithmetic(.plus), "-": .arithmetic(.minus), "*": .arithmetic(.times),
    "/": .arithmetic(.divided), "%": .arithmetic(.remainder),
  ]

  private static let words: [String: ConditionOperator] = [
    "or": .or, "and": .and, "in": .isIn, "between": .between, "has": .has, "is": .isNull,
    "beginswith": .match(.prefix), "endswith": .match(.suffix), "contains": .match(.contains),
    "equals": .match(.equals), "like": .match(.like),
  ]
}

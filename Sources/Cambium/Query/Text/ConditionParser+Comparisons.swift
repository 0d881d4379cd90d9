extension ConditionParser {
  mutating func comparison(
    _ left: ParsedCondition, _ found: ConditionOperator, from start: Int, depth: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    let (one, isBare, _) = try expression(left, at: start)
    if case .comparison(let comparison) = found {
      let place = index
      let right = try parse(.coalescing, depth: depth - 1)
      let (other, isOtherBare, _) = try expression(right, at: place)
      return Self.comparison(one, comparison, other, isPlain: isBare && isOtherBare)
    }
    guard case .field(let field) = one, isBare else { throw error("a field", at: start) }
    switch found {
    case .isIn:
      try expect("[")
      return .isIn(field: field, try values(to: "]", depth: depth - 1))
    case .between:
      let lower = try value(depth: depth - 1)
      guard takeWord("and") || take("&&") else { throw error("“and”") }
      return .between(field: field, lower, try value(depth: depth - 1))
    case .has: return .contains(field: field, try value(depth: depth - 1))
    case .isNull:
      let isNot = takeWord("not")
      guard takeWord("null", "nil") else { throw error("“null”") }
      return .comparison(field: field, isNot ? .notEqual : .equal, .null)
    case .match(let kind): return try match(field, kind, depth: depth)
    default: throw error("an operator")
    }
  }

  /// A field and a value, in whichever order, are compared as such; all else is computed.
  private static func comparison(
    _ one: FieldExpression, _ comparison: FieldCondition.Comparison, _ other: FieldExpression,
    isPlain: Bool
  ) -> FieldCondition {
    switch (one, other) {
    case (.field(let field), .value(let value)) where isPlain:
      .comparison(field: field, comparison, value)
    case (.value(let value), .field(let field)) where isPlain:
      .comparison(field: field, FieldCondition.exchanged(comparison), value)
    default: .computed(one, comparison, other)
    }
  }

  private mutating func match(
    _ field: String, _ kind: TextMatch.Kind, depth: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    var options: TextMatch.Options = []
    if take("[") {
      guard case .name(let letters, isQuoted: false) = next,
        letters.lowercased().allSatisfy({ $0 == "c" || $0 == "d" })
      else { throw error("c, d or cd") }
      index += 1
      if letters.lowercased().contains("c") { options.insert(.caseInsensitive) }
      if letters.lowercased().contains("d") { options.insert(.diacriticInsensitive) }
      try expect("]")
    }
    let start = index
    switch try value(depth: depth - 1) {
    case .string(let text): return .match(field: field, TextMatch(kind, text, options))
    case let value where kind == .contains && options.isEmpty:
      return .contains(field: field, value)
    default: throw error("a string", at: start)
    }
  }
}

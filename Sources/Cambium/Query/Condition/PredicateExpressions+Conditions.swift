internal import FoundationEssentials

extension PredicateExpressions.Conjunction: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .condition(.both(try context.condition(lhs), try context.condition(rhs)))
  }
}

extension PredicateExpressions.Disjunction: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .condition(.either(try context.condition(lhs), try context.condition(rhs)))
  }
}

extension PredicateExpressions.Negation: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .condition(.not(try context.condition(wrapped)))
  }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .condition(try context.equality(lhs, rhs))
  }
}

extension PredicateExpressions.NotEqual: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    let tree = try context.equality(lhs, rhs)
    switch tree {
    case .comparison(let property, .equal, let value):
      return .condition(.comparison(property, .notEqual, value))
    case .computed(let one, .equal, let other):
      return .condition(.computed(one, .notEqual, other))
    default: return .condition(.not(tree))
    }
  }
}

extension PredicateContext {
  /// Translates the equality of values, or of a condition with a constant or another condition.
  fileprivate func equality(
    _ one: Any, _ other: Any
  ) throws(UntranslatedPart) -> ConditionTree {
    switch (try part(one), try part(other)) {
    case (.expression(let one), .expression(let other)): return .comparison(one, .equal, other)
    case (.expression(.property(let property)), .list(let values)),
      (.list(let values), .expression(.property(let property))):
      return .comparison(property, .equal, .array(values))
    case (let condition, .expression(.value(let value))),
      (.expression(.value(let value)), let condition):
      return try equality(condition, value)
    default:
      let trees = (try condition(one), try condition(other))
      return .either(.both(trees.0, trees.1), .both(.not(trees.0), .not(trees.1)))
    }
  }

  private func equality(
    _ part: PredicatePart, _ value: FieldValue
  ) throws(UntranslatedPart) -> ConditionTree {
    switch (part, value) {
    case (.condition(let tree), .boolean(let value)): return value ? tree : .not(tree)
    case (.condition, .null): return .any([])
    case (.optionalCondition(let tree, let isThere), .boolean(let value)):
      return .both(isThere, value ? tree : .not(tree))
    case (.optionalCondition(_, let isThere), .null): return .not(isThere)
    default: throw UntranslatedPart("a comparison of a list")
    }
  }
}

extension PredicateExpressions.Comparison: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    let comparison: FieldCondition.Comparison
    switch op {
    case .lessThan: comparison = .less
    case .lessThanOrEqual: comparison = .lessOrEqual
    case .greaterThan: comparison = .greater
    case .greaterThanOrEqual: comparison = .greaterOrEqual
    @unknown default: throw UntranslatedPart("\(op)")
    }
    return .condition(
      .comparison(try context.expression(lhs), comparison, try context.expression(rhs)))
  }
}

// MARK: Ranges, lists, texts

extension PredicateExpressions.ClosedRange: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .range(
      lower: try context.expression(lower), upper: try context.expression(upper), .lessOrEqual)
  }
}

extension PredicateExpressions.Range: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .range(lower: try context.expression(lower), upper: try context.expression(upper), .less)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    guard case .range(let lower, let upper, let comparison) = try context.part(range) else {
      throw UntranslatedPart("a range that is no range")
    }
    let element = try context.expression(element)
    return .condition(
      .both(
        .comparison(element, .greaterOrEqual, lower), .comparison(element, comparison, upper)))
  }
}

extension PredicateExpressions.SequenceContains: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    switch (try context.part(sequence), try context.part(element)) {
    case (.list(let values), .expression(.property(let property))):
      return .condition(.isIn(property, values))
    case (.list(let values), .expression(let tree)):
      return .condition(.any(values.map { .computed(tree, .equal, .value($0)) }))
    case (.expression(.property(let property)), .expression(.value(let value))):
      return .condition(.contains(property, value))
    case (.range(let lower, let upper, let comparison), .expression(let tree)):
      return .condition(
        .both(.comparison(tree, .greaterOrEqual, lower), .comparison(tree, comparison, upper)))
    default: throw UntranslatedPart("an element that is computed")
    }
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .condition(try context.match(base, .prefix, prefix))
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .condition(try context.match(base, .contains, other))
  }
}

extension PredicateContext {
  fileprivate func match(
    _ base: Any, _ kind: TextMatch.Kind, _ text: Any
  ) throws(UntranslatedPart) -> ConditionTree {
    guard case .property(let property) = try expression(base),
      case .value(.string(let text)) = try expression(text)
    else { throw UntranslatedPart("a text that is computed") }
    return .match(property, TextMatch(kind, text))
  }
}

internal import FoundationEssentials

extension PredicateExpressions.Variable: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    guard let part = context.parts[key] else { throw UntranslatedPart("an unknown variable") }
    return part
  }
}

extension PredicateExpressions.KeyPath: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    switch try context.part(root) {
    case .record: return .expression(.property(PropertyReference(keyPath)))
    case .expression(let tree):
      switch kind {
      case .collectionCount: return .expression(.length(tree))
      case .collectionIsEmpty:
        return .condition(.computed(.length(tree), .equal, .value(.integer(0))))
      case nil: break
      default: throw UntranslatedPart("an element of a collection")
      }
      guard case .property(let property) = tree else {
        throw UntranslatedPart("a property of what is computed")
      }
      return .expression(
        .property(property.part(PropertyReference(keyPath), of: context.root)))
    default: throw UntranslatedPart("a property of a condition or list")
    }
  }
}

extension PredicateExpressions.Value: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    if let range = value as? any ConstantRange { return range.part }
    if let value = value as? any FieldValueConvertible {
      if case .array(let values) = value.fieldValue { return .list(values) }
      return .expression(.value(value.fieldValue))
    }
    guard let values = value as? any Sequence else {
      throw UntranslatedPart("a constant of \(Output.self)")
    }
    return .list(try Self.values(of: values))
  }

  private static func values(of sequence: some Sequence) throws(UntranslatedPart) -> [FieldValue] {
    var values: [FieldValue] = []
    for value in sequence {
      guard let value = value as? any FieldValueConvertible else {
        throw UntranslatedPart("a list of \(type(of: value))")
      }
      values.append(value.fieldValue)
    }
    return values
  }
}

/// A range that was captured.
private protocol ConstantRange {
  var part: PredicatePart { get }
}

extension ClosedRange: ConstantRange where Bound: FieldValueConvertible {
  fileprivate var part: PredicatePart {
    .range(
      lower: .value(lowerBound.fieldValue), upper: .value(upperBound.fieldValue), .lessOrEqual)
  }
}

extension Range: ConstantRange where Bound: FieldValueConvertible {
  fileprivate var part: PredicatePart {
    .range(lower: .value(lowerBound.fieldValue), upper: .value(upperBound.fieldValue), .less)
  }
}

extension PredicateExpressions.NilLiteral: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .expression(.value(.null))
  }
}

// MARK: Optionals

extension PredicateExpressions.ForcedUnwrap: TranslatedExpression {
  /// What is null stays null, since conditions do not trap.
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    try context.part(inner)
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    let tree = try context.expression(wrapped)
    var inner = context
    inner.parts[variable.key] = .expression(tree)
    switch try inner.part(transform) {
    case .condition(let condition):
      return .optionalCondition(
        condition, isThere: .comparison(tree, .notEqual, .value(.null)))
    case .optionalCondition(let condition, let isThere):
      return .optionalCondition(
        condition, isThere: .both(.comparison(tree, .notEqual, .value(.null)), isThere))
    case let part: return part
    }
  }
}

extension PredicateExpressions.NilCoalesce: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    guard case .optionalCondition(let condition, let isThere) = try context.part(lhs) else {
      return .expression(
        .coalesced(try context.expression(lhs), try context.expression(rhs)))
    }
    let other = try context.condition(rhs)
    return .condition(
      .either(.both(isThere, condition), .both(.not(isThere), other)))
  }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    let operation: FieldExpression.Operation
    switch op {
    case .add: operation = .plus
    case .subtract: operation = .minus
    case .multiply: operation = .times
    @unknown default: throw UntranslatedPart("\(op)")
    }
    return try context.combined(lhs, operation, rhs)
  }
}

extension PredicateExpressions.IntDivision: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    try context.combined(lhs, .divided, rhs)
  }
}

extension PredicateExpressions.FloatDivision: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    try context.combined(lhs, .divided, rhs)
  }
}

extension PredicateExpressions.IntRemainder: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    try context.combined(lhs, .remainder, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart {
    .expression(.negated(try context.expression(wrapped)))
  }
}

extension PredicateContext {
  fileprivate func combined(
    _ one: Any, _ operation: FieldExpression.Operation, _ other: Any
  ) throws(UntranslatedPart) -> PredicatePart {
    .expression(.arithmetic(try expression(one), operation, try expression(other)))
  }
}

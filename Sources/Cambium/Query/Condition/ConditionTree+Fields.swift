// Properties become fields, and fields properties.

/// A condition that is nested deeper than can be looked at.
struct TooDeep: Error {}

extension ConditionTree {
  /// Returns the condition on fields, by the names that `name` gives properties.
  func condition<Failure: Error>(
    _ name: (PropertyReference) throws(Failure) -> String,
    tooDeep: () -> Failure
  ) throws(Failure) -> FieldCondition {
    switch self {
    case .comparison(let property, let comparison, let value):
      return .comparison(field: try name(property), comparison, value)
    case .isIn(let property, let values): return .isIn(field: try name(property), values)
    case .match(let property, let match): return .match(field: try name(property), match)
    case .contains(let property, let value): return .contains(field: try name(property), value)
    case .computed(let one, let comparison, let other):
      return .computed(
        try one.expression(name, tooDeep: tooDeep), comparison,
        try other.expression(name, tooDeep: tooDeep))
    case .both, .all:
      var conditions: [FieldCondition] = []
      try appendConjuncts(to: &conditions, name, tooDeep)
      return conditions.count == 1 ? conditions[0] : .and(conditions)
    case .either, .any:
      var conditions: [FieldCondition] = []
      try appendDisjuncts(to: &conditions, name, tooDeep)
      return conditions.count == 1 ? conditions[0] : .or(conditions)
    case .not(let tree, _): return .not(try tree.condition(name, tooDeep: tooDeep))
    case .tooDeep: throw tooDeep()
    }
  }

  private func appendConjuncts<Failure: Error>(
    to conditions: inout [FieldCondition],
    _ name: (PropertyReference) throws(Failure) -> String, _ tooDeep: () -> Failure
  ) throws(Failure) {
    switch self {
    case .both(let one, let other, _):
      try one.appendConjuncts(to: &conditions, name, tooDeep)
      try other.appendConjuncts(to: &conditions, name, tooDeep)
    case .all(let trees, _):
      for tree in trees { try tree.appendConjuncts(to: &conditions, name, tooDeep) }
    default: conditions.append(try condition(name, tooDeep: tooDeep))
    }
  }

  private func appendDisjuncts<Failure: Error>(
    to conditions: inout [FieldCondition],
    _ name: (PropertyReference) throws(Failure) -> String, _ tooDeep: () -> Failure
  ) throws(Failure) {
    switch self {
    case .either(let one, let other, _):
      try one.appendDisjuncts(to: &conditions, name, tooDeep)
      try other.appendDisjuncts(to: &conditions, name, tooDeep)
    case .any(let trees, _):
      for tree in trees { try tree.appendDisjuncts(to: &conditions, name, tooDeep) }
    default: conditions.append(try condition(name, tooDeep: tooDeep))
    }
  }

  /// The condition on the properties that `property` finds for names.
  init(_ condition: FieldCondition, _ property: (String) -> PropertyReference) {
    switch condition {
    case .comparison(let name, let comparison, let value):
      self = .comparison(property(name), comparison, value)
    case .isIn(let name, let values): self = .isIn(property(name), values)
    case .match(let name, let match): self = .match(property(name), match)
    case .contains(let name, let value): self = .contains(property(name), value)
    case .computed(let one, let comparison, let other):
      self = .computed(ExpressionTree(one, property), comparison, ExpressionTree(other, property))
    case .and(let conditions): self = .all(conditions.map { ConditionTree($0, property) })
    case .or(let conditions): self = .any(conditions.map { ConditionTree($0, property) })
    case .not(let condition): self = .not(ConditionTree(condition, property))
    }
  }
}

extension ExpressionTree {
  func expression<Failure: Error>(
    _ name: (PropertyReference) throws(Failure) -> String,
    tooDeep: () -> Failure
  ) throws(Failure) -> FieldExpression {
    switch self {
    case .property(let property): return .field(try name(property))
    case .value(let value): return .value(value)
    case .arithmetic(let one, let operation, let other, _):
      return .arithmetic(
        try one.expression(name, tooDeep: tooDeep), operation,
        try other.expression(name, tooDeep: tooDeep))
    case .coalesced(let one, let other, _):
      return .coalesced(
        try one.expression(name, tooDeep: tooDeep), try other.expression(name, tooDeep: tooDeep))
    case .negated(let operand, _):
      return .negated(try operand.expression(name, tooDeep: tooDeep))
    case .length(let operand, _): return .length(try operand.expression(name, tooDeep: tooDeep))
    case .lowercased(let operand, _):
      return .lowercased(try operand.expression(name, tooDeep: tooDeep))
    case .tooDeep: throw tooDeep()
    }
  }

  init(_ expression: FieldExpression, _ property: (String) -> PropertyReference) {
    switch expression {
    case .field(let name): self = .property(property(name))
    case .value(let value): self = .value(value)
    case .arithmetic(let one, let operation, let other):
      self = .arithmetic(
        ExpressionTree(one, property), operation, ExpressionTree(other, property))
    case .coalesced(let one, let other):
      self = .coalesced(ExpressionTree(one, property), ExpressionTree(other, property))
    case .negated(let operand): self = .negated(ExpressionTree(operand, property))
    case .length(let operand): self = .length(ExpressionTree(operand, property))
    case .lowercased(let operand): self = .lowercased(ExpressionTree(operand, property))
    }
  }
}

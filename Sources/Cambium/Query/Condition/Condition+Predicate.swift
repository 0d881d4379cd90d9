#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Condition {
  /// Creates a condition of a Foundation `#Predicate`.
  ///
  /// It means the same as in Swift, except that strings compare by their UTF-8 bytes and that no computation traps. It may
  /// use properties, also of composites and after `?`, constants, comparisons, `&& || !`, arithmetic, `??`, `== nil`,
  /// `a ? b : c`, `if` and `if let`, `count` and `isEmpty`, ranges, `contains` of lists, arrays and strings, and `starts(with:)`.
  ///
  /// - Throws: `.invalidQuery`, with the part that is not supported, or for expressions that are nested over 100 deep. Of
  ///   more terms than that, make a condition by ``all(_:)`` or ``any(_:)``.
  public init(_ predicate: Predicate<Subject>) throws(StoreError) {
    let context = PredicateContext(
      root: Subject.self, parts: [predicate.variable.key: .record])
    self.init(try context.condition(predicate.expression))
  }
}

/// The meaning of a part of a predicate.
enum PredicatePart {
  case record
  case condition(PropertyCondition)
  /// A condition on an optional value, and whether that exists.
  case optionalCondition(PropertyCondition, isThere: PropertyCondition)
  case expression(PropertyExpression)
  case list([FieldValue])
  case range(lower: PropertyExpression, upper: PropertyExpression, FieldComparison)
  /// The first if the condition holds, else the second.
  indirect case choice(PropertyCondition, PredicatePart, PredicatePart)
}

/// The values of a predicate's variables.
struct PredicateContext {
  let root: any Any.Type
  var parts: [PredicateExpressions.VariableID: PredicatePart]
  /// The number of expressions around the one that is translated.
  private var depth = 0

  private static var depthMax: Int { 100 }

  init(root: any Any.Type, parts: [PredicateExpressions.VariableID: PredicatePart]) {
    self.root = root
    self.parts = parts
  }

  func refusal(_ part: String) -> StoreError {
    .invalidQuery(
      record: "\(root)", field: nil,
      reason: "a condition cannot be made of a predicate with \(part)")
  }

  func part(_ expression: Any) throws(StoreError) -> PredicatePart {
    guard let expression = expression as? any TranslatedExpression else {
      let name = String(describing: type(of: expression))
      throw refusal(String(name.prefix { $0 != "<" }))
    }
    guard depth < Self.depthMax else {
      throw refusal("expressions that are nested over \(Self.depthMax) deep")
    }
    var inner = self
    inner.depth += 1
    return try expression.part(in: inner)
  }

  func condition(_ expression: Any) throws(StoreError) -> PropertyCondition {
    try condition(of: try part(expression))
  }

  fileprivate func condition(of part: PredicatePart) throws(StoreError) -> PropertyCondition {
    switch part {
    case .choice(let test, let one, let other):
      return .choice(test, try condition(of: one), try condition(of: other))
    case .condition(let tree): return tree
    case .optionalCondition(let tree, let isThere): return .both(isThere, tree)
    case .expression(let tree):
      if case .boolean(let value)? = tree.constant { return value ? .all([]) : .any([]) }
      if let property = tree.property { return .comparison(property, .equal, .boolean(true)) }
    case .record, .list, .range: break
    }
    throw refusal("a value where a condition is expected")
  }

  func expression(_ expression: Any) throws(StoreError) -> PropertyExpression {
    guard case .expression(let tree) = try part(expression) else {
      throw refusal("a condition or list where a value is expected")
    }
    return tree
  }
}

/// An expression of a predicate that a condition can have.
protocol TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart
}

extension PredicateExpressions.Conjunction: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .condition(.both(try context.condition(lhs), try context.condition(rhs)))
  }
}

extension PredicateExpressions.Disjunction: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .condition(.either(try context.condition(lhs), try context.condition(rhs)))
  }
}

extension PredicateExpressions.Negation: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .condition(.not(try context.condition(wrapped)))
  }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .condition(try context.equality(lhs, rhs))
  }
}

extension PredicateExpressions.NotEqual: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    let equality = try context.equality(lhs, rhs)
    return switch equality.tree {
    case .comparison(let property, .equal, let value):
      .condition(.comparison(property, .notEqual, value))
    case .computed(let computed) where computed.comparison == .equal:
      .condition(equality.with(.computed(computed.one, .notEqual, computed.other)))
    default: .condition(.not(equality))
    }
  }
}

extension PredicateContext {
  /// Translates the equality of values, or of a condition with a constant or another condition.
  fileprivate func equality(
    _ one: Any, _ other: Any
  ) throws(StoreError) -> PropertyCondition {
    try equality(of: try part(one), try part(other))
  }

  private func equality(
    of one: PredicatePart, _ other: PredicatePart
  ) throws(StoreError) -> PropertyCondition {
    switch (one, other) {
    case (.choice(let test, let first, let second), _):
      return .choice(test, try equality(of: first, other), try equality(of: second, other))
    case (_, .choice(let test, let first, let second)):
      return .choice(test, try equality(of: one, first), try equality(of: one, second))
    case (.expression(let one), .expression(let other)): return .comparison(one, .equal, other)
    case (.expression(let tree), .list(let values)), (.list(let values), .expression(let tree)):
      if let property = tree.property { return .comparison(property, .equal, .array(values)) }
      throw refusal("a comparison of a list")
    case (let part, .expression(let tree)), (.expression(let tree), let part):
      if let value = tree.constant { return try equality(part, value) }
    default: break
    }
    let trees = (try condition(of: one), try condition(of: other))
    return .either(.both(trees.0, trees.1), .both(.not(trees.0), .not(trees.1)))
  }

  private func equality(
    _ part: PredicatePart, _ value: FieldValue
  ) throws(StoreError) -> PropertyCondition {
    switch (part, value) {
    case (.condition(let tree), .boolean(let value)): return value ? tree : .not(tree)
    case (.condition, .null): return .any([])
    case (.optionalCondition(let tree, let isThere), .boolean(let value)):
      return .both(isThere, value ? tree : .not(tree))
    case (.optionalCondition(_, let isThere), .null): return .not(isThere)
    default: throw refusal("a comparison of a list")
    }
  }
}

extension PredicateExpressions.Comparison: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    let comparison: FieldComparison
    switch op {
    case .lessThan: comparison = .less
    case .lessThanOrEqual: comparison = .lessOrEqual
    case .greaterThan: comparison = .greater
    case .greaterThanOrEqual: comparison = .greaterOrEqual
    @unknown default: throw context.refusal("\(op)")
    }
    return .condition(
      try context.comparison(try context.part(lhs), comparison, try context.part(rhs)))
  }
}

extension PredicateContext {
  fileprivate func comparison(
    _ one: PredicatePart, _ comparison: FieldComparison, _ other: PredicatePart
  ) throws(StoreError) -> PropertyCondition {
    switch (one, other) {
    case (.expression(let one), .expression(let other)):
      return .comparison(one, comparison, other)
    case (.choice(let test, let first, let second), _):
      return .choice(
        test, try self.comparison(first, comparison, other),
        try self.comparison(second, comparison, other))
    case (_, .choice(let test, let first, let second)):
      return .choice(
        test, try self.comparison(one, comparison, first),
        try self.comparison(one, comparison, second))
    default: throw refusal("a condition or list where a value is expected")
    }
  }
}

// MARK: Choices

extension PropertyCondition {
  /// The condition that one holds if another does, and a third if not.
  fileprivate static func choice(
    _ test: PropertyCondition, _ one: PropertyCondition, _ other: PropertyCondition
  ) -> PropertyCondition {
    .either(.both(test, one), .both(.not(test), other))
  }
}

extension PredicateExpressions.Conditional: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    let test = try context.condition(test)
    let choice = PredicatePart.choice(
      test, try context.part(trueBranch), try context.part(falseBranch))
    return Output.self is Bool.Type ? .condition(try context.condition(of: choice)) : choice
  }
}

// MARK: Ranges, lists, texts

extension PredicateExpressions.ClosedRange: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .range(
      lower: try context.expression(lower), upper: try context.expression(upper), .lessOrEqual)
  }
}

extension PredicateExpressions.Range: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .range(lower: try context.expression(lower), upper: try context.expression(upper), .less)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    guard case .range(let lower, let upper, let comparison) = try context.part(range) else {
      throw context.refusal("a range that is no range")
    }
    let element = try context.expression(element)
    return .condition(
      .both(
        .comparison(element, .greaterOrEqual, lower), .comparison(element, comparison, upper)))
  }
}

extension PredicateExpressions.SequenceContains: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    switch (try context.part(sequence), try context.part(element)) {
    case (.list(let values), .expression(let tree)):
      if let property = tree.property {
        return .condition(PropertyCondition(.isIn(field: property, values)))
      }
      return .condition(.any(values.map { .computed(tree, .equal, .value($0)) }))
    case (.expression(let array), .expression(let element)):
      guard let property = array.property, let value = element.constant else {
        throw context.refusal("an element that is computed")
      }
      return .condition(PropertyCondition(.contains(field: property, value)))
    case (.range(let lower, let upper, let comparison), .expression(let tree)):
      return .condition(
        .both(.comparison(tree, .greaterOrEqual, lower), .comparison(tree, comparison, upper)))
    default: throw context.refusal("an element that is computed")
    }
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .condition(try context.match(base, .prefix, prefix))
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .condition(try context.match(base, .contains, other))
  }
}

extension PredicateContext {
  fileprivate func match(
    _ base: Any, _ kind: TextMatch.Kind, _ text: Any
  ) throws(StoreError) -> PropertyCondition {
    guard let property = try expression(base).property,
      case .string(let text)? = try expression(text).constant
    else { throw refusal("a text that is computed") }
    return PropertyCondition(.match(field: property, TextMatch(kind, text)))
  }
}

extension PredicateExpressions.Variable: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    guard let part = context.parts[key] else { throw context.refusal("an unknown variable") }
    return part
  }
}

extension PredicateExpressions.KeyPath: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    switch try context.part(root) {
    case .record: return .expression(.property(PropertyReference(keyPath)))
    case .expression(let tree):
      switch kind {
      case .collectionCount: return .expression(tree.length)
      case .collectionIsEmpty:
        return .condition(.computed(tree.length, .equal, .value(.integer(0))))
      case nil: break
      default: throw context.refusal("an element of a collection")
      }
      guard let property = tree.property else {
        throw context.refusal("a property of a computed value")
      }
      return .expression(
        .property(property.part(PropertyReference(keyPath), of: context.root, in: Root.Output.self))
      )
    default: throw context.refusal("a property of a condition or list")
    }
  }
}

extension PredicateExpressions.Value: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    if let range = value as? any ConstantRange { return range.part }
    if let value = value as? any FieldValueConvertible {
      if case .array(let values) = value.fieldValue { return .list(values) }
      return .expression(.value(value.fieldValue))
    }
    guard let values = value as? any Sequence else {
      throw context.refusal("a constant of \(Output.self)")
    }
    return .list(try Self.values(of: values, in: context))
  }

  private static func values(
    of sequence: some Sequence, in context: PredicateContext
  ) throws(StoreError) -> [FieldValue] {
    var values: [FieldValue] = []
    for value in sequence {
      guard let value = value as? any FieldValueConvertible else {
        throw context.refusal("a list of \(type(of: value))")
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
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    .expression(.value(.null))
  }
}

// MARK: Optionals

extension PredicateExpressions.ForcedUnwrap: TranslatedExpression {
  /// Null stays null, since conditions do not trap.
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    try context.part(inner)
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
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
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    guard case .optionalCondition(let condition, let isThere) = try context.part(lhs) else {
      let (one, other) = (try context.expression(lhs), try context.expression(rhs))
      return .expression(PropertyExpression(.coalesced(one.tree, other.tree), of: one, other))
    }
    let other = try context.condition(rhs)
    return .condition(
      .either(.both(isThere, condition), .both(.not(isThere), other)))
  }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    let operation: FieldArithmetic
    switch op {
    case .add: operation = .plus
    case .subtract: operation = .minus
    case .multiply: operation = .times
    @unknown default: throw context.refusal("\(op)")
    }
    return try context.combined(lhs, operation, rhs)
  }
}

extension PredicateExpressions.IntDivision: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    try context.combined(lhs, .divided, rhs)
  }
}

extension PredicateExpressions.FloatDivision: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    try context.combined(lhs, .divided, rhs)
  }
}

extension PredicateExpressions.IntRemainder: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    try context.combined(lhs, .remainder, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: TranslatedExpression {
  func part(in context: PredicateContext) throws(StoreError) -> PredicatePart {
    let operand = try context.expression(wrapped)
    return .expression(PropertyExpression(.negated(operand.tree), of: operand, operand))
  }
}

extension PredicateContext {
  fileprivate func combined(
    _ one: Any, _ operation: FieldArithmetic, _ other: Any
  ) throws(StoreError) -> PredicatePart {
    try combined(of: try part(one), operation, try part(other))
  }

  private func combined(
    of one: PredicatePart, _ operation: FieldArithmetic, _ other: PredicatePart
  ) throws(StoreError) -> PredicatePart {
    switch (one, other) {
    case (.expression(let one), .expression(let other)):
      return .expression(.arithmetic(one, operation, other))
    case (.choice(let test, let first, let second), _):
      return .choice(
        test, try combined(of: first, operation, other), try combined(of: second, operation, other))
    case (_, .choice(let test, let first, let second)):
      return .choice(
        test, try combined(of: one, operation, first), try combined(of: one, operation, second))
    default: throw refusal("a condition or list where a value is expected")
    }
  }
}

extension PropertyExpression {
  fileprivate var length: PropertyExpression {
    PropertyExpression(.length(tree), of: self, self)
  }
}

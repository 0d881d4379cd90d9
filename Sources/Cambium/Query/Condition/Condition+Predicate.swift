public import FoundationEssentials

extension Condition {
  /// Creates a condition of a Foundation `#Predicate`.
  ///
  /// It means the same as in Swift, except that strings compare by their UTF-8 bytes and that no computation traps. It may
  /// use properties, also of composites and after `?`, constants, comparisons, `&& || !`, arithmetic, `??`, `== nil`,
  /// `count` and `isEmpty`, ranges, `contains` of lists, arrays and strings, and `starts(with:)`.
  ///
  /// - Throws: `.invalidQuery`, with the part that is not supported.
  public init(_ predicate: Predicate<Subject>) throws(StoreError) {
    var context = PredicateContext(root: Subject.self)
    context.parts[predicate.variable.key] = .record
    do throws(UntranslatedPart) {
      self.init(try context.condition(predicate.expression))
    } catch {
      throw .invalidQuery(
        record: "\(Subject.self)", field: nil,
        reason: "a condition cannot be made of a predicate with \(error.text)")
    }
  }
}

/// A part of a predicate that no condition has.
struct UntranslatedPart: Error {
  var text: String

  init(_ text: String) {
    self.text = text
  }
}

/// The meaning of a part of a predicate.
enum PredicatePart {
  case record
  case condition(ConditionTree)
  /// A condition on what may be nil, and whether that is there.
  case optionalCondition(ConditionTree, isThere: ConditionTree)
  case expression(ExpressionTree)
  case list([FieldValue])
  case range(lower: ExpressionTree, upper: ExpressionTree, FieldCondition.Comparison)
}

/// The values of a predicate's variables.
struct PredicateContext {
  let root: any Any.Type
  var parts: [PredicateExpressions.VariableID: PredicatePart] = [:]

  func part(_ expression: Any) throws(UntranslatedPart) -> PredicatePart {
    guard let expression = expression as? any TranslatedExpression else {
      let name = String(describing: type(of: expression))
      throw UntranslatedPart(String(name.prefix { $0 != "<" }))
    }
    return try expression.part(in: self)
  }

  func condition(_ expression: Any) throws(UntranslatedPart) -> ConditionTree {
    switch try part(expression) {
    case .condition(let tree): return tree
    case .optionalCondition(let tree, let isThere): return .both(isThere, tree)
    case .expression(.value(.boolean(let value))): return value ? .all([]) : .any([])
    case .expression(.property(let property)):
      return .comparison(property, .equal, .boolean(true))
    case .record, .expression, .list, .range:
      throw UntranslatedPart("a value where a condition is expected")
    }
  }

  func expression(_ expression: Any) throws(UntranslatedPart) -> ExpressionTree {
    guard case .expression(let tree) = try part(expression) else {
      throw UntranslatedPart("a condition or list where a value is expected")
    }
    return tree
  }
}

/// An expression of a predicate that a condition can have.
protocol TranslatedExpression {
  func part(in context: PredicateContext) throws(UntranslatedPart) -> PredicatePart
}

extension ConditionTree {
  /// A property compared with a value is a comparison, whichever comes first; all else is computed.
  static func comparison(
    _ one: ExpressionTree, _ comparison: FieldCondition.Comparison, _ other: ExpressionTree
  ) -> ConditionTree {
    switch (one, other) {
    case (.property(let property), .value(let value)): .comparison(property, comparison, value)
    case (.value(let value), .property(let property)):
      .comparison(property, FieldCondition.exchanged(comparison), value)
    default: .computed(one, comparison, other)
    }
  }
}

/// A condition on properties of a Swift type, which are not yet fields of a store.
///
/// Making one is to cost little, so a term is in place and only what has parts takes memory.
@usableFromInline
enum ConditionTree: Hashable, Sendable {
  case comparison(PropertyReference, FieldCondition.Comparison, FieldValue)
  case isIn(PropertyReference, [FieldValue])
  case match(PropertyReference, TextMatch)
  case contains(PropertyReference, FieldValue)
  indirect case computed(ExpressionTree, FieldCondition.Comparison, ExpressionTree)
  indirect case both(ConditionTree, ConditionTree, depth: Int)
  indirect case either(ConditionTree, ConditionTree, depth: Int)
  case all([ConditionTree], depth: Int)
  case any([ConditionTree], depth: Int)
  indirect case not(ConditionTree, depth: Int)
  /// Nested so deep that looking at it could exhaust the stack: it is refused when it is checked.
  case tooDeep
}

/// A value that is computed of properties.
@usableFromInline
indirect enum ExpressionTree: Hashable, Sendable {
  case property(PropertyReference)
  case value(FieldValue)
  case arithmetic(ExpressionTree, FieldExpression.Operation, ExpressionTree, depth: Int)
  case negated(ExpressionTree, depth: Int)
  case length(ExpressionTree, depth: Int)
  case lowercased(ExpressionTree, depth: Int)
  case coalesced(ExpressionTree, ExpressionTree, depth: Int)
  case tooDeep
}

// MARK: Putting together

extension ConditionTree {
  private static var depthMax: Int { 100 }
  /// How deep terms are put together before they are gathered in a list, so that a thousand of them do
  /// not nest a thousand deep.
  private static var pairDepthMax: Int { 50 }

  @usableFromInline
  static func both(
    _ one: consuming ConditionTree, _ other: consuming ConditionTree
  ) -> ConditionTree {
    if case .all(_, let depth) = one, other.depth < depth { return one.appending(other) }
    let depth = max(one.depth, other.depth) + 1
    if depth <= pairDepthMax { return .both(one, other, depth: depth) }
    return .all(one.conjuncts + other.conjuncts)
  }

  @usableFromInline
  static func either(
    _ one: consuming ConditionTree, _ other: consuming ConditionTree
  ) -> ConditionTree {
    if case .any(_, let depth) = one, other.depth < depth { return one.appending(other) }
    let depth = max(one.depth, other.depth) + 1
    if depth <= pairDepthMax { return .either(one, other, depth: depth) }
    return .any(one.disjuncts + other.disjuncts)
  }

  /// A list with one more; it is not copied where nobody else has it.
  private consuming func appending(_ tree: consuming ConditionTree) -> ConditionTree {
    switch consume self {
    case .all(var trees, let depth):
      trees.append(tree)
      return .all(trees, depth: depth)
    case .any(var trees, let depth):
      trees.append(tree)
      return .any(trees, depth: depth)
    case let other: return other
    }
  }

  static func all(_ trees: [ConditionTree]) -> ConditionTree {
    let depth = 1 + (trees.map(\.depth).max() ?? 0)
    return depth > depthMax ? .tooDeep : .all(trees, depth: depth)
  }

  static func any(_ trees: [ConditionTree]) -> ConditionTree {
    let depth = 1 + (trees.map(\.depth).max() ?? 0)
    return depth > depthMax ? .tooDeep : .any(trees, depth: depth)
  }

  @usableFromInline
  static func not(_ tree: ConditionTree) -> ConditionTree {
    let depth = tree.depth + 1
    return depth > depthMax ? .tooDeep : .not(tree, depth: depth)
  }

  private var depth: Int {
    switch self {
    case .comparison, .isIn, .match, .contains: 1
    case .computed(let one, _, let other): 1 + max(one.depth, other.depth)
    case .both(_, _, let depth), .either(_, _, let depth), .all(_, let depth), .any(_, let depth),
      .not(_, let depth):
      depth
    case .tooDeep: Self.depthMax
    }
  }

  /// What all has to hold.
  private var conjuncts: [ConditionTree] {
    switch self {
    case .both(let one, let other, _): one.conjuncts + other.conjuncts
    case .all(let trees, _): trees
    default: [self]
    }
  }

  private var disjuncts: [ConditionTree] {
    switch self {
    case .either(let one, let other, _): one.disjuncts + other.disjuncts
    case .any(let trees, _): trees
    default: [self]
    }
  }
}

extension ExpressionTree {
  private static var depthMax: Int { 50 }

  fileprivate var depth: Int {
    switch self {
    case .property, .value: 1
    case .arithmetic(_, _, _, let depth), .negated(_, let depth), .length(_, let depth),
      .lowercased(_, let depth), .coalesced(_, _, let depth):
      depth
    case .tooDeep: Self.depthMax
    }
  }

  @usableFromInline
  static func arithmetic(
    _ one: ExpressionTree, _ operation: FieldExpression.Operation, _ other: ExpressionTree
  ) -> ExpressionTree {
    nested(one, other) { .arithmetic(one, operation, other, depth: $0) }
  }

  @usableFromInline
  static func coalesced(_ one: ExpressionTree, _ other: ExpressionTree) -> ExpressionTree {
    nested(one, other) { .coalesced(one, other, depth: $0) }
  }

  @usableFromInline
  static func negated(_ operand: ExpressionTree) -> ExpressionTree {
    nested(operand, operand) { .negated(operand, depth: $0) }
  }

  @usableFromInline
  static func length(_ operand: ExpressionTree) -> ExpressionTree {
    nested(operand, operand) { .length(operand, depth: $0) }
  }

  @usableFromInline
  static func lowercased(_ operand: ExpressionTree) -> ExpressionTree {
    nested(operand, operand) { .lowercased(operand, depth: $0) }
  }

  private static func nested(
    _ one: ExpressionTree, _ other: ExpressionTree, _ make: (Int) -> ExpressionTree
  ) -> ExpressionTree {
    let depth = max(one.depth, other.depth) + 1
    return depth > depthMax ? .tooDeep : make(depth)
  }
}

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
  static var depthMax: Int { 100 }
  /// How deep terms are put together in pairs before they are gathered in a list, so that a thousand of them do
  /// not nest a thousand deep.
  private static var pairDepthMax: Int { 50 }
  /// The most elements of a list that is copied into another; a longer one becomes one element of it.
  private static var copiedCountMax: Int { 4_096 }

  @usableFromInline
  static func both(
    _ one: consuming ConditionTree, _ other: consuming ConditionTree
  ) -> ConditionTree {
    let depth = max(one.depth, other.depth) + 1
    if depth <= pairDepthMax { return .both(one, other, depth: depth) }
    var gathered = GatheredTrees { trees in .all(trees) }
    one.gatherConjuncts(in: &gathered)
    other.gatherConjuncts(in: &gathered)
    return gathered.finish()
  }

  @usableFromInline
  static func either(
    _ one: consuming ConditionTree, _ other: consuming ConditionTree
  ) -> ConditionTree {
    let depth = max(one.depth, other.depth) + 1
    if depth <= pairDepthMax { return .either(one, other, depth: depth) }
    var gathered = GatheredTrees { trees in .any(trees) }
    one.gatherDisjuncts(in: &gathered)
    other.gatherDisjuncts(in: &gathered)
    return gathered.finish()
  }

  /// Gathers what all has to hold.
  private func gatherConjuncts(in gathered: inout GatheredTrees) {
    switch self {
    case .both(let one, let other, _):
      one.gatherConjuncts(in: &gathered)
      other.gatherConjuncts(in: &gathered)
    case .all(let trees, _) where trees.count <= Self.copiedCountMax: gathered.add(list: trees)
    default: gathered.add(self)
    }
  }

  /// Gathers that of which one has to hold.
  private func gatherDisjuncts(in gathered: inout GatheredTrees) {
    switch self {
    case .either(let one, let other, _):
      one.gatherDisjuncts(in: &gathered)
      other.gatherDisjuncts(in: &gathered)
    case .any(let trees, _) where trees.count <= Self.copiedCountMax: gathered.add(list: trees)
    default: gathered.add(self)
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
}

/// A list in the making of trees that were joined by twos: fifty of them are one element of it, so that joining a
/// hundred thousand, one after the other, copies few.
private struct GatheredTrees {
  let makeList: ([ConditionTree]) -> ConditionTree
  private var elements: [ConditionTree] = []
  /// The terms after them.
  private var last: [ConditionTree] = []

  init(_ makeList: @escaping ([ConditionTree]) -> ConditionTree) {
    self.makeList = makeList
  }

  mutating func add(_ tree: ConditionTree) { last.append(tree) }

  mutating func add(list: [ConditionTree]) {
    endLast()
    elements += list
  }

  private mutating func endLast() {
    if last.isEmpty { return }
    elements.append(last.count == 1 ? last[0] : makeList(last))
    last = []
  }

  mutating func finish() -> ConditionTree {
    endLast()
    return makeList(elements)
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

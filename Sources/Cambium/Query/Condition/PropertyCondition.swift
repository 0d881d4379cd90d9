/// A condition on properties of a Swift type, which are not yet fields of a store, and how deep it is nested.
@usableFromInline
struct PropertyCondition: Hashable, Sendable {
  @usableFromInline typealias Tree = ConditionTree<PropertyReference>

  let tree: Tree
  fileprivate let depth: Int
  /// The depth of the deepest operand that stays whole where the condition is joined to others by *and*, or by *or*.
  private let andDepth: Int
  private let orDepth: Int

  private init(_ tree: Tree, depth: Int, and andDepth: Int? = nil, or orDepth: Int? = nil) {
    self.tree = tree
    self.depth = depth
    self.andDepth = andDepth ?? depth
    self.orDepth = orDepth ?? depth
  }

  /// Creates a condition of one term.
  @usableFromInline
  init(_ term: Tree) {
    self.init(term, depth: 1)
  }

  /// Creates the condition on the properties that names stand for.
  init<Naming: FieldNaming>(
    _ condition: FieldCondition, by names: Naming
  ) throws(Naming.Failure) where Naming.Field == String, Naming.Name == PropertyReference {
    if condition.isDeeper(than: Self.depthMax) {
      self = .tooDeep
    } else {
      let tree = try condition.named(by: names)
      self.init(tree, depth: tree.depth(upTo: Self.depthMax + 1))
    }
  }

  /// A condition that is nested so deep that looking at it could exhaust the stack: it is refused when it is checked.
  static var tooDeep: PropertyCondition { PropertyCondition(.or([]), depth: .max) }

  /// True also of one that was joined with itself so often that its parts cannot all be visited.
  var isTooDeep: Bool { depth == .max || tree.isDeeper(than: 10 * Self.depthMax) }

  /// True if it asks nothing.
  @usableFromInline
  var isAlways: Bool {
    if case .and(let operands) = tree { operands.isEmpty } else { false }
  }

  /// Returns a condition that is nested as deep.
  func with(_ tree: Tree) -> PropertyCondition { PropertyCondition(tree, depth: depth) }
}

// MARK: Equality

extension PropertyCondition {
  /// Those that are nested too deep are all equal: they are refused, and their parts cannot all be compared.
  @usableFromInline
  static func == (one: PropertyCondition, other: PropertyCondition) -> Bool {
    let isTooDeep = one.isTooDeep
    return isTooDeep == other.isTooDeep && (isTooDeep || one.tree == other.tree)
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    if !isTooDeep { hasher.combine(tree) }
  }
}

// MARK: Terms

extension PropertyCondition {
  @inlinable @inline(__always)
  static func comparison(
    _ property: PropertyReference, _ comparison: FieldComparison, _ value: FieldValue
  ) -> PropertyCondition {
    PropertyCondition(.comparison(field: property, comparison, value))
  }

  /// A property compared with a value is a comparison, whichever comes first; all else is computed.
  @usableFromInline
  static func comparison(
    _ one: PropertyExpression, _ comparison: FieldComparison, _ other: PropertyExpression
  ) -> PropertyCondition {
    switch (one.tree, other.tree) {
    case (.field(let property), .value(let value)): .comparison(property, comparison, value)
    case (.value(let value), .field(let property)):
      .comparison(property, comparison.exchanged, value)
    default: .computed(one, comparison, other)
    }
  }

  @usableFromInline
  static func computed(
    _ one: PropertyExpression, _ comparison: FieldComparison, _ other: PropertyExpression
  ) -> PropertyCondition {
    nested(max(one.depth, other.depth), .computed(one.tree, comparison, other.tree))
  }
}

// MARK: Across relations

extension PropertyCondition {
  /// Creates the condition that a record at the other end of a relation meets one.
  @usableFromInline
  static func any(_ relation: PropertyReference, _ condition: PropertyCondition)
    -> PropertyCondition
  {
    nested(condition.depth, .any(relation: relation, condition.tree))
  }
}

extension PropertyExpression {
  /// Creates the number of records at the other end of a relation that meet a condition.
  @usableFromInline
  init(countOf relation: PropertyReference, where condition: PropertyCondition) {
    self.init(.count(relation: relation, where: condition.tree), of: condition.depth)
  }

  /// Creates an aggregate of an expression on the fields of those records.
  @usableFromInline
  init(
    _ aggregate: RelatedAggregate, of operand: PropertyExpression, at relation: PropertyReference,
    where condition: PropertyCondition
  ) {
    self.init(
      .aggregate(aggregate, relation: relation, of: operand.tree, where: condition.tree),
      of: max(operand.depth, condition.depth))
  }
}

// MARK: Of other queries

extension PropertyCondition {
  /// Creates the condition that a property has one of the values that an expression has for a query's records.
  static func isIn<Subject: Record>(
    _ property: PropertyReference, _ value: PropertyExpression, of query: Query<Subject>
  ) -> PropertyCondition {
    nested(
      max(value.depth, query.depth), .isInQuery(field: property, of: value.tree, query.tree))
  }
}

extension PropertyExpression {
  /// Creates one value of all records of a query.
  init<Subject: Record>(
    _ aggregate: QueryAggregate, of operand: PropertyExpression, in query: Query<Subject>
  ) {
    self.init(
      .query(aggregate, of: operand.tree, query.tree), of: max(operand.depth, query.depth))
  }
}

extension Query {
  fileprivate var depth: Int {
    order.reduce(condition.tree.depth) { max($0, $1.value.depth) }
  }

  fileprivate var tree: QueryTree<PropertyReference> {
    QueryTree(
      of: .record(Subject.self),
      where: condition.tree.tree,
      sortedBy: order.map { part in
        .init(
          part.value.tree, isDescending: part.isDescending,
          isCaseInsensitive: part.isCaseInsensitive, collation: part.collation)
      }, limit: limit, offset: offset, after: after)
  }
}

// MARK: Putting together

extension PropertyCondition {
  private static var depthMax: Int { 100 }
  /// How deep terms are put together in pairs before they are gathered in a list, so that a thousand of them do
  /// not nest a thousand deep.
  private static var pairDepthMax: Int { 50 }

  private static func nested(
    _ depth: Int, _ tree: @autoclosure () -> Tree, and andDepth: Int? = nil,
    or orDepth: Int? = nil
  ) -> PropertyCondition {
    guard depth < depthMax else { return .tooDeep }
    return PropertyCondition(tree(), depth: depth + 1, and: andDepth, or: orDepth)
  }

  @usableFromInline
  static func both(_ one: PropertyCondition, _ other: PropertyCondition) -> PropertyCondition {
    joined(one, other, isAnd: true)
  }

  @usableFromInline
  static func either(_ one: PropertyCondition, _ other: PropertyCondition) -> PropertyCondition {
    joined(one, other, isAnd: false)
  }

  private static func joined(
    _ one: PropertyCondition, _ other: PropertyCondition, isAnd: Bool
  ) -> PropertyCondition {
    var depth = max(one.depth, other.depth)
    var whole = isAnd ? max(one.andDepth, other.andDepth) : max(one.orDepth, other.orDepth)
    if depth == .max { return .tooDeep }
    let tree: Tree
    if depth < pairDepthMax {
      tree = isAnd ? .and([one.tree, other.tree]) : .or([one.tree, other.tree])
    } else {
      guard let gathered = GatheredTrees(one.tree, other.tree, isAnd: isAnd) else {
        return .tooDeep
      }
      whole += gathered.hasWholeList ? 2 : 0
      depth = whole + 1
      tree = gathered.tree
    }
    return nested(depth, tree, and: isAnd ? whole : nil, or: isAnd ? nil : whole)
  }

  static func all(_ conditions: [PropertyCondition]) -> PropertyCondition {
    nested(conditions.map(\.depth).max() ?? 0, .and(conditions.map(\.tree)))
  }

  static func any(_ conditions: [PropertyCondition]) -> PropertyCondition {
    nested(conditions.map(\.depth).max() ?? 0, .or(conditions.map(\.tree)))
  }

  @usableFromInline
  static func not(_ condition: PropertyCondition) -> PropertyCondition {
    nested(condition.depth, .not(condition.tree))
  }
}

/// A list of trees that were joined by twos: fifty of them are one element of it, so that joining a hundred thousand, one
/// after the other, copies few.
private struct GatheredTrees {
  /// The most elements of a list that is copied into another; a longer one becomes one element of it.
  private static var copiedCountMax: Int { 4_096 }

  private let isAnd: Bool
  private var elements: [PropertyCondition.Tree] = []
  /// The terms after them.
  private var last: [PropertyCondition.Tree] = []
  /// True if a long list is an element.
  private(set) var hasWholeList = false

  /// Nil if there are more than a condition may have: one that was joined with itself has twice as many each time.
  init?(_ one: PropertyCondition.Tree, _ other: PropertyCondition.Tree, isAnd: Bool) {
    self.isAnd = isAnd
    var count = 0
    self.count(one, &count)
    self.count(other, &count)
    if count > conditionPartsMax { return nil }
    gather(one)
    gather(other)
    endLast()
  }

  var tree: PropertyCondition.Tree { list(elements) }

  private func list(_ trees: [PropertyCondition.Tree]) -> PropertyCondition.Tree {
    isAnd ? .and(trees) : .or(trees)
  }

  /// The operands of a tree that is of the same kind.
  private func operands(of tree: PropertyCondition.Tree) -> [PropertyCondition.Tree]? {
    switch tree {
    case .and(let operands) where isAnd: operands
    case .or(let operands) where !isAnd: operands
    default: nil
    }
  }

  /// Counts the trees that are put together in pairs.
  private func count(_ tree: PropertyCondition.Tree, _ count: inout Int) {
    count += 1
    guard count <= conditionPartsMax, let operands = operands(of: tree), operands.count == 2 else {
      return
    }
    for operand in operands { self.count(operand, &count) }
  }

  private mutating func gather(_ tree: PropertyCondition.Tree) {
    guard let operands = operands(of: tree) else { return last.append(tree) }
    if operands.count == 2 {
      for operand in operands { gather(operand) }
    } else if operands.count <= Self.copiedCountMax {
      endLast()
      elements += operands
    } else {
      last.append(tree)
      hasWholeList = true
    }
  }

  private mutating func endLast() {
    if last.isEmpty { return }
    elements.append(last.count == 1 ? last[0] : list(last))
    last = []
  }
}

// MARK: - Computed values

/// A value that is computed of properties, and how deep it is nested.
@usableFromInline
struct PropertyExpression: Hashable, Sendable {
  @usableFromInline typealias Tree = ExpressionTree<PropertyReference>

  @usableFromInline let tree: Tree
  fileprivate let depth: Int

  private static var depthMax: Int { 50 }

  /// Creates a computation of operands of some depth. One that is too deep is nothing, and is refused with the condition
  /// that has it.
  private init(_ tree: @autoclosure () -> Tree, of depth: Int) {
    let isTooDeep = depth >= Self.depthMax
    self.tree = isTooDeep ? .negated(.value(.null)) : tree()
    self.depth = isTooDeep ? .max : depth + 1
  }

  @usableFromInline
  init(_ tree: Tree, of one: PropertyExpression, _ other: PropertyExpression) {
    self.init(tree, of: max(one.depth, other.depth))
  }

  /// Creates the expression of the properties that names stand for.
  init<Naming: FieldNaming>(
    _ expression: FieldExpression, by names: Naming
  ) throws(Naming.Failure) where Naming.Field == String, Naming.Name == PropertyReference {
    let depth = expression.depth(upTo: Self.depthMax + 1)
    let isTooDeep = depth > Self.depthMax
    tree = isTooDeep ? .negated(.value(.null)) : try expression.named(by: names)
    self.depth = isTooDeep ? .max : depth
  }

  /// True of one that is nested so deep, or has so many parts, that it is refused.
  var isTooDeep: Bool { depth == .max || tree.isDeeper(than: 10 * Self.depthMax) }

  /// The property, if it is one and nothing else.
  var property: PropertyReference? {
    if case .field(let property) = tree { property } else { nil }
  }

  /// The value, if it is a constant.
  var constant: FieldValue? {
    if case .value(let value) = tree { value } else { nil }
  }

  @usableFromInline
  static func property(_ property: PropertyReference) -> PropertyExpression {
    PropertyExpression(.field(property), of: 0)
  }

  @usableFromInline
  static func value(_ value: FieldValue) -> PropertyExpression {
    PropertyExpression(.value(value), of: 0)
  }

  @usableFromInline
  static func arithmetic(
    _ one: PropertyExpression, _ operation: FieldArithmetic, _ other: PropertyExpression
  ) -> PropertyExpression {
    PropertyExpression(.arithmetic(one.tree, operation, other.tree), of: one, other)
  }
}

extension PropertyExpression {
  /// Those that are nested too deep are all equal: they are refused, and their parts cannot all be compared.
  @usableFromInline
  static func == (one: PropertyExpression, other: PropertyExpression) -> Bool {
    let isTooDeep = one.isTooDeep
    return isTooDeep == other.isTooDeep && (isTooDeep || one.tree == other.tree)
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    if !isTooDeep { hasher.combine(tree) }
  }

  /// Returns the expression of the fields that the properties are stored in.
  ///
  /// - Throws: `.invalidQuery` for a property that is not stored, or an expression that is nested too deep.
  func fields<Subject: Record>(
    in type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) -> FieldExpression {
    guard !isTooDeep else {
      throw .invalidQuery(
        record: type.record.name, field: nil, reason: "the expression is nested too deep")
    }
    return try tree.named(by: StoredNames(type, entities))
  }

  /// The expression as text, with the properties' names.
  func text(of type: any Any.Type) -> String {
    isTooDeep
      ? "(nested too deep)" : "\(tree.named(by: PropertyNames(paths: PropertyPaths.of(type))))"
  }
}

extension ComputedField: CustomStringConvertible {
  /// The expression as text, with the properties' names: `(price * quantity)`.
  public var description: String { tree.text(of: Subject.self) }
}

/// The demand of a part of a condition on one column, in a form that ranges of keys can express.
struct FieldTerm: Hashable, Sendable {
  enum Demand: Hashable, Sendable {
    /// One of these values, which are of the column's type, or null.
    case isAny([FieldValue])
    case isNotNull
    /// Above the value, or at least it.
    case isAbove(FieldValue, orEqual: Bool)
    case isBelow(FieldValue, orEqual: Bool)
    /// A string that begins so.
    case hasPrefix(String, isCaseInsensitive: Bool)
    /// A string that is this but for case.
    case isLike(String)
  }

  /// The place in the layout's columns.
  let column: Int
  let demand: Demand
  /// Which of the condition's conjuncts it is.
  let conjunct: Int
  /// True if that demands nothing else.
  let isWhole: Bool

  var isCaseInsensitive: Bool {
    switch demand {
    case .hasPrefix(_, let isCaseInsensitive): isCaseInsensitive
    case .isLike: true
    default: false
    }
  }
}

/// A condition as what has to hold all together.
struct Conjunction: Sendable {
  private(set) var conjuncts: [FieldCondition] = []
  /// The terms of the conjuncts that ranges can express; others have none.
  private(set) var terms: [FieldTerm] = []

  init(_ condition: FieldCondition?, in layout: RowLayout) {
    if let condition { add(condition, in: layout) }
  }

  private mutating func add(_ condition: FieldCondition, in layout: RowLayout) {
    switch condition {
    case .and(let operands): for operand in operands { add(operand, in: layout) }
    case .or(let operands) where operands.count == 1: add(operands[0], in: layout)
    case .not(.not(let operand)): add(operand, in: layout)
    default:
      if conjuncts.count < ConjunctSet.most,
        let (column, demand) = Self.demand(of: condition, in: layout)
      {
        let isWhole = condition.likeStart?.isPart != true
        terms.append(
          FieldTerm(
            column: column, demand: demand, conjunct: conjuncts.count, isWhole: isWhole))
      }
      conjuncts.append(condition)
    }
  }

  /// Returns the demand of the condition on a column; nil if ranges cannot express it.
  private static func demand(
    of condition: FieldCondition, in layout: RowLayout
  ) -> (Int, FieldTerm.Demand)? {
    switch condition {
    case .comparison(let field, let comparison, let value):
      guard let column = layout.index(named: field) else { return nil }
      return demand(layout.columns[column], comparison, value).map { (column, $0) }
    case .isIn(let field, let values):
      guard let column = layout.index(named: field) else { return nil }
      var demanded: [FieldValue] = []
      for value in values {
        // Of what converts to nothing, the condition itself says that it is refused.
        guard let value = converted(value, layout.columns[column]) else { return nil }
        demanded.append(value)
      }
      return (column, .isAny(demanded))
    case .match(let field, let match):
      guard let column = layout.index(named: field), layout.columns[column].field.type == .string
      else { return nil }
      return demand(match).map { (column, $0) }
    case .not(.comparison(let field, .equal, let value)):
      return demand(of: .comparison(field: field, .notEqual, value), in: layout)
    case .not(.comparison(let field, .notEqual, let value)):
      return demand(of: .comparison(field: field, .equal, value), in: layout)
    default: return nil
    }
  }

  private static func demand(
    _ column: Column, _ comparison: FieldCondition.Comparison, _ value: FieldValue
  ) -> FieldTerm.Demand? {
    guard let value = converted(value, column) else { return nil }
    switch comparison {
    case .equal: return .isAny([value])
    case .notEqual: return value == .null ? .isNotNull : nil
    case .less: return value == .null ? .isAny([]) : .isBelow(value, orEqual: false)
    case .lessOrEqual: return value == .null ? .isAny([]) : .isBelow(value, orEqual: true)
    case .greater: return value == .null ? .isAny([]) : .isAbove(value, orEqual: false)
    case .greaterOrEqual: return value == .null ? .isAny([]) : .isAbove(value, orEqual: true)
    }
  }

  private static func demand(_ match: TextMatch) -> FieldTerm.Demand? {
    guard match.options.isSubset(of: .caseInsensitive) else { return nil }
    let isCaseInsensitive = match.options.contains(.caseInsensitive)
    switch match.kind {
    case .prefix: return .hasPrefix(match.text, isCaseInsensitive: isCaseInsensitive)
    case .equals: return isCaseInsensitive ? .isLike(match.text) : .isAny([.string(match.text)])
    case .suffix, .contains: return nil
    case .like:
      switch LikePattern.start(of: match.text) {
      case .all(let text): return isCaseInsensitive ? .isLike(text) : .isAny([.string(text)])
      case .prefix(""), .part(""): return nil
      case .prefix(let text), .part(let text):
        return .hasPrefix(text, isCaseInsensitive: isCaseInsensitive)
      }
    }
  }

  private static func converted(_ value: FieldValue, _ column: Column) -> FieldValue? {
    guard column.field.type.canBeKey else { return nil }
    if value == .null { return .null }
    // Not a number is above and below nothing, and equal to nothing: no range says that.
    guard let value = value.compared(as: column.field.type), !value.isNaN else { return nil }
    return value
  }
}

extension FieldCondition {
  /// The beginning of the pattern, if the condition is one.
  fileprivate var likeStart: LikePattern.Start? {
    guard case .match(_, let match) = self, match.kind == .like else { return nil }
    return LikePattern.start(of: match.text)
  }
}

extension Conjunction {
  /// The only value that a column can have; nil if there may be several.
  func fixedValues(of column: Int) -> [FieldValue]? {
    for term in terms where term.column == column {
      if case .isAny(let values) = term.demand, values.count == 1 { return values }
    }
    return nil
  }
}

/// Some of a condition's conjuncts, by their places: of the first 64, since ranges of keys say no others.
struct ConjunctSet: Hashable, Sendable {
  private var bits: UInt64 = 0

  static var most: Int { 64 }

  var isEmpty: Bool { bits == 0 }
  var count: Int { bits.nonzeroBitCount }

  mutating func insert(_ conjunct: Int) {
    precondition(conjunct < Self.most, "no range says the conjunct")
    bits |= 1 << UInt64(conjunct)
  }

  func contains(_ conjunct: Int) -> Bool {
    conjunct < Self.most && bits & 1 << UInt64(conjunct) != 0
  }

  func union(_ other: ConjunctSet) -> ConjunctSet {
    var union = self
    union.bits |= other.bits
    return union
  }

  func isSubset(of other: ConjunctSet) -> Bool { bits & ~other.bits == 0 }
}

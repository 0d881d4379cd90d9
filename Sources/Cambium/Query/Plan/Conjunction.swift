#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The demand of a part of a condition on one column, in a form that ranges of keys can express.
struct FieldTerm: Hashable, Sendable {
  enum Demand: Hashable, Sendable {
    /// One of these values, which are of the column's type, or null.
    case isAny([FieldValue])
    case isNotNull
    /// Above the value, or below it; or equal to it.
    case isBeyond(FieldValue, isAbove: Bool, orEqual: Bool)
    /// A string that begins so.
    case hasPrefix(String, isCaseInsensitive: Bool)
    /// A string that is this but for case.
    case isLike(String)
  }

  /// The place in the layout's columns.
  let column: Int
  /// The values that the demand applies to: the column's own, or those that an index derives from it; one of them has to meet
  /// the demand.
  var expansion = KeyPart.Expansion.none
  let demand: Demand
  /// Which of the condition's conjuncts it is.
  let conjunct: Int
  /// True if that demands nothing else.
  var isWhole = true

  var isCaseInsensitive: Bool {
    switch demand {
    case .hasPrefix(_, let isCaseInsensitive): isCaseInsensitive
    case .isLike: true
    default: false
    }
  }
}

/// A condition as a list of terms that all have to hold.
struct Conjunction: Sendable {
  private(set) var conjuncts: [FieldCondition] = []
  /// The terms of the conjuncts that ranges can express; others have none.
  private(set) var terms: [FieldTerm] = []

  init(_ condition: FieldCondition?, in layout: RowLayout) {
    if let condition { add(condition, in: layout) }
  }

  /// Returns true if a term is about the column of a part of a key.
  func asks(of part: KeyColumn) -> Bool {
    terms.contains { $0.column == Int(part.column) && $0.expansion == .none }
  }

  private mutating func add(_ condition: FieldCondition, in layout: RowLayout) {
    switch condition {
    case .and(let operands): for operand in operands { add(operand, in: layout) }
    case .or(let operands) where operands.count == 1: add(operands[0], in: layout)
    case .not(.not(let operand)): add(operand, in: layout)
    case .kind(let name, let isExact):
      // Of one that is not there, the condition itself says that it is refused.
      if let terms = layout.record.condition(ofKind: name, isExact: isExact) {
        add(terms, in: layout)
      } else {
        append(condition, in: layout)
      }
    case .match(let field, let match) where layout.hasWords(of: field):
      // An index has each word by itself.
      let words = match.indexedWords
      if words.count < 2 { return append(condition, in: layout) }
      for word in words {
        append(.match(field: field, TextMatch(.words, word.text)), in: layout)
      }
    default: append(condition, in: layout)
    }
  }

  private mutating func append(_ condition: FieldCondition, in layout: RowLayout) {
    if conjuncts.count < ConjunctSet.most,
      let term = Self.term(condition, conjunct: conjuncts.count, in: layout)
    {
      terms.append(term)
    }
    conjuncts.append(condition)
  }

  /// Returns the demand of the condition on a column; nil if ranges cannot express it.
  private static func term(
    _ condition: FieldCondition, conjunct: Int, in layout: RowLayout
  ) -> FieldTerm? {
    switch condition {
    case .comparison(let field, let comparison, let value):
      guard let column = layout.index(named: field),
        let demand = demand(layout.columns[column], comparison, value)
      else { return nil }
      return FieldTerm(column: column, demand: demand, conjunct: conjunct)
    case .isIn(let field, let values):
      guard let column = layout.index(named: field) else { return nil }
      var demanded: [FieldValue] = []
      for value in values {
        // If a term converts to nothing, the condition itself is refused.
        guard let value = converted(value, layout.columns[column]) else { return nil }
        demanded.append(value)
      }
      return FieldTerm(column: column, demand: .isAny(demanded), conjunct: conjunct)
    case .contains(let field, let value):
      guard let column = layout.index(named: field),
        case .array(let type) = layout.columns[column].field.type, value != .null,
        let value = value.compared(as: .scalar(type)), !value.isNaN
      else { return nil }
      return FieldTerm(
        column: column, expansion: .elements, demand: .isAny([value]), conjunct: conjunct)
    case .match(let field, let match):
      guard let column = layout.index(named: field) else { return nil }
      // The text of a condition cannot tell an array from a string.
      if case .array = layout.columns[column].field.type, match.isOfElement {
        return term(
          .contains(field: field, .string(match.text)), conjunct: conjunct, in: layout)
      }
      let words = match.indexedWords
      if words.count == 1 {
        return FieldTerm(
          column: column, expansion: .words, demand: words[0].demand, conjunct: conjunct)
      }
      guard layout.columns[column].field.type == .string, let (demand, isWhole) = demand(match)
      else { return nil }
      return FieldTerm(column: column, demand: demand, conjunct: conjunct, isWhole: isWhole)
    case .not(.comparison(let field, .equal, let value)):
      return term(
        .comparison(field: field, .notEqual, value), conjunct: conjunct, in: layout)
    case .not(.comparison(let field, .notEqual, let value)):
      return term(.comparison(field: field, .equal, value), conjunct: conjunct, in: layout)
    default: return nil
    }
  }

  private static func demand(
    _ column: Column, _ comparison: FieldComparison, _ value: FieldValue
  ) -> FieldTerm.Demand? {
    guard let value = converted(value, column) else { return nil }
    switch comparison {
    case .equal: return .isAny([value])
    case .notEqual: return value == .null ? .isNotNull : nil
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      if value == .null { return .isAny([]) }
      return .isBeyond(
        value, isAbove: comparison == .greater || comparison == .greaterOrEqual,
        orEqual: comparison == .lessOrEqual || comparison == .greaterOrEqual)
    }
  }

  private static func demand(_ match: TextMatch) -> (FieldTerm.Demand, isWhole: Bool)? {
    guard match.options.isSubset(of: .caseInsensitive) else { return nil }
    let isCaseInsensitive = match.options.contains(.caseInsensitive)
    let start: LikePattern.Start
    switch match.kind {
    case .prefix: start = .prefix(match.text)
    case .equals: start = .all(match.text)
    case .like: start = LikePattern.start(of: match.text)
    case .suffix, .contains, .words: return nil
    }
    switch start {
    case .all(let text): return (isCaseInsensitive ? .isLike(text) : .isAny([.string(text)]), true)
    case .prefix(""), .part(""):
      // Every string begins so: only a prefix that was asked for says that there is one.
      guard match.kind == .prefix else { return nil }
      return (.hasPrefix("", isCaseInsensitive: isCaseInsensitive), true)
    case .prefix(let text): return (.hasPrefix(text, isCaseInsensitive: isCaseInsensitive), true)
    case .part(let text): return (.hasPrefix(text, isCaseInsensitive: isCaseInsensitive), false)
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

extension TextMatch {
  /// The words to find in an index of words; empty if the condition is not on words, or an index cannot express it.
  fileprivate var indexedWords: [WordQuery.Word] {
    guard kind == .words, options.isSubset(of: .caseInsensitive) else { return [] }
    return WordQuery(Array(text.utf8)).words
  }
}

extension WordQuery.Word {
  /// The word as it is written in conditions.
  fileprivate var text: String {
    String(decoding: bytes, as: UTF8.self) + (isPrefix ? "*" : "")
  }

  fileprivate var demand: FieldTerm.Demand {
    let word = String(decoding: bytes, as: UTF8.self)
    return isPrefix ? .hasPrefix(word, isCaseInsensitive: false) : .isAny([.string(word)])
  }
}

extension RowLayout {
  /// Returns true if an index has the words of a field.
  fileprivate func hasWords(of field: String) -> Bool {
    guard let number = record.field(named: field)?.number else { return false }
    return record.indexes.contains { index in
      index.parts.contains { $0.field == number && $0.expansion == .words }
    }
  }
}

extension Conjunction {
  /// The only value that a column can have; nil if there may be several.
  func fixedValues(of column: Int) -> [FieldValue]? {
    for term in terms where term.column == column && term.expansion == .none {
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

// MARK: - Implication

// True if a query's condition contains all of a partial index's, so that the index has all that the query wants. Only
// plain terms are seen; otherwise the index is left alone.

extension Conjunction {
  /// Returns true if every record that meets this meets `condition`; false if that is not plain.
  func implies(_ condition: FieldCondition, in layout: RowLayout) -> Bool {
    if conjuncts.contains(where: { $0.isSame(as: condition) }) { return true }
    switch condition {
    case .and(let operands): return operands.allSatisfy { implies($0, in: layout) }
    case .or(let operands): return operands.contains { implies($0, in: layout) }
    default: break
    }
    if let composite = condition.presentComposite(in: layout) {
      return impliesPresence(of: composite, in: layout)
    }
    let wanted = Conjunction(condition, in: layout)
    guard let term = wanted.terms.first, term.isWhole else { return false }
    return terms.contains {
      $0.column == term.column && $0.expansion == term.expansion
        && $0.demand.implies(term.demand)
    }
  }

  /// Returns true if a record that meets this has a part of a composite, or a composite in it: then it is there.
  private func impliesPresence(of composite: String, in layout: RowLayout) -> Bool {
    let start = composite + "."
    return conjuncts.contains { conjunct in
      guard case .comparison(let name, .notEqual, .null) = conjunct else { return false }
      return name.hasPrefix(start)
    }
      || terms.contains { term in
        layout.columns[term.column].field.name.hasPrefix(start)
          && term.demand.implies(.isNotNull)
      }
  }

  /// The conjuncts that every record that meets `condition` meets.
  func conjuncts(impliedBy condition: FieldCondition, in layout: RowLayout) -> ConjunctSet {
    let known = Conjunction(condition, in: layout)
    var implied = ConjunctSet()
    for place in conjuncts.indices.prefix(ConjunctSet.most)
    where known.implies(conjuncts[place], in: layout) {
      implied.insert(place)
    }
    return implied
  }
}

extension FieldTerm.Demand {
  /// Returns true if values that meet this meet `other`.
  fileprivate func implies(_ other: FieldTerm.Demand) -> Bool {
    switch (self, other) {
    case (.isAny(let values), _): return values.allSatisfy { other.isMet(by: $0) }
    case (_, .isNotNull): return true
    case (.hasPrefix(let text, let one), .hasPrefix(let start, let other)):
      return one == other && text.utf8.starts(with: start.utf8)
    case (.isLike(let text), .isLike(let other)): return text.utf8.elementsEqual(other.utf8)
    case (
      .isBeyond(let bound, let isAbove, let orEqual),
      .isBeyond(let other, let isOtherAbove, let orOther)
    ):
      guard isAbove == isOtherAbove, let order = bound.compare(to: other) else { return false }
      return order == 0 ? orOther || !orEqual : (order > 0) == isAbove
    default: return false
    }
  }

  private func isMet(by value: FieldValue) -> Bool {
    switch self {
    case .isAny(let values): return values.contains { value.isSame(as: $0) }
    case .isNotNull: return value != .null
    case .isBeyond(let bound, let isAbove, let orEqual):
      guard let order = value.compare(to: bound) else { return false }
      return order == 0 ? orEqual : (order > 0) == isAbove
    case .hasPrefix(let start, isCaseInsensitive: false):
      guard case .string(let text) = value else { return false }
      return text.utf8.starts(with: start.utf8)
    case .hasPrefix, .isLike: return false
    }
  }
}

// Strings that are equal to Swift may have other bytes, and only bytes count here.

extension FieldCondition {
  /// Returns the composite of which it is the condition that it is there; nil of any other condition.
  fileprivate func presentComposite(in layout: RowLayout) -> String? {
    guard case .comparison(let name, .notEqual, .null) = self,
      layout.column(named: name)?.field.type == .composite
    else { return nil }
    return name
  }

  fileprivate func isSame(as other: FieldCondition) -> Bool {
    self == other && "\(self)".utf8.elementsEqual("\(other)".utf8)
  }
}

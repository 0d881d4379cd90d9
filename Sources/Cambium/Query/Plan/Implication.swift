internal import FoundationEssentials

// Whether a query's condition has all of a partial index's in it, so that the index has all that the query
// wants. Only what is plain is seen; what is not, leaves the index alone.

extension Conjunction {
  /// Returns true if every record that meets this meets `condition`; false where that is not plain.
  func implies(_ condition: FieldCondition, in layout: RowLayout) -> Bool {
    if conjuncts.contains(where: { $0.isSame(as: condition) }) { return true }
    switch condition {
    case .and(let operands): return operands.allSatisfy { implies($0, in: layout) }
    case .or(let operands): return operands.contains { implies($0, in: layout) }
    default: break
    }
    let wanted = Conjunction(condition, in: layout)
    guard let term = wanted.terms.first, term.isWhole else { return false }
    return terms.contains { $0.column == term.column && $0.demand.implies(term.demand) }
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
    case (.isAbove(let bound, let orEqual), .isAbove(let low, let orLow)):
      guard let order = bound.compare(to: low) else { return false }
      return order > 0 || (order == 0 && (orLow || !orEqual))
    case (.isBelow(let bound, let orEqual), .isBelow(let high, let orHigh)):
      guard let order = bound.compare(to: high) else { return false }
      return order < 0 || (order == 0 && (orHigh || !orEqual))
    default: return false
    }
  }

  private func isMet(by value: FieldValue) -> Bool {
    switch self {
    case .isAny(let values): return values.contains { value.isSame(as: $0) }
    case .isNotNull: return value != .null
    case .isAbove(let low, let orEqual):
      guard let order = value.compare(to: low) else { return false }
      return order > 0 || (order == 0 && orEqual)
    case .isBelow(let high, let orEqual):
      guard let order = value.compare(to: high) else { return false }
      return order < 0 || (order == 0 && orEqual)
    case .hasPrefix(let start, isCaseInsensitive: false):
      guard case .string(let text) = value else { return false }
      return text.utf8.starts(with: start.utf8)
    case .hasPrefix, .isLike: return false
    }
  }
}

// Strings that are equal to Swift may have other bytes, and those are what counts here.

extension FieldValue {
  fileprivate func isSame(as other: FieldValue) -> Bool {
    switch (self, other) {
    case (.string, .string): compare(to: other) == 0
    case (.url(let one), .url(let other)):
      one.absoluteString.utf8.elementsEqual(other.absoluteString.utf8)
    default: self == other
    }
  }
}

extension FieldCondition {
  fileprivate func isSame(as other: FieldCondition) -> Bool {
    self == other && "\(self)".utf8.elementsEqual("\(other)".utf8)
  }
}

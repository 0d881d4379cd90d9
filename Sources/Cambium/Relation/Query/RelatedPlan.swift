/// The ways in which a query decides its conditions across relations.
final class RelatedPlan {
  enum Way: CaseIterable {
    /// The related records that meet the inner condition are found before any record of the query.
    case first
    /// The related records of each record are looked up.
    case lookedUp
  }

  /// The keys that are found first, by the condition.
  private(set) var keys: [FieldCondition: RelatedKeys] = [:]
  /// In the order in which they were made.
  private var choices: [Choice] = []

  /// How one condition across a relation is decided, and the cost of the other way.
  private enum Choice {
    case first(RelatedKeys, instead: Double)
    case lookedUp(RelatedKeys, RelatedLookUp, cost: Double)
  }

  fileprivate func add(_ keys: RelatedKeys, _ condition: FieldCondition, instead: Double) {
    self.keys[condition] = keys
    choices.append(.first(keys, instead: instead))
  }

  fileprivate func addLookUp(_ keys: RelatedKeys, _ way: RelatedLookUp, cost: Double) {
    choices.append(.lookedUp(keys, way, cost: cost))
  }

  /// For people: each condition across a relation.
  var explanation: [String] { choices.map(Self.text) }

  private static func text(_ choice: Choice) -> String {
    switch choice {
    case .first(let keys, let instead):
      keys.explanation + ", about \(microseconds(keys.cost)) µs instead of"
        + " \(microseconds(instead)) to look up \(keys.name) of each"
    case .lookedUp(let keys, let way, let cost):
      "looking up \(keys.name) of each\(way.text), about \(microseconds(cost)) µs instead of"
        + " \(microseconds(keys.cost)) \(keys.explanation)"
    }
  }

  private static func microseconds(_ cost: Double) -> Int { Int((cost / 1_000).rounded()) }
}

extension QueryPlanner {
  /// Decides how each condition across a relation is evaluated.
  func relatedPlan(
    of condition: FieldCondition, _ planned: PlannedQuery
  ) throws(StoreError) -> RelatedPlan? {
    var terms = RelatedTerms()
    condition.addRelatedTerms(to: &terms)
    if terms.list.isEmpty { return nil }
    let plan = RelatedPlan()
    // The cost of the query without them, and the number of records for which they are decided.
    let candidates = try candidates(planned)
    let share = keptShare(of: candidates, planned)
    guard let best = candidates.min(by: { $0.cost < $1.cost }) else { return plan }
    let decided = readCount(of: best, planned, share)
    let conjuncts = FieldConditions(planned.condition.conjuncts)
    for term in terms.list {
      guard let keys = try relatedKeys(term, deciding: decided),
        let way = try lookUp(term, keys)
      else { continue }
      let lookUp = best.cost + decided * way.cost
      let isConjunct = conjuncts.contains(term)
      let filtered = best.cost + decided * QueryCost.sortedEntry
      let first =
        keys.cost
        + (isConjunct ? min(filtered, Double(keys.estimate) * QueryCost.lookup) : filtered)
      let isFirst = relatedWay.map { $0 == .first } ?? (first < lookUp)
      if isFirst {
        plan.add(keys, term, instead: lookUp)
      } else {
        plan.addLookUp(keys, way, cost: lookUp)
      }
    }
    return plan
  }

  /// Returns the keys that a term across a relation stands for, which are not found yet; nil for another term.
  ///
  /// - Parameter count: About the number of records for which the term is decided. Looking up the related ones of a few takes
  ///   less time than to estimate by a sample how many meet the condition.
  private func relatedKeys(
    _ term: FieldCondition, deciding count: Double
  ) throws(StoreError) -> RelatedKeys? {
    let isSampled = count > QueryCost.sampledFrom
    return switch term {
    case .any(let relation, let condition):
      try RelatedKeys(
        relation, of: record, where: condition, count: (.greaterOrEqual, 1), in: reader,
        isSampled: isSampled)
    case .computed(let computed):
      switch (computed.one, computed.other) {
      case (.count(let relation, let condition), .value(.integer(let number))):
        try RelatedKeys(
          relation, of: record, where: condition, count: (computed.comparison, number), in: reader,
          isSampled: isSampled)
      default: nil
      }
    default: nil
    }
  }

  /// Returns how a term across a relation is decided for one record by looking up its related ones; nil for another term.
  private func lookUp(
    _ term: FieldCondition, _ keys: RelatedKeys
  ) throws(StoreError) -> RelatedLookUp? {
    switch term {
    case .any(let relation, let condition):
      try RelatedLookUp(
        of: try reader.entities.relation(relation, of: record), hasCondition: condition != .and([]),
        endsAt: keys.metShare, in: trees)
    case .computed(let computed):
      if case .count(let relation, let condition) = computed.one {
        try RelatedLookUp(
          of: try reader.entities.relation(relation, of: record),
          hasCondition: condition != .and([]), endsAt: nil, in: trees)
      } else {
        nil
      }
    default: nil
    }
  }

  /// Returns the candidates that the keys of conjuncts are, those that are found first.
  func relatedCandidates(_ planned: PlannedQuery) -> [QueryCandidate] {
    guard let related = planned.related else { return [] }
    return planned.condition.conjuncts.prefix(ConjunctSet.most).enumerated().compactMap {
      (place, conjunct) in
      guard let keys = related.keys[conjunct] else { return nil }
      var said = ConjunctSet()
      said.insert(place)
      return QueryCandidate(
        access: .related(keys), said: said, given: byKey(planned), estimate: keys.estimate)
    }
  }
}

/// The conditions across relations in another condition, each once, in their order.
private struct RelatedTerms {
  private var known = FieldConditions([])

  var list: [FieldCondition] { known.list }

  mutating func append(_ term: FieldCondition) {
    if !known.contains(term) { known.append(term) }
  }
}

/// A list of conditions that is searched: to compare a few takes less time than to hash one.
private struct FieldConditions {
  private static var shortMax: Int { 8 }

  private(set) var list: [FieldCondition]
  /// Those after the first few.
  private var others: Set<FieldCondition>

  init(_ list: [FieldCondition]) {
    self.list = list
    others = Set(list.dropFirst(Self.shortMax))
  }

  func contains(_ condition: FieldCondition) -> Bool {
    list.prefix(Self.shortMax).contains(condition) || !others.isEmpty && others.contains(condition)
  }

  mutating func append(_ condition: FieldCondition) {
    if list.count >= Self.shortMax { others.insert(condition) }
    list.append(condition)
  }
}

extension FieldCondition {
  /// Adds each condition across a relation that can be decided from its other end.
  fileprivate func addRelatedTerms(to terms: inout RelatedTerms) {
    switch self {
    case .comparison, .isIn, .isInQuery, .match, .contains, .kind: break
    case .any: terms.append(self)
    case .computed(let computed):
      if case (.count, .value(.integer(let number))) = (computed.one, computed.other),
        !computed.comparison.holds(0, number)
      {
        terms.append(self)
      }
    case .and(let operands), .or(let operands):
      for operand in operands { operand.addRelatedTerms(to: &terms) }
    case .not(let operand): operand.addRelatedTerms(to: &terms)
    }
  }
}

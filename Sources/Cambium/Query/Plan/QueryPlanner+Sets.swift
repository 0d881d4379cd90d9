// What several trees give together, by primary keys.

extension QueryPlanner {
  /// Returns the intersection of the two best indexes, if each covers a part that the other does not.
  ///
  /// - Parameter candidates: The rows, then indexes.
  func intersection(
    of candidates: [QueryCandidate], _ planned: PlannedQuery
  ) -> QueryCandidate? {
    if candidates.count < 3 { return nil }
    let said = candidates[1...].filter { !$0.said.isEmpty }
    guard let first = said.min(by: { $0.estimate < $1.estimate }) else { return nil }
    let others = said.filter {
      !$0.said.isSubset(of: first.said) && !first.said.isSubset(of: $0.said)
    }
    guard let second = others.min(by: { $0.estimate < $1.estimate }),
      case .index(let place, let ranges) = first.access,
      case .index(let otherPlace, let otherRanges) = second.access
    else { return nil }
    return QueryCandidate(
      access: .keys(.intersection([.index(place, ranges), .index(otherPlace, otherRanges)])),
      said: first.said.union(second.said), given: byKey(planned),
      estimate: first.estimate + second.estimate)
  }

  /// Returns the union of the alternatives of a conjunct, if there is an index for each.
  func unionCandidate(
    _ conjunct: Int, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryCandidate? {
    guard case .or(let alternatives) = planned.condition.conjuncts[conjunct],
      alternatives.count > 1, alternatives.count <= KeyRanges.most
    else { return nil }
    var sets: [KeySet] = []
    var estimate = 0
    var isAll = conjunct < ConjunctSet.most
    for alternative in alternatives {
      let condition = Conjunction(alternative, in: record.layout)
      let inner = PlannedQuery(
        query: FieldQuery(), need: .keysInAnyOrder, condition: condition, order: .byPrimaryKey,
        recordCount: planned.recordCount)
      guard let best = try bestSet(inner) else { return nil }
      sets.append(best.set)
      estimate += best.candidate.estimate
      if best.candidate.said.count < condition.conjuncts.count { isAll = false }
    }
    var said = ConjunctSet()
    if isAll { said.insert(conjunct) }
    return QueryCandidate(
      access: .keys(.union(sets)), said: said,
      given: byKey(planned), estimate: estimate)
  }

  /// Returns the order that keys in their own order give.
  private func byKey(_ planned: PlannedQuery) -> GivenOrder {
    GivenOrder(extent: planned.order.columns.isEmpty ? .all : .nothing)
  }

  /// The narrowest that says something.
  private func bestSet(
    _ planned: PlannedQuery
  ) throws(StoreError) -> (candidate: QueryCandidate, set: KeySet)? {
    var best: (candidate: QueryCandidate, set: KeySet)?
    let rows = try rowsCandidate(planned)
    if !rows.said.isEmpty, case .rows(let ranges) = rows.access { best = (rows, .rows(ranges)) }
    for place in record.indexes.indices {
      guard let candidate = try indexCandidate(place, planned), !candidate.said.isEmpty,
        case .index(_, let ranges) = candidate.access,
        candidate.estimate < best?.candidate.estimate ?? .max
      else { continue }
      best = (candidate, .index(place, ranges))
    }
    return best
  }
}

/// Chooses how the records of a query are found.
///
/// Every way that there is becomes a candidate with a cost; counts of ranges come from the trees, exact and
/// at any moment, so there are no statistics to keep.
struct QueryPlanner {
  let record: Entity
  let trees: TreeAccess
  let encoder: KeyEncoder

  init(_ record: Entity, in trees: TreeAccess, _ encoder: KeyEncoder = KeyEncoder()) {
    self.record = record
    self.trees = trees
    self.encoder = encoder
  }

  /// The cheapest way to find the records of a query.
  ///
  /// - Throws: `.invalidQuery` where the condition or the order cannot be for the record; `.corrupt`, `.io`.
  func plan(_ query: FieldQuery, for need: QueryNeed) throws(StoreError) -> QueryPlan {
    let (planned, candidates) = try candidates(query, for: need)
    var best = 0
    for place in candidates.indices where candidates[place].cost < candidates[best].cost {
      best = place
    }
    return try finish(candidates[best], planned)
  }

  /// Every way to find the records of a query; the first is to look through all of them.
  ///
  /// - Throws: as `plan`.
  func candidates(
    _ query: FieldQuery, for need: QueryNeed
  ) throws(StoreError) -> (PlannedQuery, [QueryCandidate]) {
    let layout = record.layout
    if query.condition?.isDeeper(than: RowConditionBuilder.depthMax) ?? false {
      throw RowConditionBuilder.tooDeep(layout)
    }
    let condition = Conjunction(query.condition, in: layout)
    let planned = PlannedQuery(
      query: query, need: need, condition: condition,
      order: try BoundOrder(
        query.order, condition, isAfter: query.after.map { _ in true } ?? false, in: layout),
      recordCount: try trees.estimatedCount(in: record.rows))
    var candidates: [QueryCandidate] = []
    candidates.reserveCapacity(record.indexes.count + 1)
    candidates.append(try rowsCandidate(planned))
    // One record at most: nothing is better.
    if candidates[0].isOneRecord { return (planned, candidates) }
    for place in record.indexes.indices {
      if let candidate = try indexCandidate(place, planned) { candidates.append(candidate) }
    }
    if let candidate = intersection(of: candidates, planned) { candidates.append(candidate) }
    for conjunct in condition.conjuncts.indices {
      if let candidate = try unionCandidate(conjunct, planned) { candidates.append(candidate) }
    }
    if candidates.count == 1 { return (planned, candidates) }
    if planned.isInAnyOrder {
      for place in candidates.indices { candidates[place].given = GivenOrder(extent: .all) }
    }
    let share = keptShare(of: candidates, planned)
    for place in candidates.indices {
      candidates[place].cost = cost(of: candidates[place], planned, share)
    }
    return (planned, candidates)
  }

  /// The plan that a candidate is, with the part of the condition that it leaves to be looked at.
  func finish(
    _ candidate: QueryCandidate, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryPlan {
    let condition = planned.condition
    var unsaid: FieldCondition?
    var residual: RowCondition?
    if candidate.said.count < condition.conjuncts.count {
      let left = condition.conjuncts.indices.filter { !candidate.said.contains($0) }
      let parts = left.map { condition.conjuncts[$0] }
      let condition: FieldCondition = parts.count == 1 ? parts[0] : .and(parts)
      residual = try RowCondition(condition, in: record.layout)
      unsaid = condition
    }
    return QueryPlan(
      access: candidate.access, residual: residual, unsaid: unsaid, order: planned.order,
      given: candidate.given, estimate: candidate.estimate, cost: candidate.cost,
      fixed: candidate.fixed, needsRows: planned.need.needsRows)
  }
}

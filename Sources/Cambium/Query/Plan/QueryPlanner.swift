/// Chooses how the records of a query are found.
///
/// Every way that there is becomes a candidate with a cost; counts of ranges come from the trees, exact and
/// at any moment, so there are no statistics to keep.
struct QueryPlanner {
  private let record: RecordTrees
  private let trees: TreeAccess
  private let encoder: KeyEncoder

  init(_ record: RecordTrees, in trees: TreeAccess, _ encoder: KeyEncoder = KeyEncoder()) {
    self.record = record
    self.trees = trees
    self.encoder = encoder
  }

  /// - Parameter forced: The place of a candidate, to be taken whatever it costs.
  /// - Throws: `.invalidValue` where the condition or the order cannot be for the record; `.corrupt`, `.io`.
  func plan(
    _ query: FieldQuery, for need: QueryNeed, forced: Int? = nil
  ) throws(StoreError) -> QueryPlan {
    let (planned, candidates) = try candidates(query, for: need)
    let best =
      if let forced {
        candidates[forced]
      } else {
        candidates.min { $0.cost < $1.cost } ?? candidates[0]
      }
    return try finish(best, planned)
  }

  /// Every way to find the records of a query; the first is to look through all of them.
  ///
  /// - Throws: as `plan`.
  func candidates(
    _ query: FieldQuery, for need: QueryNeed
  ) throws(StoreError) -> (PlannedQuery, [QueryCandidate]) {
    let layout = record.layout
    let condition = Conjunction(query.condition, in: layout)
    let planned = PlannedQuery(
      query: query, need: need, condition: condition,
      order: try BoundOrder(
        query.order, condition, isAfter: query.after.map { _ in true } ?? false, in: layout),
      recordCount: try trees.estimatedCount(in: record.rows))
    var candidates = [try rowsCandidate(planned)]
    // One record at most: nothing is better.
    if candidates[0].isOneRecord { return (planned, candidates) }
    for place in record.indexes.indices {
      if let candidate = try indexCandidate(place, planned) { candidates.append(candidate) }
    }
    let single = candidates
    if let candidate = intersection(of: single, planned) { candidates.append(candidate) }
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

  private func finish(
    _ candidate: QueryCandidate, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryPlan {
    let condition = planned.condition
    let left = condition.conjuncts.indices.filter { !candidate.said.contains($0) }
    let unsaid: FieldCondition? =
      switch left.count {
      case 0: nil
      case 1: condition.conjuncts[left[0]]
      default: .and(left.map { condition.conjuncts[$0] })
      }
    var residual: RowCondition?
    if let unsaid { residual = try RowCondition(unsaid, in: record.layout) }
    return QueryPlan(
      access: candidate.access, residual: residual, unsaid: unsaid, order: planned.order,
      given: candidate.given, estimate: candidate.estimate, cost: candidate.cost,
      fixed: candidate.fixed)
  }
}

/// A query with what planning it found out.
struct PlannedQuery {
  let query: FieldQuery
  let need: QueryNeed
  let condition: Conjunction
  let order: BoundOrder
  let recordCount: Int

  /// Whether the records are the same in whatever order they come.
  var isInAnyOrder: Bool {
    if need.isOrdered || query.limit != nil || query.offset > 0 { return false }
    return query.after.map { _ in false } ?? true
  }
}

/// One way to find a query's records.
struct QueryCandidate {
  var access: QueryAccess
  /// The conjuncts that need not be looked at again.
  var said: Set<Int> = []
  var given = GivenOrder()
  /// About how many entries are read of what the access has.
  var estimate: Int
  var fixed: [FieldValue?] = []
  var isOneRecord = false
  var cost = 0.0

  /// Whether keys are found and put together first.
  var isOfKeys: Bool {
    if case .keys = access { true } else { false }
  }
}

// MARK: - Candidates

extension QueryPlanner {
  private func rowsCandidate(_ planned: PlannedQuery) throws(StoreError) -> QueryCandidate {
    var builder = KeyRangeBuilder(rowsOf: record.layout, planned.condition.terms, encoder)
    let ranges = try builder.build()
    let isOneRecord =
      ranges.boundCount == record.layout.key.columns.count && ranges.ranges.count <= 1
      && ranges.isFixed
    return QueryCandidate(
      access: .rows(ranges.ranges), said: ranges.said,
      given: planned.order.given(
        by: record.layout.key.columns, fixed: ranges.fixed, isIndex: false),
      estimate: isOneRecord
        ? ranges.ranges.count : try count(of: ranges.ranges, in: record.rows, planned),
      fixed: ranges.fixed, isOneRecord: isOneRecord)
  }

  /// Nil for a partial index that may not have all of the records.
  private func indexCandidate(
    _ place: Int, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryCandidate? {
    let index = record.indexes[place]
    let layout = record.layout
    var said: Set<Int> = []
    if let condition = index.layout.schema.condition {
      guard planned.condition.implies(condition, in: layout) else { return nil }
      said = planned.condition.conjuncts(impliedBy: condition, in: layout)
    }
    guard index.layout.schema.condition != nil || isOfUse(index.layout, planned) else { return nil }
    guard try trees.isWhole(index.slot) else { return nil }
    var builder = KeyRangeBuilder(index.layout, of: layout, planned.condition.terms, encoder)
    let ranges = try builder.build()
    return QueryCandidate(
      access: .index(place, ranges.ranges), said: ranges.said.union(said),
      given: planned.order.given(
        by: index.layout.parts.columns, fixed: ranges.fixed, isIndex: true),
      estimate: try count(of: ranges.ranges, in: index.slot, planned), fixed: ranges.fixed)
  }

  /// Whether an index of all records begins with what the condition or the order asks for.
  private func isOfUse(_ index: IndexLayout, _ planned: PlannedQuery) -> Bool {
    let first = index.parts.columns[0].column
    return planned.condition.terms.contains { $0.column == Int(first) }
      || planned.order.columns.first?.column == first
  }

  /// What the two best indexes have both, where each says something that the other does not.
  private func intersection(
    of candidates: [QueryCandidate], _ planned: PlannedQuery
  ) -> QueryCandidate? {
    var found: [(candidate: QueryCandidate, set: KeySet)] = []
    for candidate in candidates where !candidate.said.isEmpty {
      guard case .index(let place, let ranges) = candidate.access else { continue }
      found.append((candidate, .index(place, ranges)))
    }
    found.sort { $0.candidate.estimate < $1.candidate.estimate }
    guard let first = found.first,
      let second = found.dropFirst().first(where: {
        !$0.candidate.said.isSubset(of: first.candidate.said)
          && !first.candidate.said.isSubset(of: $0.candidate.said)
      })
    else { return nil }
    return QueryCandidate(
      access: .keys(.intersection([first.set, second.set])),
      said: first.candidate.said.union(second.candidate.said), given: byKey(planned),
      estimate: first.candidate.estimate + second.candidate.estimate)
  }

  /// All that the alternatives of a conjunct have together, where there is an index for each.
  private func unionCandidate(
    _ conjunct: Int, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryCandidate? {
    guard case .or(let alternatives) = planned.condition.conjuncts[conjunct],
      alternatives.count > 1, alternatives.count <= KeyRanges.most
    else { return nil }
    var sets: [KeySet] = []
    var estimate = 0
    var isAll = true
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
    return QueryCandidate(
      access: .keys(.union(sets)), said: isAll ? [conjunct] : [],
      given: byKey(planned), estimate: estimate)
  }

  /// What keys that come in their order give.
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

  /// How many entries a tree has in ranges; of many ranges, about.
  private func count(
    of ranges: [KeyRange], in tree: TreeSlot, _ planned: PlannedQuery
  ) throws(StoreError) -> Int {
    if ranges.isEmpty { return 0 }
    if ranges.count == 1, ranges[0] == .all { return try trees.estimatedCount(in: tree) }
    let sampled = ranges.prefix(8)
    var count = 0
    for range in sampled { count += try trees.estimatedCount(of: range, in: tree) }
    return count * ranges.count / sampled.count
  }
}

// MARK: - Costs

extension QueryPlanner {
  /// About which share of all records the query wants.
  private func keptShare(of candidates: [QueryCandidate], _ planned: PlannedQuery) -> Double {
    let all = max(Double(planned.recordCount), 1)
    var share = 1.0
    for candidate in candidates {
      if case .keys(.intersection) = candidate.access { continue }
      let unsaid = planned.condition.conjuncts.count - candidate.said.count
      var kept = min(1, Double(candidate.estimate) / all)
      for _ in 0..<min(unsaid, 8) { kept *= QueryCost.keptShare }
      share = min(share, kept)
    }
    return share
  }

  private func cost(
    of candidate: QueryCandidate, _ planned: PlannedQuery, _ share: Double
  ) -> Double {
    let isExact = candidate.said.count == planned.condition.conjuncts.count
    let wanted = share * Double(planned.recordCount)
    var read = Double(candidate.estimate)
    // Where entries come in order, as many are read as it takes.
    if candidate.given.extent != .nothing, let limit = planned.query.limit {
      let kept = isExact ? 1 : min(1, max(wanted, 1) / max(read, 1))
      read = min(read, (Double(limit) + Double(planned.query.offset)) / max(kept, 1e-9))
    }
    let needsRows = !isExact || planned.need.needsRows
    // Ranges are counted without being read.
    if !needsRows, planned.isInAnyOrder, !candidate.isOfKeys { return QueryCost.seek }
    let isSorted = candidate.given.extent == .all
    var cost = QueryCost.seek
    switch candidate.access {
    case .rows: cost += read * QueryCost.scannedRow
    case .index: cost += read * (QueryCost.indexEntry + (needsRows ? QueryCost.lookup : 0))
    case .keys(.intersection):
      cost += read * (QueryCost.indexEntry + QueryCost.sortedEntry)
      cost += wanted * (needsRows ? QueryCost.lookup : 0)
    case .keys:
      cost += read * (QueryCost.indexEntry + QueryCost.sortedEntry)
      cost += read * (needsRows ? QueryCost.lookup : 0)
    }
    if !isSorted {
      let sorted = isExact ? read : min(read, wanted)
      let kept = planned.query.limit.map { min(Double($0), sorted) } ?? sorted
      cost += sorted * QueryCost.sortedEntry + (needsRows ? kept * QueryCost.lookup : 0)
    }
    return cost
  }
}

// MARK: - Counts

extension TreeAccess {
  /// About how many entries a tree has in a range.
  func estimatedCount(of range: KeyRange, in tree: TreeSlot) throws(StoreError) -> Int {
    let high = range.high ?? KeyRange.highest
    return try estimatedCount(from: range.low.rawSpan, upTo: high.rawSpan, in: tree)
  }

  /// How many entries a tree has in a range.
  ///
  /// - Complexity: O(log count); O(count) for what a transaction that spills has changed.
  func count(of range: KeyRange, in tree: TreeSlot) throws(StoreError) -> Int {
    let end =
      if let high = range.high { try rank(of: high.rawSpan, in: tree) } else {
        try count(in: tree)
      }
    if range.low.isEmpty { return end }
    return max(0, end - (try rank(of: range.low.rawSpan, in: tree)))
  }
}

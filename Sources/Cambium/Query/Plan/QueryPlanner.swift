/// Chooses how the records of a query are found.
///
/// Every way that there is becomes a candidate with a cost. Counts of ranges come from the trees, at any moment, so there are
/// no statistics to keep; only where a choice needs a number that no index has, it is estimated by a sample of rows.
struct QueryPlanner {
  let record: Entity
  var reader: RecordReader
  let encoder: KeyEncoder
  /// The way in which conditions across relations are decided; nil for the cheaper one of each.
  var relatedWay: RelatedPlan.Way?

  init(_ record: Entity, in reader: RecordReader, _ encoder: KeyEncoder = KeyEncoder()) {
    self.record = record
    self.reader = reader
    self.encoder = encoder
  }

  var trees: TreeAccess { reader.trees }

  /// The cheapest way to find the records of a query.
  ///
  /// - Throws: `.invalidQuery` where the condition or the order cannot be for the record; `.corrupt`, `.io`.
  func plan(_ query: FieldQuery, for need: QueryNeed) throws(StoreError) -> QueryPlan {
    let (planned, candidates) = try candidates(query, for: need)
    return try finish(cheapest(of: candidates), planned)
  }

  func cheapest(of candidates: [QueryCandidate]) -> QueryCandidate {
    var best = 0
    for place in candidates.indices where candidates[place].cost < candidates[best].cost {
      best = place
    }
    return candidates[best]
  }

  /// Every way to find the records of a query; the first is to look through all of them.
  ///
  /// - Throws: as `plan`.
  func candidates(
    _ query: FieldQuery, for need: QueryNeed
  ) throws(StoreError) -> (PlannedQuery, [QueryCandidate]) {
    let layout = record.layout
    try query.checkWindow(of: layout.record)
    if query.condition?.isDeeper(than: RowConditionBuilder.depthMax) ?? false {
      throw RowConditionBuilder.tooDeep(layout)
    }
    var query = query
    var queried: [QueriedRun] = []
    if let condition = query.condition, condition.mayHaveQuery() {
      var values = QueriedValues(reader)
      query.condition = try values.evaluated(condition, on: layout)
      queried = values.runs
    }
    let leadsOn =
      reader.entities.hasReferences && query.condition?.mayLeadOn(from: layout) ?? false
    if leadsOn {
      query.condition = try query.condition?.resolved(
        from: record, in: reader.entities, isChanging: trees.isChanging)
    }
    let condition = Conjunction(query.condition, in: layout)
    var planned = PlannedQuery(
      query: query, need: need, condition: condition,
      order: try BoundOrder(
        query.order, condition, isAfter: query.after.map { _ in true } ?? false, of: record,
        in: reader),
      recordCount: try trees.estimatedCount(in: record.rows), queried: queried)
    if leadsOn, let condition = query.condition {
      planned.related = try relatedPlan(of: condition, planned)
    }
    return (planned, try candidates(planned))
  }

  /// Every way to find the records of a query for which it is known how related records are found.
  func candidates(_ planned: PlannedQuery) throws(StoreError) -> [QueryCandidate] {
    let condition = planned.condition
    var candidates: [QueryCandidate] = []
    candidates.reserveCapacity(record.indexes.count + 1)
    candidates.append(try rowsCandidate(planned))
    // One record at most: nothing is better.
    if candidates[0].isOneRecord { return candidates }
    for place in record.indexes.indices {
      candidates += try indexCandidates(place, planned)
    }
    candidates += relatedCandidates(planned)
    if let candidate = try relatedOrderCandidate(planned) { candidates.append(candidate) }
    candidates += intersections(of: candidates, planned)
    for conjunct in condition.conjuncts.indices {
      if let candidate = try unionCandidate(conjunct, planned) { candidates.append(candidate) }
    }
    if candidates.count == 1 { return candidates }
    if planned.isInAnyOrder {
      for place in candidates.indices { candidates[place].given = GivenOrder(extent: .all) }
    }
    let share = keptShare(of: candidates, planned)
    for place in candidates.indices {
      candidates[place].cost = cost(of: candidates[place], planned, share)
    }
    return candidates
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
      residual = try RowCondition(
        condition, in: record.layout,
        RelatedScope(reader: reader, keys: planned.related?.keys ?? [:]))
      unsaid = condition
    }
    return QueryPlan(
      access: candidate.access, residual: residual, unsaid: unsaid, order: planned.order,
      given: candidate.given, estimate: candidate.estimate, cost: candidate.cost,
      fixed: candidate.fixed, needsRows: planned.need.needsRows, related: planned.related,
      queried: planned.queried,
      meter: reader.meter)
  }
}

// Candidates from one tree alone: the rows, and each index.

extension QueryPlanner {
  func rowsCandidate(_ planned: PlannedQuery) throws(StoreError) -> QueryCandidate {
    var ranges = KeyRanges.all
    if planned.condition.asks(of: record.layout.key.columns[0]) {
      var builder = KeyRangeBuilder(rowsOf: record.layout, planned.condition.terms, encoder)
      ranges = try builder.build()
    }
    let isOneRecord =
      ranges.boundCount == record.layout.key.columns.count && ranges.ranges.count <= 1
      && ranges.isFixed
    return QueryCandidate(
      access: .rows(ranges.ranges), said: ranges.said,
      given: planned.order.given(
        by: record.layout.key.columns, fixed: ranges.fixed, of: nil),
      estimate: isOneRecord
        ? ranges.ranges.count : try count(of: ranges.ranges, in: record.rows, planned),
      fixed: ranges.fixed, isOneRecord: isOneRecord)
  }

  /// Returns the ways to use an index: one at most, or one for each term on the expanded part, for which a record has several
  /// entries. None for a partial index that may not have all of the records.
  func indexCandidates(
    _ place: Int, _ planned: PlannedQuery
  ) throws(StoreError) -> [QueryCandidate] {
    let index = record.indexes[place]
    let layout = record.layout
    let terms = planned.condition.terms
    var expanding: [FieldTerm] = []
    if let expanded = index.layout.expanded {
      let column = Int(index.layout.parts.columns[expanded.place].column)
      expanding = terms.filter { $0.column == column && $0.expansion == expanded.expansion }
      if expanding.isEmpty { return [] }
    }
    var said = ConjunctSet()
    if let condition = index.layout.schema.condition {
      guard planned.condition.implies(condition, in: layout) else { return [] }
      said = planned.condition.conjuncts(impliedBy: condition, in: layout)
    } else if expanding.isEmpty, !isOfUse(index.layout, planned) {
      return []
    }
    guard try trees.isWhole(index.slot) else { return [] }
    if expanding.isEmpty {
      var builder = KeyRangeBuilder(index.layout, of: layout, terms, encoder)
      return [try candidate(place, try builder.build(), said, planned)]
    }
    var candidates: [QueryCandidate] = []
    for term in expanding {
      // Each of the others may be met by another entry of the record.
      let others = terms.filter { $0 == term || !expanding.contains($0) }
      var builder = KeyRangeBuilder(index.layout, of: layout, others, encoder)
      let ranges = try builder.build()
      // Without a bound there, a record may have any number of entries, or none.
      if ranges.boundsExpanded { candidates.append(try candidate(place, ranges, said, planned)) }
    }
    return candidates
  }

  /// Returns the candidate that ranges of an index are. Where a record may have several entries in them, its keys are found
  /// first, each once.
  private func candidate(
    _ place: Int, _ ranges: KeyRanges, _ said: ConjunctSet, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryCandidate {
    let index = record.indexes[place]
    let access = QueryAccess.index(place, ranges.ranges)
    let estimate = try count(of: ranges.ranges, in: index.slot, planned)
    if ranges.mayRepeat {
      return QueryCandidate(
        access: .union([access]), said: ranges.said.union(said), given: byKey(planned),
        estimate: estimate)
    }
    return QueryCandidate(
      access: access, said: ranges.said.union(said),
      given: planned.order.given(
        by: index.layout.parts.columns, fixed: ranges.fixed, of: index.layout),
      estimate: estimate, fixed: ranges.fixed)
  }

  /// Returns true if an index of all records begins with fields of the condition or the order.
  private func isOfUse(_ index: IndexLayout, _ planned: PlannedQuery) -> Bool {
    let first = index.parts.columns[0]
    return planned.condition.asks(of: first) || planned.order.columns.first?.column == first.column
  }

  /// Returns the number of entries that a tree has in ranges; for many ranges, approximately.
  private func count(
    of ranges: [KeyRange], in tree: TreeSlot, _ planned: PlannedQuery
  ) throws(StoreError) -> Int {
    if ranges.isEmpty { return 0 }
    if ranges.count == 1, ranges[0] == .all {
      return tree == record.rows ? planned.recordCount : try trees.estimatedCount(in: tree)
    }
    let sampled = ranges.prefix(8)
    var count = 0
    for range in sampled { count += try trees.estimatedCount(of: range, in: tree) }
    return count * ranges.count / sampled.count
  }
}

// Candidates from several trees together, by primary keys.

extension QueryPlanner {
  /// Returns the intersection of the two best indexes, if each covers a part that the other does not, and that of all
  /// whose entries are in the order of primary keys.
  ///
  /// - Parameter candidates: The rows, then indexes.
  func intersections(
    of candidates: [QueryCandidate], _ planned: PlannedQuery
  ) -> [QueryCandidate] {
    if candidates.count < 3 { return [] }
    let said = candidates[1...].filter { !$0.said.isEmpty }
      .sortedRarely { $0.estimate < $1.estimate }
    let ordered = said.filter { $0.access.orderedRange(of: record) != nil }
    return [
      intersection(of: said, planned, count: 2, isMerged: false),
      intersection(of: ordered, planned, count: ordered.count, isMerged: true),
    ].compactMap { $0 }
  }

  /// Returns the intersection of the first `count` candidates that each cover another part of the condition.
  ///
  /// - Parameter isMerged: True if all are in the order of primary keys.
  private func intersection(
    of candidates: [QueryCandidate], _ planned: PlannedQuery, count: Int, isMerged: Bool
  ) -> QueryCandidate? {
    guard let first = candidates.first else { return nil }
    var sets = [first.access]
    var said = first.said
    var estimate = first.estimate
    for candidate in candidates.dropFirst() where sets.count < count {
      if candidate.said.isSubset(of: said) || said.isSubset(of: candidate.said) { continue }
      sets.append(candidate.access)
      said = said.union(candidate.said)
      // Of many, only those are read that the fewest are sought among.
      estimate += isMerged ? min(candidate.estimate, first.estimate) : candidate.estimate
    }
    if sets.count < 2 { return nil }
    return QueryCandidate(
      access: .intersection(sets), said: said, given: byKey(planned), estimate: estimate,
      isMerged: isMerged)
  }

  /// Returns the union of the alternatives of a conjunct, if there is an index for each.
  func unionCandidate(
    _ conjunct: Int, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryCandidate? {
    guard case .or(let alternatives) = planned.condition.conjuncts[conjunct],
      alternatives.count > 1, alternatives.count <= KeyRanges.most
    else { return nil }
    var sets: [QueryAccess] = []
    var estimate = 0
    var isAll = conjunct < ConjunctSet.most
    for alternative in alternatives {
      let condition = Conjunction(alternative, in: record.layout)
      let inner = PlannedQuery(
        query: FieldQuery(), need: .keysInAnyOrder, condition: condition, order: .byPrimaryKey,
        recordCount: planned.recordCount, related: planned.related)
      guard let best = try bestSet(inner) else { return nil }
      sets.append(best.access)
      estimate += best.estimate
      if best.said.count < condition.conjuncts.count { isAll = false }
    }
    var said = ConjunctSet()
    if isAll { said.insert(conjunct) }
    return QueryCandidate(
      access: .union(sets), said: said, given: byKey(planned), estimate: estimate)
  }

  /// Returns the order that keys in their own order give.
  func byKey(_ planned: PlannedQuery) -> GivenOrder {
    GivenOrder(extent: planned.order.columns.isEmpty ? .all : .nothing)
  }

  /// The narrowest that says something.
  private func bestSet(_ planned: PlannedQuery) throws(StoreError) -> QueryCandidate? {
    let rows = try rowsCandidate(planned)
    var best = rows.said.isEmpty ? nil : rows
    for place in record.indexes.indices {
      for candidate in try indexCandidates(place, planned)
      where !candidate.said.isEmpty && candidate.estimate < best?.estimate ?? .max {
        best = candidate
      }
    }
    for candidate in relatedCandidates(planned)
    where candidate.estimate < best?.estimate ?? .max {
      best = candidate
    }
    return best
  }
}

/// A query with the results of planning it.
struct PlannedQuery {
  let query: FieldQuery
  let need: QueryNeed
  let condition: Conjunction
  let order: BoundOrder
  let recordCount: Int
  var related: RelatedPlan?
  /// How the queries in the condition were run, for people.
  var queried: [QueriedRun] = []

  /// True if the records are the same in whatever order they come.
  var isInAnyOrder: Bool {
    if need.isOrdered || query.limit != nil || query.offset > 0 { return false }
    return query.after.map { _ in false } ?? true
  }
}

/// One way to find a query's records.
struct QueryCandidate {
  var access: QueryAccess
  /// The conjuncts that need not be looked at again.
  var said = ConjunctSet()
  var given = GivenOrder()
  /// About how many entries are read of what the access has.
  var estimate: Int
  var fixed: [FieldValue?] = []
  var isOneRecord = false
  /// True for an intersection whose keys are found one by one, in order.
  var isMerged = false
  var cost = 0.0

  /// True if keys are found and put together first.
  var isOfKeys: Bool {
    switch access {
    case .rows, .index, .relatedOrder: false
    case .union, .intersection, .related: true
    }
  }
}

/// The approximate costs of steps in nanoseconds, as measured with a store that fits into memory. They serve only to
/// compare plans.
enum QueryCost {
  static let scannedRow = 40.0
  static let indexEntry = 40.0
  /// A row of a primary key.
  static let lookup = 400.0
  static let sortedEntry = 120.0
  /// The words of a text of usual length, compared with one.
  static let searchedText = 250.0
  static let seek = 700.0
  /// The share of records that a conjunct keeps of which nothing is known.
  static let keptShare = 0.3
  /// The number of records that related ones are looked up for from which a sample of those is worth its time.
  static let sampledFrom = 64.0
}

extension QueryPlanner {
  /// About which share of all records the query wants.
  func keptShare(of candidates: [QueryCandidate], _ planned: PlannedQuery) -> Double {
    let all = max(Double(planned.recordCount), 1)
    var share = 1.0
    for candidate in candidates {
      if case .intersection = candidate.access { continue }
      let unsaid = planned.condition.conjuncts.count - candidate.said.count
      var kept = min(1, Double(candidate.estimate) / all)
      for _ in 0..<min(unsaid, 8) { kept *= QueryCost.keptShare }
      share = min(share, kept)
    }
    return share
  }

  /// Returns about how many entries are read: of those in order, as many as it takes.
  func readCount(
    of candidate: QueryCandidate, _ planned: PlannedQuery, _ share: Double
  ) -> Double {
    let read = Double(candidate.estimate)
    guard candidate.given.extent != .nothing, let limit = planned.query.limit else { return read }
    let isExact = candidate.said.count == planned.condition.conjuncts.count
    let wanted = share * Double(planned.recordCount)
    let kept = isExact && !candidate.isMerged ? 1 : min(1, max(wanted, 1) / max(read, 1))
    return min(read, (Double(limit) + Double(planned.query.offset)) / max(kept, 1e-9))
  }

  func cost(
    of candidate: QueryCandidate, _ planned: PlannedQuery, _ share: Double
  ) -> Double {
    let isExact = candidate.said.count == planned.condition.conjuncts.count
    var wanted = share * Double(planned.recordCount)
    let read = readCount(of: candidate, planned, share)
    if candidate.isMerged, candidate.given.extent != .nothing, let limit = planned.query.limit {
      wanted = min(wanted, Double(limit) + Double(planned.query.offset))
    }
    let needsRows = !isExact || planned.need.needsRows
    // Ranges are counted without being read.
    if !needsRows, planned.isInAnyOrder, !candidate.isOfKeys { return QueryCost.seek }
    let isSorted = candidate.given.extent == .all
    var cost = QueryCost.seek + read * textCost(of: candidate, planned)
    switch candidate.access {
    case .rows: cost += read * QueryCost.scannedRow
    case .index: cost += read * (QueryCost.indexEntry + (needsRows ? QueryCost.lookup : 0))
    case .intersection(let sets):
      cost += Double(sets.count - 1) * QueryCost.seek
      cost += read * (QueryCost.indexEntry + (candidate.isMerged ? 0 : QueryCost.sortedEntry))
      cost += wanted * (needsRows ? QueryCost.lookup : 0)
    case .related:
      cost += read * (needsRows ? QueryCost.lookup : 0)
    case .relatedOrder(let order):
      // Groups are sorted by their rows.
      let first = Double(order.firstCount) / max(order.relatedShare, 1e-9)
      let count = min(max(read, first), Double(planned.recordCount))
      cost += order.cost(of: count) + count * (QueryCost.lookup + QueryCost.sortedEntry)
    case .union:
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

  /// Returns the cost of looking for words in a record's texts, as far as the candidate leaves that to do.
  private func textCost(of candidate: QueryCandidate, _ planned: PlannedQuery) -> Double {
    var cost = 0.0
    for (place, conjunct) in planned.condition.conjuncts.enumerated() {
      if case .match(_, let match) = conjunct, match.kind == .words,
        !candidate.said.contains(place)
      {
        cost += QueryCost.searchedText
      }
    }
    return cost
  }
}

extension TreeAccess {
  /// About how many entries a tree has in a range.
  func estimatedCount(of range: KeyRange, in tree: TreeSlot) throws(StoreError) -> Int {
    let high = range.high ?? KeyRange.highest
    return try estimatedCount(from: range.low.rawSpan, upTo: high.rawSpan, in: tree)
  }

  /// Returns the number of entries that a tree has in a range.
  ///
  /// - Complexity: O(log count); O(count) for changes of a transaction that spills.
  func count(of range: KeyRange, in tree: TreeSlot) throws(StoreError) -> Int {
    let end =
      if let high = range.high { try rank(of: high.rawSpan, in: tree) } else {
        try count(in: tree)
      }
    if range.low.isEmpty { return end }
    return max(0, end - (try rank(of: range.low.rawSpan, in: tree)))
  }
}

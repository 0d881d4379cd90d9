/// A query with what planning it found out.
struct PlannedQuery {
  let query: FieldQuery
  let need: QueryNeed
  let condition: Conjunction
  let order: BoundOrder
  let recordCount: Int

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
  var cost = 0.0

  /// True if keys are found and put together first.
  var isOfKeys: Bool {
    if case .keys = access { true } else { false }
  }
}

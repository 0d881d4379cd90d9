// What one tree alone gives: the rows, and each index.

extension QueryPlanner {
  func rowsCandidate(_ planned: PlannedQuery) throws(StoreError) -> QueryCandidate {
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
  func indexCandidate(
    _ place: Int, _ planned: PlannedQuery
  ) throws(StoreError) -> QueryCandidate? {
    let index = record.indexes[place]
    let layout = record.layout
    var said = ConjunctSet()
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

  /// Returns true if an index of all records begins with what the condition or the order asks for.
  private func isOfUse(_ index: IndexLayout, _ planned: PlannedQuery) -> Bool {
    let first = index.parts.columns[0].column
    return planned.condition.terms.contains { $0.column == Int(first) }
      || planned.order.columns.first?.column == first
  }

  /// Returns the number of entries that a tree has in ranges; for many ranges, approximately.
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

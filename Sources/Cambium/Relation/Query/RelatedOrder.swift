/// The way to the first records in the order of a field of the record that a reference leads to: along an index of that field, and from
/// each related record back to those that lead to it.
struct RelatedOrder: Sendable {
  let link: Link
  /// The place of the index among those of the record that the reference leads to.
  let index: Int
  /// True if its entries are read from the last to the first.
  let isBackward: Bool
  /// About the number of related records with the first value, whose records are all read before one is returned.
  let firstCount: Int
  /// About the number of related records for each of the records.
  let relatedShare: Double

  /// The way as people name it.
  var name: String {
    let other = link.destination
    return "\(link.name) in the order of index \(other.indexes[index].layout.schema.name) of"
      + " \(other.record.name)"
  }

  /// About the time to find so many records, without their rows.
  func cost(of count: Double) -> Double {
    count * QueryCost.indexEntry + count * relatedShare * (QueryCost.indexEntry + QueryCost.seek)
  }
}

extension QueryPlanner {
  /// Returns the way along an index of the record that a reference leads to; nil if such an index would not have all records,
  /// or all are wanted.
  func relatedOrderCandidate(_ planned: PlannedQuery) throws(StoreError) -> QueryCandidate? {
    guard planned.need.isOrdered, planned.query.limit != nil,
      case .none = planned.query.after, let column = planned.order.firstRelated,
      let order = try column.order(of: planned.recordCount, in: trees)
    else { return nil }
    return QueryCandidate(
      access: .relatedOrder(order),
      given: GivenOrder(extent: .groups, isBackward: order.isBackward),
      estimate: planned.recordCount)
  }
}

extension RelatedColumn {
  /// Returns the way to records in the order of the column; nil if there is no index that has all of them.
  ///
  /// - Parameter count: The number of records that have the reference.
  /// - Complexity: O(log records).
  /// - Throws: `.corrupt`, `.io`.
  fileprivate func order(of count: Int, in trees: TreeAccess) throws(StoreError) -> RelatedOrder? {
    let (link, other) = (side.link, side.other)
    guard isOfNext, link.kind == nil, link.source.layout.columns[link.column].place.nullBit == nil,
      try link.leadsSomewhere(in: trees), try link.isFoundBack(in: trees)
    else { return nil }
    for (place, index) in other.indexes.enumerated() {
      let layout = index.layout
      let part = layout.parts.columns[0]
      guard layout.schema.condition == nil, layout.expanded == nil, part.isSameValue(as: column),
        try trees.isWhole(index.slot)
      else { continue }
      let isBackward = part.isDescending != column.isDescending
      let otherCount = try trees.estimatedCount(in: index.slot)
      return RelatedOrder(
        link: link, index: place, isBackward: isBackward,
        firstCount: try other.firstCount(in: place, backward: isBackward, trees),
        relatedShare: Double(otherCount) / Double(max(1, count)))
    }
    return nil
  }
}

extension Entity {
  /// Returns about the number of entries of an index that have the same value as the first one in its first part.
  fileprivate func firstCount(
    in place: Int, backward isBackward: Bool, _ trees: TreeAccess
  ) throws(StoreError) -> Int {
    let (index, layout) = (indexes[place], layout)
    if index.layout.schema.isUnique, index.layout.parts.columns.count == 1 { return 1 }
    let cursor = try trees.cursor(in: index.slot)
    guard isBackward ? try cursor.last() : try cursor.first() else { return 0 }
    var reader = KeyReader(cursor.key, layout: layout, index: place)
    // Of a key that was cut, the part may not end.
    var length = min(cursor.key.byteCount, IndexLayout.cutPrefix)
    if (try? reader.skip(index.layout.parts.columns[0])) != nil {
      length = min(length, reader.offset)
    }
    let prefix = cursor.key.part(0, length)
    return try trees.estimatedCount(of: KeyRange(prefix: prefix.array()), in: index.slot)
  }
}

/// Finds records in the order of a field of the record that they lead to: those of some of its values at a time, which are sorted.
final class RelatedGroups {
  /// Of the related records, by the value of the field.
  private let related: RecordGroups
  private let link: Link
  private let cursor: CursorAccess?
  private let encoder = KeyEncoder()
  private let plan: QueryPlan
  private let order: RecordOrder
  private let record: Entity
  private let trees: TreeAccess
  private let found: FoundRow
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var isAtEnd = false
  /// The number of records that lead to those which were read.
  @exclusivity(unchecked) private var sourceCount = 0

  init(
    _ way: RelatedOrder, _ plan: QueryPlan, _ order: RecordOrder, _ record: Entity,
    _ trees: TreeAccess
  ) throws(StoreError) {
    let (other, meter) = (way.link.destination, plan.meter)
    let index = other.indexes[way.index]
    let entries = IndexSource(
      RangeCursor(try trees.cursor(in: index.slot), [.all], isBackward: way.isBackward, meter),
      index.layout, nil, FoundRow(of: other, in: trees, meter), other.layout, wantedCount: 0)
    let given = GivenOrder(
      extent: .groups, isBackward: way.isBackward, partCount: 1, isByKeyInGroups: true)
    let all = QueryPlan(
      access: .index(way.index, [.all]), order: .byPrimaryKey, given: given, estimate: 0, cost: 0,
      needsRows: false, meter: meter)
    related = RecordGroups(
      .index(entries), all, RecordOrder(.byPrimaryKey, of: other, KeyEncoder()), other, trees)
    link = way.link
    cursor = try way.link.sourceCursor(in: trees)
    self.plan = plan
    self.order = order
    self.record = record
    self.trees = trees
    found = FoundRow(of: record, in: trees, meter)
  }

  var entryCount: Int { unsafe related.entryCount + sourceCount }
  var rowCount: Int { unsafe found.rowCount }

  /// Returns the next records, sorted: one at least, with all that have the same value; those of several values if each has few. Nil if there
  /// are none.
  ///
  /// - Parameter limit: How many of the first records are enough.
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  func next(limit: Int?) throws(StoreError) -> SortedKeys? {
    var keys = SortedKeys(of: record.record.name, limit: limit, keepsRows: plan.needsRows)
    let wanted = min(limit ?? .max, RowsAhead.countMax)
    while keys.count == 0, unsafe !isAtEnd {
      var batch = SortedKeys(of: record.record.name)
      while batch.count < wanted {
        let isOne = try related.forEachOfGroup { key throws(StoreError) in
          try addSources(of: key, to: &batch, then: &keys)
        }
        guard isOne else {
          unsafe isAtEnd = true
          break
        }
        // The group is whole, and enough of it was found.
        if keys.count > 0 { break }
      }
      try look(at: &batch, addingTo: &keys)
    }
    if keys.count == 0 { return nil }
    keys.sort()
    return keys
  }

  /// The number of records that are looked at together, in the order of their keys.
  private static var batchCount: Int { 1_024 }

  private func addSources(
    of key: RawSpan, to batch: inout SortedKeys, then keys: inout SortedKeys
  ) throws(StoreError) {
    try link.forEachSource(to: key, in: trees, encoder, by: cursor) { source throws(StoreError) in
      try batch.add(source, keyLength: source.byteCount)
      unsafe sourceCount += 1
      try plan.meter?.use()
      if batch.count == Self.batchCount { try look(at: &batch, addingTo: &keys) }
      return true
    }
  }

  /// Adds those records that meet the condition.
  private func look(
    at batch: inout SortedKeys, addingTo keys: inout SortedKeys
  ) throws(StoreError) {
    batch.sort()
    let source = RecordSource.listed(KeySource(batch, plan.residual, found, isChanging: false))
    while try source.next() { try order.add(source, to: &keys) }
    batch.removeAll()
  }
}

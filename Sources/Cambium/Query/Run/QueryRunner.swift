/// Answers queries on the records of one type, in one state.
struct QueryRunner {
  let record: Entity
  private let reader: RecordReader

  init(_ record: Entity, in reader: RecordReader) {
    self.record = record
    self.reader = reader
  }

  var trees: TreeAccess { reader.trees }

  func planner(_ encoder: KeyEncoder = KeyEncoder()) -> QueryPlanner {
    QueryPlanner(record, in: reader, encoder)
  }

  /// The records of a query.
  ///
  /// - Throws: `.invalidQuery` where the query cannot be for the record, `.noSuchRecord` where the one to come
  ///   after is not there, `.corrupt`, `.io`, `.sortTooLarge`.
  func find(
    _ query: FieldQuery, for need: QueryNeed = .records
  ) throws(StoreError) -> FoundRecords {
    let encoder = KeyEncoder()
    let planner = planner(encoder)
    if let plan = try planner.planOfAll(query, for: need) {
      return try FoundRecords(plan, query, of: record, in: trees, encoder)
    }
    if let plan = try planner.planByForm(query, for: need) {
      return try FoundRecords(
        plan, query, of: record, in: trees, encoder,
        comparing: LaterComparison(reader: reader, query: query, need: need))
    }
    let plan = try planner.plan(query, for: need)
    return try FoundRecords(plan, query, of: record, in: trees, encoder)
  }

  /// Returns the number of records of a query; with `most`, counting stops there.
  ///
  /// - Complexity: O(log records) where ranges of keys say all of the condition; otherwise linear in the
  ///   entries that are read.
  /// - Throws: as `find`.
  func count(_ query: FieldQuery, upTo most: Int = .max) throws(StoreError) -> Int {
    try query.checkWindow(of: record.record)
    var wanted = query
    wanted.limit = min(query.limit ?? most, most)
    let (planner, need) = (planner(), QueryNeed.keysInAnyOrder)
    let planByForm = try planner.planByForm(query.uncounted, for: need)
    let plan =
      if let planByForm { planByForm } else {
        try planner.plan(query.uncounted, for: need)
      }
    if plan.isExact, query.after == nil, let count = try count(of: plan.access) {
      return min(max(0, count - query.offset), wanted.limit ?? .max)
    }
    let found = try FoundRecords(plan, query.uncounted, of: record, in: trees)
    let end = wanted.foundCount ?? .max
    var count = 0
    while count < end, try found.next() { count += 1 }
    return max(0, count - query.offset)
  }

  /// Nil for records that have to be found to be counted.
  private func count(of access: QueryAccess) throws(StoreError) -> Int? {
    switch access {
    case .rows(let ranges): return try count(of: ranges, in: record.rows)
    case .index(let place, let ranges):
      return try count(of: ranges, in: record.indexes[place].slot)
    case .intersection:
      guard let keys = try access.commonKeys(of: record, in: trees, reader.meter) else {
        return nil
      }
      var count = 0
      while try keys.next() { count += 1 }
      return count
    case .related(let keys): return try keys.found().count
    case .union, .relatedOrder: return nil
    }
  }

  private func count(of ranges: [KeyRange], in tree: TreeSlot) throws(StoreError) -> Int {
    var count = 0
    for range in ranges { count += try trees.count(of: range, in: tree) }
    return count
  }
}

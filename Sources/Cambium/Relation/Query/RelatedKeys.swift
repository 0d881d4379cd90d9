/// The primary keys of the records that related records lead to, or that lead to those: found from the other end, before
/// any record of the query.
///
/// One query has it, on one thread.
final class RelatedKeys: RelatedTerm, @unchecked Sendable {
  /// The relation, as `Book.author`.
  let name: String
  /// About how many keys there are.
  let estimate: Int
  /// About how long it takes to find them, in nanoseconds.
  let cost: Double
  /// About the share of the related records that meet the condition.
  let metShare: Double
  private let side: RelationSide
  private let record: Entity
  /// True if a key may have no record: a reference that is not checked, or not yet, or that leads to a lost record.
  private let mayMiss: Bool
  /// The number of related records that are to be found for a key.
  private let wanted: (FieldComparison, Int64)
  private let query: FieldQuery
  private let plan: QueryPlan
  /// About the number of related records that meet the condition, if a sample of their rows says it; nil otherwise.
  private let sampledCount: Int?
  private let reader: RecordReader
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys: SortedKeys?
  /// The place of the key that was looked for last, or of the first after it.
  @exclusivity(unchecked) private var place = 0

  /// - Parameters:
  ///   - condition: A condition on the related records.
  ///   - wanted: The comparison that the number of those that meet it has to satisfy. Zero does not.
  ///   - isSampled: True if a sample of related rows says how many meet the condition, where no index does.
  /// - Throws: `.invalidQuery`, `.corrupt`, `.io`.
  init(
    _ relation: String, of record: Entity, where condition: FieldCondition,
    count wanted: (FieldComparison, Int64), in reader: RecordReader, isSampled: Bool
  ) throws(StoreError) {
    self.record = record
    self.reader = reader
    self.wanted = wanted
    name = "\(record.record.name).\(relation)"
    side = try reader.entities.relation(relation, of: record)
    query = FieldQuery(
      condition: side.restricted(condition, isChanging: reader.trees.isChanging))
    plan = try QueryPlanner(side.other, in: reader).plan(
      query, for: side.isInverse ? .recordsInAnyOrder : .keysInAnyOrder)
    let trees = reader.trees
    mayMiss = try side.isInverse ? !side.link.leadsSomewhere(in: trees) : false
    let destinationCount = Double(try side.link.destinationCount(in: trees))
    let relatedCount =
      side.isInverse ? Double(try trees.estimatedCount(in: side.other.rows)) : destinationCount
    let sampledShare = isSampled ? try side.other.sampledShare(of: plan, in: trees) : nil
    let kept = plan.isExact ? 1 : sampledShare ?? QueryCost.keptShare
    // Of a kind there are fewer than the plan may estimate for all records.
    let found = min(relatedCount, Double(plan.estimate) * kept)
    sampledCount = sampledShare.map { _ in Int(found.rounded()) }
    metShare = found / max(1, relatedCount)
    let count: Double
    if side.isInverse {
      count = min(found, destinationCount)
      // The plan may count the keys that it finds without reading them.
      cost = plan.cost + found * (QueryCost.scannedRow + QueryCost.sortedEntry)
    } else {
      count = found * (try side.link.entriesPerRecord(isInverse: true, in: trees))
      cost =
        plan.cost + found * (QueryCost.indexEntry + QueryCost.sortedEntry + QueryCost.seek / 2)
        + count * (QueryCost.indexEntry + QueryCost.sortedEntry)
        + Double(try side.link.rowsRead(in: trees)) * QueryCost.scannedRow * 2
    }
    estimate = Int(min(count, 1e15).rounded())
  }

  /// The plan by which related records are found, for people.
  var explanation: String {
    let runner = QueryRunner(side.other, in: reader)
    let condition = query.condition.map { " where \($0)" } ?? ""
    let sampled = sampledCount.map { ", of which about \($0) meet it by a sample" } ?? ""
    return "after \(side.other.record.name)\(condition): \(runner.text(of: plan.access))\(kindText)"
      + sampled
  }

  /// The number of records of the kind that the reference leads to, by which keys are estimated.
  private var kindText: String {
    guard side.link.kind != nil,
      let count = try? side.link.destinationCount(in: reader.trees)
    else { return "" }
    return " of about \(count) \(side.link.destinationName)"
  }

  /// Returns true if a record's key is among those that are found.
  ///
  /// - Throws: as `found()`.
  func holds(for record: RowReader) throws(StoreError) -> Bool {
    // Records mostly come in the order of their keys.
    unsafe try found().place(of: record.key, near: &place) != nil
  }

  /// Finds the keys when they are first needed.
  ///
  /// - Returns: The keys, sorted, each once; all have records.
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  func found() throws(StoreError) -> SortedKeys {
    if let keys = unsafe keys { return keys }
    var all = SortedKeys(of: record.record.name)
    let related = try FoundRecords(plan, query, of: side.other, in: reader.trees)
    if side.isInverse {
      try add(referencesOf: related, to: &all)
    } else {
      try add(sourcesOf: related, to: &all)
    }
    reader.reads?.note(entries: related.entryCount, rows: related.rowCount)
    all.sort()
    let keys = try met(all)
    unsafe self.keys = keys
    return keys
  }

  /// Adds the keys that related records lead to.
  private func add(
    referencesOf related: FoundRecords, to all: inout SortedKeys
  ) throws(StoreError) {
    let (encoder, side) = (KeyEncoder(), side)
    var keys = all
    while try related.next() {
      let row = try side.other.row(key: related.key, row: try related.row())
      try side.link.forEachKey(of: row, in: encoder) { key throws(StoreError) in
        try keys.add(key, keyLength: key.byteCount)
      }
    }
    all = keys
  }

  /// Adds the keys of the records that lead to related records.
  private func add(
    sourcesOf related: FoundRecords, to all: inout SortedKeys
  ) throws(StoreError) {
    var destinations = SortedKeys(of: side.other.record.name)
    while try related.next() {
      try destinations.add(related.key, keyLength: related.key.byteCount)
    }
    destinations.sort()
    var keys = all
    let (meter, reads) = (reader.meter, reader.reads)
    let rowsRead = try side.link.rowsRead(in: reader.trees)
    try meter?.use(rowsRead)
    reads?.note(rows: rowsRead)
    _ = try side.link.forEachSource(toEach: destinations, in: reader.trees) {
      (_, source) throws(StoreError) in
      try keys.add(source, keyLength: source.byteCount)
      try meter?.use()
      reads?.note(entries: 1)
      return true
    }
    all = keys
  }

  /// Returns the sorted keys that come as often as wanted, each once.
  private func met(_ sorted: SortedKeys) throws(StoreError) -> SortedKeys {
    let all = sorted
    if wanted == (.greaterOrEqual, 1), !mayMiss {
      var each = sorted
      each.removeDuplicates()
      return each
    }
    var met = SortedKeys(of: record.record.name)
    var start = 0
    while start < all.count {
      var end = start + 1
      while end < all.count, all.key(end).equals(all.key(start)) { end += 1 }
      if wanted.0.holds(Int64(end - start), wanted.1), try exists(all.key(start)) {
        try met.add(all.key(start), keyLength: all.key(start).byteCount)
      }
      start = end
    }
    return met
  }

  private func exists(_ key: RawSpan) throws(StoreError) -> Bool {
    if !mayMiss { return true }
    return try reader.trees.contains(key, in: record.rows)
  }
}

extension Entity {
  /// Returns about the share of rows that meet the part of a plan's condition which no range of keys expresses; nil if there
  /// is no such part, if it leads to other records, and without a sample.
  ///
  /// - Complexity: As `sample`, and the condition is evaluated on up to 256 rows.
  /// - Throws: `.io`.
  fileprivate func sampledShare(
    of plan: QueryPlan, in trees: TreeAccess
  ) throws(StoreError) -> Double? {
    let layout = layout
    guard let residual = plan.residual, let condition = plan.unsaid,
      !condition.mayLeadOn(from: layout)
    else { return nil }
    return try sample(in: trees)?.share { key, row throws(StoreError) in
      try residual.holds(for: try RowReader(key: key, row: row, layout: layout))
    }
  }
}

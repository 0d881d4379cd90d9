/// The records of a query, one after the other, as a plan finds them.
///
/// Those that come in order are read as they are asked for, in constant memory. Records that have to be sorted are
/// found first, and only their keys are kept: with a limit, only so many.
@usableFromInline
final class FoundRecords {
  /// The plan that the first records are found by.
  let plan: QueryPlan
  private let record: Entity
  private let trees: TreeAccess
  private let order: RecordOrder
  /// A finder of the records' blobs; nil if they have none.
  @usableFromInline let blobs: BlobFinder?
  /// For sorted records.
  private lazy var listedRow = FoundRow(of: record, in: trees, plan.meter)
  /// The number of found records after which all plans are compared.
  private let comparedAfter: Int
  /// Compares all plans when many records were found by a plan that the query's form gave; nil if that was done before.
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var comparison: LaterComparison?
  /// The plan that all others are found by; nil if there is only one.
  @exclusivity(unchecked) private var laterPlan: QueryPlan?
  /// The part of the order that the present plan gives.
  @exclusivity(unchecked) private var extent: GivenOrder.Extent
  /// The number of records that are still to be returned; nil for all.
  @exclusivity(unchecked) private var left: Int?
  /// The number of records to be left out before the next.
  @exclusivity(unchecked) private var offset: Int
  @exclusivity(unchecked) private var source: RecordSource
  /// The number of records that were left out by count, before anything was read.
  @exclusivity(unchecked) private var skippedCount = 0
  /// The groups, if only groups come in order.
  @exclusivity(unchecked) private var groups: RecordGroups?
  /// The entries read from earlier sources.
  @exclusivity(unchecked) private var entryCountBefore = 0
  @exclusivity(unchecked) private var rowCountBefore = 0
  @exclusivity(unchecked) private(set) var resultCount = 0

  /// - Parameter query: The query that the plan was made for.
  /// - Throws: `.noSuchRecord` where the record to come after is not there; `.corrupt`, `.io`, `.sortTooLarge`.
  init(
    _ plan: QueryPlan, _ query: FieldQuery, of record: Entity, in trees: TreeAccess,
    _ encoder: KeyEncoder = KeyEncoder(), comparing comparison: LaterComparison? = nil
  ) throws(StoreError) {
    self.plan = plan
    unsafe extent = plan.given.extent
    unsafe self.comparison = comparison
    comparedAfter = comparison?.foundCount ?? .max
    self.record = record
    self.trees = trees
    blobs = record.readsOutside ? trees.blobFinder(of: record) : nil
    let order = RecordOrder(plan.order, of: record, encoder)
    if let after = query.after { try order.begin(after: after, in: trees) }
    self.order = order
    unsafe left = query.limit
    unsafe offset = query.offset
    var opening = SourceOpening(
      plan: plan, order: order, record: record, trees: trees,
      wantedCount: plan.wantedCount(query))
    switch plan.given.extent {
    case .all:
      let skipped = order.hasStart ? 0 : query.offset
      unsafe source = try opening.open(skipping: skipped)
      if opening.hasSkipped {
        unsafe skippedCount = unsafe offset
        unsafe offset = 0
      }
    case .groups:
      let opened = try opening.open(skipping: 0)
      unsafe source = opened
      var related: RelatedGroups?
      if case .relatedOrder(let way) = plan.access {
        related = try RelatedGroups(way, plan, order, record, trees)
      }
      unsafe groups = RecordGroups(opened, plan, order, record, trees, by: related)
    case .nothing:
      let opened = try opening.open(skipping: 0)
      unsafe source = opened
      unsafe source = try sorted(opened, limit: query.foundCount)
    }
  }

  /// Finds all that there is, and sorts it.
  private func sorted(_ found: RecordSource, limit: Int?) throws(StoreError) -> RecordSource {
    // Each was read for its key. In a transaction, rows may change before they are returned.
    let keepsRows = plan.needsRows && !order.columns.columns.isEmpty && !trees.isChanging
    var keys = SortedKeys(of: record.record.name, limit: limit, keepsRows: keepsRows)
    while try found.next() {
      guard try order.add(found, to: &keys), keys.isFull, case .rows(let rows) = found else {
        continue
      }
      unsafe rows.limit = order.limit(behind: keys)
    }
    keys.sort()
    note(found)
    return .listed(listed(keys))
  }

  /// Returns the sorted keys as a source; they have met the condition.
  private func listed(_ keys: SortedKeys) -> KeySource {
    KeySource(keys, nil, listedRow, isChanging: trees.isChanging)
  }

  private func note(_ source: RecordSource) {
    unsafe entryCountBefore += source.entryCount
    unsafe rowCountBefore += source.rowCount
  }
}

// MARK: Moving

extension FoundRecords {
  var layout: RowLayout { record.layout }

  /// Moves to the next record whose row a function accepts. False after the last.
  ///
  /// - Throws: as `next`, and as the function.
  func next(
    where isWanted: (_ row: RawSpan) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    while try next() {
      if try isWanted(try row()) { return true }
      // Where all are wanted as they come, they are passed in one loop beside the cursor.
      guard unsafe left == nil, unsafe groups == nil, !order.hasStart,
        case .rows(let source) = unsafe source
      else { continue }
      if try source.next(where: isWanted) { return true }
    }
    return false
  }
}

extension FoundRecords {
  /// Moves on. False after the last.
  ///
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  @usableFromInline
  func next() throws(StoreError) -> Bool {
    if unsafe left == 0 { return false }
    if unsafe resultCount == comparedAfter, let comparison = unsafe comparison.take() {
      try change(to: comparison)
    }
    while unsafe offset > 0 {
      unsafe offset -= 1
      guard try nextOfAll() else { return end() }
    }
    guard try nextOfAll() else { return end() }
    unsafe skippedCount = 0
    if let left = unsafe left { unsafe self.left = left - 1 }
    unsafe resultCount &+= 1
    return true
  }

  /// Continues after the present record by the cheapest plan, if that is another one.
  ///
  /// - Throws: As `init`; `.invalidQuery`.
  private func change(to comparison: LaterComparison) throws(StoreError) {
    // Records come by primary key in every plan. A count of them would be another one where an index is damaged.
    let present = FieldQuery.Place.record(key: key.array(), row: [])
    var query = comparison.query
    query.offset = 0
    query.limit = unsafe left
    query.after = present
    let cheapest = try comparison.cheapestPlan(of: query, for: record)
    if case .index(let one, _) = cheapest.access, case .index(let other, _) = plan.access,
      one == other
    {
      return
    }
    let rest = try FoundRecords(cheapest, query, of: record, in: trees)
    try order.begin(after: present, in: trees)
    unsafe entryCountBefore = entryCount + rest.entryCountBefore
    unsafe rowCountBefore = rowCount + rest.rowCountBefore
    unsafe (source, groups) = (rest.source, rest.groups)
    unsafe (offset, skippedCount) = (rest.offset, rest.skippedCount)
    unsafe (laterPlan, extent) = (cheapest, cheapest.given.extent)
  }

  private func end() -> Bool {
    unsafe left = 0
    return false
  }

  @inline(__always)
  private func nextOfAll() throws(StoreError) -> Bool {
    if unsafe groups != nil { return try nextOfGroups() }
    guard unsafe try source.next() else { return false }
    if unsafe extent == .all, unsafe !source.isOnLongKey, !order.hasStart { return true }
    return try nextOfOrdered()
  }

  private func nextOfOrdered() throws(StoreError) -> Bool {
    // Sorted records are all after the start.
    if unsafe extent == .nothing { return true }
    repeat {
      if unsafe source.isOnLongKey { return try nextOfLongKeys() }
      if unsafe try order.isBehindStart(source) {
        // In order nothing comes before it again.
        order.hasStart = false
        return true
      }
    } while unsafe try source.next()
    return false
  }

  /// Long keys of an index are cut, so those that have much in common are in no order: from the first of
  /// them on, records are sorted by groups.
  private func nextOfLongKeys() throws(StoreError) -> Bool {
    if unsafe skippedCount > 0 {
      // Some of its group may have been left out that are not of the first.
      var opening = SourceOpening(
        plan: unsafe laterPlan ?? plan, order: order, record: record, trees: trees,
        wantedCount: .max)
      unsafe source = try opening.open(skipping: 0)
      unsafe offset = skippedCount
      unsafe skippedCount = 0
      while unsafe offset > 0 {
        unsafe offset -= 1
        guard try nextOfAll() else { return false }
      }
      return try nextOfAll()
    }
    unsafe groups = RecordGroups(
      source, laterPlan ?? plan, order, record, trees, hasBegun: true)
    return try nextOfGroups()
  }

  private func nextOfGroups() throws(StoreError) -> Bool {
    guard let groups = unsafe groups else { return false }
    if case .listed = unsafe source, unsafe try source.next() { return true }
    while let keys = try groups.next(limit: wantedCount) {
      unsafe source = .listed(listed(keys))
      if unsafe try source.next() { return true }
    }
    return false
  }

  /// The number of records still needed, including those that are left out and the one that is sought now.
  private var wantedCount: Int? {
    guard let left = unsafe left else { return nil }
    let (count, isTooMuch) = unsafe left.addingReportingOverflow(offset + 1)
    return isTooMuch ? nil : count
  }

  /// The primary key. Until the next.
  @usableFromInline
  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(source.key, borrowing: self) }
  }

  /// The row. Until the next.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @usableFromInline
  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    unsafe _overrideLifetime(try source.row(), borrowing: self)
  }

  /// The number of entries read so far, of any tree.
  var entryCount: Int { unsafe entryCountBefore + (groups?.entryCount ?? source.entryCount) }
  /// The number of rows read so far.
  var rowCount: Int {
    unsafe rowCountBefore + source.rowCount + (groups?.rowCount ?? 0)
  }
}

extension QueryPlan {
  /// Returns the number of records whose rows a source has to read; 0 if none.
  fileprivate func wantedCount(_ query: FieldQuery) -> Int {
    switch given.extent {
    case .all:
      if !needsRows, residual == nil { return 0 }
      guard let count = query.foundCount else { return .max }
      // The entry of the record to come after is passed first.
      return query.after == nil ? count : min(count, .max - 1) + 1
    // Records that are in order already within groups need not be sorted.
    case .groups: return residual == nil && given.isByKeyInGroups ? 0 : .max
    case .nothing: return residual == nil && order.columns.isEmpty ? 0 : .max
    }
  }
}

extension FoundRecords {
  /// The sum of a field over the records that are left.
  ///
  /// - Throws: as `next`; `.invalidQuery` where the field's values are no numbers.
  func sum(of field: String) throws(StoreError) -> FieldSum {
    let layout = layout
    var sum = try FieldSum(of: try layout.queriedColumn(field), in: layout)
    _ = try next { row throws(StoreError) in
      if !sum.addFixed(row) { try sum.add(try RowReader(key: key, row: row, layout: layout)) }
      return false
    }
    return sum
  }

  /// The record that comes first in an order, of those that are left and meet a condition.
  ///
  /// - Throws: as `next`; `.invalidQuery` where there is no such order.
  func first(
    by order: FieldOrder, among condition: FieldCondition
  ) throws(StoreError) -> (key: [UInt8], row: [UInt8])? {
    let layout = layout
    let column = try BoundOrder.column(of: order, in: layout)
    let condition = try RowCondition(condition, in: layout)
    let encoder = KeyEncoder()
    var best: [UInt8]?
    var found: (key: [UInt8], row: [UInt8])?
    _ = try next { row throws(StoreError) in
      let record = try RowReader(key: key, row: row, layout: layout)
      guard try condition.holds(for: record) else { return false }
      encoder.begin()
      try encoder.appendSorted(column, from: record)
      if let best, encoder.key.compare(best.rawSpan) >= 0 { return false }
      best = encoder.key.array()
      found = (key.array(), row.array())
      return false
    }
    return found
  }
}

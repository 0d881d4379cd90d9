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
    let plan = try planner(encoder).plan(query, for: need)
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
    let plan = try planner().plan(query.uncounted, for: .keysInAnyOrder)
    if plan.isExact, query.after == nil, let count = try count(of: plan.access) {
      return min(max(0, count - query.offset), wanted.limit ?? .max)
    }
    let found = try FoundRecords(plan, query.uncounted, of: record, in: trees)
    let end = wanted.foundCount ?? .max
    var count = 0
    while count < end, try found.next() { count += 1 }
    return max(0, count - query.offset)
  }

  /// Nil for what has to be found to be counted.
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
    case .union: return nil
    }
  }

  private func count(of ranges: [KeyRange], in tree: TreeSlot) throws(StoreError) -> Int {
    var count = 0
    for range in ranges { count += try trees.count(of: range, in: tree) }
    return count
  }
}

/// The records of a query, one after the other, as a plan finds them.
///
/// Those that come in order are read as they are asked for, in constant memory. What has to be sorted is
/// found first, and only its keys are kept: with a limit, only so many.
@usableFromInline
final class FoundRecords {
  let plan: QueryPlan
  private let record: Entity
  private let trees: TreeAccess
  private let order: RecordOrder
  /// A finder of the records' blobs; nil if they have none.
  @usableFromInline let blobs: BlobFinder?
  /// For what was sorted.
  private lazy var listedRow = FoundRow(of: record, in: trees, plan.meter)
  /// The number of records that are still to be returned; nil for all.
  // One owner on one thread uses them, so accesses cannot overlap.
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

  /// - Parameter query: What the plan was made for.
  /// - Throws: `.noSuchRecord` where the record to come after is not there; `.corrupt`, `.io`, `.sortTooLarge`.
  init(
    _ plan: QueryPlan, _ query: FieldQuery, of record: Entity, in trees: TreeAccess,
    _ encoder: KeyEncoder = KeyEncoder()
  ) throws(StoreError) {
    self.plan = plan
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
      unsafe groups = RecordGroups(opened, plan, order, record, trees)
    case .nothing:
      let opened = try opening.open(skipping: 0)
      unsafe source = opened
      unsafe source = try sorted(opened, limit: query.foundCount)
    }
  }

  /// Finds all that there is, and sorts it.
  private func sorted(_ found: RecordSource, limit: Int?) throws(StoreError) -> RecordSource {
    var keys = SortedKeys(of: record.record.name, limit: limit)
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

  private func end() -> Bool {
    unsafe left = 0
    return false
  }

  @inline(__always)
  private func nextOfAll() throws(StoreError) -> Bool {
    if unsafe groups != nil { return try nextOfGroups() }
    guard unsafe try source.next() else { return false }
    if plan.given.extent == .all, unsafe !source.isOnLongKey, !order.hasStart { return true }
    return try nextOfOrdered()
  }

  private func nextOfOrdered() throws(StoreError) -> Bool {
    // What was sorted is all behind the start.
    if plan.given.extent == .nothing { return true }
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
        plan: plan, order: order, record: record, trees: trees, wantedCount: .max)
      unsafe source = try opening.open(skipping: 0)
      unsafe offset = skippedCount
      unsafe skippedCount = 0
      while unsafe offset > 0 {
        unsafe offset -= 1
        guard try nextOfAll() else { return false }
      }
      return try nextOfAll()
    }
    unsafe groups = RecordGroups(source, plan, order, record, trees, hasBegun: true)
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
      return query.after == nil ? query.foundCount ?? .max : .max
    // What is in order already within groups need not be looked at to be sorted.
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

// MARK: - Opening

/// Opens what a plan takes records from.
struct SourceOpening {
  let plan: QueryPlan
  let order: RecordOrder
  let record: Entity
  let trees: TreeAccess
  /// The highest number of records whose rows are needed; 0 if they are not.
  let wantedCount: Int
  /// True if records were left out as asked.
  private(set) var hasSkipped = false

  init(
    plan: QueryPlan, order: RecordOrder, record: Entity, trees: TreeAccess, wantedCount: Int
  ) {
    self.wantedCount = wantedCount
    self.plan = plan
    self.order = order
    self.record = record
    self.trees = trees
  }

  /// - Parameter count: How many of the first are left out, where no condition has to be looked at for that.
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  mutating func open(skipping count: Int) throws(StoreError) -> RecordSource {
    let layout = record.layout
    switch plan.access {
    case .rows(let ranges):
      let entries = RangeCursor(
        try trees.cursor(in: record.rows), try begun(ranges, layout.key.columns, expanded: nil),
        isBackward: plan.given.isBackward, plan.meter)
      try skip(count, entries, record.rows)
      return .rows(RowSource(entries, plan.residual, layout))
    case .index(let place, let ranges):
      let index = record.indexes[place]
      let entries = RangeCursor(
        try trees.cursor(in: index.slot),
        try begun(
          ranges, index.layout.parts.columns, expanded: index.layout.expanded?.place),
        isBackward: plan.given.isBackward, plan.meter)
      try skip(count, entries, index.slot)
      let found = FoundRow(of: record, in: trees, plan.meter)
      return .index(
        IndexSource(
          entries, index.layout, plan.residual, found, layout, wantedCount: wantedCount))
    case .union, .intersection, .related:
      let found = FoundRow(of: record, in: trees, plan.meter)
      let source: KeySource
      if let keys = try plan.access.commonKeys(of: record, in: trees, plan.meter) {
        source = KeySource(
          SortedKeys(of: layout.record.name), then: keys, plan.residual, found, isChanging: false)
      } else {
        var entryCount = 0
        let keys = try plan.access.find(of: record, in: trees, plan.meter, &entryCount)
        source = KeySource(
          keys, plan.residual, found, isChanging: trees.isChanging, entryCount: entryCount)
      }
      if plan.isExact, count > 0, !trees.isChanging {
        try source.skip(count)
        hasSkipped = true
      }
      return .listed(source)
    }
  }

  private mutating func skip(
    _ count: Int, _ entries: RangeCursor, _ tree: TreeSlot
  ) throws(StoreError) {
    guard plan.isExact, count > 0 else { return }
    try entries.skip(count, of: trees, tree)
    hasSkipped = true
  }

  /// The ranges without what comes before the start, as far as the tree's order says that.
  private func begun(
    _ ranges: [KeyRange], _ parts: [KeyColumn], expanded: Int?
  ) throws(StoreError) -> [KeyRange] {
    guard order.hasStart, plan.given.extent != .nothing, !ranges.isEmpty else { return ranges }
    let prefix: [UInt8]?
    if order.columns.columns.isEmpty {
      // The start is a primary key, whose row need not be there: it says nothing of an index.
      guard case .rows = plan.access else { return ranges }
      prefix = unsafe order.startKey
    } else {
      prefix = try order.startPrefix(
        boundParts(of: parts), fixed: plan.fixed, expanded: expanded)
    }
    guard let prefix else { return ranges }
    let bound = prefix.prefix(IndexLayout.cutPrefix)
    return ranges.compactMap { range in
      var range = range
      if plan.given.isBackward {
        range.end(before: Array(bound).behindPrefix)
      } else {
        range.begin(at: Array(bound))
      }
      return range.isEmpty ? nil : range
    }
  }

  /// The parts that say where the start is. Strings that may end a key are left out: with an end of their own
  /// they would be too high.
  private func boundParts(of parts: [KeyColumn]) -> [KeyColumn] {
    var bound = Array(parts.prefix(plan.given.partCount))
    if let last = bound.last, last.type.fixedWidth == nil, bound.count == parts.count {
      bound.removeLast()
    }
    return bound
  }
}

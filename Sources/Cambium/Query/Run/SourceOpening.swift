/// Opens the sources of a plan's records.
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
    case .relatedOrder:
      // Its groups have the records.
      return .listed(
        KeySource(
          SortedKeys(of: layout.record.name), nil, FoundRow(of: record, in: trees, plan.meter),
          isChanging: false))
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

  /// The ranges without the part before the start, as far as the tree's order says that.
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

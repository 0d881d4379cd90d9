/// Cuts the entries of a tree into groups that have the same first parts, and sorts each: where the tree's
/// order is only the beginning of the one that is wanted.
final class RecordGroups {
  private let source: RecordSource
  private let plan: QueryPlan
  private let order: RecordOrder
  private let record: Entity
  private let trees: TreeAccess
  /// The source of the records in their place, if they come in the order of others.
  private let related: RelatedGroups?
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The common beginning of all entries of the present group.
  @exclusivity(unchecked) private var prefix: [UInt8] = []
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private var isAtEnd = false

  init(
    _ source: RecordSource, _ plan: QueryPlan, _ order: RecordOrder, _ record: Entity,
    _ trees: TreeAccess, by related: RelatedGroups? = nil, hasBegun: Bool = false
  ) {
    self.related = related
    self.source = source
    self.plan = plan
    self.order = order
    self.record = record
    self.trees = trees
    unsafe self.hasBegun = hasBegun
  }

  var entryCount: Int { source.entryCount + (related?.entryCount ?? 0) }
  var rowCount: Int { source.rowCount + (related?.rowCount ?? 0) }

  /// The next groups that have any record after the start, each sorted: one at least, and small ones together,
  /// whose rows can then be looked up together. Nil if there is none.
  ///
  /// - Parameter limit: How many of the first records are enough.
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  func next(limit: Int?) throws(StoreError) -> SortedKeys? {
    if let related { return try related.next(limit: limit) }
    guard var keys = try nextGroup(limit: limit) else { return nil }
    // A transaction may change records that are found too early.
    if trees.isChanging { return keys }
    let wanted = min(limit ?? .max, RowsAhead.countMax)
    while keys.count < wanted {
      guard let more = try nextGroup(limit: limit.map { $0 - keys.count }) else { break }
      try keys.append(more)
    }
    return keys
  }

  private func begin() throws(StoreError) {
    if unsafe hasBegun { return }
    unsafe hasBegun = true
    unsafe isAtEnd = try !source.next()
  }

  private func nextGroup(limit: Int?) throws(StoreError) -> SortedKeys? {
    var keys = SortedKeys(of: record.record.name, limit: limit)
    while keys.count == 0 {
      guard try forEachOfGroup({ _ throws(StoreError) in try order.add(source, to: &keys) }) else {
        return nil
      }
    }
    // Whatever group comes now, it is after the start.
    order.hasStart = false
    keys.sort()
    return keys
  }

  /// Moves over the records of the next group, and calls a function with the primary key of each. False if there is no group.
  ///
  /// - Throws: `.corrupt`, `.io`; as the function.
  func forEachOfGroup(
    _ body: (_ key: RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    try begin()
    if unsafe isAtEnd { return false }
    let source = source
    let length = try groupPrefixLength()
    unsafe prefix.assign(entryKey.part(0, length))
    let isCut = length >= IndexLayout.cutPrefix
    order.isByKey = plan.given.isByKeyInGroups && !order.hasStart && !isCut
    repeat {
      try body(source.key)
      unsafe isAtEnd = try !source.next()
      guard unsafe !isAtEnd else { break }
    } while try isInGroup()
    return true
  }

  private func isInGroup() throws(StoreError) -> Bool {
    let key = entryKey
    let prefix = unsafe prefix
    guard key.byteCount >= prefix.count, key.part(0, prefix.count).equals(prefix.rawSpan) else {
      return false
    }
    return try groupPrefixLength() == prefix.count
  }

  private var entryKey: RawSpan {
    @_lifetime(borrow self)
    get {
      switch source {
      case .rows(let source): unsafe _overrideLifetime(source.key, borrowing: self)
      case .index(let source): unsafe _overrideLifetime(source.entryKey, borrowing: self)
      case .listed(let source): unsafe _overrideLifetime(source.key, borrowing: self)
      }
    }
  }

  /// Returns the number of bytes of the parts that make a group. In a key that was cut, or nearly was, at most the bytes
  /// before the hash, which has no order.
  private func groupPrefixLength() throws(StoreError) -> Int {
    min(try groupLength(entryKey), IndexLayout.cutPrefix)
  }

  private func groupLength(_ key: RawSpan) throws(StoreError) -> Int {
    let layout = record.layout
    switch plan.access {
    case .rows:
      var reader = KeyReader(key, layout: layout)
      for column in layout.key.columns.prefix(plan.given.partCount) { try reader.skip(column) }
      return reader.offset
    case .index(let place, _):
      // In order but for keys that were cut: of others, each is a group of its own.
      if plan.given.extent == .all { return key.byteCount }
      let index = record.indexes[place].layout
      let isOfAll = plan.given.partCount == index.parts.columns.count
      if key.byteCount == IndexLayout.cutLength {
        return isOfAll && index.schema.isUnique
          ? key.byteCount : lengthOfParts(key, index, layout)
      }
      if isOfAll { return key.byteCount - (try lengthOfPrimaryKey()) }
      var reader = KeyReader(key, layout: layout, index: place)
      for column in index.parts.columns.prefix(plan.given.partCount) { try reader.skip(column) }
      return reader.offset
    case .union, .intersection, .related, .relatedOrder: return 0
    }
  }

  /// Of a key that was cut: all, if the parts reach into the cut.
  private func lengthOfParts(_ key: RawSpan, _ index: IndexLayout, _ layout: RowLayout) -> Int {
    var reader = KeyReader(
      key.part(0, IndexLayout.cutPrefix), layout: layout, index: index.place)
    for column in index.parts.columns.prefix(plan.given.partCount) {
      guard (try? reader.skip(column)) != nil else { return key.byteCount }
    }
    return reader.offset
  }

  /// Returns the length of the primary key in the entry's key.
  private func lengthOfPrimaryKey() throws(StoreError) -> Int {
    guard case .index(let source) = source else { return 0 }
    return try source.entryHasValue() ? 0 : source.key.byteCount
  }
}

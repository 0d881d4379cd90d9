/// A place among the entries of a tree's ranges, that moves from one to the next, or from one to the one before.
/// It begins before the first.
final class RangeCursor {
  /// The cursor in the tree.
  let cursor: CursorAccess
  private let ranges: [KeyRange]
  private let isBackward: Bool
  private let meter: QueryMeter?
  // One owner on one thread uses them, so accesses cannot overlap.
  /// Ranges that were begun.
  @exclusivity(unchecked) private var begun = 0
  @exclusivity(unchecked) private var isInRange = false
  /// The bound that the present range ends with, in the direction of the cursor; none if it has no bound.
  @exclusivity(unchecked) private var bound: [UInt8] = []
  @exclusivity(unchecked) private var hasBound = false
  /// The number of entries read.
  @exclusivity(unchecked) private(set) var count = 0

  init(
    _ cursor: CursorAccess, _ ranges: [KeyRange], isBackward: Bool, _ meter: QueryMeter? = nil
  ) {
    self.meter = meter
    self.cursor = cursor
    self.ranges = ranges
    self.isBackward = isBackward
  }

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let cursor = cursor
      return unsafe _overrideLifetime(cursor.key, borrowing: self)
    }
  }

  /// The value of the entry. Until the cursor moves.
  @_lifetime(borrow self)
  @inline(__always)
  func value() throws(StoreError) -> RawSpan {
    let cursor = cursor
    return unsafe _overrideLifetime(try cursor.value(), borrowing: self)
  }

  /// Moves on. False after the last.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @inline(__always)
  func next() throws(StoreError) -> Bool {
    if unsafe isInRange, !isBackward {
      if try cursor.next(), unsafe !hasBound || isWithinBound {
        unsafe count &+= 1
        try meter?.use()
        return true
      }
      unsafe isInRange = false
    }
    return try nextElsewhere()
  }

  private var isWithinBound: Bool {
    let cursor = cursor
    let order = unsafe cursor.key.compare(bound.rawSpan)
    return isBackward ? order >= 0 : order < 0
  }

  @inline(never)
  private func nextElsewhere() throws(StoreError) -> Bool {
    if unsafe isInRange {
      unsafe isInRange = try cursor.previous() && (!hasBound || isWithinBound)
    }
    while unsafe !isInRange, unsafe begun < ranges.count {
      let range = ranges[unsafe isBackward ? ranges.count - 1 - begun : begun]
      unsafe begun += 1
      unsafe isInRange = try begin(range)
    }
    if unsafe isInRange {
      unsafe count &+= 1
      try meter?.use()
    }
    return unsafe isInRange
  }

  private func begin(_ range: KeyRange) throws(StoreError) -> Bool {
    unsafe bound = isBackward ? range.low : range.high ?? []
    unsafe hasBound = isBackward ? !range.low.isEmpty : range.high != nil
    var isOn: Bool
    if !isBackward {
      isOn = range.low.isEmpty ? try cursor.first() : try cursor.seek(to: range.low.rawSpan)
    } else if let high = range.high, try cursor.seek(to: high.rawSpan) {
      isOn = try cursor.previous()
    } else {
      isOn = try cursor.last()
    }
    if isOn, unsafe hasBound { isOn = isWithinBound }
    return isOn
  }
}

// MARK: Many at once

extension RangeCursor {
  /// Moves on within the present range to the next row that meets a condition, is not after a limit, and of which a
  /// function returns true. Nil if that is not done at once: then `next` continues.
  ///
  /// - Throws: `.corrupt`, `.io`; as the function.
  func next(
    meeting condition: RowCondition?, within limit: QuickTerm?, _ layout: RowLayout,
    where isWanted: (_ row: RawSpan) throws(StoreError) -> Bool = { _ in true }
  ) throws(StoreError) -> Bool? {
    guard unsafe isInRange, !isBackward, case .state(let cursor) = cursor else { return nil }
    unsafe isInRange = try cursor.next(
      meeting: condition, within: limit, layout, where: isWanted, before: hasBound ? bound : nil,
      meter, &count)
    return unsafe isInRange ? true : nil
  }
}

// MARK: Skipping

extension RangeCursor {
  /// Leaves out the first `count` entries, before the cursor has moved.
  ///
  /// - Complexity: O(ranges that are left out × log count); O(count) for changes of a transaction that spills.
  /// - Throws: `.corrupt`, `.io`.
  func skip(_ count: Int, of trees: TreeAccess, _ tree: TreeSlot) throws(StoreError) {
    var left = count
    while left > 0, unsafe begun < ranges.count {
      let range = ranges[unsafe isBackward ? ranges.count - 1 - begun : begun]
      let size = try trees.count(of: range, in: tree)
      unsafe begun += 1
      if size <= left {
        left -= size
        continue
      }
      // One before, from where `next` moves on.
      let low = range.low.isEmpty ? 0 : try trees.rank(of: range.low.rawSpan, in: tree)
      let place = isBackward ? low + size - left : low + left - 1
      unsafe isInRange = try begin(range)
      if unsafe isInRange { unsafe isInRange = try cursor.seek(toOffset: place) }
      return
    }
  }
}

// Where most rows are passed by, they are passed in one loop, beside the cursor.

extension SnapshotCursor {
  private var entryKey: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  /// The value of an entry whose value has no pages of its own.
  private var storedValue: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe _overrideLifetime(cursor.storedValue, borrowing: self) }
  }

  /// Moves to the next entry whose row meets a condition. False at the bound, or after the last.
  ///
  /// - Parameters:
  ///   - limit: Rejects rows that come after enough others; nil if all are wanted.
  ///   - isWanted: Returns true for the rows to stop at.
  ///   - bound: Entries from this key on do not count; nil for all.
  ///   - meter: Bounds the entries; nil without a budget.
  ///   - count: Counts the entries it stands on.
  /// - Throws: `.corrupt`, `.io`, `.queryBudgetExceeded`.
  func next(
    meeting condition: RowCondition?, within limit: QuickTerm?, _ layout: RowLayout,
    where isWanted: (_ row: RawSpan) throws(StoreError) -> Bool,
    before bound: [UInt8]?, _ meter: QueryMeter?, _ count: inout Int
  ) throws(StoreError) -> Bool {
    let quick = condition?.quick
    while try unsafe cursor.next() {
      if let bound, unsafe cursor.key.compare(bound.rawSpan) >= 0 { return false }
      count &+= 1
      if let meter { try meter.use() }
      let row = unsafe !isOfOneVersion || cursor.isExternal ? try value() : storedValue
      if let quick, quick.rejects(row) { continue }
      if let limit, limit.rejects(row) { continue }
      if let condition {
        let record = try RowReader(key: entryKey, row: row, layout: layout)
        guard try condition.holds(for: record) else { continue }
      }
      if try isWanted(row) { return true }
    }
    return false
  }
}

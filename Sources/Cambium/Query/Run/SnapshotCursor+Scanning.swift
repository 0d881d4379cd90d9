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

  /// Moves to the next entry whose row meets a condition. False at the bound, or behind the last.
  ///
  /// - Parameters:
  ///   - bound: Entries from this key on do not count; nil for all.
  ///   - count: Counts the entries it stands on.
  /// - Throws: `.corrupt`, `.io`.
  func next(
    meeting condition: RowCondition, _ layout: RowLayout, before bound: [UInt8]?,
    _ count: inout Int
  ) throws(StoreError) -> Bool {
    let quick = condition.quick
    while try unsafe cursor.next() {
      if let bound, unsafe cursor.key.compare(bound.rawSpan) >= 0 { return false }
      count &+= 1
      let row = unsafe !isOfOneVersion || cursor.isExternal ? try value() : storedValue
      if let quick, quick.rejects(row) { continue }
      let record = try RowReader(key: entryKey, row: row, layout: layout)
      if try condition.holds(for: record) { return true }
    }
    return false
  }

  /// Adds up a field of all entries from the present one on, up to a bound.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func add(
    to sum: inout FieldSum, _ layout: RowLayout, before bound: [UInt8]?, _ count: inout Int
  ) throws(StoreError) {
    repeat {
      if let bound, unsafe cursor.key.compare(bound.rawSpan) >= 0 { return }
      count &+= 1
      let row = unsafe !isOfOneVersion || cursor.isExternal ? try value() : storedValue
      try sum.add(try RowReader(key: entryKey, row: row, layout: layout))
    } while try unsafe cursor.next()
  }
}

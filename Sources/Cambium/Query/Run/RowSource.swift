/// Records in the order of their rows, by primary key.
final class RowSource {
  let entries: RangeCursor
  private let layout: RowLayout
  private let condition: RowCondition?

  init(_ entries: RangeCursor, _ condition: RowCondition?, _ layout: RowLayout) {
    self.entries = entries
    self.condition = condition
    self.layout = layout
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let entries = entries
      return unsafe _overrideLifetime(entries.key, borrowing: self)
    }
  }

  @_lifetime(borrow self)
  @inline(__always)
  func row() throws(StoreError) -> RawSpan {
    let entries = entries
    return unsafe _overrideLifetime(try entries.value(), borrowing: self)
  }

  func next() throws(StoreError) -> Bool {
    guard let condition else { return try entries.next() }
    if try entries.next(meeting: condition, layout) != nil { return true }
    while try entries.next() {
      if try meets(condition) { return true }
      if try entries.next(meeting: condition, layout) != nil { return true }
    }
    return false
  }

  /// Adds up a field of the present row and all behind it in the range. False where they have to be looked at one
  /// by one.
  func add(to sum: inout FieldSum) throws(StoreError) -> Bool {
    if condition != nil { return false }
    return try entries.add(to: &sum, layout)
  }

  @inline(__always)
  private func meets(_ condition: RowCondition) throws(StoreError) -> Bool {
    let (cursor, layout) = (entries.cursor, layout)
    let record = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
    return try condition.holds(for: record)
  }
}

extension FoundRecords {
  /// The sum of a field over the records that are left.
  ///
  /// - Throws: as `next`; `.invalidQuery` where the field's values are no numbers.
  func sum(of field: String) throws(StoreError) -> FieldSum {
    let layout = layout
    guard let column = layout.column(named: field) else {
      throw .invalidQuery(
        record: layout.record.name, field: field, reason: "there is no such field")
    }
    var sum = try FieldSum(of: column, in: layout)
    while try next() {
      if try addAtOnce(to: &sum) { continue }
      try sum.add(try RowReader(key: key, row: try row(), layout: layout))
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
    while try next() {
      let record = try RowReader(key: key, row: try row(), layout: layout)
      guard try condition.holds(for: record) else { continue }
      encoder.begin()
      try encoder.appendSorted(column, from: record)
      if let best, encoder.key.compare(best.rawSpan) >= 0 { continue }
      best = encoder.key.array()
      found = (key.array(), record.row.array())
    }
    return found
  }
}

/// The records that a transaction changed, each with its state before.
struct ChangedRecords {
  /// By record number and primary key: the row before the first change, nil if there was none.
  private(set) var before: [UInt32: [[UInt8]: [UInt8]?]] = [:]
  /// The records in the order of their first changes.
  private var order: [(record: UInt32, key: [UInt8])] = []
  /// The unstored values before the first change.
  let unstored: UnstoredValues

  init(unstored: UnstoredValues = UnstoredValues()) {
    self.unstored = unstored
  }

  /// The number of records.
  var count: Int { order.count }

  /// Notes a change, of which only the first of each record counts.
  mutating func note(_ key: [UInt8], of record: UInt32, before row: [UInt8]?) {
    if before[record]?[key] != nil { return }
    before[record, default: [:]][key] = .some(row)
    order.append((record, key))
  }

  /// Forgets all but the first `count` records.
  mutating func truncate(to count: Int) {
    for (record, key) in order[count...] { before[record]?[key] = nil }
    order.removeSubrange(count...)
  }
}

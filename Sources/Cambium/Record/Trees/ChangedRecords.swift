/// The records that a transaction changed, each with what it was before.
struct ChangedRecords {
  /// By record number and primary key: the row before the first change, nil if there was none.
  private(set) var before: [UInt32: [[UInt8]: [UInt8]?]] = [:]

  /// Notes a change, of which only the first of each record counts.
  mutating func note(_ key: [UInt8], of record: UInt32, before row: [UInt8]?) {
    if before[record]?[key] != nil { return }
    before[record, default: [:]][key] = .some(row)
  }
}

/// How much a state of a store holds.
public struct StoreStatistics: Hashable, Sendable {
  /// By stored name.
  public let records: [RecordStatistics]

  /// The records of all types.
  public var recordCount: Int { records.reduce(0) { $0 + $1.count } }
}

/// How much there is of one record type.
public struct RecordStatistics: Hashable, Sendable {
  /// The stored name.
  public let name: String
  public let count: Int
  /// The bytes of the pages that hold its rows. What was committed lately is in no page yet.
  public let rowBytes: UInt64
  /// The same of its indexes.
  public let indexBytes: UInt64
}

extension RecordReading where Self: ~Copyable {
  /// How much there is, of every record type that the schema has.
  ///
  /// - Complexity: O(record types and indexes).
  /// - Throws: `StoreError.closed`.
  public func statistics() throws(StoreError) -> StoreStatistics {
    let reader = try recordReader()
    var records: [RecordStatistics] = []
    for record in reader.types.schema.records {
      let trees = try reader.types.trees(named: record.name)
      let indexBytes = trees.indexes.reduce(0) { $0 + reader.trees.liveBytes(in: $1.slot) }
      records.append(
        RecordStatistics(
          name: record.name, count: try reader.trees.count(in: trees.rows),
          rowBytes: reader.trees.liveBytes(in: trees.rows), indexBytes: indexBytes))
    }
    return StoreStatistics(records: records.sortedRarely { $0.name < $1.name })
  }
}

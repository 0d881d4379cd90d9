/// The number and size of the records in a state of a store.
public struct StoreStatistics: Hashable, Sendable {
  /// The statistics of all types, by stored name.
  public let records: [RecordStatistics]

  /// The number of records of all types.
  public var recordCount: Int { records.reduce(0) { $0 + $1.count } }
}

/// The number and size of the records of one type.
public struct RecordStatistics: Hashable, Sendable {
  /// The stored name.
  public let name: String
  public let count: Int
  /// The bytes of the pages that hold its rows. Changes that are not folded yet are in no page.
  public let rowBytes: Int
  /// The bytes of the pages that hold its indexes.
  public let indexBytes: Int
}

extension RecordReading where Self: ~Copyable {
  /// Returns the number and size of the records of every type in the schema.
  ///
  /// - Complexity: O(record types and indexes).
  /// - Throws: `StoreError.closed`.
  public func statistics() throws(StoreError) -> StoreStatistics {
    let reader = try recordReader()
    var records: [RecordStatistics] = []
    for entity in reader.entities.all {
      let indexBytes = entity.indexes.reduce(0) {
        $0 + Int(clamping: reader.trees.liveBytes(in: $1.slot))
      }
      records.append(
        RecordStatistics(
          name: entity.record.name, count: try reader.trees.count(in: entity.rows),
          rowBytes: Int(clamping: reader.trees.liveBytes(in: entity.rows)), indexBytes: indexBytes))
    }
    return StoreStatistics(records: records.sortedRarely { $0.name < $1.name })
  }
}

/// A reader of the records of one state. It has no members for programs, which use those of `RecordReading`.
public struct RecordReader {
  @usableFromInline let entities: Entities
  let trees: TreeAccess
  /// The rest of a query's budget; nil without a budget.
  var meter: QueryMeter?
  /// The number of queries that the one that is run is a part of, one within the other.
  var queryDepth = 0
}

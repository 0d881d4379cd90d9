/// A reader of the records of one state. It has no members for programs, which use those of `RecordReading`.
public struct RecordReader {
  @usableFromInline let entities: Entities
  let trees: TreeAccess
  /// The rest of a query's budget; nil without a budget.
  var meter: QueryMeter?
  /// The counts of related records that are read; nil if nobody asks for them.
  var reads: RelatedReads?
  /// The number of queries that the one that is run is a part of, one within the other.
  var queryDepth = 0
}

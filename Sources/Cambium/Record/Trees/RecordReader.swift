/// A reader of the records of one state. It has no members for programs, which use those of `RecordReading`.
public struct RecordReader {
  @usableFromInline let entities: Entities
  let trees: TreeAccess
  /// What a query may still take; nil without a budget.
  var meter: QueryMeter?
}

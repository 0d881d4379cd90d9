/// A plan by which the structs of one record type become keys and rows, and are read back: the action for each property,
/// determined once.
///
/// Structs are read and filled in place, at the offsets that the runtime's reflection gave. The steps know
/// the library's own types; values of others go by way of an access that was made for their type.
@usableFromInline
final class RecordPlan: Sendable {
  let record: CheckedRecord
  let layout: RowLayout
  /// The type for which the plan was made; no other may be passed to it.
  @usableFromInline
  let subject: ObjectIdentifier

  /// What is done instead of all else for a type that asks for it.
  @usableFromInline let coding: CodingPlan?

  /// In the order of the key.
  let keySteps: [KeyStep]
  /// The properties that are written, in the order of the row's columns.
  let writes: [PlanStep]
  /// The properties that are filled from the row, in the order of the fields; an optional composite with its parts between
  /// two steps of its own.
  let reads: [PlanStep]

  let accesses: [any PropertyAccess]
  let fillers: [any PropertyFiller]
  let composites: [CompositeSteps]

  /// - Parameter layout: Of the record's schema.
  /// - Throws: `.invalidDescription`, naming the property, where the description and the type differ, and
  ///   where the runtime says nothing of the type's properties.
  init(_ record: CheckedRecord, layout: RowLayout) throws(StoreError) {
    var builder = PlanBuilder(layout: layout)
    switch record.type.coding {
    case .plan:
      coding = nil
      let matcher = PropertyMatcher(record: record, layout: layout)
      try builder.add(try matcher.match(), matcher: matcher)
    case .codable:
      coding = try CodingPlan(record, layout: layout)
    }
    self.record = record
    self.layout = layout
    self.subject = ObjectIdentifier(record.type)
    keySteps = builder.keySteps
    writes = builder.writes
    reads = builder.reads
    accesses = builder.accesses
    fillers = builder.fillers
    composites = builder.composites
  }
}

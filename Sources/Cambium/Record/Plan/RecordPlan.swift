/// How the structs of one record type become keys and rows, and come back: what to do with each property,
/// found out once.
///
/// Structs are read and filled in place, at the offsets that the runtime's reflection gave. The steps know
/// the library's own types; values of others go by way of an access that was made for their type.
@usableFromInline
final class RecordPlan: Sendable {
  let record: CheckedRecord
  let layout: RowLayout
  /// What the plan was made for; nothing else may be handed to it.
  @usableFromInline
  let subject: ObjectIdentifier

  /// What is done instead of all else for a type that asks for it.
  @usableFromInline let coding: CodingPlan?

  /// In the order of the key.
  let keySteps: [KeyStep]
  /// What is written, in the order of the row's columns.
  let writes: [PlanStep]
  /// What is filled from the row, in the order of the fields; an optional composite with all that
  /// is in it between two steps of its own.
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

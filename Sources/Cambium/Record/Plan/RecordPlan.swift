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

// The generic shell around the plan. It is thin and inlined where records are used, so that little is
// compiled for each type: all that it does is to turn values into pointers to them.

extension RecordPlan {
  /// Puts the key and the row of a record together.
  ///
  /// - Throws: as `write(_:to:key:)` of a pointer.
  @inlinable
  func write<Subject: Record>(
    _ record: Subject, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    checkSubject(Subject.self)
    if let coding { return try coding.write(record, to: row, key: key) }
    try unsafe withUnsafePointer(to: record) { pointer throws(StoreError) in
      try unsafe write(UnsafeRawPointer(pointer), to: row, key: key)
    }
  }

  /// Puts the key and the row of each record together, and hands them to `body` before the next.
  ///
  /// The records are read where the array has them: none is copied or retained.
  @inlinable
  func write<Subject: Record>(
    _ records: [Subject], to row: RowWriter, key: KeyEncoder,
    _ body: (KeyEncoder, RowWriter) throws(StoreError) -> Void
  ) throws(StoreError) {
    checkSubject(Subject.self)
    if let coding {
      for record in records {
        try coding.write(record, to: row, key: key)
        try body(key, row)
      }
      return
    }
    try unsafe records.withUnsafeBufferPointer { buffer throws(StoreError) in
      guard let base = buffer.baseAddress else { return }
      for index in buffer.indices {
        try unsafe write(UnsafeRawPointer(base + index), to: row, key: key)
        try body(key, row)
      }
    }
  }

  /// Makes a record of its key and row.
  ///
  /// - Throws: as `read(_:key:row:)` into a pointer.
  @inlinable
  func read<Subject: Record>(
    _ type: Subject.Type, key: RawSpan, row: RawSpan, blobs: BlobFinder? = nil
  ) throws(StoreError) -> Subject {
    checkSubject(Subject.self)
    if let coding { return try coding.read(type, key: key, row: row, blobs: blobs) }
    return try unsafe withUnsafeTemporaryAllocation(of: Subject.self, capacity: 1) {
      buffer throws(StoreError) in
      guard let memory = buffer.baseAddress else {
        preconditionFailure("room for one is somewhere")
      }
      try unsafe read(UnsafeMutableRawPointer(memory), key: key, row: row, blobs: blobs)
      return unsafe memory.move()
    }
  }

  @inlinable
  func checkSubject<Subject: Record>(_ type: Subject.Type) {
    precondition(subject == ObjectIdentifier(type), "the plan is of another type")
  }
}

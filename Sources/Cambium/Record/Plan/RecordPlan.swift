#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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

  /// The plan that replaces all else for a type that asks for it.
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
  let tracked: [any TrackedProperty]
  let composites: [CompositeSteps]
  /// True if the type is one of a hierarchy.
  private let isOfHierarchy: Bool
  /// The null bits of kinds that values of the type are not of.
  private let absentKinds: [Int]
  /// The offsets of the fields of kinds that have no others.
  private let markers: [Int]

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
      if let tracked = record.transients.first(where: \.transient.isTracked) {
        throw .invalidDescription(
          record: layout.record.name, field: tracked.name, version: Int(layout.version),
          reason:
            "its changes cannot be tracked, since the record's coding is `.codable`; let it be `.plan`"
        )
      }
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
    tracked = builder.tracked
    composites = builder.composites
    let presence = KindPresence(of: record, in: layout)
    isOfHierarchy = layout.kinds != nil
    absentKinds = presence.absentBits
    markers = presence.markers.map { layout.columns[$0].place.index }
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
        preconditionFailure("an allocation of one value has an address")
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

/// One thing that a plan does with one property.
struct PlanStep: BitwiseCopyable {
  let action: Action
  let isOptional: Bool
  /// The offset of the property in the record's struct.
  let offset: UInt32
  /// The place of the field in the row.
  let place: ColumnPlace
  /// Of an action that goes by way of something: which access, composite or filler.
  let detail: UInt32
  /// The optional composites that it is in, a bit for each.
  let composites: UInt32

  enum Action: Hashable, BitwiseCopyable {
    /// As it is.
    case scalar(ScalarType)
    /// By way of its type.
    case access
    /// Not stored.
    case transient
    /// Not stored, but its changes are tracked.
    case tracked
    /// An optional composite: its parts come next, if it is not nil.
    case composite
    /// Nothing of that composite follows.
    case compositeEnd
  }
}

/// An optional composite, as steps of a plan refer to it.
struct CompositeSteps: Sendable {
  let access: any CompositeAccess
  /// Its place in the layout's columns.
  let column: Int
  /// The steps of reading between which it is filled.
  let first: Int
  var last: Int

  /// A bit for each composite says that it is nil.
  static var most: Int { UInt32.bitWidth }
}

/// One part of the primary key and the property that it is made of.
struct KeyStep: BitwiseCopyable {
  let action: PlanStep.Action
  let offset: UInt32
  /// The number of the access.
  let detail: UInt32
  let column: KeyColumn
}

extension RecordPlan {
  /// Puts the key and the row of a record together.
  ///
  /// - Parameter record: Points to a value of the type that the plan was made for.
  /// - Throws: `.invalidValue` where a column has no place for a value, the key is too long or not a number, or the
  ///   row is too long.
  @usableFromInline
  func write(
    _ record: UnsafeRawPointer, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    precondition(coding == nil, "the type encodes itself")
    key.begin()
    for index in keySteps.indices {
      try unsafe write(record, to: key, keySteps[index])
    }
    try key.finishPrimaryKey(of: layout)
    row.begin(layout)
    do throws(StoreError) {
      try unsafe write(record, to: row)
    } catch {
      throw row.naming(error, key.key, layout)
    }
    row.finish()
  }

  private func write(_ record: UnsafeRawPointer, to row: RowWriter) throws(StoreError) {
    if isOfHierarchy { writeKinds(to: row) }
    if !tracked.isEmpty { row.beginTracking() }
    // The optional composites that are nil, a bit for each.
    var missing: UInt32 = 0
    for index in writes.indices {
      let step = writes[index]
      let property = unsafe record + Int(step.offset)
      if step.composites & missing != 0 {
        if step.action == .composite { missing |= 1 &<< step.detail }
        continue
      }
      switch step.action {
      case .scalar(.boolean): try unsafe put(property, as: Bool.self, row, step)
      case .scalar(.int8): try unsafe put(property, as: Int8.self, row, step)
      case .scalar(.int16): try unsafe put(property, as: Int16.self, row, step)
      case .scalar(.int32): try unsafe put(property, as: Int32.self, row, step)
      case .scalar(.int64): try unsafe put(property, as: Int64.self, row, step)
      case .scalar(.uint8): try unsafe put(property, as: UInt8.self, row, step)
      case .scalar(.uint16): try unsafe put(property, as: UInt16.self, row, step)
      case .scalar(.uint32): try unsafe put(property, as: UInt32.self, row, step)
      case .scalar(.uint64): try unsafe put(property, as: UInt64.self, row, step)
      case .scalar(.float): try unsafe put(property, as: Float.self, row, step)
      case .scalar(.double): try unsafe put(property, as: Double.self, row, step)
      case .scalar(.date): try unsafe put(property, as: Date.self, row, step)
      case .scalar(.uuid): try unsafe put(property, as: UUID.self, row, step)
      case .scalar(.decimal): try unsafe put(property, as: Decimal.self, row, step)
      case .scalar(.string): try unsafe put(property, as: String.self, row, step)
      case .scalar(.url): try unsafe put(property, as: URL.self, row, step)
      case .scalar(.binaryData): try unsafe put(property, as: Data.self, row, step)
      case .access:
        try unsafe accesses[Int(step.detail)].write(property, to: row, at: step.place)
      case .composite:
        if unsafe writeNil(property, to: row, step) { missing |= 1 &<< step.detail }
      case .tracked:
        let tracked = tracked[Int(step.detail)]
        if let value = unsafe tracked.value(property) { row.track(value, as: tracked.name) }
      case .transient, .compositeEnd: break
      }
    }
  }

  /// Says of which kinds the record is not, and that it is of those that have no fields.
  private func writeKinds(to row: RowWriter) {
    for bit in absentKinds { row.setNull(bit: bit) }
    for offset in markers { row.store(UInt8(1), at: offset) }
  }

  @inline(__always)
  private func put<Value: ColumnValue>(
    _ property: UnsafeRawPointer, as type: Value.Type, _ row: RowWriter, _ step: PlanStep
  ) throws(StoreError) {
    if step.isOptional, unsafe property.isNil(Value.self) { return row.setNull(at: step.place) }
    // Of an optional too: its wrapped value is where it is.
    let value = unsafe property.assumingMemoryBound(to: Value.self)
    try unsafe value.pointee.put(in: row, at: step.place.index)
  }

  /// Writes an optional composite if it is nil.
  private func writeNil(
    _ property: UnsafeRawPointer, to row: RowWriter, _ step: PlanStep
  ) -> Bool {
    let composite = composites[Int(step.detail)]
    guard unsafe composite.access.isNil(property) else { return false }
    row.setNull(layout.columns[composite.column])
    return true
  }
}

extension UnsafeRawPointer {
  /// Returns true if an optional of `type` is nil.
  @inline(__always)
  func isNil<Wrapped>(_ type: Wrapped.Type) -> Bool {
    if case .none = unsafe assumingMemoryBound(to: Wrapped?.self).pointee { return true }
    return false
  }
}

// MARK: Keys

extension RecordPlan {
  @inline(__always)
  private func write(
    _ record: UnsafeRawPointer, to key: KeyEncoder, _ step: KeyStep
  ) throws(StoreError) {
    let property = unsafe record + Int(step.offset)
    switch step.action {
    case .scalar(.boolean): try unsafe append(property, as: Bool.self, key, step)
    case .scalar(.int8): try unsafe append(property, as: Int8.self, key, step)
    case .scalar(.int16): try unsafe append(property, as: Int16.self, key, step)
    case .scalar(.int32): try unsafe append(property, as: Int32.self, key, step)
    case .scalar(.int64): try unsafe append(property, as: Int64.self, key, step)
    case .scalar(.uint8): try unsafe append(property, as: UInt8.self, key, step)
    case .scalar(.uint16): try unsafe append(property, as: UInt16.self, key, step)
    case .scalar(.uint32): try unsafe append(property, as: UInt32.self, key, step)
    case .scalar(.uint64): try unsafe append(property, as: UInt64.self, key, step)
    case .scalar(.float): try unsafe append(property, as: Float.self, key, step)
    case .scalar(.double): try unsafe append(property, as: Double.self, key, step)
    case .scalar(.date): try unsafe append(property, as: Date.self, key, step)
    case .scalar(.uuid): try unsafe append(property, as: UUID.self, key, step)
    case .scalar(.decimal): try unsafe append(property, as: Decimal.self, key, step)
    case .scalar(.string): try unsafe append(property, as: String.self, key, step)
    case .scalar(.url): try unsafe append(property, as: URL.self, key, step)
    case .scalar(.binaryData): try unsafe append(property, as: Data.self, key, step)
    case .access:
      try unsafe accesses[Int(step.detail)].write(property, to: key, step.column, of: layout)
    case .transient, .tracked, .composite, .compositeEnd: break
    }
  }

  @inline(__always)
  private func append<Value: ColumnValue>(
    _ property: UnsafeRawPointer, as type: Value.Type, _ key: KeyEncoder, _ step: KeyStep
  ) throws(StoreError) {
    let value = unsafe property.assumingMemoryBound(to: Value.self)
    try unsafe value.pointee.append(to: key, as: step.column, of: layout)
  }
}

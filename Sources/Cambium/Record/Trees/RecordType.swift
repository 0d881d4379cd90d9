internal import Synchronization

/// A record of an open store that a Swift type stands for: how its values become rows, and what they have to meet.
///
/// Generic code here is thin, and inlined where a program uses the type: compiled for any type, it would
/// look the type up again and again, and move its values by tables.
@usableFromInline
final class RecordType<Subject: Record>: Entity, @unchecked Sendable {
  @usableFromInline let plan: RecordPlan
  @usableFromInline let afterLoad: (@Sendable (inout Subject) throws -> Void)?
  /// The hooks that are called before its records are written and deleted.
  let hooks: WriteHooks<Subject>
  /// True if something is called before one of its records is written.
  @usableFromInline let hasWriteHook: Bool
  /// The computed properties that change with fields.
  let computed: [DescribedComputed]
  /// The stored names of the fields that the type has; nil if it has all of them.
  let ownFields: Set<String>?
  /// The properties by which conditions find fields.
  private let propertyFields: PropertyFields
  /// True if there is something that a record has to meet.
  @usableFromInline let isChecked: Bool
  /// True if a record was once the same by way of the type's own coding. Asked in debug builds.
  private let agrees = Atomic(false)
  private let rules: RowRules
  private let validations: [(text: String, holds: @Sendable (Subject) -> Bool)]

  /// - Parameters:
  ///   - place: Its place among the records of the schema.
  ///   - places: Where the trees are, if not where they are in a store that is whole.
  ///   - parent: The ancestors that the type contains.
  ///   - runsHooks: True if the type's own hooks are called.
  /// - Throws: `.invalidDescription` where the description and the type differ.
  init(
    _ checked: CheckedRecord, _ layout: RowLayout, at place: Int, names: TreeNames,
    places: TreePlaces? = nil, parent: ParentPart? = nil, runsHooks: Bool = true
  ) throws(StoreError) {
    plan = try RecordPlan(checked, layout: layout)
    let hooks = runsHooks ? Subject.hooks : RecordHooks(afterLoad: nil, writing: nil)
    afterLoad = Self.afterLoad(hooks.afterLoad, parent)
    self.hooks = hooks.writing as? WriteHooks<Subject> ?? WriteHooks()
    hasWriteHook =
      self.hooks.beforeInsert != nil || self.hooks.beforeUpdate != nil
      || parent?.entity.preparesRecords ?? false
    computed = checked.computed
    ownFields = layout.kinds == nil ? nil : Set(checked.fields.map(\.name))
    propertyFields = PropertyFields(checked)
    rules = RowRules(checked.fields, layout)
    validations = checked.validations.compactMap { validation in
      validation.predicate(of: Subject.self).map { (validation.text, $0) }
    }
    #if DEBUG
      isChecked = true
    #else
      isChecked = !rules.isEmpty || !validations.isEmpty || parent?.entity.validatesRecords ?? false
    #endif
    try super.init(layout, checked, at: place, names: names, places: places, parent: parent)
  }

  override func field(ofProperty property: PropertyReference) -> String? {
    propertyFields.field(of: property)
  }

  override var properties: PropertyFields { propertyFields }

  override var hasOwnDeletionHook: Bool { hooks.beforeDelete != nil }

  override var typeName: String? { RecordDescription.name(of: Subject.self) }

  override func willDelete(key: RawSpan, row: RawSpan, in writer: RecordWriter) throws {
    guard let beforeDelete = hooks.beforeDelete else { return }
    try beforeDelete(
      try load(key: key, row: row, blobs: writer.blobFinder(of: self)), writer)
  }

  // MARK: As a part of a kind

  override var preparesRecords: Bool { hasWriteHook }
  override var validatesRecords: Bool {
    !validations.isEmpty || parent?.entity.validatesRecords ?? false
  }
  override var changesLoaded: Bool { afterLoad != nil }

  override func willWrite(
    at pointer: UnsafeMutableRawPointer, key: [UInt8], replacing row: [UInt8]?,
    in writer: RecordWriter
  ) throws {
    if let parent {
      try unsafe parent.entity.willWrite(
        at: pointer + parent.offset, key: key, replacing: row, in: writer)
    }
    guard hooks.beforeInsert != nil || hooks.beforeUpdate != nil else { return }
    var old: Subject?
    if let row, has(row.rawSpan) {
      old = try load(key: key.rawSpan, row: row.rawSpan, blobs: writer.blobFinder(of: self))
    }
    let record = unsafe pointer.assumingMemoryBound(to: Subject.self)
    try unsafe hooks.willWrite(&record.pointee, replacing: old, in: writer)
  }

  override func validate(at pointer: UnsafeRawPointer) throws(StoreError) {
    if let parent { try unsafe parent.entity.validate(at: pointer + parent.offset) }
    if validations.isEmpty { return }
    try unsafe checkOwnValidations(pointer.assumingMemoryBound(to: Subject.self).pointee)
  }

  override func didLoad(at pointer: UnsafeMutableRawPointer) throws {
    let record = unsafe pointer.assumingMemoryBound(to: Subject.self)
    try unsafe afterLoad?(&record.pointee)
  }

  /// The hook after loading, after that of the parent.
  private static func afterLoad(
    _ own: (@Sendable (inout Subject) throws -> Void)?, _ parent: ParentPart?
  ) -> (@Sendable (inout Subject) throws -> Void)? {
    guard let parent, parent.entity.changesLoaded else { return own }
    return { record in
      try unsafe withUnsafeMutablePointer(to: &record) { pointer in
        try unsafe parent.entity.didLoad(at: UnsafeMutableRawPointer(pointer) + parent.offset)
      }
      try own?(&record)
    }
  }
}

/// The functions that are called before records are written and deleted. They may change other records with the writer,
/// in the same transaction.
struct WriteHooks<Subject>: Sendable {
  var beforeInsert: (@Sendable (inout Subject, RecordWriter) throws -> Void)?
  /// With the record that is replaced.
  var beforeUpdate: (@Sendable (inout Subject, Subject, RecordWriter) throws -> Void)?
  var beforeDelete: (@Sendable (Subject, RecordWriter) throws -> Void)?

  /// Calls the hook before writing a record, which may change it.
  ///
  /// - Parameter old: The record that it replaces; nil if it is new.
  func willWrite(
    _ record: inout Subject, replacing old: Subject?, in writer: RecordWriter
  ) throws {
    if let old {
      try beforeUpdate?(&record, old, writer)
    } else {
      try beforeInsert?(&record, writer)
    }
  }
}

// MARK: Out of the store

extension RecordType {
  /// Makes a record of its key and row.
  ///
  /// - Parameter blobs: Finds its blobs; of the state that the row is of.
  /// - Throws: `.corrupt`; `.unreadableRecord` if the type has no such value; errors of the hook after loading.
  @inlinable
  func load(key: RawSpan, row: RawSpan, blobs: BlobFinder? = nil) throws -> Subject {
    guard let afterLoad else {
      return try read(key: key, row: row, blobs: blobs)
    }
    var record = try read(key: key, row: row, blobs: blobs)
    try afterLoad(&record)
    return record
  }

  @inlinable
  @inline(__always)
  func read(key: RawSpan, row: RawSpan, blobs: BlobFinder?) throws(StoreError) -> Subject {
    do throws(StoreError) {
      return try plan.read(Subject.self, key: key, row: row, blobs: blobs)
    } catch {
      throw unreadable(error, key: key)
    }
  }
}

// MARK: Into the store

extension RecordType {
  /// Calls the hooks before writing a record: of its parents, then its own. They may change it.
  ///
  /// - Parameter row: The row that it replaces; nil if there is none with its key.
  func willWrite(
    _ record: inout Subject, key: [UInt8], replacing row: [UInt8]?, in writer: RecordWriter
  ) throws {
    try unsafe withUnsafeMutablePointer(to: &record) { pointer in
      try unsafe willWrite(
        at: UnsafeMutableRawPointer(pointer), key: key, replacing: row, in: writer)
    }
  }

  /// Puts a record's key and row together, and checks that it is valid.
  ///
  /// - Throws: `.invalidValue`, `.limitExceeded`.
  @inlinable
  func encode(
    _ record: Subject, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    try plan.write(record, to: row, key: key)
    if isChecked { try check(record, row, key) }
  }

  /// Puts a record's key together.
  @inlinable
  func encodeKey(_ record: Subject, to key: KeyEncoder, row: RowWriter) throws(StoreError) {
    try plan.write(record, to: row, key: key)
  }

  @usableFromInline
  func check(_ record: Subject, _ row: RowWriter, _ key: KeyEncoder) throws(StoreError) {
    #if DEBUG
      try checkAgreement(record)
    #endif
    try rules.check(row, key, layout)
    if validatesRecords { try checkValidations(record) }
  }

  /// The first record is put into its row both ways.
  private func checkAgreement(_ record: Subject) throws(StoreError) {
    if agrees.load(ordering: .relaxed) { return }
    try plan.checkAgreement(of: record)
    agrees.store(true, ordering: .relaxed)
  }

  private func checkValidations(_ record: Subject) throws(StoreError) {
    try unsafe withUnsafePointer(to: record) { pointer throws(StoreError) in
      try unsafe validate(at: UnsafeRawPointer(pointer))
    }
  }

  private func checkOwnValidations(_ record: Subject) throws(StoreError) {
    for (text, holds) in validations where !holds(record) {
      throw .invalidValue(record: self.record.name, field: nil, reason: "not met: \(text)")
    }
  }
}

internal import Synchronization

/// A Swift type of records in an open store: how its values become rows, and what they have to meet.
///
/// What is generic here is thin, and inlined where a program uses the type: compiled for any type, it would
/// look the type up again and again, and move its values by tables.
@usableFromInline
final class RecordType<Subject: Record>: OpenedRecordType {
  @usableFromInline let trees: RecordTrees
  @usableFromInline let plan: RecordPlan
  @usableFromInline let hooks: RecordHooks<Subject>
  /// The properties by which conditions find fields.
  let properties: PropertyFields
  /// True if there is something that a record has to meet.
  @usableFromInline let isChecked: Bool
  /// True if a record was once the same by way of the type's own coding. Asked in debug builds.
  private let agrees = Atomic(false)
  private let rules: RowRules
  private let validations: [(text: String, holds: @Sendable (Subject) -> Bool)]

  /// - Parameter runsHooks: True if the type's own hooks are called.
  /// - Throws: `.invalidDescription` where the description and the type differ.
  init(
    _ checked: CheckedRecord, trees: RecordTrees, runsHooks: Bool = true
  ) throws(StoreError) {
    self.trees = trees
    plan = try RecordPlan(checked, layout: trees.layout)
    hooks = runsHooks ? Subject.hooks : RecordHooks()
    properties = PropertyFields(checked)
    rules = RowRules(checked.fields, trees.layout)
    validations = checked.validations.compactMap { validation in
      validation.predicate(of: Subject.self).map { (validation.text, $0) }
    }
    #if DEBUG
      isChecked = true
    #else
      isChecked = !rules.isEmpty || !validations.isEmpty
    #endif
  }

  /// True if whoever writes has to know the record that was there before.
  @inlinable var needsOld: Bool { hooks.beforeInsert != nil || hooks.beforeUpdate != nil }
  @inlinable var needsDeleted: Bool { hooks.beforeDelete != nil }
}

/// A record type in an open store, whatever its Swift type.
@usableFromInline
protocol OpenedRecordType: AnyObject, Sendable {
  var trees: RecordTrees { get }
}

// MARK: Out of the store

extension RecordType {
  /// Makes a record of its key and row.
  ///
  /// - Parameter blobs: What finds its blobs; of the state that the row is of.
  /// - Throws: `.corrupt`; `.unreadableRecord` if the type has no such value; what the hook after loading does.
  @inlinable
  func load(key: RawSpan, row: RawSpan, blobs: BlobFinder? = nil) throws -> Subject {
    guard let afterLoad = hooks.afterLoad else {
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
      throw trees.unreadable(error, key: key)
    }
  }
}

// MARK: Into the store

extension RecordType {
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
    try rules.check(row, key, trees.layout)
    if !validations.isEmpty { try checkValidations(record) }
  }

  /// The first record is put into its row both ways.
  private func checkAgreement(_ record: Subject) throws(StoreError) {
    if agrees.load(ordering: .relaxed) { return }
    try plan.checkAgreement(of: record)
    agrees.store(true, ordering: .relaxed)
  }

  private func checkValidations(_ record: Subject) throws(StoreError) {
    for (text, holds) in validations where !holds(record) {
      throw .invalidValue(record: trees.record.name, field: nil, reason: "not so: \(text)")
    }
  }
}

// MARK: Hooks

extension RecordType {
  /// Runs the hook that comes before writing a record, which may change it.
  func willWrite(_ record: inout Subject, replacing old: Subject?) throws {
    if let old {
      try hooks.beforeUpdate?(&record, old)
    } else {
      try hooks.beforeInsert?(&record)
    }
  }

  func willDelete(_ record: Subject) throws { try hooks.beforeDelete?(record) }
}

/// The differences between two states of a store, of the records of one type: each record once, however many commits
/// there were in between.
public struct ChangeSet<Subject: Record>: Sendable {
  /// The records that are new, by primary key; the other lists are in the same order.
  public internal(set) var inserted: [Subject] = []
  /// The records that were updated, before and after.
  public internal(set) var updated: [Update] = []
  /// The records that were deleted, as they were.
  public internal(set) var deleted: [Subject] = []
  /// The authors of the commits, as given to `PersistentStore.write`. Nil is among them if a commit had no author, or if
  /// it is not known. For a consumer that has fallen far behind, authors of earlier commits may be among them.
  public let authors: Set<String?>
  /// The last commit that is included. Of the changes of a transaction, the commit that it becomes.
  public let sequence: UInt64

  /// A record before and after an update.
  public struct Update: Sendable {
    /// The record before the update.
    public let old: Subject
    /// The record after the update.
    public let new: Subject
    /// The stored names of the fields whose values differ: of a composite the parts that differ, such as “address.street”,
    /// and its own name if it was or is null. Also the names of computed properties that depend on them, and of tracked
    /// properties whose values differ: see `RecordDescription.Computed` and `RecordDescription.Transient`.
    public let changedFields: Set<String>
  }

  init(authors: Set<String?>, sequence: UInt64) {
    self.authors = authors
    self.sequence = sequence
  }

  /// True if no record was changed.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  mutating func add(_ change: KeyChange<Subject>.Kind?) {
    switch change {
    case .inserted(let record): inserted.append(record)
    case .updated(let update): updated.append(update)
    case .deleted(let record): deleted.append(record)
    case nil: break
    }
  }
}

/// A change of the record with one primary key.
public struct KeyChange<Subject: Record>: Sendable {
  /// The kind of the change, with the record.
  public let kind: Kind
  /// The authors of the commits, as in a change set.
  public let authors: Set<String?>
  /// The last commit that is included.
  public let sequence: UInt64

  /// The kind of a change, with the record.
  public enum Kind: Sendable {
    /// The record was inserted.
    case inserted(Subject)
    /// The record was updated.
    case updated(ChangeSet<Subject>.Update)
    /// The record was deleted; this is what it was.
    case deleted(Subject)
  }

  /// The record as it is now; nil if it was deleted.
  public var record: Subject? {
    switch kind {
    case .inserted(let record): record
    case .updated(let update): update.new
    case .deleted: nil
    }
  }
}

// MARK: - Observing

/// Makes the change sets of a type's records, or of those that meet a condition.
struct ChangeSetMaker<Subject: Record>: ElementMaker {
  let type: RecordType<Subject>
  var filter: RowFilter?

  func element(of step: ObservedStep) throws -> ChangeSet<Subject>? {
    var changes = ChangeSet<Subject>(authors: step.changes.authors, sequence: step.after.sequence)
    let blobs = type.blobs(step)
    try step.forEachChange { change in
      guard let change = try filter.map({ try $0.filtered(change) }) ?? change else { return }
      changes.add(try type.change(change, blobs))
    }
    return changes.isEmpty ? nil : changes
  }
}

/// Makes the changes of the record with one key.
struct KeyChangeMaker<Subject: Record>: ElementMaker {
  let type: RecordType<Subject>
  var filter: RowFilter?

  func element(of step: ObservedStep) throws -> KeyChange<Subject>? {
    var kind: KeyChange<Subject>.Kind?
    let blobs = type.blobs(step)
    try step.forEachChange { change in
      guard let change = try filter.map({ try $0.filtered(change) }) ?? change else { return }
      kind = try type.change(change, blobs)
    }
    return kind.map {
      KeyChange(kind: $0, authors: step.changes.authors, sequence: step.after.sequence)
    }
  }
}

extension RecordType {
  /// Returns finders of the parts of records outside their rows, on both sides of a step.
  func blobs(_ step: ObservedStep) -> StepBlobs {
    StepBlobs(
      old: step.before.trees.blobFinder(of: self), new: step.after.trees.blobFinder(of: self))
  }

  /// Returns nil if no value of the type has changed.
  ///
  /// - Throws: `.corrupt`; errors of the type's hook after loading.
  func change(_ change: EntryChange, _ blobs: StepBlobs) throws -> KeyChange<Subject>.Kind? {
    switch (change.old, change.new) {
    case (nil, let new?): return .inserted(try load(change.key, new, blobs.new))
    case (let old?, nil): return .deleted(try load(change.key, old, blobs.old))
    case (let old?, let new?):
      let update = try update(change.key, from: old, to: new, blobs)
      return update.changedFields.isEmpty ? nil : .updated(update)
    case (nil, nil): return nil
    }
  }

  /// The record in both rows, whether or not its values differ.
  func update(
    _ key: [UInt8], from old: [UInt8], to new: [UInt8], _ blobs: StepBlobs
  ) throws -> ChangeSet<Subject>.Update {
    ChangeSet.Update(
      old: try load(key, old, blobs.old), new: try load(key, new, blobs.new),
      changedFields: try changedFields(
        key: key.rawSpan, from: old.rawSpan, to: new.rawSpan, blobs
      ).union(blobs.changedTracked(key.rawSpan)))
  }

  func load(_ key: [UInt8], _ row: [UInt8], _ blobs: BlobFinder?) throws -> Subject {
    try load(key: key.rawSpan, row: row.rawSpan, blobs: blobs)
  }
}

// MARK: - In a transaction

extension WriteTransaction {
  /// Keeps the changes from now on, for `changes(of:)`.
  ///
  /// ```swift
  /// transaction.keepChanges()
  /// try transaction.update(item)
  /// print(try transaction.changes(of: Item.self).updated.count)
  /// ```
  ///
  /// - Complexity: From then on every change looks up the old record, and keeps a copy of it in memory.
  public mutating func keepChanges() { writer.keepChanges() }

  /// Returns the changes to a record type since `keepChanges()`. A record that was changed twice occurs once, one that was
  /// added and deleted again not at all.
  ///
  /// - Throws: `StoreError.changesNotKept` without `keepChanges()`; `.unknownRecord`, `.corrupt`, `.io`; errors of the
  ///   type's hook after loading.
  public func changes<Subject: Record>(
    of type: Subject.Type
  ) throws -> ChangeSet<Subject> {
    let type = try entities.type(type)
    guard let kept = writer.changes else {
      throw StoreError.changesNotKept(record: type.record.name)
    }
    var changes = ChangeSet<Subject>(authors: [author], sequence: writer.trees.sequence)
    var row: [UInt8] = []
    let filter = try RowFilter(kindOf: type, in: entities)
    let before = kept.before[type.record.number] ?? [:]
    let (unstored, present) = (kept.unstored, writer.trees.unstored)
    let new = writer.blobFinder(of: type)
    let blobs = StepBlobs(old: new?.with(unstored, of: type.rows), new: new)
    for key in before.keys.sortedRarely(by: { $0.lexicographicallyPrecedes($1) }) {
      let isThere = try writer.trees.copyValue(of: key.rawSpan, in: type.rows, to: &row)
      let change = EntryChange(key: key, old: before[key] ?? nil, new: isThere ? row : nil)
      if change.old == change.new,
        !present.differs(from: unstored, at: key.rawSpan, in: type.rows)
      {
        continue
      }
      guard let change = try filter.map({ try $0.filtered(change) }) ?? change else { continue }
      changes.add(try type.change(change, blobs))
    }
    return changes
  }
}

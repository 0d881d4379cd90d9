/// The differences between two states of a store, of the records of one type: each record once, however many commits
/// there were in between.
public struct ChangeSet<Subject: Record>: Sendable {
  /// The records that are new, by primary key; the other lists are in the same order.
  public internal(set) var inserted: [Subject] = []
  public internal(set) var updated: [RecordChanges<Subject>.Update] = []
  /// The records that were deleted, as they were.
  public internal(set) var deleted: [Subject] = []
  /// The authors of the commits, as given to `PersistentStore.write`. Nil is among them if a commit had no author, or if
  /// it is not known. For a consumer that has fallen far behind, authors of earlier commits may be among them.
  public let authors: Set<String?>
  /// The last commit that is included.
  public let sequence: UInt64

  init(authors: Set<String?>, sequence: UInt64) {
    self.authors = authors
    self.sequence = sequence
  }

  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// A change of the record with one primary key.
public struct KeyChange<Subject: Record>: Sendable {
  public let kind: Kind
  /// The authors of the commits, as in a change set.
  public let authors: Set<String?>
  public let sequence: UInt64

  public enum Kind: Sendable {
    case inserted(Subject)
    case updated(RecordChanges<Subject>.Update)
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

/// Finders of the blobs of old and new records.
struct StepBlobs {
  let old: BlobFinder?
  let new: BlobFinder?
}

extension RecordType {
  /// Returns finders of the blobs of records on both sides of a step.
  func blobs(_ step: ObservedStep) -> StepBlobs {
    StepBlobs(
      old: step.before.trees.blobFinder(of: self), new: step.after.trees.blobFinder(of: self))
  }

  /// - Throws: `.corrupt`; what the type's hook after loading throws.
  func change(_ change: EntryChange, _ blobs: StepBlobs) throws -> KeyChange<Subject>.Kind? {
    switch (change.old, change.new) {
    case (nil, let new?): .inserted(try load(change.key, new, blobs.new))
    case (let old?, nil): .deleted(try load(change.key, old, blobs.old))
    case (let old?, let new?): .updated(try update(change.key, from: old, to: new, blobs))
    case (nil, nil): nil
    }
  }

  func load(_ key: [UInt8], _ row: [UInt8], _ blobs: BlobFinder?) throws -> Subject {
    try load(key: key.rawSpan, row: row.rawSpan, blobs: blobs)
  }

  func update(
    _ key: [UInt8], from old: [UInt8], to new: [UInt8], _ blobs: StepBlobs
  ) throws -> RecordChanges<Subject>.Update {
    RecordChanges.Update(
      old: try load(key, old, blobs.old), new: try load(key, new, blobs.new),
      changedFields: try layout.changedFields(
        key: key.rawSpan, from: old.rawSpan, to: new.rawSpan))
  }
}

/// The changes of a transaction to one record type, compared with the state before.
public struct RecordChanges<Subject: Record> {
  public var inserted: [Subject] = []
  public var updated: [Update] = []
  public var deleted: [Subject] = []

  /// A record before and after an update.
  public struct Update {
    public let old: Subject
    public let new: Subject
    /// The stored names of the fields whose values differ: of a composite the parts that differ, such as “address.street”,
    /// and its own name if it was or is null.
    public let changedFields: Set<String>
  }

  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

extension RecordChanges: Sendable where Subject: Sendable {}
extension RecordChanges.Update: Sendable where Subject: Sendable {}

extension WriteTransaction {
  /// Keeps the changes from now on, for `changes(of:)`.
  ///
  /// - Complexity: From then on every change looks up the old record, and keeps a copy of it in memory.
  public mutating func keepChanges() { writer.keepChanges() }

  /// Returns the changes to a record type since `keepChanges()`. A record that was changed twice occurs once, one that was
  /// added and deleted again not at all.
  ///
  /// - Throws: `StoreError.changesNotKept` without `keepChanges()`; `.unknownRecord`, `.corrupt`, `.io`; what the type's hook after loading throws.
  public func changes<Subject: Record>(
    of type: Subject.Type
  ) throws -> RecordChanges<Subject> {
    let type = try entities.type(type)
    var changes = RecordChanges<Subject>()
    var row: [UInt8] = []
    guard let kept = writer.changes else {
      throw StoreError.changesNotKept(record: type.record.name)
    }
    let before = kept.before[type.record.number] ?? [:]
    let blobs = writer.blobFinder(of: type)
    for key in before.keys.sortedRarely(by: { $0.lexicographicallyPrecedes($1) }) {
      let isThere = try writer.trees.copyValue(of: key.rawSpan, in: type.rows, to: &row)
      let old = before[key] ?? nil
      switch (old, isThere) {
      case (nil, true):
        changes.inserted.append(try type.load(key: key.rawSpan, row: row.rawSpan, blobs: blobs))
      case (let old?, true) where old != row:
        changes.updated.append(
          try type.update(
            key, from: old, to: row, StepBlobs(old: blobs, new: blobs)))
      case (let old?, false):
        changes.deleted.append(try type.load(key: key.rawSpan, row: old.rawSpan, blobs: blobs))
      default: break
      }
    }
    return changes
  }
}

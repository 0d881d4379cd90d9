/// The consequences that deleting some records would have: the numbers of records that would be deleted or lose
/// references, and the reason for which it would be denied.
public struct DeletionPlan: Hashable, Sendable {
  /// The numbers of records that would be deleted, including the given ones, by stored name.
  public let deleted: [String: Int]
  /// The numbers of records that would be kept without a reference, by stored name.
  public let cut: [String: Int]
  /// The error that the deletion would throw because of other records; nil if none denies it.
  public let denial: StoreError?
}

extension RecordReading where Self: ~Copyable {
  /// Returns the consequences of deleting a record, without deleting it. Hooks do not run, so changes that they would make
  /// are not included.
  ///
  /// ```swift
  /// let deletion = try store.deletion(of: author)
  /// print(deletion.deleted["Book"] ?? 0, "books would be deleted")
  /// ```
  ///
  /// - Complexity: As the deletion, without writing; the keys of all those records are in memory.
  /// - Throws: `StoreError.unknownRecord`, `.limitExceeded`, `.corrupt`, `.io`, `.closed`.
  public func deletion<Subject: Record>(of record: Subject) throws -> DeletionPlan {
    let reader = try recordReader()
    let type = try reader.entities.type(Subject.self)
    let key = KeyEncoder()
    try type.encodeKey(record, to: key, row: RowWriter())
    var row: [UInt8] = []
    // One of another kind is not deleted.
    if type.kind != nil, try reader.trees.copyValue(of: key.key, in: type.rows, to: &row),
      !type.has(row.rawSpan)
    {
      return try reader.deletion(of: [], type)
    }
    return try reader.deletion(of: [key.key.array()], type)
  }

  /// Returns the consequences of deleting a query's records, without deleting them.
  ///
  /// - Throws: as `deletion(of:)` of a record, and `StoreError.invalidQuery`.
  public func deletion<Subject: Record>(of query: Query<Subject>) throws -> DeletionPlan {
    let reader = try recordReader()
    let type = try reader.entities.type(Subject.self)
    let found = try reader.find(query, of: type, for: .keysInAnyOrder)
    var keys: [[UInt8]] = []
    while try found.next() { keys.append(found.key.array()) }
    return try reader.deletion(of: keys, type)
  }
}

extension RecordReader {
  fileprivate func deletion(
    of keys: [[UInt8]], _ entity: Entity
  ) throws(StoreError) -> DeletionPlan {
    guard let map = entities.relations else {
      var count = 0
      for key in keys where try trees.contains(key.rawSpan, in: entity.rows) { count += 1 }
      return DeletionPlan(
        deleted: count == 0 ? [:] : [entity.record.name: count], cut: [:], denial: nil)
    }
    let deletion = try Deletion(of: keys, entity, entities, map, in: trees, streaming: .none)
    return DeletionPlan(
      deleted: deletion.counts(of: deletion.doomed), cut: deletion.counts(of: deletion.cut),
      denial: deletion.denial())
  }
}

/// What the deletion of records would do: how many are deleted with them, how many lose references to them, and why it
/// would be denied.
public struct DeletionPlan: Hashable, Sendable {
  /// How many records are deleted, these among them, by their stored names.
  public let deleted: [String: Int]
  /// How many records are kept without a reference, by their stored names.
  public let cut: [String: Int]
  /// The error that the deletion would throw because of other records; nil if none denies it.
  public let denial: StoreError?
}

extension RecordReading where Self: ~Copyable {
  /// Returns what the deletion of a record would do, without doing it. Hooks do not run, so what they would change is not in
  /// it.
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
    return try reader.deletion(of: [key.key.array()], type)
  }

  /// Returns what the deletion of a query's records would do, without doing it.
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

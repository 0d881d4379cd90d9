/// A cursor over the records of a query.
///
/// It reads one state, and does not see later commits. A cursor of a transaction sees the transaction's changes after
/// its place, so records can be changed and deleted on the way; when the transaction ends, it throws
/// `StoreError.closed`. Records that had to be sorted come in the order that they had when the cursor was created.
public final class QueryCursor<Subject: Record> {
  @usableFromInline let type: RecordType<Subject>
  @usableFromInline let found: FoundRecords

  @usableFromInline
  init(_ type: RecordType<Subject>, _ found: FoundRecords) {
    self.type = type
    self.found = found
  }

  /// Moves to the next record, and returns it; nil after the last.
  ///
  /// - Throws: `StoreError.corrupt`, `.io`, `.sortTooLarge`; what the type's hook after loading throws.
  @inlinable
  public func next() throws -> Subject? {
    let found = found
    guard try found.next() else { return nil }
    return try type.load(key: found.key, row: try found.row(), blobs: found.blobs)
  }

  /// Returns at most `count` of the next records, but at least one; none if there are no more.
  ///
  /// - Throws: as `next()`.
  @inlinable
  public func next(_ count: Int) throws -> [Subject] {
    let count = max(1, count)
    var batch: [Subject] = []
    batch.reserveCapacity(min(count, 1 << 12))
    while batch.count < count, let record = try next() { batch.append(record) }
    return batch
  }
}

extension RecordReader {
  /// Begins to find the records of a query.
  @usableFromInline
  func cursor<Subject: Record>(
    _ query: Query<Subject>, after record: Subject?
  ) throws(StoreError) -> QueryCursor<Subject> {
    let type = try entities.type(Subject.self)
    return QueryCursor(type, try find(query, of: type, after: record))
  }

  func find<Subject: Record>(
    _ query: Query<Subject>, of type: RecordType<Subject>, after record: Subject? = nil,
    for need: QueryNeed = .records
  ) throws(StoreError) -> FoundRecords {
    var resolved = try query.resolved(in: type)
    if let record { resolved.after = try type.place(of: record) }
    return try QueryRunner(record: type, trees: trees).find(resolved, for: need)
  }
}

extension RecordType {
  /// Returns the place of a record in any order, whether or not it is stored.
  fileprivate func place(of record: Subject) throws(StoreError) -> FieldQuery.Place {
    let (key, row) = (KeyEncoder(), RowWriter())
    try encodeKey(record, to: key, row: row)
    return .record(key: key.key.array(), row: row.row.array())
  }
}

/// A place among the records of a query, that moves from one to the next.
///
/// It reads one state: what is written after it was made, it does not see. One of a transaction goes on in what
/// the transaction has made of the records by then, so they can be changed and deleted on the way, and ends
/// with the transaction: then it throws `StoreError.closed`. What had to be sorted comes in the order that it
/// had when the cursor was made.
public final class QueryCursor<Subject: Record> {
  @usableFromInline let type: RecordType<Subject>
  @usableFromInline let found: FoundRecords

  @usableFromInline
  init(_ type: RecordType<Subject>, _ found: FoundRecords) {
    self.type = type
    self.found = found
  }

  /// Moves on, and returns the record there; nil behind the last.
  ///
  /// - Throws: `StoreError.corrupt`, `.io`, `.sortTooLarge`; what the type's hook after loading throws.
  @inlinable
  public func next() throws -> Subject? {
    let found = found
    guard try found.next() else { return nil }
    return try type.load(key: found.key, row: try found.row(), blobs: found.blobs)
  }

  /// The next records, as many at most, but one at least: none means that there is none left.
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
    let type = try types.type(Subject.self)
    return QueryCursor(type, try find(query, of: type, after: record))
  }

  func find<Subject: Record>(
    _ query: Query<Subject>, of type: RecordType<Subject>, after record: Subject? = nil,
    for need: QueryNeed = .records
  ) throws(StoreError) -> FoundRecords {
    var resolved = try query.resolved(in: type)
    if let record { resolved.after = try type.place(of: record) }
    return try QueryRunner(record: type.trees, trees: trees).find(resolved, for: need)
  }
}

extension RecordType {
  /// Where a record is in any order, whether or not it is stored.
  fileprivate func place(of record: Subject) throws(StoreError) -> FieldQuery.Place {
    let (key, row) = (KeyEncoder(), RowWriter())
    try encodeKey(record, to: key, row: row)
    return .record(key: key.key.array(), row: row.row.array())
  }
}

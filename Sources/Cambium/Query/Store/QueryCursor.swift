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

  /// Returns what runs a query, and the query by the stored names of its fields.
  func runner<Subject: Record>(
    of query: Query<Subject>
  ) throws(StoreError) -> (QueryRunner, FieldQuery) {
    let type = try entities.type(Subject.self)
    return (QueryRunner(record: type, trees: trees), try query.resolved(in: type))
  }

  /// Returns what runs queries of the record with a stored name.
  func runner(ofRecord name: String) throws(StoreError) -> QueryRunner {
    QueryRunner(record: try entities.entity(named: name), trees: trees)
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

// MARK: - As an asynchronous sequence

/// The records of a query, one after the other, as an asynchronous sequence.
///
/// Each iterator reads one state: of a store the newest when the loop begins, of a snapshot its own. It waits only for
/// pages to be read, and ends when the task is cancelled. To receive later changes, observe the query.
public struct QueryRecords<Subject: Record>: AsyncSequence, Sendable {
  fileprivate let begin: @Sendable () throws -> QueryCursor<Subject>

  public func makeAsyncIterator() -> Iterator { Iterator(begin: begin) }

  public struct Iterator: AsyncIteratorProtocol {
    /// Nil once the iteration has begun.
    fileprivate var begin: (@Sendable () throws -> QueryCursor<Subject>)?
    /// Nil before the first record, and after the last.
    private var cursor: QueryCursor<Subject>?

    fileprivate init(begin: @escaping @Sendable () throws -> QueryCursor<Subject>) {
      self.begin = begin
    }

    /// Returns the next record; nil after the last, after an error, and if the task is cancelled.
    ///
    /// - Complexity: As of a `QueryCursor`. If records have to be sorted, the first call finds all of them.
    /// - Throws: as `fetch(_:after:)`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Subject? {
      let present = try begin.take().map { begin in try begin() } ?? cursor
      cursor = nil
      guard let present, !Task.isCancelled, let record = try present.next() else { return nil }
      cursor = present
      return record
    }
  }
}

extension PersistentStore {
  /// Returns the records of a query as an asynchronous sequence; each iteration reads the newest state.
  ///
  /// ```swift
  /// for try await person in store.records(adults) { … }
  /// ```
  public func records<Subject: Record>(_ query: Query<Subject>) -> QueryRecords<Subject> {
    QueryRecords { try self.cursor(query) }
  }
}

extension StoreSnapshot {
  /// Returns the records of a query as an asynchronous sequence.
  public func records<Subject: Record>(_ query: Query<Subject>) -> QueryRecords<Subject> {
    QueryRecords { try self.cursor(query) }
  }
}

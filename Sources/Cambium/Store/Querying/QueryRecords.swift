/// The records of a query, one after the other, as an asynchronous sequence.
///
/// Each iterator reads one state: of a store the newest when the loop begins, of a snapshot its own. It waits only for
/// pages to be read, and ends when the task is cancelled. To receive later changes, observe the query.
public struct QueryRecords<Subject: Record>: AsyncSequence, Sendable {
  public typealias Element = Subject

  private let query: Query<Subject>
  private let reader: @Sendable () throws(StoreError) -> RecordReader

  init(_ query: Query<Subject>, _ reader: @escaping @Sendable () throws(StoreError) -> RecordReader)
  {
    self.query = query
    self.reader = reader
  }

  public func makeAsyncIterator() -> Iterator { Iterator(query: query, reader: reader) }

  public struct Iterator: AsyncIteratorProtocol {
    private enum Place {
      case before(Query<Subject>, @Sendable () throws(StoreError) -> RecordReader)
      case on(QueryCursor<Subject>)
      case behind
    }

    private var place: Place

    fileprivate init(
      query: Query<Subject>, reader: @escaping @Sendable () throws(StoreError) -> RecordReader
    ) {
      place = .before(query, reader)
    }

    /// Returns the next record; nil after the last, after an error, and if the task is cancelled.
    ///
    /// - Complexity: As of a `QueryCursor`. If records have to be sorted, the first call finds all of them.
    /// - Throws: as `fetch(_:after:)`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Subject? {
      let cursor: QueryCursor<Subject>
      switch place {
      case .before(let query, let reader): cursor = try begin(query, reader)
      case .on(let present): cursor = present
      case .behind: return nil
      }
      place = .behind
      guard !Task.isCancelled, let record = try cursor.next() else { return nil }
      place = .on(cursor)
      return record
    }

    private mutating func begin(
      _ query: Query<Subject>, _ reader: @Sendable () throws(StoreError) -> RecordReader
    ) throws(StoreError) -> QueryCursor<Subject> {
      place = .behind
      return try reader().cursor(query, after: nil)
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
    QueryRecords(query) { () throws(StoreError) in try self.recordReader() }
  }
}

extension StoreSnapshot {
  /// Returns the records of a query as an asynchronous sequence.
  public func records<Subject: Record>(_ query: Query<Subject>) -> QueryRecords<Subject> {
    QueryRecords(query) { self.recordReader() }
  }
}

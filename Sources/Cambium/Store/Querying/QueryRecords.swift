/// The records of a query, one after the other, as an asynchronous sequence.
///
/// Each iterator reads one state: the newest where it begins in a store, the snapshot's in a snapshot. It never
/// waits for anything but pages; it is for loops in tasks, which it ends where the task is cancelled. To be told
/// of what changes later, observe the query.
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

    /// The next record; nil behind the last, after an error, and where the task is cancelled.
    ///
    /// - Complexity: as the cursor's: what has to be sorted is found by the first call.
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
  /// The records of a query as an asynchronous sequence, each time it is iterated of the newest state.
  ///
  /// ```swift
  /// for try await person in store.records(adults) { … }
  /// ```
  public func records<Subject: Record>(_ query: Query<Subject>) -> QueryRecords<Subject> {
    QueryRecords(query) { () throws(StoreError) in try self.recordReader() }
  }
}

extension StoreSnapshot {
  /// The records of a query as an asynchronous sequence.
  public func records<Subject: Record>(_ query: Query<Subject>) -> QueryRecords<Subject> {
    QueryRecords(query) { self.recordReader() }
  }
}

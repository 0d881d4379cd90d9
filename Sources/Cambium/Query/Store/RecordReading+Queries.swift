// Records by their values: each verb takes a query.

extension RecordReading where Self: ~Copyable {
  /// Returns the records of a query.
  ///
  /// ```swift
  /// let cheap = Item.where { $0.price < 20 }.sorted(by: .ascending(\.name)).limit(20)
  /// let page = try store.fetch(cheap)
  /// let next = try store.fetch(cheap, after: page.last)
  /// ```
  ///
  /// - Parameter record: The last record of the page before; only records after it are returned. It need not exist any
  ///   more.
  /// - Complexity: That of the plan: see `explain(_:)`.
  /// - Throws: `StoreError.unknownRecord`; `.invalidQuery` if the query does not fit the record; `.noSuchRecord` if the
  ///   record with the key to begin after does not exist; `.sortTooLarge`, `.corrupt`, `.io`, `.closed`; errors of the
  ///   type's hook after loading.
  @inlinable
  public func fetch<Subject: Record>(
    _ query: Query<Subject>, after record: Subject? = nil
  ) throws -> [Subject] {
    let cursor = try cursor(query, after: record)
    var records: [Subject] = []
    while let record = try cursor.next() { records.append(record) }
    return records
  }

  /// Returns the first record of a query; nil if there is none.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject? {
    var query = query
    query.limit = Swift.min(query.limit ?? 1, 1)
    return try cursor(query).next()
  }
}

// MARK: One by one

extension RecordReading where Self: ~Copyable {
  /// Returns a cursor before the first record of a query. It keeps the state that it reads.
  ///
  /// - Complexity: In the order of an index or of the primary key, records are read as the cursor moves, in constant
  ///   memory. If they have to be sorted, this call finds all of them, and keeps their keys.
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func cursor<Subject: Record>(
    _ query: Query<Subject>, after record: Subject? = nil
  ) throws(StoreError) -> QueryCursor<Subject> {
    try recordReader().cursor(query, after: record)
  }

  /// Calls `body` with each record of a query.
  ///
  /// - Throws: as `fetch(_:after:)`, and errors of `body`, which ends it.
  @inlinable
  public func forEach<Subject: Record>(
    _ query: Query<Subject>, _ body: (Subject) throws -> Void
  ) throws {
    let cursor = try cursor(query)
    while let record = try cursor.next() { try body(record) }
  }

  /// Calls `body` with all records of a query, in batches of `size`, at least one.
  ///
  /// - Throws: as `forEach(_:_:)`.
  @inlinable
  public func forEachBatch<Subject: Record>(
    _ query: Query<Subject>, of size: Int, _ body: ([Subject]) throws -> Void
  ) throws {
    let cursor = try cursor(query)
    while true {
      let batch = try cursor.next(size)
      if batch.isEmpty { return }
      try body(batch)
    }
  }
}

// MARK: How many

extension RecordReading where Self: ~Copyable {
  /// Returns the number of records of a query.
  ///
  /// - Complexity: O(log records) if ranges of an index or of the primary key are all of the condition.
  /// - Throws: as `fetch(_:after:)`.
  public func count<Subject: Record>(_ query: Query<Subject>) throws(StoreError) -> Int {
    let (runner, query) = try recordReader().runner(of: query)
    return try runner.count(query)
  }

  /// Returns true if a query has any record.
  ///
  /// - Complexity: that of finding one.
  /// - Throws: as `count(_:)`.
  public func contains<Subject: Record>(_ query: Query<Subject>) throws(StoreError) -> Bool {
    let (runner, query) = try recordReader().runner(of: query)
    return try runner.count(query, upTo: 1) > 0
  }

  /// Returns the primary keys of a query's records, each as the values of its parts. Rows are read only if the condition
  /// needs them.
  ///
  /// - Throws: as `fetch(_:after:)`.
  public func keys<Subject: Record>(
    _ query: Query<Subject>
  ) throws(StoreError) -> [[FieldValue]] {
    let reader = try recordReader()
    let type = try reader.entities.type(Subject.self)
    let found = try reader.find(query, of: type, for: .keys)
    let layout = type.layout
    var keys: [[FieldValue]] = []
    while try found.next() {
      var key = KeyReader(found.key, layout: layout)
      var parts: [FieldValue] = []
      for column in layout.key.columns { parts.append(try key.value(column)) }
      keys.append(parts)
    }
    return keys
  }

  /// Returns the identifiers of a query's records.
  ///
  /// - Throws: as `select(_:from:)`.
  public func ids<Subject: Record & Identifiable>(
    _ query: Query<Subject>
  ) throws -> [Subject.ID] {
    try select(\.id, from: query)
  }
}

// MARK: Plans

extension RecordReading where Self: ~Copyable {
  /// Explains how a query is run: which index it uses, how many entries and rows it reads, and why other indexes are not
  /// used.
  ///
  /// - Parameter running: True to run the query as well, and count the entries and rows that it reads.
  /// - Throws: as `count(_:)`.
  public func explain<Subject: Record>(
    _ query: Query<Subject>, running: Bool = false
  ) throws(StoreError) -> QueryExplanation {
    let (runner, query) = try recordReader().runner(of: query)
    return try runner.explain(query, running: running)
  }
}

// MARK: - Cursors

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
  /// - Throws: `StoreError.corrupt`, `.io`, `.sortTooLarge`; errors of the type's hook after loading.
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
    var resolved = try query.resolved(in: type, entities)
    if let record { resolved.after = try type.place(of: record) }
    return try QueryRunner(type, in: self).find(resolved, for: need)
  }

  /// Returns the runner of a query, and the query by the stored names of its fields.
  func runner<Subject: Record>(
    of query: Query<Subject>
  ) throws(StoreError) -> (QueryRunner, FieldQuery) {
    let type = try entities.type(Subject.self)
    return (QueryRunner(type, in: self), try query.resolved(in: type, entities))
  }

  /// Returns the runner of queries of the record with a stored name.
  func runner(ofRecord name: String) throws(StoreError) -> QueryRunner {
    QueryRunner(try entities.entity(named: name), in: self)
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
struct QueryRecords<Subject: Record>: AsyncSequence, Sendable {
  fileprivate let begin: @Sendable () throws -> QueryCursor<Subject>

  func makeAsyncIterator() -> Iterator { Iterator(begin: begin) }

  struct Iterator: AsyncIteratorProtocol {
    private let batches: RecordBatches<Subject>
    /// Records that were read and not returned yet.
    private var ready: ArraySlice<Subject> = []

    fileprivate init(begin: @escaping @Sendable () throws -> QueryCursor<Subject>) {
      batches = RecordBatches(begin: begin)
    }

    /// Returns the next record; nil after the last, after an error, and if the task is cancelled.
    ///
    /// - Complexity: As of a `QueryCursor`. If records have to be sorted, the first call finds all of them.
    /// - Throws: as `fetch(_:after:)`.
    mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Subject? {
      if Task.isCancelled {
        ready = []
        batches.end()
        return nil
      }
      if ready.isEmpty { ready = try await batches.next()[...] }
      return ready.popFirst()
    }
  }
}

/// The records of a query in batches, for one task at a time.
private final class RecordBatches<Subject: Record>: @unchecked Sendable {
  private typealias Begin = @Sendable () throws -> QueryCursor<Subject>

  /// Nil once the iteration has begun.
  private var begin: Begin?
  /// Nil before the first batch, and after the last.
  private var cursor: QueryCursor<Subject>?
  /// The number of records in the next batch: first few, which are there soon.
  private var size = 16
  /// The error after the records of the last batch.
  private var failure: (any Error)?
  private static var sizeMax: Int { 256 }

  init(begin: @escaping @Sendable () throws -> QueryCursor<Subject>) {
    self.begin = begin
  }

  /// Returns the next records; none after the last, and after an error.
  @concurrent
  func next() async throws -> [Subject] {
    if let failure = failure.take() { throw failure }
    if begin == nil, cursor == nil { return [] }
    return try await TaskThreads.reading.run { () throws in try read() }
  }

  private func read() throws -> [Subject] {
    let present = try begin.take().map { begin in try begin() } ?? cursor
    cursor = nil
    guard let present else { return [] }
    var records: [Subject] = []
    do {
      while records.count < size, let record = try present.next() { records.append(record) }
    } catch {
      if records.isEmpty { throw error }
      failure = error
      return records
    }
    if records.count == size { cursor = present }
    size = min(2 * size, Self.sizeMax)
    return records
  }

  func end() { (begin, cursor, failure) = (nil, nil, nil) }
}

extension PersistentStore {
  /// Returns the records of a query as an asynchronous sequence; each loop reads the newest state when it begins.
  ///
  /// ```swift
  /// for try await person in store.records(adults) { … }
  /// ```
  ///
  /// Records are read on a thread of the library, up to 256 ahead, and the loop ends when the task is cancelled. It throws as
  /// `fetch(_:after:)`. To receive later changes, observe the query.
  ///
  /// - Complexity: As of a `QueryCursor`. If records have to be sorted, the loop finds all of them before the first.
  public func records<Subject: Record>(
    _ query: Query<Subject>
  ) -> some AsyncSequence<Subject, any Error> & Sendable {
    QueryRecords { try self.cursor(query) }
  }
}

extension StoreSnapshot {
  /// Returns the records of a query as an asynchronous sequence.
  ///
  /// - Complexity: As of a `QueryCursor`. If records have to be sorted, the loop finds all of them before the first.
  public func records<Subject: Record>(
    _ query: Query<Subject>
  ) -> some AsyncSequence<Subject, any Error> & Sendable {
    QueryRecords { try self.cursor(query) }
  }
}

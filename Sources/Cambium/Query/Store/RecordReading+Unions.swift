extension RecordReading where Self: ~Copyable {
  /// Returns the rows of a union.
  ///
  /// ```swift
  /// let titles = Film.select(\.title, \.year).union(Series.select(\.name, \.start))
  ///   .sorted(by: .descending { $0.1 }).limit(20)
  /// for (title, year) in try store.fetch(titles) { … }
  /// ```
  ///
  /// - Complexity: That of the plans of its queries: see `explain(_:running:)`. With an order that an index gives each of them, a
  ///   union with a limit reads as many rows, and one more of each query.
  /// - Throws: As `fetch(_:after:)` of a query of records; `StoreError.invalidQuery` if a column by which rows are sorted or
  ///   compared has no order, or a computation of numbers has no result.
  public func fetch<Row, Columns>(_ query: UnionQuery<Row, Columns>) throws -> [Row] {
    let cursor = try cursor(query)
    var rows: [Row] = []
    while let row = try cursor.next() { rows.append(row) }
    return rows
  }

  /// Returns the first row of a union; nil if there is none.
  ///
  /// - Throws: As `fetch(_:)` of a union.
  public func first<Row, Columns>(_ query: UnionQuery<Row, Columns>) throws -> Row? {
    var query = query
    query.limit = Swift.min(query.limit ?? 1, 1)
    return try cursor(query).next()
  }

  /// Returns a cursor before the first row of a union, to read page after page of one state:
  ///
  /// ```swift
  /// let cursor = try store.cursor(titles)
  /// let first = try cursor.next(20)
  /// let second = try cursor.next(20)
  /// ```
  ///
  /// - Complexity: As `fetch(_:)` of a union. Nothing is read before the first row is.
  /// - Throws: As `fetch(_:)` of a union.
  public func cursor<Row, Columns>(
    _ query: UnionQuery<Row, Columns>
  ) throws -> UnionCursor<Row> {
    UnionCursor(try query.rows(in: try recordReader()))
  }

  /// Returns the number of rows of a union.
  ///
  /// - Complexity: The sum of those of counting each query; with `distinct()`, linear in the rows.
  /// - Throws: As `fetch(_:)` of a union.
  public func count<Row, Columns>(_ query: UnionQuery<Row, Columns>) throws -> Int {
    // The order makes no difference, and would have to be sorted by.
    var query = query
    query.order = []
    let rows = try query.rows(in: try recordReader())
    if query.isDistinct {
      while try rows.next() != nil {}
      return rows.resultCount
    }
    var count = 0
    for part in rows.queries { count += try part.runner.count(part.query) }
    return Swift.max(0, Swift.min(count - query.offset, query.limit ?? .max))
  }

  /// Explains how a union is run: the plan of each of its queries, and how their rows are put together.
  ///
  /// - Parameter running: True to run the union as well, and count the entries and rows that it reads.
  /// - Throws: As `fetch(_:)` of a union.
  public func explain<Row, Columns>(
    _ query: UnionQuery<Row, Columns>, running: Bool = false
  ) throws -> UnionExplanation {
    var reader = try recordReader()
    let reads = RelatedReads()
    reader.reads = reads
    let rows = try query.rows(in: reader)
    let explanations = try rows.queries.map { try $0.runner.explain($0.query, running: false) }
    if running {
      while try rows.next() != nil {}
    }
    return UnionExplanation(
      queries: explanations,
      sortedInMemory: rows.queries.indices.filter { rows.queries[$0].isSortedInMemory },
      isMerged: !query.order.isEmpty, isDistinct: query.isDistinct,
      actual: running ? rows.actual(reads) : nil)
  }
}

/// A cursor over the rows of a union.
///
/// It reads one state, and does not see later commits. A cursor of a transaction sees the transaction's changes after its
/// place, and throws `StoreError.closed` when the transaction has ended.
public final class UnionCursor<Row> {
  private let rows: UnionRows<Row>

  init(_ rows: UnionRows<Row>) {
    self.rows = rows
  }

  /// Moves to the next row, and returns it; nil after the last.
  ///
  /// - Throws: `StoreError.invalidQuery` if a computation of numbers has no result; `.corrupt`, `.io`, `.sortTooLarge`,
  ///   `.closed`; errors of a type's hook after loading.
  public func next() throws -> Row? {
    try rows.next()?.row()
  }

  /// Returns at most `count` of the next rows, but at least one; none if there are no more.
  ///
  /// - Throws: as `next()`.
  public func next(_ count: Int) throws -> [Row] {
    var batch: [Row] = []
    while batch.count < Swift.max(1, count), let row = try next() { batch.append(row) }
    return batch
  }
}

/// The rows of a union, one after the other, in one state.
///
/// Rows of sorted queries are merged: the next one is the first of those that the queries are at. So they are read as they
/// are wanted, and no query is read further than one row ahead.
final class UnionRows<Row> {
  /// The queries of the union, in their order.
  let queries: [SelectedRows<Row>]
  private let need: SelectionNeed
  /// The queries that may have more rows, in their order.
  private var remaining: ArraySlice<SelectedRows<Row>>
  /// The query that has the present row.
  private var present: SelectedRows<Row>?
  /// The number of rows that are still to be returned; nil for all.
  private var left: Int?
  /// The number of rows to be left out before the next.
  private var offset: Int
  /// The rows that were returned, if they are returned once.
  private var known: Set<[UInt8]> = []
  /// True if rows that are the same follow one another.
  private let areSameTogether: Bool
  private(set) var resultCount = 0

  /// - Throws: `.unknownRecord`; `.invalidQuery` if a query does not fit its record, the window is negative, or queries have
  ///   values of different kinds in a column.
  init(
    _ sources: [SelectedRows<Row>.Source], sortedBy order: [ColumnOrder],
    isDistinct: Bool, limit: Int?, offset: Int, in reader: RecordReader
  ) throws {
    let window = FieldQuery(limit: limit, offset: offset)
    let need = SelectionNeed(
      order: order, count: isDistinct ? nil : window.foundCount, isDistinct: isDistinct)
    var queries: [SelectedRows<Row>] = []
    for source in sources {
      let rows = try source(need, reader)
      try window.checkWindow(of: rows.runner.record.record)
      if let first = queries.first { try rows.checkKinds(as: first) }
      queries.append(rows)
    }
    self.need = need
    self.queries = queries
    remaining = queries[...]
    left = limit
    self.offset = offset
    let exact = Set(order.filter { !$0.isOfText }.map(\.column))
    areSameTogether = queries.allSatisfy { $0.columnCount == exact.count }
  }
}

extension SelectedRows {
  /// - Throws: `.invalidQuery` if a column by which rows are sorted or compared has values of another kind than in a union's
  ///   first query: they have no common order.
  fileprivate func checkKinds(as first: SelectedRows) throws(StoreError) {
    let kinds = zip(
      sortKeys.kinds + identities.kinds, first.sortKeys.kinds + first.identities.kinds)
    for (own, other) in kinds where own != other && own != .null && other != .null {
      throw .invalidQuery(
        record: runner.record.record.name, field: nil,
        reason: "a column of the union has values of another type than in the first query")
    }
  }
}

// MARK: Moving

extension UnionRows {
  /// Moves to the next row, and returns the query that it is of; nil after the last.
  ///
  /// - Throws: As `next` of a query.
  func next() throws -> SelectedRows<Row>? {
    if left == 0 { return nil }
    while offset > 0 {
      guard try moveToNew() != nil else { return end() }
      offset -= 1
    }
    guard let query = try moveToNew() else { return end() }
    if let left { self.left = left - 1 }
    resultCount += 1
    return query
  }

  private func end() -> SelectedRows<Row>? {
    left = 0
    return nil
  }

  /// Moves to the next row that was not returned yet, if rows are returned once.
  private func moveToNew() throws -> SelectedRows<Row>? {
    while let query = try move() {
      guard need.isDistinct else { return query }
      let row = try query.identity()
      if known.contains(row) { continue }
      if areSameTogether { known.removeAll(keepingCapacity: true) }
      known.insert(row)
      return query
    }
    return nil
  }

  private func move() throws -> SelectedRows<Row>? {
    present = need.order.isEmpty ? try nextInTurn() : try nextInOrder()
    return present
  }

  /// Returns the first query that has another row.
  private func nextInTurn() throws -> SelectedRows<Row>? {
    while let query = remaining.first {
      if try query.next() { return query }
      remaining.removeFirst()
    }
    return nil
  }

  /// Returns the query that is at the first row of all; of those that agree in the order, the first query.
  private func nextInOrder() throws -> SelectedRows<Row>? {
    if let present {
      if try !present.next() { remaining.removeAll { $0 === present } }
    } else {
      remaining = try remaining.filter { try $0.next() }[...]
    }
    var best: (query: SelectedRows<Row>, key: [UInt8])?
    for query in remaining {
      let key = query.sortKey
      if let best, key.rawSpan.compare(best.key.rawSpan) >= 0 { continue }
      best = (query, key)
    }
    return best?.query
  }
}

// MARK: Explaining

extension UnionRows {
  /// The numbers of entries and rows of records that were read so far, and of rows that were returned.
  ///
  /// - Parameter reads: Those of related records.
  func actual(_ reads: RelatedReads) -> QueryExplanation.Actual {
    let (entryCount, rowCount) = unsafe (reads.entryCount, reads.rowCount)
    return QueryExplanation.Actual(
      entryCount: queries.reduce(entryCount) { $0 + $1.entryCount },
      rowCount: queries.reduce(rowCount) { $0 + $1.rowCount }, resultCount: resultCount)
  }
}

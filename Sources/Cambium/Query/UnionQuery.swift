/// A query of the rows of several selections, of records of different types or of one: those of the first, then those of the
/// second, and so on; or all of them sorted.
///
/// ```swift
/// let titles = Film.select(\.title, \.year).union(Series.select(\.name, \.start))
///   .sorted(by: .descending { $0.1 }, .ascending { $0.0 })
///   .limit(20)
/// for (title, year) in try store.fetch(titles) { … }
/// ```
///
/// Each row is returned as often as queries have it, as by UNION ALL of SQL. `distinct()` returns it once, as UNION does.
///
/// The types of the columns must agree, which the compiler checks; `optional` and ``FieldConstant`` make columns of the same
/// types. All queries read the same state, and share the budget of a query.
public struct UnionQuery<Row, Columns>: Sendable {
  private(set) var selections: [Selection<Row, Columns>]
  /// The columns by which rows are sorted.
  var order: [ColumnOrder] = []
  /// True if each row is returned once, where it comes first.
  package var isDistinct = false
  /// The highest number of rows; nil for all.
  package var limit: Int?
  /// The number of rows that are left out at the beginning.
  package var offset = 0
}

// MARK: Putting together

extension Selection {
  /// Returns the query of the rows of this selection, and then those of another one.
  ///
  /// ```swift
  /// let titles = Film.select(\.title, \.year).union(Series.select(\.name, \.start))
  /// ```
  public func union(_ other: Selection) -> UnionQuery<Row, Columns> {
    UnionQuery(self).union(other)
  }
}

extension UnionQuery {
  fileprivate init(_ selection: Selection<Row, Columns>) {
    selections = [selection]
  }

  /// Returns the query with the rows of another selection as well, after all others. The order of the calls makes no difference:
  /// order, limit and offset are those of all rows.
  public func union(_ other: Selection<Row, Columns>) -> Self {
    var query = self
    query.selections.append(other)
    return query
  }

  /// Returns the query with each row once: where it comes first.
  ///
  /// Rows are the same if their values have the same place in the order: nil is the same as nil, and NaN as NaN, and strings
  /// are compared by their bytes.
  ///
  /// - Complexity: Memory for each different row, unless rows are sorted by all of their columns.
  public func distinct() -> Self {
    var query = self
    query.isDistinct = true
    return query
  }

  /// Returns the query with its rows sorted by these columns, in place of an earlier order:
  /// `.sorted(by: .descending { $0.1 }, .ascending { $0.0 })`.
  ///
  /// Rows that agree in all of them, or all rows if there are none, come in the order of the queries, and those of one query in
  /// its own order.
  ///
  /// - Complexity: Each query is sorted by its columns, by an index if it has one, and the sorted rows are merged as they are
  ///   read; so a limit ends reading. The rows of a query with a limit or an offset of its own are kept in memory and sorted.
  public func sorted(by order: Order...) -> Self {
    var query = self
    guard let columns = selections.first?.columns() else { return self }
    query.order = order.map { $0.column(columns) }
    return query
  }

  /// Returns the query with a limit on the number of rows, in place of an earlier one. A negative limit is an error when the
  /// query is run.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.limit = count
    return query
  }

  /// Returns the query without so many rows at the beginning. A negative number is an error when the query is run.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.offset = count
    return query
  }
}

// MARK: Order

extension UnionQuery {
  /// A column by which rows are sorted: nil first, false before true, strings by their UTF-8 bytes, NaN after all numbers.
  public struct Order: Sendable {
    fileprivate let column: @Sendable (Columns) -> ColumnOrder

    private init<Value>(
      _ column: @escaping @Sendable (Columns) -> SelectedColumn<Value>, isDescending: Bool,
      isCaseInsensitive: Bool = false, collation: Collation? = nil
    ) {
      self.column = { columns in
        ColumnOrder(
          column: column(columns).place, isDescending: isDescending,
          isCaseInsensitive: isCaseInsensitive, collation: collation)
      }
    }
  }
}

extension UnionQuery.Order {
  /// Sorts from the lowest value of a column to the highest: `.ascending { $0.1 }`, or `.ascending { $0 }` of rows with one
  /// column.
  ///
  /// - Parameters:
  ///   - caseInsensitive: True if strings are sorted by Unicode's simple case folding of them. The column must be a field or a
  ///     constant in each query.
  ///   - column: Returns one of the columns.
  public static func ascending<Value: OrderedFieldValue>(
    caseInsensitive: Bool = false,
    _ column: @escaping @Sendable (Columns) -> SelectedColumn<Value>
  ) -> Self {
    Self(column, isDescending: false, isCaseInsensitive: caseInsensitive)
  }

  /// Sorts from the highest value of a column to the lowest, nil last.
  ///
  /// - Parameters:
  ///   - caseInsensitive: True if strings are sorted by Unicode's simple case folding of them. The column must be a field or a
  ///     constant in each query.
  ///   - column: Returns one of the columns.
  public static func descending<Value: OrderedFieldValue>(
    caseInsensitive: Bool = false,
    _ column: @escaping @Sendable (Columns) -> SelectedColumn<Value>
  ) -> Self {
    Self(column, isDescending: true, isCaseInsensitive: caseInsensitive)
  }

  /// Sorts the strings of a column by a collation, from the first to the last: `.ascending(collation: .german) { $0.0 }`.
  public static func ascending<Value: FieldText>(
    collation: Collation, _ column: @escaping @Sendable (Columns) -> SelectedColumn<Value>
  ) -> Self {
    Self(column, isDescending: false, collation: collation)
  }

  /// Sorts the strings of a column by a collation, from the last to the first.
  public static func descending<Value: FieldText>(
    collation: Collation, _ column: @escaping @Sendable (Columns) -> SelectedColumn<Value>
  ) -> Self {
    Self(column, isDescending: true, collation: collation)
  }
}

// MARK: Reading

extension UnionQuery {
  /// Returns the rows of one state, before the first.
  ///
  /// - Throws: As `UnionRows.init`.
  func rows(in reader: RecordReader) throws -> UnionRows<Row> {
    try UnionRows(
      selections.map(\.source), sortedBy: order, isDistinct: isDistinct, limit: limit,
      offset: offset, in: reader)
  }
}

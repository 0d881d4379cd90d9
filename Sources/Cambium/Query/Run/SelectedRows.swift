/// The parts of its rows that a union needs from each of its selections.
struct SelectionNeed: Sendable {
  /// The columns by which rows are sorted; none if they come as they are.
  var order: [ColumnOrder] = []
  /// The highest number of rows that are taken; nil for all.
  var count: Int?
  /// True if rows are compared with all others.
  var isDistinct = false
}

/// The rows of one query of a union, one after the other, in the order of the union.
///
/// The query itself is sorted by the columns, so that an index can give the order, and a limit ends the search. A query with a
/// window of its own cannot be, since that would choose other records: its rows are kept in memory, and sorted.
final class SelectedRows<Row> {
  /// Makes the rows in one state. It checks the query, and reads no record of it yet.
  typealias Source =
    @Sendable (_ need: SelectionNeed, _ reader: RecordReader) throws -> SelectedRows

  /// The query, by the stored names of its fields.
  let query: FieldQuery
  let runner: QueryRunner
  /// True if the rows are kept in memory, and sorted.
  let isSortedInMemory: Bool
  /// The columns by which the union is sorted.
  let sortKeys: ColumnKeys
  /// All columns, if rows are compared.
  let identities: ColumnKeys
  private let columns: [SelectedValue]
  private let makeRow: ([FieldValue]) throws -> Row
  private let countMax: Int?
  /// Nil before the first row.
  private var found: FoundRecords?
  /// The rows that are in memory, from the present one.
  private var sorted: ArraySlice<SortedRow> = []
  /// The key by which the present row is sorted.
  private(set) var sortKey: [UInt8] = []

  /// A row in memory.
  private struct SortedRow {
    let sortKey: [UInt8]
    let identity: [UInt8]
    let row: Row
  }

  /// - Parameters:
  ///   - values: The values of a row.
  ///   - row: Makes a row of the values of one record.
  /// - Throws: `.unknownRecord`; `.invalidQuery` if the query does not fit the record, or the order not a column.
  convenience init<Subject: Record>(
    _ values: [PropertyExpression], of query: Query<Subject>, _ need: SelectionNeed,
    in reader: RecordReader,
    _ row: @escaping ([FieldValue], RecordType<Subject>) throws -> Row
  ) throws(StoreError) {
    let type = try reader.entities.type(Subject.self)
    var expressions: [FieldExpression] = []
    for value in values { expressions.append(try value.fields(in: type, reader.entities)) }
    try self.init(
      expressions, of: try query.resolved(in: type, reader.entities), type, need, in: reader
    ) { values in try row(values, type) }
  }

  /// - Throws: `.invalidQuery` if a value does not fit the record, or the order not a column.
  init(
    _ values: [FieldExpression], of query: FieldQuery, _ record: Entity, _ need: SelectionNeed,
    in reader: RecordReader, _ row: @escaping ([FieldValue]) throws -> Row
  ) throws(StoreError) {
    var columns: [SelectedValue] = []
    for value in values {
      columns.append(
        SelectedValue(expression: value, value: try RowExpression(value, of: record, in: reader)))
    }
    let all = columns.indices.map { ColumnOrder(column: $0) }
    sortKeys = try ColumnKeys(need.order, among: columns, of: record)
    identities = try ColumnKeys(need.isDistinct ? all : [], among: columns, of: record)
    var query = query
    let order = need.order.compactMap { $0.fieldOrder(among: columns) }
    isSortedInMemory = !order.isEmpty && query.hasWindow
    if !isSortedInMemory {
      // The sort is stable: records that agree in the columns come in the order of their own query.
      query.order = order + query.order
      if let count = need.count { query.limit = Swift.min(query.limit ?? count, count) }
    }
    self.query = query
    runner = QueryRunner(record, in: reader)
    self.columns = columns
    makeRow = row
    countMax = need.count
  }

  var columnCount: Int { columns.count }
}

extension ColumnOrder {
  /// The order as a part of a query's; nil of a constant, which sorts nothing.
  fileprivate func fieldOrder(among columns: [SelectedValue]) -> FieldOrder? {
    let expression = columns[column].expression
    if case .value = expression { return nil }
    return FieldOrder(
      expression, isDescending: isDescending, isCaseInsensitive: isCaseInsensitive,
      collation: collation)
  }
}

extension FieldQuery {
  /// True if the order decides which records are found.
  fileprivate var hasWindow: Bool { limit != nil || offset != 0 || after != nil }
}

// MARK: Moving

extension SelectedRows {
  /// Moves to the next row. False after the last.
  ///
  /// - Throws: `.noSuchRecord`, `.invalidQuery`, `.sortTooLarge`, `.corrupt`, `.io`.
  func next() throws -> Bool {
    guard isSortedInMemory else { return try nextFound() }
    if found == nil {
      try sort()
    } else {
      sorted = sorted.dropFirst()
    }
    guard let first = sorted.first else { return false }
    sortKey = first.sortKey
    return true
  }

  private func nextFound() throws(StoreError) -> Bool {
    let found = try begun()
    guard try found.next() else { return false }
    if !sortKeys.isEmpty { sortKey = try key(sortKeys) }
    return true
  }

  private func begun() throws(StoreError) -> FoundRecords {
    if let found { return found }
    let found = try runner.find(query)
    self.found = found
    return found
  }

  /// Finds all rows, and sorts them.
  private func sort() throws {
    var rows: [SortedRow] = []
    var size = 0
    while try nextFound() {
      rows.append(SortedRow(sortKey: sortKey, identity: try key(identities), row: try foundRow()))
      size += sortKey.count
      guard size <= Self.sizeMax else {
        throw StoreError.sortTooLarge(record: runner.record.record.name, size: size)
      }
    }
    let places = rows.indices.sorted { one, other in
      let (first, second) = (rows[one].sortKey, rows[other].sortKey)
      let order = first.rawSpan.compare(second.rawSpan)
      return order == 0 ? one < other : order < 0
    }
    sorted = places.prefix(countMax ?? .max).map { rows[$0] }[...]
  }

  /// The bytes that keys of rows in memory may take.
  private static var sizeMax: Int { 1 << 30 }
}

// MARK: Reading

extension SelectedRows {
  /// Returns the present row.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result, or none of the column's type; `.corrupt`, `.io`.
  func row() throws -> Row {
    guard isSortedInMemory, let first = sorted.first else { return try foundRow() }
    return first.row
  }

  /// Returns the bytes of all columns of the present row, which are those of each row that is the same.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  func identity() throws(StoreError) -> [UInt8] {
    guard isSortedInMemory, let first = sorted.first else { return try key(identities) }
    return first.identity
  }

  private func foundRow() throws -> Row {
    let (found, layout) = (try begun(), runner.record.layout)
    let record = try RowReader(
      key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
    var values: [FieldValue] = []
    values.reserveCapacity(columns.count)
    for column in columns {
      values.append(try column.value.fieldValue(of: record, runner.record))
    }
    return try makeRow(values)
  }

  private func key(_ keys: ColumnKeys) throws(StoreError) -> [UInt8] {
    if keys.isEmpty { return [] }
    let (found, layout) = (try begun(), runner.record.layout)
    let record = try RowReader(
      key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
    return try keys.key(of: record)
  }

  /// The number of entries that were read so far.
  var entryCount: Int { found?.entryCount ?? 0 }
  /// The number of rows of records that were read so far.
  var rowCount: Int { found?.rowCount ?? 0 }
}

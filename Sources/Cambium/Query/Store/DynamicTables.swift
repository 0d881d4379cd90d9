// Running values and unions without Swift types: what text asks for.

extension RecordReading where Self: ~Copyable {
  /// Calls `body` with each record of a query in its order, and with values of the records from the first up to it.
  ///
  /// - Parameters:
  ///   - keys: The expressions of which each value has totals and ranks of its own.
  ///   - valueCondition: A condition on the values, by the descriptions of the steps. Records that do not meet it are counted as
  ///     well.
  ///   - limit: The highest number of records for which `body` is called; nil for all.
  ///   - fields: The stored names of the fields to return; nil for all.
  /// - Throws: As `fetch(record:where:sortedBy:limit:offset:after:fields:)`; `StoreError.invalidQuery` if a computation has no
  ///   result; errors of `body`, which ends it.
  package func forEach(
    record name: String, where condition: FieldCondition?, sortedBy order: [FieldOrder],
    running steps: [FieldRunningStep], within keys: [FieldExpression],
    having valueCondition: FieldCondition?, limit: Int?, offset: Int, fields: [String]?,
    stringsAsBlobs: Bool = false, _ body: (DynamicRecord, [FieldValue]) throws -> Void
  ) throws {
    let reader = try recordReader()
    let record = try reader.runner(ofRecord: name).record
    try FieldQuery(limit: limit, offset: offset).checkWindow(of: record.record)
    let query = FieldQuery(condition: condition, order: order)
    let found = try FoundDynamicRecords(query, of: name, fields, in: reader)
    var values = try RunningValues(
      steps, within: keys, of: found.found, query, record, in: reader)
    let columns = zip(steps, values.types).map { step, type in
      ComputedTable.Column(name: "\(step)", type: type)
    }
    let table = try ComputedTable(
      "running values of \(name)", columns, where: valueCondition, sortedBy: [], in: reader)
    let encoder = KeyEncoder()
    var (left, offset) = (limit ?? .max, offset)
    while left > 0, try found.next() {
      let results = try values.add(found.found.key, try found.found.row())
      guard try table.sortKey(results, encoder) != nil else { continue }
      if offset > 0 {
        offset -= 1
        continue
      }
      left -= 1
      try body(try found.record(stringsAsBlobs: stringsAsBlobs), results)
    }
  }

  /// Returns a cursor over the rows of a union of queries.
  ///
  /// - Parameters:
  ///   - selections: The queries; their columns have the same number, and those by which rows are sorted or compared the same
  ///     types.
  ///   - order: Values of the first query by which rows are sorted.
  ///   - isDistinct: True if each row comes once.
  /// - Throws: As `fetch(_:)` of a union.
  package func cursor(
    _ selections: [FieldSelection], sortedBy order: [FieldSubquery.Order] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> UnionCursor<[FieldValue]> {
    let reader = try recordReader()
    for other in selections.dropFirst() where other.values.count != selections[0].values.count {
      throw StoreError.invalidQuery(
        record: other.query.record, field: nil,
        reason:
          "the first query of the union has \(selections[0].values.count) values of each record, and this one has \(other.values.count)"
      )
    }
    var columns: [ColumnOrder] = []
    for part in order {
      guard let first = selections.first, let place = first.values.firstIndex(of: part.value) else {
        throw StoreError.invalidQuery(
          record: selections.first?.query.record ?? "", field: part.value.firstField,
          reason:
            "a union is sorted by the values of its first query; \(part.value) is none of them"
        )
      }
      columns.append(
        ColumnOrder(
          column: place, isDescending: part.isDescending,
          isCaseInsensitive: part.isCaseInsensitive, collation: part.collation))
    }
    let sources = selections.map { selection -> SelectedRows<[FieldValue]>.Source in
      { need, reader in try SelectedRows(selection, need, in: reader) }
    }
    return UnionCursor(
      try UnionRows(
        sources, sortedBy: columns, isDistinct: isDistinct, limit: limit, offset: offset,
        in: reader))
  }
}

extension SelectedRows<[FieldValue]> {
  fileprivate convenience init(
    _ selection: FieldSelection, _ need: SelectionNeed, in reader: RecordReader
  ) throws(StoreError) {
    try self.init(
      selection.values, of: FieldQuery(selection.query),
      try reader.entities.entity(named: selection.query.record), need, in: reader
    ) { $0 }
  }
}

/// One of the selections of a union, by the stored names of fields.
package struct StoredSelection<Row> {
  /// The query of its records.
  package let query: StoredQuery
  /// The values of the columns.
  package let values: [FieldExpression]
  /// Makes a row of the values of a record.
  package let row: ([FieldValue]) throws -> Row
}

extension UnionQuery {
  /// The columns by which rows are sorted, from 0; nil if strings are not sorted by their bytes.
  package var byteOrder: [(column: Int, isDescending: Bool)]? {
    order.contains(where: \.isOfText) ? nil : order.map { ($0.column, $0.isDescending) }
  }
}

extension RecordMapping {
  /// Returns the selections of a union by the stored names of their fields.
  ///
  /// - Throws: as `stored(_:)` of a query, for each.
  package func stored<Row, Columns>(
    _ union: UnionQuery<Row, Columns>
  ) throws -> [StoredSelection<Row>] {
    try union.selections.map { selection in
      let resolved = try selection.resolved(entities)
      let query = resolved.query
      try FieldQuery(limit: union.limit, offset: union.offset)
        .checkWindow(of: try entities.entity(named: resolved.record).record)
      return StoredSelection(
        query: StoredQuery(
          record: resolved.record, condition: query.condition, order: query.order,
          limit: query.limit, offset: query.offset, after: resolved.after),
        values: resolved.values, row: resolved.row)
    }
  }
}

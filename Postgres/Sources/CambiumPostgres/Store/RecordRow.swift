import Cambium

/// A record as the parameters that write it.
struct RecordRow {
  let values: DynamicRecord
  /// The values of the primary key.
  let key: [FieldValue]
  /// The parameters of the primary key.
  let keys: [SQLParameter]
  /// Those of the columns that are written, in their order.
  let columns: [SQLParameter]
  /// The elements of the lists that have tables, in their order; null for none.
  let lists: [SQLParameter]

  /// - Throws: `PostgresStoreError.impossibleValue`.
  init(_ values: DynamicRecord, _ table: TablePlan, dates: DateForm) throws {
    self.values = values
    key = ServerTransaction.key(of: values, table)
    columns = try table.written.map { try $0.parameter(of: values, dates: dates) }
    var keys: [SQLParameter] = []
    for part in table.key {
      for (column, parameter) in zip(table.written, columns) where column.name == part.name {
        keys.append(parameter)
      }
    }
    self.keys = keys
    lists = try table.lists.map { list in
      var elements = list.path.value(in: values)
      if case .array = elements {} else { elements = .null }
      guard let parameter = SQLParameter(array: elements, of: list.scalar, dates: dates) else {
        throw PostgresStoreError.impossibleValue(
          record: values.name, field: list.field, reason: ValueLoss.nul.text)
      }
      return parameter
    }
  }
}

extension TablePlan {
  /// The columns that a record's row is written with.
  var written: [ColumnPlan] { copied.filter { $0.source != .kind } }

  /// True if the server alone can tell whether a row is refused by a unique constraint.
  var hasPartialConstraints: Bool {
    record.indexes.contains { index in
      index.isUnique && index.condition.map { kinds(requiredBy: $0) == nil } ?? false
    }
  }
}

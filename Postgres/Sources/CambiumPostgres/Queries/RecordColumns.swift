import Cambium

/// The columns of a table that make its records, and records of rows with them.
struct RecordColumns {
  let table: TablePlan
  let dates: DateForm
  /// Those that the server only computes for others are left out.
  private let columns: [ColumnPlan]

  init(_ table: TablePlan, dates: DateForm) {
    self.table = table
    self.dates = dates
    columns = table.columns.filter { $0.source != .kind }
  }

  /// The columns, and after them the lists, as a statement selects them.
  func list(in scope: TableScope, _ translation: QueryTranslation) -> String {
    (columns.map { scope.column($0.name) }
      + table.lists.map { translation.array(of: $0, in: scope) }).joined(separator: ", ")
  }

  /// The record of a row.
  ///
  /// - Throws: `PostgresStoreError.server` if the row has a value that the record cannot have.
  func record(_ row: [[UInt8]?]) throws -> DynamicRecord {
    var values: [String: FieldValue] = [:]
    var isSet: [String: Bool] = [:]
    let decoder = ValueDecoder(dates: dates)
    for (place, column) in columns.enumerated() {
      guard let field = column.field else { continue }
      switch column.source {
      case .value(_, let scalar):
        guard let value = decoder.value(row[place], of: scalar) else { throw unreadable(field) }
        values[field] = value
      case .array(_, let scalar):
        guard let value = decoder.array(row[place], of: scalar) else { throw unreadable(field) }
        values[field] = value
      case .isSet:
        isSet[field] = row[place].map { $0 == [1] } ?? false
      case .short, .parts, .kind: continue
      }
    }
    for (place, list) in table.lists.enumerated() {
      guard let value = decoder.array(row[columns.count + place], of: list.scalar) else {
        throw unreadable(list.field)
      }
      values[list.field] = value
    }
    var fields: [String: FieldValue] = [:]
    for field in table.record.fields where field.composite == nil {
      fields[field.name] = value(of: field, values, isSet)
    }
    return DynamicRecord(table.record.name, RecordFields(fields))
  }

  /// The value of a field: a composite is put together of its parts.
  private func value(
    of field: FieldSchema, _ values: [String: FieldValue], _ isSet: [String: Bool]
  ) -> FieldValue {
    guard field.type == .composite else { return values[field.name] ?? .null }
    if field.isOptional, isSet[field.name] != true { return .null }
    var parts: [String: FieldValue] = [:]
    for part in table.record.fields where part.composite == field.number {
      parts[String(part.name.dropFirst(field.name.count + 1))] = value(of: part, values, isSet)
    }
    return .composite(parts)
  }

  private func unreadable(_ field: String) -> PostgresStoreError {
    .unsuitableDatabase(
      reason:
        "a row of \(table.name) has a value for \(table.record.name).\(field) that it cannot have")
  }
}

// MARK: - Writing

extension ColumnPlan {
  /// The parameter that a record has for the column.
  ///
  /// - Throws: `PostgresStoreError.impossibleValue`.
  func parameter(of record: DynamicRecord, dates: DateForm) throws -> SQLParameter {
    let parameter: SQLParameter?
    switch source {
    case .value(let path, let scalar):
      parameter = SQLParameter(path.value(in: record), of: scalar, dates: dates)
    case .array(let path, let scalar):
      parameter = SQLParameter(array: path.value(in: record), of: scalar, dates: dates)
    case .isSet(let path):
      let isSet = path.value(in: record) != .null
      parameter = SQLParameter(.boolean(isSet), of: .boolean, dates: dates)
    case .short, .parts, .kind: parameter = nil
    }
    guard let parameter else {
      throw PostgresStoreError.impossibleValue(
        record: record.name, field: field ?? name, reason: ValueLoss.nul.text)
    }
    return parameter
  }
}

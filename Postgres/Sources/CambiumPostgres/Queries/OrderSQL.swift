import Cambium

/// A part of an order as SQL.
struct OrderSQL {
  let sql: String
  let isDescending: Bool
  var isNullable = true
  /// The type of the values, if they are of a field of the record.
  let field: FieldSQL?

  /// Null is first, and NaN last, as the server has it.
  var text: String { sql + SQL.order(isDescending: isDescending, isNullable: isNullable) }
}

extension QueryTranslation {
  /// The parts of an order, and after them those of the primary key, so that the order is complete.
  mutating func order(_ order: [FieldOrder], in scope: TableScope) throws -> [OrderSQL] {
    var parts: [OrderSQL] = []
    for part in order {
      guard !part.isCaseInsensitive, part.collation == nil else {
        throw unsupported(
          scope, "order by \(part.value)",
          "strings are sorted by their bytes on the server, and by no collation of the program")
      }
      parts.append(try self.order(part, in: scope))
    }
    for key in scope.table.key {
      parts.append(
        OrderSQL(
          sql: scope.column(key.name), isDescending: key.isDescending, isNullable: false,
          field: nil))
    }
    return parts
  }

  private mutating func order(_ part: FieldOrder, in scope: TableScope) throws -> OrderSQL {
    if case .field(let name) = part.value {
      let field = try field(name, in: scope)
      guard field.scalar != nil else {
        throw StoreError.invalidQuery(
          record: scope.table.record.name, field: name,
          reason: "values of \(field.field.type) have no order")
      }
      let isOwn = scope.table.record.field(named: name) != nil
      let column = scope.table.columns.first { scope.column($0.name) == field.sql }
      return OrderSQL(
        sql: field.sql, isDescending: part.isDescending, isNullable: column?.isNullable ?? true,
        field: isOwn ? field : nil)
    }
    let value = try expression(part.value, in: scope, isStrict: true)
    return OrderSQL(sql: value.sql, isDescending: part.isDescending, field: nil)
  }

  /// The condition that a record comes after a place in an order.
  ///
  /// - Parameter values: The values of the parts of the order and of the primary key at the place.
  mutating func isAfter(
    _ values: [FieldValue], by order: [OrderSQL], in scope: TableScope
  ) throws -> String {
    var terms: [String] = []
    var before: [String] = []
    for (part, value) in zip(order, values) {
      let scalar = try scalar(of: part, in: scope)
      let right = value == .null ? "NULL" : try add(value, of: scalar, scope, "the place \(value)")
      let isBeyond: String =
        switch (value == .null, part.isDescending) {
        case (true, false): "\(part.sql) IS NOT NULL"
        case (true, true): "false"
        case (false, false): "\(part.sql) > \(right)"
        case (false, true): "(\(part.sql) < \(right) OR \(part.sql) IS NULL)"
        }
      terms.append("(" + (before + [isBeyond]).joined(separator: " AND ") + ")")
      before.append(
        value == .null ? "\(part.sql) IS NULL" : "\(part.sql) = \(right)")
    }
    return "(" + terms.joined(separator: " OR ") + ")"
  }

  private func scalar(of part: OrderSQL, in scope: TableScope) throws -> ScalarType {
    if let scalar = part.field?.scalar { return scalar }
    for column in scope.table.columns where scope.column(column.name) == part.sql {
      if case .value(_, let scalar) = column.source { return scalar }
    }
    throw unsupported(
      scope, "a place in an order", "the order is by values that the record does not have itself")
  }
}

// MARK: - Queries within queries

extension QueryTranslation {
  /// The rows of a query that is a part of a condition, as a `FROM` clause with its condition, and the scope of the rows.
  mutating func subquery(
    _ query: FieldSubquery, _ outer: TableScope
  ) throws -> (rows: String, scope: TableScope) {
    guard let table = table(named: query.record) else {
      throw StoreError.unknownRecord(name: query.record)
    }
    guard query.after == nil else {
      throw unsupported(outer, "a query of \(query.record)", "it begins after a record")
    }
    let scope = self.scope(of: table)
    let condition = try self.condition(query.condition, in: scope)
    let from = "\(plan.qualified(table.name)) AS \(scope.alias) WHERE \(condition)"
    guard query.limit != nil || query.offset != 0 else { return (from, scope) }
    guard query.order.allSatisfy({ !$0.isCaseInsensitive && $0.collation == nil }) else {
      throw unsupported(outer, "a query of \(query.record)", "its order is not that of bytes")
    }
    let order = try self.order(
      query.order.map { FieldOrder($0.value, isDescending: $0.isDescending) }, in: scope)
    let window = try window(limit: query.limit, offset: query.offset, of: table)
    return (
      "(SELECT \(scope.alias).* FROM \(from) ORDER BY"
        + " \(order.map(\.text).joined(separator: ", "))\(window)) AS \(scope.alias)", scope
    )
  }

  func window(limit: Int?, offset: Int, of table: TablePlan) throws -> String {
    guard (limit ?? 0) >= 0, offset >= 0 else {
      throw StoreError.invalidQuery(
        record: table.record.name, field: nil, reason: "its limit or offset is negative")
    }
    return (limit.map { " LIMIT \($0)" } ?? "") + (offset == 0 ? "" : " OFFSET \(offset)")
  }
}

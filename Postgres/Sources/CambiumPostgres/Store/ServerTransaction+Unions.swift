import Cambium

// MARK: - Rows of several selections

extension ServerTransaction {
  /// The rows of a union, by one statement: those of the first selection, then those of the second, and so on; or all sorted.
  func union<Row, Columns>(_ query: UnionQuery<Row, Columns>) throws -> [Row] {
    let selections = try mapping.stored(query)
    guard let order = query.byteOrder else {
      throw unsupported(selections, "strings are sorted by their bytes on the server")
    }
    var translation = QueryTranslation(plan)
    var parts: [String] = []
    var columns: [[ComputedSQL]] = []
    for (number, selection) in selections.enumerated() {
      var rows = try self.rows(selection.query, continuing: translation)
      let values = try selection.values.map { value in
        try rows.translation.expression(value, in: rows.scope, isStrict: true)
      }
      translation = rows.translation
      // Rows that agree come in the order of the selections, and of one selection in its own.
      let place = "row_number() OVER (ORDER BY \(rows.parts.map(\.text).joined(separator: ", ")))"
      let texts = values.enumerated().map { "\($1.column) AS c\($0)" }
      parts.append(
        "SELECT \(([number.description + " AS s", place + " AS n"] + texts).joined(separator: ", "))"
          + " FROM \(table(of: rows))")
      columns.append(values)
    }
    try check(columns, selections)
    let names = (columns.first ?? []).indices.map { "u.c\($0)" }
    let sorted =
      (order.map {
        "u.c\($0.column)" + SQL.order(isDescending: $0.isDescending, isNullable: true)
      }
      + ["u.s", "u.n"]).joined(separator: ", ")
    var from = "(\(parts.joined(separator: " UNION ALL "))) AS u"
    if query.isDistinct {
      from =
        "(SELECT u.*, row_number() OVER (PARTITION BY \(names.joined(separator: ", ")) ORDER BY"
        + " \(sorted)) AS d FROM \(from)) AS u WHERE u.d = 1"
    }
    let window =
      (query.limit.map { " LIMIT \($0)" } ?? "")
      + (query.offset == 0 ? "" : " OFFSET \(query.offset)")
    let found = try run(
      "SELECT \((["u.s::bigint"] + names).joined(separator: ", ")) FROM \(from) ORDER BY"
        + " \(sorted)\(window)", translation.parameters)
    let decoder = ValueDecoder(dates: dates)
    return try found.rows.compactMap { row in
      guard let number = row[0].flatMap({ ValueDecoder.integer($0) }).map({ Int($0) }),
        selections.indices.contains(number)
      else { return nil }
      let record = selections[number].query.record
      let values = try columns[number].enumerated().map { place, value in
        try decoder.result(row[place + 1], value.kind, isFloat: value.isFloat, of: record)
      }
      return try selections[number].row(values)
    }
  }

  /// Throws unless the values of each column are of one kind, as the columns of a statement are.
  private func check<Row>(
    _ columns: [[ComputedSQL]], _ selections: [StoredSelection<Row>]
  ) throws {
    for place in (columns.first ?? []).indices {
      let kinds = Set(columns.map { $0[place].kind }).subtracting([.null])
      if kinds.count > 1 {
        throw unsupported(selections, "the values of a column are of several types")
      }
    }
  }

  private func unsupported<Row>(
    _ selections: [StoredSelection<Row>], _ reason: String
  ) -> PostgresStoreError {
    .unsupportedQuery(
      record: selections.first?.query.record ?? "", part: "a union", reason: reason)
  }
}

extension ComputedSQL {
  /// The value as a column, in which texts have the order of their bytes.
  fileprivate var column: String {
    switch kind {
    case .string, .url: "(\(sql)) COLLATE \"C\""
    default: sql
    }
  }
}

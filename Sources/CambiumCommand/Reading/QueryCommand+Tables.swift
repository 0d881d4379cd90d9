import ArgumentParser
import Cambium

// Rows that are more than records: groups, running values, records along a relation, selected values.

extension QueryCommand {
  /// True if groups are shown, or values of all records.
  var isGrouped: Bool {
    [group, sum, average, min, max, distinct].contains { $0 != nil }
  }

  /// - Throws: `ValidationError` for options that do not go together.
  func validateTables() throws {
    let tables = [isGrouped, running != nil, along != nil, !union.isEmpty || unique]
    if tables.filter({ $0 }).count > 1 {
      throw ValidationError(
        "Groups, --running, --along and --union or --unique do not go together: use one of them.")
    }
    if having != nil, !isGrouped, running == nil {
      throw ValidationError("--having is a condition on groups, or on values of --running.")
    }
    if within != nil, running == nil { throw ValidationError("--within goes with --running.") }
    if depth != nil, along == nil { throw ValidationError("--depth goes with --along.") }
    if !union.isEmpty, fields == nil {
      throw ValidationError("--union needs --fields, which names the columns.")
    }
    let isOfRecords = !after.isEmpty || including != nil || count || explain
    if isGrouped, isOfRecords || fields != nil {
      throw ValidationError(
        "Groups have no records to show: only a condition, --having, --sort, --limit, --offset, --csv and --json go with them."
      )
    }
    if isOfRecords, running != nil || along != nil || !union.isEmpty || unique {
      throw ValidationError(
        "--after, --including, --count and --explain are of records: they do not go with --running, --along, --union or --unique."
      )
    }
    if along != nil, !sort.isEmpty {
      throw ValidationError("Records along a relation come by their depth, without --sort.")
    }
  }

  var orderArguments: [OrderArgument] {
    sort.flatMap(\.listed).map { OrderArgument($0) }
  }
}

// MARK: - Groups

extension QueryCommand {
  func writeGroups(of snapshot: StoreSnapshot, where condition: FieldCondition?) throws {
    let keys = (group ?? "").listed
    var names = keys + ["count()"]
    var aggregates: [FieldAggregate] = [.count]
    let asked: [(name: String, kind: AggregateKind, values: String?)] = [
      ("sum", .sum, sum), ("average", .average, average), ("min", .lowest, min),
      ("max", .highest, max), ("distinct", .distinct, distinct),
    ]
    for (name, kind, values) in asked {
      for value in (values ?? "").listed {
        names.append("\(name)(\(value))")
        aggregates.append(FieldAggregate(kind, try FieldExpression(parsing: value)))
      }
    }
    var columns = GroupColumns(
      keys: try keys.map { try FieldExpression(parsing: $0) }, aggregates: aggregates)
    let order = try orderArguments.map { try $0.order(of: &columns) }
    let groupCondition = try having.map { try columns.condition(parsing: $0) }
    let groups = try snapshot.group(
      record: type, where: condition, by: columns, having: groupCondition, sortedBy: order,
      limit: limit, offset: offset)
    var output = RecordOutput(form, names.map { FieldShape(computed: $0) })
    for group in groups {
      try output.add(row(names, group.key + group.value))
    }
    output.finish("group")
  }

  /// Returns values as a record of columns, whose names are given.
  private func row(_ names: [String], _ values: [FieldValue]) -> ShownRecord {
    let cells = Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
    return ShownRecord(record: DynamicRecord(type, RecordFields(cells)))
  }
}

// MARK: - Records with values

extension QueryCommand {
  func writeRunning(
    _ shape: RecordShape, of snapshot: StoreSnapshot, where condition: FieldCondition?,
    sortedBy order: [FieldSubquery.Order]
  ) throws {
    let texts = (running ?? "").listed
    let steps = try texts.map { try FieldRunningStep(parsing: $0) }
    var table = GroupColumns()
    for step in steps {
      if case .aggregate(let aggregate) = step {
        table = GroupColumns(aggregates: table.aggregates + [aggregate])
      }
    }
    table.names = steps.map { "\($0)" }
    let valueCondition = try having.map { try table.condition(parsing: $0) }
    let columns = try columns(of: shape)
    let names = columns.map(\.name) + texts.map { columns.named($0) }
    var output = RecordOutput(
      form, columns + names.dropFirst(columns.count).map { FieldShape(computed: $0) })
    try snapshot.forEach(
      record: type, where: condition, sortedBy: order.map { FieldOrder($0) }, running: steps,
      within: try (within ?? "").listed.map { try FieldExpression(parsing: $0) },
      having: valueCondition, limit: limit, offset: offset,
      fields: fields == nil ? nil : columns.map(\.name), stringsAsBlobs: true
    ) { record, values in
      try output.add(row(names, columns.map { record[$0.name] } + values))
    }
    output.finish()
  }

  func writeReached(
    _ shape: RecordShape, of snapshot: StoreSnapshot, where condition: FieldCondition?,
    along relation: String
  ) throws {
    let columns = try columns(of: shape)
    let names = columns.map(\.name) + [columns.named("depth")]
    var output = RecordOutput(form, columns + [FieldShape(computed: names[columns.count])])
    var (skipped, shown) = (0, 0)
    try snapshot.forEach(
      record: type, where: condition, along: relation, upTo: depth, stringsAsBlobs: true
    ) { record, depth in
      if skipped < offset {
        skipped += 1
      } else if shown < limit ?? .max {
        shown += 1
        try output.add(row(names, columns.map { record[$0.name] } + [.integer(Int64(depth))]))
      }
    }
    output.finish()
  }
}

extension [FieldShape] {
  /// Returns the name of a column of values, which differs from those of the fields.
  fileprivate func named(_ name: String) -> String {
    contains { $0.name == name } ? name + "()" : name
  }
}

// MARK: - Selected values

extension QueryCommand {
  /// True if values are shown that are not whole fields, or those of more than one query.
  func isSelection(of shape: RecordShape) -> Bool {
    if !union.isEmpty || unique { return true }
    return (fields ?? "").listed.contains { text in
      !shape.fields.contains { $0.name == text } && text.contains { "(+-*/%?.".contains($0) }
    }
  }

  func writeRows(
    _ shape: RecordShape, of snapshot: StoreSnapshot, where condition: FieldCondition?,
    sortedBy order: [FieldSubquery.Order], after key: [FieldValue]?
  ) throws {
    if including != nil || count || explain {
      throw CommandFailure(
        .usage, "--including, --count and --explain are of records, not of expressions in --fields."
      )
    }
    let names = fields?.listed ?? shape.columns.map(\.name)
    let values = try names.map { name in
      shape.fields.contains { $0.name == name } ? .field(name) : try FieldExpression(parsing: name)
    }
    // One query is sorted by whatever its records have; rows of several by the columns.
    let isOfRows = !union.isEmpty || unique
    let query = FieldSubquery(
      of: type, where: condition ?? .and([]), sortedBy: isOfRows ? [] : order,
      limit: isOfRows ? nil : limit, offset: isOfRows ? 0 : offset, after: key)
    let selections =
      [FieldSelection(values, of: query)] + (try union.map { try FieldSelection(parsing: $0) })
    let cursor = try snapshot.cursor(
      selections, sortedBy: isOfRows ? order : [], isDistinct: unique,
      limit: isOfRows ? limit : nil, offset: isOfRows ? offset : 0)
    var output = RecordOutput(
      form,
      names.map { name in
        shape.fields.first { $0.name == name } ?? FieldShape(computed: name)
      })
    while let row = try cursor.next() { try output.add(self.row(names, row)) }
    output.finish("row")
  }
}

// MARK: - Order

/// A part of an order as an argument: "name", "-name", "price * count desc".
struct OrderArgument {
  private let text: String
  private let isReversed: Bool

  init(_ text: String) {
    isReversed = text.hasPrefix("-")
    self.text = isReversed ? String(text.dropFirst()) : text
  }

  /// The order of records.
  ///
  /// - Throws: `ConditionSyntaxError`.
  var order: FieldSubquery.Order {
    get throws {
      if let plain { return plain }
      return reversed(try FieldSubquery.Order(parsing: text))
    }
  }

  /// Returns the order of groups.
  ///
  /// - Throws: `ConditionSyntaxError`.
  func order(of columns: inout GroupColumns) throws -> FieldSubquery.Order {
    if let plain, columns.keys.contains(plain.value) { return plain }
    return reversed(try columns.order(parsing: text))
  }

  private func reversed(_ order: FieldSubquery.Order) -> FieldSubquery.Order {
    var order = order
    if isReversed { order.isDescending.toggle() }
    return order
  }

  /// The order by a field whose name is written as it is, with spaces and all; nil for an expression.
  private var plain: FieldSubquery.Order? {
    guard !text.contains(where: { "(+*/%?[`".contains($0) }) else { return nil }
    for (word, isDescending) in [
      (" desc", true), (" descending", true), (" asc", false), (" ascending", false),
    ] where text.hasSuffix(word) {
      return FieldSubquery.Order(
        .field(String(text.dropLast(word.count))), isDescending: isDescending != isReversed)
    }
    return FieldSubquery.Order(.field(text), isDescending: isReversed)
  }
}

import Cambium

// MARK: - Columns

extension TableChange {
  /// Removes the constraints and columns that the new table does not have, in one statement.
  func removals(in plan: PostgresPlan) -> [MigrationStatement] {
    var clauses: [String] = []
    for (check, after) in zip(old.checks, renamed.checks) where !isKept(after) {
      clauses.append("DROP CONSTRAINT \(SQL.name(check.name))")
    }
    for (index, after) in indexPairs where index.isConstraint {
      if after.map({ !isKept($0) }) ?? true {
        clauses.append("DROP CONSTRAINT \(SQL.name(index.name))")
      }
    }
    let places = old.columns.indices.filter { !isKept(renamed.columns[$0]) }
    // Columns that are computed of others go first.
    for place in places where old.columns[place].generated != nil {
      clauses.append("DROP COLUMN \(SQL.name(old.columns[place].name))")
    }
    for place in places where old.columns[place].generated == nil {
      clauses.append("DROP COLUMN \(SQL.name(old.columns[place].name))")
    }
    var statements: [MigrationStatement] = []
    for (index, after) in indexPairs where !index.isConstraint {
      if after.map({ !isKept($0) }) ?? true {
        statements.append(
          MigrationStatement("DROP INDEX \(plan.qualified(index.name))", new.record.name))
      }
    }
    return statements + alter(old.name, clauses, in: plan)
  }

  /// The indexes, each with the same index under its new names; nil if it has none.
  var indexPairs: [(old: IndexPlan, renamed: IndexPlan?)] {
    old.indexes.map { index in (index, renamed.indexes.first { $0.number == index.number }) }
  }

  /// Adds the new columns, and changes the types of others; then gives values to rows that have none, and sets the rest.
  ///
  /// - Throws: `StepObstacle` for a value that SQL does not have.
  func changes(in plan: PostgresPlan) throws(StepObstacle) -> [MigrationStatement] {
    var first: [String] = []
    var updates: [MigrationStatement] = []
    var last: [String] = []
    for column in new.columns where column.generated == nil {
      let change = try change(of: column)
      first += change.first
      last += change.last
      for (assignment, condition) in change.updates {
        updates.append(
          MigrationStatement(
            "UPDATE \(plan.qualified(new.name)) SET \(assignment)"
              + (condition.isEmpty ? "" : " WHERE \(condition)"), new.record.name,
            field: column.field, readsRows: true))
      }
    }
    let isRewriting =
      first.contains { $0.contains(" TYPE ") } || last.contains { $0.contains("SET NOT") }
    return alter(new.name, first, in: plan, readsRows: isRewriting) + updates
      + alter(new.name, last, in: plan, readsRows: isRewriting)
  }

  /// Adds what the server computes or checks of the columns.
  func rules(in plan: PostgresPlan) -> [MigrationStatement] {
    var clauses: [String] = []
    for column in new.columns where column.generated != nil {
      if before(column).map({ !isKept($0) }) ?? true { clauses.append("ADD COLUMN \(column.line)") }
    }
    for check in new.checks
    where !renamed.checks.contains(where: { $0 == check && isKept($0) }) {
      clauses.append("ADD CONSTRAINT \(SQL.name(check.name)) CHECK (\(check.condition))")
    }
    var statements = alter(new.name, clauses, in: plan, readsRows: true)
    for index in new.indexes
    where !indexPairs.contains(where: { $0.renamed.map { $0 == index && isKept($0) } ?? false }) {
      let name = new.record.indexes.first { $0.number == index.number }?.name
      statements.append(
        MigrationStatement(
          plan.statement(of: index, in: new), new.record.name, field: name, readsRows: true))
    }
    return statements
  }

  private func alter(
    _ table: String, _ clauses: [String], in plan: PostgresPlan, readsRows: Bool = false
  ) -> [MigrationStatement] {
    if clauses.isEmpty { return [] }
    return [
      MigrationStatement(
        "ALTER TABLE \(plan.qualified(table)) " + clauses.joined(separator: ", "), new.record.name,
        readsRows: readsRows)
    ]
  }
}

// MARK: - One column

/// The parts of the statements that change one column.
private struct ColumnChange {
  var first: [String] = []
  /// Each with its condition, which is empty for all rows.
  var updates: [(assignment: String, condition: String)] = []
  var last: [String] = []
}

extension TableChange {
  private func change(of column: ColumnPlan) throws(StepObstacle) -> ColumnChange {
    let field = column.field.flatMap { new.record.field(named: $0) }
    let step = field.flatMap { self.step.field($0.number) }
    guard let field, let step else { return ColumnChange() }
    let name = SQL.name(column.name)
    if let before = before(column), isKept(before) {
      return try change(of: column, from: before, field, step)
    }
    var change = ColumnChange()
    let value = try literal(for: column, step)
    let outer = presence(around: field).map { SQL.name($0.name) }
    // Parts of a composite have values only where it is.
    if let outer, let value {
      let least = column.kind == .isSet ? "false" : nil
      change.first.append(
        "ADD COLUMN \(name) \(column.typeText)"
          + (least.map { " NOT NULL DEFAULT \($0)" } ?? ""))
      if value != least { change.updates.append(("\(name) = \(value)", outer)) }
      change.last += column.defaultClauses(after: least)
      return change
    }
    change.first.append(
      "ADD COLUMN \(name) \(column.typeText)" + (value.map { " DEFAULT \($0)" } ?? "")
        + (column.isNullable ? "" : " NOT NULL"))
    change.last += column.defaultClauses(after: value)
    return change
  }

  private func change(
    of column: ColumnPlan, from before: ColumnPlan, _ field: FieldSchema,
    _ step: MigrationOutline.FieldStep
  ) throws(StepObstacle) -> ColumnChange {
    var change = ColumnChange()
    let name = SQL.name(column.name)
    if before.typeText != column.typeText {
      change.first.append(
        "ALTER COLUMN \(name) TYPE \(column.typeText) USING \(name)::\(column.type.rawValue)")
    }
    if let constant = step.constant, column.kind != .isSet {
      let value = try literal(constant == .null ? step.missing : constant, for: column)
      change.updates.append(("\(name) = \(value)", ""))
    } else if step.missing != .null, column.kind != .isSet {
      let value = try literal(step.missing, for: column)
      let outer = presence(around: field).map { "\(SQL.name($0.name)) AND " } ?? ""
      change.updates.append(("\(name) = \(value)", "\(outer)\(name) IS NULL"))
    }
    if before.isNullable != column.isNullable {
      change.last.append("ALTER COLUMN \(name) \(column.isNullable ? "DROP" : "SET") NOT NULL")
    }
    if before.defaultValue != column.defaultValue || before.typeText != column.typeText {
      change.last += column.defaultClauses(after: before.defaultValue)
    }
    return change
  }

  /// The value of a new column in rows that exist; nil for null.
  private func literal(
    for column: ColumnPlan, _ step: MigrationOutline.FieldStep
  ) throws(StepObstacle) -> String? {
    let value = step.constant.flatMap { $0 == .null ? nil : $0 } ?? step.missing
    if column.kind == .isSet { return value == .null ? "false" : "true" }
    return value == .null ? nil : try literal(value, for: column)
  }

  private func literal(
    _ value: FieldValue, for column: ColumnPlan
  ) throws(StepObstacle) -> String {
    let scalar: ScalarType? =
      switch column.source {
      case .value(_, let scalar), .array(_, let scalar): scalar
      default: nil
      }
    guard let scalar, let text = value.literal(of: scalar, dates: dates, rounding: true) else {
      throw StepObstacle(
        reason: "SQL has no literal of \(value), for \(new.record.name).\(column.field ?? "")")
    }
    return text
  }
}

extension ColumnPlan {
  /// The clauses that set the default of new rows.
  ///
  /// - Parameter present: The default that it has; nil for none.
  fileprivate func defaultClauses(after present: String?) -> [String] {
    if identity != nil { return [] }
    guard let defaultValue else {
      return present == nil ? [] : ["ALTER COLUMN \(SQL.name(name)) DROP DEFAULT"]
    }
    return ["ALTER COLUMN \(SQL.name(name)) SET DEFAULT \(defaultValue)"]
  }
}

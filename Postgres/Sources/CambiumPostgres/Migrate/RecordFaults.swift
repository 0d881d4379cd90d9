import Cambium

/// Counts the records that statements of the first step would refuse: those without a value that they need, with the same values as
/// others, or with references that lead nowhere. The tables of later steps do not exist yet.
struct RecordFaults {
  private let database: StoredDatabase

  init(_ database: StoredDatabase) {
    self.database = database
  }

  func found(_ connection: Connection) throws -> [MigrationPlan.Fault] {
    guard let step = database.outline.steps.first,
      let statements = try? StepStatements(step, database.options)
    else { return [] }
    var faults: [MigrationPlan.Fault] = []
    for change in statements.changes {
      faults += try missingValues(change, connection)
      faults += try duplicates(change, connection)
      faults += try danglingReferences(change, statements.new, connection)
    }
    return faults
  }

  private func rows(_ sql: String, _ connection: Connection) throws -> (count: Int, first: String) {
    let found = try connection.run(sql).first ?? []
    return (found.first.flatMap { $0.flatMap { Int($0) } } ?? 0, found.last.flatMap { $0 } ?? "")
  }

  /// The key of a row as text.
  private func key(of table: TablePlan, _ alias: String) -> String {
    "concat_ws(', ', "
      + table.key.map { "\(alias).\(SQL.name($0.name))::text" }.joined(separator: ", ") + ")"
  }

  private func missingValues(
    _ change: TableChange, _ connection: Connection
  ) throws -> [MigrationPlan.Fault] {
    var faults: [MigrationPlan.Fault] = []
    for field in change.step.fields where field.missing == .null && field.constant == nil {
      guard let before = field.old, before.isOptional, !field.new.isOptional,
        let place = change.renamed.columns.firstIndex(where: { $0.field == field.new.name }),
        change.old.columns[place].kind != .isSet
      else { continue }
      let outer = change.presence(around: field.new).flatMap { column in
        zip(change.old.columns, change.renamed.columns).first { $1.name == column.name }?.0
      }
      let name = "r.\(SQL.name(change.old.columns[place].name))"
      let found = try rows(
        "SELECT count(*), min(\(key(of: change.old, "r"))) FROM"
          + " \(database.old.qualified(change.old.name)) AS r WHERE \(name) IS NULL"
          + (outer.map { " AND r.\(SQL.name($0.name))" } ?? ""), connection)
      guard found.count > 0 else { continue }
      faults.append(
        .refusedValues(
          record: change.new.record.name, field: field.new.name, count: found.count,
          of: try database.count(change.old, connection), first: "\(found.first) has no value"))
    }
    return faults
  }

  private func duplicates(
    _ change: TableChange, _ connection: Connection
  ) throws -> [MigrationPlan.Fault] {
    var faults: [MigrationPlan.Fault] = []
    for index in change.new.indexes where index.isUnique && index.condition == nil {
      guard !change.indexPairs.contains(where: { $0.renamed == index }),
        let schema = change.new.record.indexes.first(where: { $0.number == index.number })
      else { continue }
      let columns = schema.parts.compactMap { part in oldColumn(of: part.field, in: change) }
      guard columns.count == schema.parts.count else { continue }
      let names = columns.map { "r.\(SQL.name($0))" }
      let found = try rows(
        "SELECT coalesce(sum(n - 1), 0), min(k) FROM (SELECT count(*) AS n, min(\(key(of: change.old, "r"))) AS k"
          + " FROM \(database.old.qualified(change.old.name)) AS r WHERE num_nulls(\(names.joined(separator: ", "))) = 0"
          + " GROUP BY \(names.joined(separator: ", ")) HAVING count(*) > 1) AS t", connection)
      guard found.count > 0 else { continue }
      faults.append(
        .duplicates(
          record: change.new.record.name, constraint: schema.name, count: found.count,
          first: found.first))
    }
    return faults
  }

  /// The old column of a field that keeps its values as they are.
  private func oldColumn(of number: UInt32, in change: TableChange) -> String? {
    guard let step = change.step.field(number), step.old != nil, step.missing == .null,
      step.constant == nil
    else { return nil }
    let pairs = zip(change.old.columns, change.renamed.columns)
    return pairs.first { $1.field == step.new.name && $1.kind == .value }?.0.name
  }

  private func danglingReferences(
    _ change: TableChange, _ new: PostgresPlan, _ connection: Connection
  ) throws -> [MigrationPlan.Fault] {
    var faults: [MigrationPlan.Fault] = []
    for key in change.new.foreignKeys where !change.renamed.foreignKeys.contains(key) {
      let column = change.new.columns.first { $0.name == key.column }
      guard let field = column?.field.flatMap({ change.new.record.field(named: $0) }),
        let name = oldColumn(of: field.number, in: change),
        let target = new.tables.first(where: { $0.name == key.table })
      else { continue }
      let value = "r.\(SQL.name(name))"
      let destination = database.old.tables.first { $0.record.number == target.record.number }
      let isMissing = destination.flatMap { table in
        table.key.first.map {
          " AND NOT EXISTS (SELECT FROM \(database.old.qualified(table.name)) AS d WHERE d.\(SQL.name($0.name)) = \(value))"
        }
      }
      let found = try rows(
        "SELECT count(*), min(\(self.key(of: change.old, "r")) || ' to ' || \(value)::text) FROM"
          + " \(database.old.qualified(change.old.name)) AS r WHERE \(value) IS NOT NULL"
          + (isMissing ?? ""), connection)
      guard found.count > 0 else { continue }
      faults.append(
        .danglingReferences(
          record: change.new.record.name, field: field.name, destination: target.record.name,
          count: found.count, first: found.first))
    }
    return faults
  }
}

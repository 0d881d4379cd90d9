import Cambium

/// The statements that take a database from one version to the next.
///
///     foreign keys, constraints and columns that go ─▶ tables that go ─▶ names ─▶ new tables and columns, types, values
///       ─▶ what the server computes and checks, indexes ─▶ foreign keys
///
/// Everything that both versions have under the same definition stays as it is, and afterwards the tables are those that the plan of
/// the new version would make.
struct StepStatements {
  let old: PostgresPlan
  let new: PostgresPlan
  private(set) var changes: [TableChange] = []
  var all: [MigrationStatement] = []

  /// - Throws: `StepObstacle` if the records have to be rewritten by the program.
  init(_ step: MigrationOutline.Step, _ options: PlanOptions) throws(StepObstacle) {
    if let reason = step.obstacle { throw StepObstacle(reason: reason) }
    old = PostgresPlan(step.from, options: options)
    new = PostgresPlan(step.to, options: options)
    let renamed = PostgresPlan(step.renamed, options: options)
    for record in step.records {
      guard let table = old.tables.first(where: { $0.record.number == record.old.number }),
        let under = renamed.tables.first(where: { $0.record.number == record.old.number }),
        let after = new.tables.first(where: { $0.record.number == record.new.number })
      else { continue }
      changes.append(try TableChange(table, under, after, record, dates: options.dates))
    }
    try checkNewLists()
    addRemovals()
    addNames()
    try addTablesAndColumns()
    addRules()
  }

  private var added: [TablePlan] {
    new.tables.filter { table in !changes.contains { $0.new.record.number == table.record.number } }
  }

  private var removed: [TablePlan] {
    old.tables.filter { table in !changes.contains { $0.old.record.number == table.record.number } }
  }

  /// A new list is empty.
  private func checkNewLists() throws(StepObstacle) {
    for change in changes {
      for list in change.newLists {
        guard let field = change.new.record.field(named: list.field) else { continue }
        let step = change.step.field(field.number)
        if let value = step?.constant ?? step?.missing, value != .null, value != .array([]) {
          throw StepObstacle(
            reason: "\(change.new.record.name).\(list.field) gets elements in records that exist")
        }
      }
    }
  }
}

extension TableChange {
  /// The lists that the new table has and the old one had not.
  var newLists: [ListPlan] {
    new.lists.filter { list in !renamed.lists.contains { $0.field == list.field } }
  }

  /// The lists that both have: the old one, the same one under its new names, and the new one.
  var keptLists: [(old: ListPlan, renamed: ListPlan, new: ListPlan)] {
    zip(old.lists, renamed.lists).compactMap { before, under in
      new.lists.first { $0.field == under.field }.map { (before, under, $0) }
    }
  }

  fileprivate var removedLists: [ListPlan] {
    zip(old.lists, renamed.lists).filter { _, under in
      !new.lists.contains { $0.field == under.field }
    }.map(\.0)
  }
}

// MARK: - Removing

extension StepStatements {
  private mutating func addRemovals() {
    for change in changes {
      for (key, under) in zip(change.old.foreignKeys, change.renamed.foreignKeys)
      where !change.new.foreignKeys.contains(under) {
        all.append(old.removal(of: key.name, from: change.old.name, change.new.record.name))
      }
      for list in change.keptLists where list.renamed.foreignKey != list.new.foreignKey {
        all.append(
          old.removal(of: list.old.foreignKey.name, from: list.old.name, change.new.record.name))
      }
    }
    // Foreign keys between tables that go are dropped with them.
    let tables =
      removed.flatMap { [$0.name] + $0.lists.map(\.name) }
      + changes.flatMap { $0.removedLists.map(\.name) }
    if !tables.isEmpty {
      all.append(
        MigrationStatement("DROP TABLE \(tables.map { old.qualified($0) }.joined(separator: ", "))")
      )
    }
    for change in changes { all += change.removals(in: old) }
  }
}

extension PostgresPlan {
  fileprivate func removal(
    of constraint: String, from table: String, _ record: String
  ) -> MigrationStatement {
    MigrationStatement(
      "ALTER TABLE \(qualified(table)) DROP CONSTRAINT \(SQL.name(constraint))", record)
  }
}

// MARK: - Adding

extension StepStatements {
  private mutating func addTablesAndColumns() throws(StepObstacle) {
    for table in added {
      all.append(MigrationStatement(new.statement(of: table), table.record.name))
      all += table.lists.map { MigrationStatement(new.statement(of: $0), table.record.name) }
    }
    for change in changes {
      all += change.newLists.map {
        MigrationStatement(new.statement(of: $0), change.new.record.name)
      }
      all += try change.changes(in: new)
    }
  }

  private mutating func addRules() {
    for table in added {
      all += new.keyStatements(of: table).map { MigrationStatement($0, table.record.name) }
    }
    for change in changes {
      let name = change.new.record.name
      all += change.rules(in: new)
      for list in change.newLists {
        all += new.keyStatements(of: list).map { MigrationStatement($0, name, field: list.field) }
      }
    }
    // They lead to keys of any table.
    for table in added {
      all += new.foreignKeyStatements(of: table).map { MigrationStatement($0, table.record.name) }
    }
    for change in changes { addForeignKeys(of: change) }
  }

  private mutating func addForeignKeys(of change: TableChange) {
    let name = change.new.record.name
    for key in change.new.foreignKeys where !change.renamed.foreignKeys.contains(key) {
      let column = change.new.columns.first { $0.name == key.column }
      all.append(
        MigrationStatement(
          new.statement(of: key, in: change.new.name), name, field: column?.field, readsRows: true))
    }
    for list in change.newLists {
      all += new.foreignKeyStatements(of: list, in: change.new).map {
        MigrationStatement($0, name, field: list.field)
      }
    }
    for list in change.keptLists where list.renamed.foreignKey != list.new.foreignKey {
      all.append(
        MigrationStatement(
          new.statement(of: list.new.foreignKey, in: list.new.name), name, field: list.new.field,
          readsRows: true))
    }
  }
}

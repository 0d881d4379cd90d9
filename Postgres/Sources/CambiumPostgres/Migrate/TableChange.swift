import Cambium

/// The change of a record's table in a step: the table as it is, the same table under the names of the new version, and the new
/// table. The first two have the same columns and constraints, place by place.
struct TableChange {
  let old: TablePlan
  let renamed: TablePlan
  let new: TablePlan
  let step: MigrationOutline.RecordStep
  let dates: DateForm

  /// - Throws: `StepObstacle` if the places differ, as when names that collide get other numbers.
  init(
    _ old: TablePlan, _ renamed: TablePlan, _ new: TablePlan, _ step: MigrationOutline.RecordStep,
    dates: DateForm
  ) throws(StepObstacle) {
    self.old = old
    self.renamed = renamed
    self.new = new
    self.step = step
    self.dates = dates
    let isParallel =
      old.columns.map(\.kind) == renamed.columns.map(\.kind)
      && old.lists.count == renamed.lists.count && old.checks.count == renamed.checks.count
      && old.foreignKeys.count == renamed.foreignKeys.count
    guard isParallel, renamed.name == new.name, renamed.key == new.key else {
      throw StepObstacle(reason: "the names of \(new.record.name) collide with others")
    }
    for list in renamed.lists {
      guard let after = new.lists.first(where: { $0.field == list.field }) else { continue }
      guard list.hasNames(of: after) else {
        throw StepObstacle(reason: "the list \(new.record.name).\(list.field) gets another table")
      }
    }
    for column in renamed.columns {
      guard let after = self.after(column) else { continue }
      guard after.name == column.name, after.isArray == column.isArray else {
        throw StepObstacle(reason: "the column of \(new.record.name).\(column.field ?? "") differs")
      }
    }
    try checkLists()
  }

  /// Lists that become arrays, or the other way round, and lists that can be null from now on, or cannot any more, are rewritten.
  private func checkLists() throws(StepObstacle) {
    for field in step.fields {
      guard let before = field.old, case .array = field.new.type else { continue }
      let hadTable = renamed.lists.contains { $0.field == field.new.name }
      let hasTable = new.lists.contains { $0.field == field.new.name }
      if hadTable != hasTable || hasTable && before.isOptional != field.new.isOptional {
        throw StepObstacle(
          reason: "the elements of \(new.record.name).\(field.new.name) are kept elsewhere")
      }
    }
  }

  /// The new column of the same part of a record; nil if there is none.
  func after(_ column: ColumnPlan) -> ColumnPlan? {
    new.columns.first { $0.field == column.field && $0.kind == column.kind }
  }

  /// The column that a new one was, under its new name; nil if it is new.
  func before(_ column: ColumnPlan) -> ColumnPlan? {
    renamed.columns.first { $0.field == column.field && $0.kind == column.kind }
  }

  /// True if a column of the old table is of a field that the new record has.
  func isKept(_ column: ColumnPlan) -> Bool {
    guard let after = after(column) else { return false }
    // What the server computes is computed again, unless it is the same.
    if column.generated != nil || after.generated != nil {
      return column.generated == after.generated && column.typeText == after.typeText
    }
    guard let name = column.field, let field = new.record.field(named: name) else { return true }
    return step.field(field.number)?.old != nil
  }

  /// The names of columns that are removed, made again, or get another type, as they are after the renaming.
  private var changedColumns: [ColumnPlan] {
    renamed.columns.filter { !isKept($0) || after($0)?.typeText != $0.typeText }
  }

  /// True if a check of the renamed table stays as it is.
  func isKept(_ check: CheckPlan) -> Bool {
    new.checks.contains(check)
      && !changedColumns.contains { check.condition.contains(name: $0.name) }
  }

  /// True if an index of the renamed table stays as it is. That of a column that is made again is dropped with it.
  func isKept(_ index: IndexPlan) -> Bool {
    guard new.indexes.contains(index) else { return false }
    let gone = renamed.columns.filter { !isKept($0) }
    if gone.contains(where: { column in index.parts.contains { $0.contains(name: column.name) } }) {
      return false
    }
    return index.condition.map { condition in
      !changedColumns.contains { condition.contains(name: $0.name) }
    } ?? true
  }

  /// The column that is true if there is the innermost optional composite that a field is a part of.
  func presence(around field: FieldSchema) -> ColumnPlan? {
    var number = field.composite
    while let composite = number.flatMap({ new.record.field($0) }) {
      let column = new.columns.first { $0.field == composite.name && $0.kind == .isSet }
      if let column { return column }
      number = composite.composite
    }
    return nil
  }
}

extension ColumnPlan {
  /// The kind of its source, without names.
  enum Kind: Hashable {
    case value, array, isSet, short, parts, kind
  }

  var kind: Kind {
    switch source {
    case .value: .value
    case .array: .array
    case .isSet: .isSet
    case .short: .short
    case .parts: .parts
    case .kind: .kind
    }
  }
}

extension String {
  /// True if an expression of SQL has a name in it; it may be true of a text that only looks like that.
  fileprivate func contains(name: String) -> Bool {
    let name = SQL.name(name)
    if name.hasPrefix("\"") { return contains(name) }
    let words = split { !($0.isLetter || $0.isNumber || $0 == "_") }
    return words.contains { $0 == name }
  }
}

extension ListPlan {
  fileprivate func hasNames(of other: ListPlan) -> Bool {
    name == other.name && keyColumns.map(\.name) == other.keyColumns.map(\.name)
      && keyColumns.map(\.type) == other.keyColumns.map(\.type)
      && positionColumn == other.positionColumn && elementColumn == other.elementColumn
      && type == other.type && ownerKeyName == other.ownerKeyName && keyName == other.keyName
      && indexName == other.indexName && foreignKey.name == other.foreignKey.name
  }
}

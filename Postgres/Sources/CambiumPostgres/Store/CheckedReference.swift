import Cambium

/// A reference that has a foreign key: its own, or one of the table of a list.
struct CheckedReference {
  let table: TablePlan
  let field: FieldSchema
  let target: TablePlan
  let key: ForeignKeyPlan
  private let list: ListPlan?

  init?(_ field: FieldSchema, of table: TablePlan, in plan: PostgresPlan) {
    guard let reference = field.reference, reference.isChecked,
      let target = plan.tables.first(where: { $0.record.name == reference.destination })
    else { return nil }
    list = table.lists.first { $0.field == field.name }
    let own = table.foreignKeys.first { key in
      table.columns.contains { $0.name == key.column && $0.field == field.name }
    }
    guard let key = list?.foreignKey ?? own else { return nil }
    self.table = table
    self.field = field
    self.target = target
    self.key = key
  }

  /// The column with the reference.
  var value: String { "\(list == nil ? "r" : "l").\(SQL.name(key.column))" }

  /// The rows with it, for a `FROM` clause.
  func source(_ plan: PostgresPlan) -> String {
    let rows = "\(plan.qualified(table.name)) AS r"
    guard let list else { return rows }
    let isOwner = zip(list.keyColumns, table.key).map {
      "l.\(SQL.name($0.name)) = r.\(SQL.name($1.name))"
    }
    return "\(plan.qualified(list.name)) AS l JOIN \(rows) ON "
      + isOwner.joined(separator: " AND ")
  }

  /// The row that it leads to, for `EXISTS`.
  func destinations(_ plan: PostgresPlan) -> String {
    "SELECT FROM \(plan.qualified(target.name)) AS t WHERE t.\(SQL.name(key.tableColumn)) = \(value)"
  }

  func dangling(_ found: (key: String, destination: String)) -> StoreError {
    .danglingReference(
      record: table.record.name, key: found.key, field: field.name,
      destination: "\(field.reference?.destinationText ?? "") \(found.destination)")
  }
}

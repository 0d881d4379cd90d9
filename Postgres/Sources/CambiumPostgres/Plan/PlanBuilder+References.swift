import Cambium

extension PlanBuilder {
  /// Adds the foreign keys of a table, and the tables of its lists.
  mutating func addReferences(to place: Int) {
    let table = plan.tables[place]
    var constraints = NamePool()
    for check in table.checks { _ = constraints.take(check.name) }
    for field in table.record.declaredFields {
      guard let reference = field.reference, reference.isChecked,
        let target = self.table(of: reference.destination), let targetKey = target.key.first
      else { continue }
      let rule = inverse(of: field, in: table.record)?.deleteRule
      if case .array(let scalar) = field.type {
        if options.hasTable(field, of: table.record) {
          let list = list(field, of: scalar, table, target, targetKey.name, rule)
          update(place) { $0.lists.append(list) }
        }
      } else if let column = column(of: field, in: table) {
        guard isOnOneServer(column, table, with: target) else {
          note(
            table.record, field.name,
            "is checked by no server, since the records that it leads to may be on another one")
          continue
        }
        let key = ForeignKeyPlan(
          name: constraints.take("\(table.name)_\(column.name)_fkey"), column: column.name,
          table: target.name, tableColumn: targetKey.name,
          deletion: deletion(rule, canBeCut: field.isOptional, field, table.record))
        update(place) { $0.foreignKeys.append(key) }
      }
    }
  }

  /// True if a record and the one that it leads to are on the same server, whatever their keys are.
  private func isOnOneServer(
    _ column: ColumnPlan, _ table: TablePlan, with target: TablePlan
  ) -> Bool {
    guard table.division != nil || target.division != nil else { return true }
    return table.division?.column == column.name && target.key.count == 1
      && target.division?.column == target.key.first?.name
      && target.columns.first?.type == column.type
  }

  /// The references of a table with foreign keys to records of one kind.
  func kindReferences(of table: TablePlan) -> [KindReference] {
    table.record.declaredFields.compactMap { field in
      guard let reference = field.reference, reference.isChecked, let kind = reference.kind,
        let target = self.table(of: reference.destination),
        let composite = target.record.field(named: kind),
        let presence = target.presence(ofKind: kind)
      else { return nil }
      let list = table.lists.first { $0.field == field.name }
      guard let scalar = list?.scalar ?? field.type.scalar else { return nil }
      return KindReference(
        record: table.record.name, destination: target.record.name, field: field,
        path: FieldPath(field, in: table.record), scalar: scalar,
        kindPath: FieldPath(composite, in: target.record), presence: presence.name)
    }
  }

  private func inverse(of field: FieldSchema, in record: RecordSchema) -> InverseSchema? {
    field.reference.flatMap { schema.record(named: $0.destination) }?.inverses.first {
      $0.related == record.name && $0.reference == field.name
    }
  }

  /// The rule of a foreign key: with no inverse, references are cut where they can be, and otherwise nothing is deleted.
  private func deletion(
    _ rule: DeleteRule?, canBeCut: Bool, _ field: FieldSchema, _ record: RecordSchema
  ) -> String {
    let isKey = record.primaryKey.contains { $0.field == field.number }
    switch rule {
    case .cascade: return "CASCADE"
    case .nullify: return "SET NULL"
    case nil: return canBeCut && !isKey ? "SET NULL" : "NO ACTION"
    default: return "NO ACTION"
    }
  }

  private mutating func list(
    _ field: FieldSchema, of scalar: ScalarType, _ table: TablePlan, _ target: TablePlan,
    _ targetKey: String, _ rule: DeleteRule?
  ) -> ListPlan {
    var columns = NamePool()
    let fieldName = options.names.name(field.name)
    let name = relations.take("\(table.name)_\(fieldName)")
    let keyColumns = table.key.map { key in
      (
        name: columns.take("\(table.name)_\(key.name)"),
        type: table.columns.first { $0.name == key.name }?.type ?? .text
      )
    }
    if rule == .cascade {
      note(
        table.record, field.name,
        "deletes its record with any element, which no foreign key does; the element is taken out of the list instead"
      )
    }
    let element = columns.take(target.name == table.name ? fieldName : target.name)
    return ListPlan(
      name: name, field: field.name, path: FieldPath(field, in: table.record),
      type: SQLType(scalar, dates: options.dates), scalar: scalar, keyColumns: keyColumns,
      positionColumn: columns.take("position"), elementColumn: element,
      foreignKey: ForeignKeyPlan(
        name: "\(element)_fkey", column: element, table: target.name, tableColumn: targetKey,
        deletion: rule == .deny ? "NO ACTION" : "CASCADE"),
      // A record may be called Owner.
      ownerKeyName: element == "owner" ? "record_fkey" : "owner_fkey",
      keyName: relations.take("\(name)_pkey"),
      indexName: relations.take("\(name)_\(element)_idx"))
  }
}

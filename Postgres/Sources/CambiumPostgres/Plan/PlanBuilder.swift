package import Cambium

/// Makes the plan of a schema.
struct PlanBuilder {
  let schema: Schema
  let options: PlanOptions
  private(set) var plan: PostgresPlan
  /// Tables and indexes share a namespace.
  var relations = NamePool()
  /// The names of the tables, by the stored names of records.
  private var tableNames: [String: String] = [:]

  init(_ schema: Schema, _ options: PlanOptions) {
    self.schema = schema
    self.options = options
    plan = PostgresPlan(schema: schema, options: options)
  }

  mutating func build() -> PostgresPlan {
    let records = schema.records.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    for record in records {
      tableNames[record.name] = relations.take(options.names.name(record.name))
    }
    for record in records {
      var table = TableBuilder(record, name: tableNames[record.name] ?? record.name, options)
      table.addColumns()
      plan.notes += table.notes
      plan.tables.append(table.table)
    }
    if let division = options.division { divide(division) }
    // References need the keys of all tables, and indexes the tables of lists.
    for place in plan.tables.indices { addReferences(to: place) }
    for place in plan.tables.indices { addIndexes(to: place) }
    plan.kindReferences = plan.tables.flatMap { kindReferences(of: $0) }
    for record in records { noteRest(of: record) }
    return plan
  }

  private mutating func divide(_ division: Division) {
    for place in plan.tables.indices {
      let table = plan.tables[place]
      guard let field = division.fields[table.record.name],
        let column = table.columns.first(where: { $0.field == field })
      else { continue }
      let parts = division.servers.indices.map { relations.take("\(table.name)_\($0 + 1)") }
      update(place) { $0.division = TableDivision(column: column.name, parts: parts) }
    }
  }

  mutating func note(_ record: RecordSchema, _ field: String?, _ text: String) {
    plan.notes.append(PlanNote(record: record.name, field: field, text: text))
  }

  mutating func update(_ place: Int, _ change: (inout TablePlan) -> Void) {
    change(&plan.tables[place])
  }

  /// The column with a field's whole value; nil if there is no single one.
  func column(of field: FieldSchema, in table: TablePlan) -> ColumnPlan? {
    table.columns.first { column in
      switch column.source {
      case .value, .array: column.field == field.name
      default: false
      }
    }
  }

  func table(of record: String) -> TablePlan? { plan.tables.first { $0.record.name == record } }

  private mutating func noteRest(of record: RecordSchema) {
    for field in record.fields {
      guard let reference = field.reference else { continue }
      if !reference.isChecked {
        note(record, field.name, "is not checked in the store either, so it has no foreign key")
      } else if reference.deleteRule != .nullify {
        note(
          record, field.name,
          "its own delete rule, \(reference.deleteRule), goes from a record to those that it leads to; no foreign key does that, so programs have to"
        )
      }
      if let kind = reference.kind {
        note(record, field.name, "leads to \(kind) only; the foreign key does not check the kind")
      }
    }
  }
}

extension PostgresPlan {
  /// Makes the plan for a version of a store. Nothing is read or written.
  package init(_ schema: Schema, options: PlanOptions = PlanOptions()) {
    var builder = PlanBuilder(schema, options)
    self = builder.build()
  }
}

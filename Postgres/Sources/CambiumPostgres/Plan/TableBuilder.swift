import Cambium

/// Makes the columns and checks of one table.
struct TableBuilder {
  let record: RecordSchema
  let options: PlanOptions
  private(set) var table: TablePlan
  private(set) var notes: [PlanNote] = []
  /// Columns, and constraints, have namespaces of their own in the table.
  private var names = NamePool()
  private var constraints = NamePool()
  /// The expressions that are true if there is a composite, by its number.
  private var presence: [UInt32: String] = [:]

  init(_ record: RecordSchema, name: String, _ options: PlanOptions) {
    self.record = record
    self.options = options
    table = TablePlan(record: record, name: name)
  }

  mutating func addColumns() {
    // The columns of the key keep their names, whatever else is called so.
    let keyFields = record.primaryKey.compactMap { record.field($0.field) }
    for field in keyFields { add(field) }
    table.key = zip(record.primaryKey, table.columns).map {
      KeyColumn(name: $1.name, isDescending: $0.isDescending)
    }
    let keyNumbers = Set(keyFields.map(\.number))
    for field in record.declaredFields where !keyNumbers.contains(field.number) { add(field) }
    addGeneratedColumns()
    addKinds()
    if table.columns.count > 1_600 {
      note(nil, "has \(table.columns.count) columns; a table of PostgreSQL has at most 1600")
    }
  }

  private mutating func note(_ field: FieldSchema?, _ text: String) {
    notes.append(PlanNote(record: record.name, field: field?.name, text: text))
  }

  private mutating func add(_ field: FieldSchema) {
    let path = FieldPath(field, in: record)
    let isNullable = canBeNull(field)
    let wanted = options.names.name(field.name)
    switch field.type {
    case .composite:
      guard field.isOptional else { return }
      addPresence(of: field, path, wanted)
    case .scalar(let scalar):
      var column = ColumnPlan(
        name: names.take(wanted), type: SQLType(scalar, dates: options.dates),
        source: .value(path, scalar), field: field.name)
      column.isNullable = isNullable
      column.defaultValue = field.defaultValue?.literal(of: scalar, dates: options.dates)
      derive(&column, field)
      table.columns.append(column)
      addChecks(of: column, scalar)
    case .transformable(let codec):
      var column = ColumnPlan(
        name: names.take(wanted), type: .bytea, source: .value(path, .binaryData), field: field.name
      )
      column.isNullable = isNullable
      table.columns.append(column)
      note(field, "keeps the bytes of the codec \(codec), which SQL cannot read")
    case .array(let scalar): addArray(field, of: scalar, path, wanted)
    case .external(let scalar, _):
      var short = ColumnPlan(
        name: names.take(wanted), type: SQLType(scalar, dates: options.dates),
        source: .short(path, scalar), field: field.name)
      short.isNullable = true
      let parts = ColumnPlan(
        name: names.take(wanted + "_blob"), type: .uuid, isNullable: true, source: .parts(path),
        field: field.name)
      table.columns += [short, parts]
      let count = "num_nonnulls(\(SQL.name(short.name)), \(SQL.name(parts.name)))"
      check(wanted + "_once", isNullable ? "\(count) <= 1" : "\(count) = 1")
    @unknown default:
      note(field, "has a type that this version does not know, and stays behind: \(field.type)")
    }
  }

  private mutating func addArray(
    _ field: FieldSchema, of scalar: ScalarType, _ path: FieldPath, _ wanted: String
  ) {
    let isNullable = canBeNull(field)
    if options.hasTable(field, of: record) {
      guard isNullable else { return }
      // An empty list has no rows in the list's table either.
      table.columns.append(
        ColumnPlan(
          name: names.take(wanted + "_is_set"), type: .boolean, source: .isSet(path),
          field: field.name))
      return
    }
    var column = ColumnPlan(
      name: names.take(wanted), type: SQLType(scalar, dates: options.dates), isArray: true,
      isNullable: isNullable, source: .array(path, scalar), field: field.name)
    column.defaultValue = field.defaultValue?.literal(of: scalar, dates: options.dates)
    table.columns.append(column)
    if field.reference?.isChecked == true {
      note(field, "is an array, so no foreign key checks its elements")
    }
    if let range = scalar.checkedRange {
      let array = SQL.name(column.name)
      check(wanted + "_range", "\(range.low) <= ALL (\(array)) AND \(range.high) >= ALL (\(array))")
    }
  }

  private mutating func addChecks(of column: ColumnPlan, _ scalar: ScalarType) {
    let name = SQL.name(column.name)
    if let range = scalar.checkedRange {
      check(column.name + "_range", "\(name) BETWEEN \(range.low) AND \(range.high)")
    }
  }

  private mutating func check(_ wanted: String, _ condition: String) {
    table.checks.append(
      CheckPlan(name: constraints.take("\(table.name)_\(wanted)"), condition: condition))
  }

  /// True if the field, or a composite that it is a part of, may be null.
  private func canBeNull(_ field: FieldSchema) -> Bool {
    var field = field
    while !field.isOptional {
      guard let outer = field.composite.flatMap({ record.field($0) }) else { return false }
      field = outer
    }
    return true
  }
}

// MARK: - Composites and kinds

extension TableBuilder {
  /// Adds the column that says whether there is a composite: its parts may all be null.
  private mutating func addPresence(of field: FieldSchema, _ path: FieldPath, _ wanted: String) {
    let column = ColumnPlan(
      name: names.take(wanted + "_is_set"), type: .boolean, source: .isSet(path), field: field.name)
    table.columns.append(column)
    presence[field.number] = SQL.name(column.name)
  }

  /// Adds the rules that parts of a composite that is not there are null, and the name of the kind.
  private mutating func addKinds() {
    for column in table.columns {
      guard case .some(let name) = column.field, let field = record.field(named: name),
        let outer = outerPresence(of: field), column.generated == nil
      else { continue }
      let value = SQL.name(column.name)
      switch column.source {
      case .isSet:
        check(column.name + "_within", "\(outer) OR NOT \(value)")
      case .short, .parts:
        check(column.name + "_within", "\(outer) OR \(value) IS NULL")
      case .value, .array, .kind:
        let isRequired = isRequired(field)
        check(
          column.name + "_within",
          isRequired ? "\(outer) = (\(value) IS NOT NULL)" : "\(outer) OR \(value) IS NULL")
      }
    }
    guard record.hasKinds else { return }
    addExclusions(parent: nil, isAbstract: record.isAbstract)
    for kind in record.kinds { addExclusions(parent: kind.composite, isAbstract: kind.isAbstract) }
    let cases = kindsFromInnermost.compactMap { kind in
      presence[kind.composite].map { "WHEN \($0) THEN \(SQL.literal(record.name(of: kind)))" }
    }
    guard !cases.isEmpty else { return }
    let text = (["CASE"] + cases + ["ELSE \(SQL.literal(record.name)) END"]).joined(separator: " ")
    table.columns.append(
      ColumnPlan(
        name: names.take("kind"), type: .text, generated: text, source: .kind))
  }

  /// The kinds, each after its own kinds.
  private var kindsFromInnermost: [KindSchema] {
    record.kinds.sorted {
      let depths = (depth(of: $0.composite), depth(of: $1.composite))
      return depths.0 != depths.1 ? depths.0 > depths.1 : $0.composite < $1.composite
    }
  }

  private func depth(of number: UInt32) -> Int {
    var depth = 0
    var number = number
    while let outer = record.field(number)?.composite { (depth, number) = (depth + 1, outer) }
    return depth
  }

  /// A record is of at most one of the kinds with a parent; of one if that is abstract.
  private mutating func addExclusions(parent: UInt32?, isAbstract: Bool) {
    let siblings = record.kinds.filter { record.field($0.composite)?.composite == parent }
    let terms = siblings.compactMap { presence[$0.composite] }
    guard !terms.isEmpty, terms.count > 1 || isAbstract else { return }
    let count = terms.map { "\($0)::integer" }.joined(separator: " + ")
    let name = parent.flatMap { record.field($0)?.name } ?? "kinds"
    guard isAbstract else { return check(options.names.name(name) + "_one", "\(count) <= 1") }
    let outer = parent.flatMap { presence[$0] }
    check(
      options.names.name(name) + "_one",
      outer.map { "\(count) = \($0)::integer" } ?? "\(count) = 1")
  }

  /// The column that says whether there is the innermost optional composite that a field is a part of.
  private func outerPresence(of field: FieldSchema) -> String? {
    var number = field.composite
    while let composite = number {
      if let found = presence[composite] { return found }
      number = record.field(composite)?.composite
    }
    return nil
  }

  /// True if a field has a value wherever its innermost optional composite is there.
  private func isRequired(_ field: FieldSchema) -> Bool { !field.isOptional }
}

// MARK: - Derived fields

extension TableBuilder {
  /// Has the server number new records, where it can.
  private mutating func derive(_ column: inout ColumnPlan, _ field: FieldSchema) {
    guard let derivation = field.derivation else { return }
    guard let sequence = derivation.sequence else { return }
    if [.smallint, .integer, .bigint].contains(column.type), !column.isNullable,
      !sequence.hasNoGaps
    {
      column.identity = sequence
      note(field, "has the numbers of a sequence; transactions that fail leave gaps in it")
    } else {
      note(
        field,
        "has the numbers of a sequence that PostgreSQL cannot give as the store does; programs have to"
      )
    }
  }

  /// Has the server compute derived fields where the result is the same.
  private mutating func addGeneratedColumns() {
    for place in table.columns.indices {
      let column = table.columns[place]
      guard case .some(let name) = column.field, let field = record.field(named: name),
        let derivation = field.derivation, derivation.sequence == nil
      else { continue }
      if let sql = ExpressionSQL(table).generated(derivation, as: column) {
        table.columns[place].generated = sql
        table.columns[place].defaultValue = nil
      } else {
        note(
          field,
          "is derived: \(derivation). It goes over with its values, and programs keep them from then on"
        )
      }
    }
  }
}

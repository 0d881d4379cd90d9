import Cambium

/// A table in a statement, by its alias.
struct TableScope {
  let table: TablePlan
  let alias: String

  /// A column of it.
  func column(_ name: String) -> String { "\(alias).\(SQL.name(name))" }

  /// The rest of a condition, that a record is of a kind; empty if it may be of any, or the record has no such kind.
  func isOfKind(_ kind: String?) -> String {
    kind.flatMap { table.presence(ofKind: $0) }.map { " AND \(column($0.name))" } ?? ""
  }
}

/// A field of a record as an expression of SQL.
struct FieldSQL {
  let field: FieldSchema
  let content: Content
  /// The expression.
  let sql: String

  enum Content {
    case scalar(ScalarType)
    case array(ScalarType)
    /// True if there is a composite.
    case presence
    /// The bytes of a codec, which are only compared as a whole.
    case bytes
    /// A composite that is always there.
    case always
  }

  /// The scalar type; nil if values are of several parts.
  var scalar: ScalarType? { if case .scalar(let scalar) = content { scalar } else { nil } }

  /// True if a value may be NaN as the column has it.
  func mayBeNaN(_ dates: DateForm) -> Bool {
    guard let scalar else { return false }
    return scalar.hasNaN || scalar == .date && dates == .double
  }
}

extension QueryTranslation {
  /// Returns a field by its stored name, which may lead over references: it is null if one of them leads nowhere.
  ///
  /// - Throws: `StoreError.invalidQuery` if there is no such field; `PostgresStoreError.unsupportedQuery`.
  mutating func field(_ name: String, in scope: TableScope) throws -> FieldSQL {
    let record = scope.table.record
    if let field = record.field(named: name) { return try own(field, in: scope) }
    for dot in name.indices.reversed() where name[dot] == "." {
      let first = String(name[..<dot])
      guard let reference = record.field(named: first), reference.reference != nil else { continue }
      let rest = String(name[name.index(after: dot)...])
      return try related(reference, rest, in: scope)
    }
    throw StoreError.invalidQuery(
      record: record.name, field: name, reason: "there is no such field")
  }

  /// The part of a date that a name says, as `date.month` does, in UTC; nil for any other name.
  func datePart(_ name: String, in scope: TableScope) -> FieldExpression? {
    guard let dot = name.lastIndex(of: "."),
      let part = DatePart.allCases.first(where: { "\($0)" == name[name.index(after: dot)...] }),
      scope.table.record.field(named: String(name[..<dot]))?.type == .scalar(.date)
    else { return nil }
    return .function(.part(part, in: .utc), .field(String(name[..<dot])))
  }

  private mutating func related(
    _ field: FieldSchema, _ rest: String, in scope: TableScope
  ) throws -> FieldSQL {
    guard case .scalar = field.type else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.name,
        reason: "it leads to several records; say which one is meant")
    }
    let reference = try own(field, in: scope)
    let target = try target(of: field, in: scope)
    let inner = try self.field(rest, in: target)
    let from = plan.qualified(target.table.name)
    let sql =
      "(SELECT \(inner.sql) FROM \(from) AS \(target.alias)"
      + " WHERE \(target.column(try keyColumn(target.table).name)) = \(reference.sql)"
      + "\(target.isOfKind(field.reference?.kind)))"
    return FieldSQL(field: inner.field, content: inner.content, sql: sql)
  }

  /// The table that a reference leads to.
  mutating func target(of field: FieldSchema, in scope: TableScope) throws -> TableScope {
    guard let reference = field.reference, let table = table(named: reference.destination) else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: field.name, reason: "it is no reference")
    }
    return self.scope(of: table)
  }

  /// The only column of the primary key of a record that references lead to.
  func keyColumn(_ table: TablePlan) throws -> KeyColumn {
    guard table.key.count == 1 else {
      throw StoreError.invalidQuery(
        record: table.record.name, field: nil, reason: "its primary key has several parts")
    }
    return table.key[0]
  }

  private func own(_ field: FieldSchema, in scope: TableScope) throws -> FieldSQL {
    var isExternal = false
    for column in scope.table.columns where column.field == field.name {
      let sql = scope.column(column.name)
      switch column.source {
      case .value(_, let scalar):
        if case .transformable = field.type {
          return FieldSQL(field: field, content: .bytes, sql: sql)
        }
        return FieldSQL(field: field, content: .scalar(scalar), sql: sql)
      case .array(_, let scalar): return FieldSQL(field: field, content: .array(scalar), sql: sql)
      case .isSet:
        guard field.type == .composite else { continue }
        return FieldSQL(field: field, content: .presence, sql: sql)
      case .short, .parts: isExternal = true
      case .kind: continue
      }
    }
    if isExternal { throw unsupported(scope, field.name, "its values are kept outside of rows") }
    if let list = scope.table.lists.first(where: { $0.field == field.name }) {
      return FieldSQL(field: field, content: .array(list.scalar), sql: array(of: list, in: scope))
    }
    if field.type == .composite { return FieldSQL(field: field, content: .always, sql: "true") }
    throw unsupported(scope, field.name, "it has no column")
  }

  /// The elements of a list, as an array; null if the field is.
  func array(of list: ListPlan, in scope: TableScope) -> String {
    let elements =
      "ARRAY(SELECT \(SQL.name(list.elementColumn)) FROM \(plan.qualified(list.name))"
      + " WHERE \(owner(of: list, "", in: scope)) ORDER BY \(SQL.name(list.positionColumn)))"
    for column in scope.table.columns where column.field == list.field {
      if case .isSet = column.source {
        return "CASE WHEN \(scope.column(column.name)) THEN \(elements) END"
      }
    }
    return elements
  }

  /// The condition that a row of a list's table is of the record.
  func owner(of list: ListPlan, _ alias: String, in scope: TableScope) -> String {
    zip(list.keyColumns, scope.table.key).map { column, key in
      let prefix = alias.isEmpty ? "\(plan.qualified(list.name))." : "\(alias)."
      return "\(prefix)\(SQL.name(column.name)) = \(scope.column(key.name))"
    }.joined(separator: " AND ")
  }

  func unsupported(_ scope: TableScope, _ part: String, _ reason: String) -> PostgresStoreError {
    .unsupportedQuery(record: scope.table.record.name, part: part, reason: reason)
  }
}

// MARK: - Relations

extension QueryTranslation {
  /// The first relation of a name that leads over several, and the rest; nil for a relation of the record's own.
  func divided(_ relation: String, in scope: TableScope) -> (first: String, rest: String)? {
    let record = scope.table.record
    func isOwn(_ name: String) -> Bool {
      record.field(named: name)?.reference != nil || record.inverses.contains { $0.name == name }
    }
    if isOwn(relation) { return nil }
    for dot in relation.indices where relation[dot] == "." && isOwn(String(relation[..<dot])) {
      return (String(relation[..<dot]), String(relation[relation.index(after: dot)...]))
    }
    return nil
  }

  /// The records at the other end of a relation: the table that they are in, and the condition that they are related.
  mutating func relation(
    _ name: String, of scope: TableScope
  ) throws -> (table: TableScope, condition: String) {
    if let field = scope.table.record.field(named: name), field.reference != nil {
      let target = try target(of: field, in: scope)
      let key = target.column(try keyColumn(target.table).name)
      return (target, try leads(field, of: scope, to: key) + target.isOfKind(field.reference?.kind))
    }
    guard let inverse = scope.table.record.inverses.first(where: { $0.name == name }),
      let table = table(named: inverse.related),
      let field = table.record.field(named: inverse.reference)
    else {
      throw StoreError.invalidQuery(
        record: scope.table.record.name, field: name, reason: "there is no such relation")
    }
    let related = self.scope(of: table)
    let key = scope.column(try keyColumn(scope.table).name)
    return (related, try leads(field, of: related, to: key))
  }

  /// The condition that a reference of a record leads to the record with a key.
  private func leads(
    _ field: FieldSchema, of scope: TableScope, to key: String
  ) throws -> String {
    if let list = scope.table.lists.first(where: { $0.field == field.name }) {
      return "EXISTS (SELECT FROM \(plan.qualified(list.name)) AS l WHERE "
        + "\(owner(of: list, "l", in: scope)) AND l.\(SQL.name(list.elementColumn)) = \(key))"
    }
    let own = try own(field, in: scope)
    switch own.content {
    case .scalar: return "\(own.sql) = \(key)"
    case .array: return "\(key) = ANY (\(own.sql))"
    default: throw unsupported(scope, field.name, "it is no reference with a column")
    }
  }
}

import Cambium

/// The state in which a record has to be before it is written.
enum Presence {
  case any, isNew, isThere
}

extension ServerTransaction {
  /// Writes a record.
  func write<Subject: Record>(
    _ record: Subject, _ presence: Presence, _ policy: ConflictPolicy
  ) throws {
    try Self.check(policy)
    let table = try table(of: Subject.self)
    if table.record.hasKinds { return try writeKind(record, presence, table) }
    let row = try RecordRow(try mapping.values(of: record), table, dates: dates)
    if presence != .any {
      try Self.check(presence, try contains(row.key, in: table), row.key, table)
    }
    try put(row, over: nil, isChecked: false, table)
  }

  /// Writes a record of a type that is a kind, or has kinds. One that is of a kind of the type stays of that, with its fields.
  private func writeKind<Subject: Record>(
    _ record: Subject, _ presence: Presence, _ table: TablePlan
  ) throws {
    let key = Self.key(of: try mapping.values(of: record), table)
    let old = try values(of: table, key: key)
    let kind = try mapping.kind(of: Subject.self)
    let isOfKind = kind.map { kind in
      old.map { FieldPath(kind, in: table.record).value(in: $0) != .null } ?? false
    }
    // One of another kind is not there for an update.
    let isThere = presence == .isThere ? isOfKind ?? (old != nil) : old != nil
    try Self.check(presence, isThere, key, table)
    let values = try mapping.values(of: record, over: old)
    try put(try RecordRow(values, table, dates: dates), over: old, isChecked: false, table)
  }

  private static func check(
    _ presence: Presence, _ isThere: Bool, _ key: [FieldValue], _ table: TablePlan
  ) throws {
    switch (presence, isThere) {
    case (.isNew, true):
      throw StoreError.duplicateKey(record: table.record.name, key: text(key))
    case (.isThere, false):
      throw StoreError.noSuchRecord(record: table.record.name, key: text(key))
    default: break
    }
  }

  static func check(_ policy: ConflictPolicy) throws {
    guard policy == .refuse else {
      throw PostgresStoreError.unsupported(
        "the conflict policy \(policy); look for the other record in the same transaction")
    }
  }

  /// The values of a record's primary key.
  static func key(of values: DynamicRecord, _ table: TablePlan) -> [FieldValue] {
    table.record.primaryKey.compactMap { part in
      table.record.field(part.field).map {
        FieldPath($0, in: table.record).value(in: values)
      }
    }
  }

  func contains(_ key: [FieldValue], in table: TablePlan) throws -> Bool {
    var translation = QueryTranslation(plan)
    let scope = translation.scope(of: table)
    let condition = try isRecord(key, in: scope, &translation)
    let result = try run(
      "SELECT FROM \(plan.qualified(table.name)) AS \(scope.alias) WHERE \(condition)",
      translation.parameters)
    return result.count > 0
  }

  /// Looks for other records with the same unique values before the server would refuse the row, which would end the
  /// transaction. Serializable transactions that do so at the same time conflict.
  private func checkUnique(
    _ values: DynamicRecord, _ key: [FieldValue], _ table: TablePlan
  ) throws {
    for index in table.record.indexes where index.isUnique {
      var translation = QueryTranslation(plan)
      let scope = translation.scope(of: table)
      var others = ""
      if let condition = index.condition {
        guard let kinds = table.kinds(requiredBy: condition),
          kinds.allSatisfy({ FieldPath($0, in: table.record).value(in: values) != .null })
        else { continue }
        others = " AND (\(try translation.condition(condition, in: scope)))"
      }
      var terms: [String] = []
      for part in index.parts {
        guard let field = table.record.field(part.field) else { continue }
        let value = FieldPath(field, in: table.record).value(in: values)
        // Null is no conflict.
        guard value != .null, let scalar = field.type.scalar,
          let column = table.columns.first(where: { $0.field == field.name })
        else { break }
        let parameter = try translation.add(value, of: scalar, scope, field.name)
        terms.append("\(scope.column(column.name)) = \(parameter)")
      }
      guard terms.count == index.parts.count else { continue }
      let isSame = try isRecord(key, in: scope, &translation)
      let columns = RecordColumns(table, dates: dates)
      let found = try run(
        "SELECT \(columns.list(in: scope, translation)) FROM \(plan.qualified(table.name)) AS"
          + " \(scope.alias) WHERE \(terms.joined(separator: " AND "))\(others) AND NOT (\(isSame)) LIMIT 1",
        translation.parameters)
      guard let row = found.rows.first else { continue }
      let other = Self.key(of: try columns.record(row), table)
      throw StoreError.uniqueConflict(
        record: values.name, constraint: index.name, key: Self.text(other))
    }
  }

  /// Looks for other records with the unique values of a row, and writes it.
  ///
  /// - Parameters:
  ///   - old: The values of a record with kinds that it replaces.
  ///   - isChecked: True if there are none, since its unique values are those that it had before.
  func put(
    _ row: RecordRow, over old: DynamicRecord?, isChecked: Bool, _ table: TablePlan
  ) throws {
    if !isChecked { try checkUnique(row.values, row.key, table) }
    noteKinds(row, over: old, table)
    guard table.hasPartialConstraints else { return try put(row, table) }
    do {
      try savepoint { try put(row, table) }
    } catch PostgresStoreError.server("23505", let message) {
      throw StoreError.uniqueConflict(
        record: row.values.name, constraint: message, key: "another one")
    }
  }

  /// Writes a row, and those of its lists.
  private func put(_ row: RecordRow, _ table: TablePlan) throws {
    if table.division != nil { return try putPart(row, table) }
    changed.noteWrite(to: table)
    let columns = table.written
    let names = columns.map { SQL.name($0.name) }
    let places = columns.indices.map { "$\($0 + 1)" }
    let keys = Set(table.key.map(\.name))
    let changes = names.filter { !keys.contains($0) }.map { "\($0) = EXCLUDED.\($0)" }
    try run(
      "INSERT INTO \(plan.qualified(table.name)) (\(names.joined(separator: ", "))) VALUES"
        + " (\(places.joined(separator: ", "))) ON CONFLICT (\(SQL.names(table.key.map(\.name)))) DO "
        + (changes.isEmpty ? "NOTHING" : "UPDATE SET \(changes.joined(separator: ", "))"),
      row.columns)
    for (list, elements) in zip(table.lists, row.lists) { try put(elements, row.keys, list) }
  }

  /// Replaces the elements of a list, unless they are the same: then its record has not changed for observers.
  func put(
    _ elements: SQLParameter, _ keys: [SQLParameter], _ list: ListPlan
  ) throws {
    let isOwner = list.keyColumns.enumerated().map { "\(SQL.name($1.name)) = $\($0 + 1)" }
    let name = plan.qualified(list.name)
    let own = "FROM \(name) WHERE \(isOwner.joined(separator: " AND "))"
    let element = SQL.name(list.elementColumn)
    let present = "ARRAY(SELECT \(element) \(own) ORDER BY \(SQL.name(list.positionColumn)))"
    try run(
      "DELETE \(own) AND \(present) IS DISTINCT FROM $\(keys.count + 1)", keys + [elements])
    if elements.bytes == nil { return }
    let columns =
      list.keyColumns.map { SQL.name($0.name) } + [
        SQL.name(list.elementColumn), SQL.name(list.positionColumn),
      ]
    let places = keys.indices.map { "$\($0 + 1)" }
    try run(
      "INSERT INTO \(name) (\(columns.joined(separator: ", "))) SELECT"
        + " \((places + ["e.value", "e.number - 1"]).joined(separator: ", "))"
        + " FROM unnest($\(keys.count + 1)) WITH ORDINALITY AS e (value, number)"
        + " WHERE NOT EXISTS (SELECT \(own))",
      keys + [elements])
  }
}

// MARK: - Deleting

extension ServerTransaction {
  /// Deletes the records of a query by key, so that each server deletes its own without sending them.
  private func deleteParts<Subject: Record>(
    _ query: Query<Subject>, _ table: TablePlan
  ) throws -> Int {
    var count = 0
    for found in try values(of: query, table) {
      var translation = QueryTranslation(plan)
      let scope = translation.scope(of: table)
      let condition = try isRecord(Self.key(of: found, table), in: scope, &translation)
      count += try delete(condition, scope, translation)
    }
    return count
  }

  func delete<Subject: Record>(
    _ type: Subject.Type, key: [FieldValue]
  ) throws -> Bool {
    var translation = QueryTranslation(plan)
    let scope = translation.scope(of: try table(of: type))
    let condition = try isRecord(
      key, of: try mapping.kind(of: type), in: scope, &translation)
    return try delete(condition, scope, translation) > 0
  }

  private func delete(
    _ condition: String, _ scope: TableScope, _ translation: QueryTranslation
  ) throws -> Int {
    hasDeleted = true
    let sql = "DELETE FROM \(plan.qualified(scope.table.name)) AS \(scope.alias) WHERE \(condition)"
    if scope.table.division != nil {
      return try runOnParts(sql, translation.parameters, of: scope.alias)
    }
    changed.noteDeletion(from: scope.table, in: plan)
    return try run(sql, translation.parameters).count
  }

  func delete<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    let table = try table(of: Subject.self)
    if table.division != nil { return try deleteParts(query, table) }
    changed.noteDeletion(from: table, in: plan)
    let rows = try rows(try mapping.stored(query))
    hasDeleted = true
    let keys = rows.scope.table.key.map(\.name)
    let found = keys.map { rows.scope.column($0) }.joined(separator: ", ")
    let result = try run(
      "DELETE FROM \(plan.qualified(rows.scope.table.name)) WHERE (\(SQL.names(keys))) IN"
        + " (SELECT \(found)\(rows.from)\(rows.order))", rows.translation.parameters)
    return result.count
  }
}

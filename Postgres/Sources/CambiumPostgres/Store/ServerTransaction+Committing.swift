import Cambium

// MARK: - The end

extension ServerTransaction {
  /// Checks the references, which the server otherwise checks during the commit.
  ///
  /// - Returns: The number of the transaction, by which its outcome is found if the answer to the commit is lost; nil if it has
  ///   changed nothing.
  /// - Throws: `StoreError.danglingReference`, `.deleteDenied`.
  func finish() throws -> UInt64? {
    do {
      try savepoint { _ = try run("SET CONSTRAINTS ALL IMMEDIATE") }
    } catch PostgresStoreError.server("23503", let message) {
      try explainReferences()
      throw PostgresStoreError.server(state: "23503", message: message)
    }
    try checkKinds()
    let found = try run("SELECT txid_current_if_assigned()")
    return found.rows.first?[0].flatMap { ValueDecoder.integer($0) }.map { UInt64($0) }
  }

  /// Finds the first reference that leads nowhere, and throws its error.
  private func explainReferences() throws {
    for table in plan.tables {
      for field in table.record.declaredFields {
        guard let reference = CheckedReference(field, of: table, in: plan) else { continue }
        let found = try references(
          reference, "NOT EXISTS (\(reference.destinations(plan)))", [])
        guard let first = found.first else { continue }
        if hasDeleted {
          throw StoreError.deleteDenied(
            record: reference.target.record.name, key: first.destination,
            by: "\(table.record.name).\(field.name)",
            count: found.count { $0.destination == first.destination })
        }
        throw reference.dangling(first)
      }
    }
  }

  /// The references that meet a condition, by primary key and destination: both as texts.
  private func references(
    _ reference: CheckedReference, _ condition: String, _ parameters: [SQLParameter]
  ) throws -> [(key: String, destination: String)] {
    let keys = reference.table.key.map { "r.\(SQL.name($0.name))::text" }
    let texts = (keys + ["\(reference.value)::text"]).joined(separator: ", ")
    let found = try run(
      "SELECT \(texts) FROM \(reference.source(plan)) WHERE \(reference.value) IS NOT NULL"
        + " AND \(condition) ORDER BY \(texts)", parameters)
    return found.rows.map { row in
      let texts = row.map { bytes in bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }
      return (texts.dropLast().joined(separator: ", "), texts.last ?? "")
    }
  }
}

/// A reference that has a foreign key: its own, or one of the table of a list.
private struct CheckedReference {
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

// MARK: - Kinds

/// The references to records of one kind that a transaction has to look at before it is committed: foreign keys take them for
/// references to records of any.
struct KindCheck {
  private let references: [KindReference]
  /// By the place of the reference: the keys where it leads that were written, or that are of records which may not be of its kind.
  fileprivate private(set) var keys: [Int: [SQLParameter: FieldValue]] = [:]

  init(_ plan: PostgresPlan) {
    references = plan.kindReferences
  }

  /// Notes where the references of a record lead.
  fileprivate mutating func note(_ record: DynamicRecord, _ dates: DateForm) {
    for (place, reference) in references.enumerated() where reference.record == record.name {
      let value = reference.path.value(in: record)
      if case .array(let elements) = value {
        for element in elements { note(element, at: place, dates) }
      } else if value != .null {
        note(value, at: place, dates)
      }
    }
  }

  /// Notes a record of kinds to which references may lead that want another.
  ///
  /// - Parameter old: The record that it replaces; nil if there may have been one of any kind.
  fileprivate mutating func note(
    _ row: RecordRow, over old: DynamicRecord?, _ dates: DateForm
  ) {
    for (place, reference) in references.enumerated()
    where reference.destination == row.values.name {
      guard reference.kindPath.value(in: row.values) == .null,
        old.map({ reference.kindPath.value(in: $0) != .null }) ?? true, let key = row.key.first
      else { continue }
      note(key, at: place, dates)
    }
  }

  private mutating func note(_ key: FieldValue, at place: Int, _ dates: DateForm) {
    // Strings that only look the same differ there.
    guard let encoded = SQLParameter(key, of: references[place].scalar, dates: dates) else {
      return
    }
    keys[place, default: [:]][encoded] = key
  }
}

extension ServerTransaction {
  /// Notes the references from a row that is written, and those to it, that have to be looked at before the commit.
  ///
  /// - Parameter old: The values of a record with kinds that it replaces.
  func noteKinds(_ row: RecordRow, over old: DynamicRecord?, _ table: TablePlan) {
    if plan.kindReferences.isEmpty { return }
    kindCheck.note(row.values, dates)
    // A record that is new may be in the place of one that was deleted.
    if table.record.hasKinds, old != nil || hasDeleted { kindCheck.note(row, over: old, dates) }
  }

  /// Checks that references lead to records of their kinds: those that were written, and those to records that have changed their
  /// kind.
  ///
  /// - Throws: `StoreError.danglingReference`.
  private func checkKinds() throws {
    for (place, keys) in kindCheck.keys.sorted(by: { $0.key < $1.key }) {
      let noted = plan.kindReferences[place]
      guard let table = plan.tables.first(where: { $0.record.name == noted.record }),
        let reference = CheckedReference(noted.field, of: table, in: plan),
        let parameter = SQLParameter(
          array: .array(Array(keys.values)), of: noted.scalar, dates: dates)
      else { continue }
      let isOther = "NOT t.\(SQL.name(noted.presence))"
      let others = try run(
        "SELECT FROM \(plan.qualified(reference.target.name)) AS t WHERE"
          + " t.\(SQL.name(reference.key.tableColumn)) = ANY ($1) AND \(isOther) LIMIT 1",
        [parameter])
      if others.count == 0 { continue }
      let found = try references(
        reference,
        "\(reference.value) = ANY ($1) AND EXISTS (\(reference.destinations(plan)) AND \(isOther))",
        [parameter])
      if let first = found.first { throw reference.dangling(first) }
    }
  }
}

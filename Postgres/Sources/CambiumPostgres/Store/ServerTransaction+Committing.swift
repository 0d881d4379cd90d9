import Cambium

// MARK: - The end

extension ServerTransaction {
  /// Checks the references that the changes may have broken, which the server otherwise checks during the commit.
  ///
  /// - Throws: `StoreError.danglingReference`, `.deleteDenied`.
  func checkReferences() throws {
    if changed.mayBreakReferences {
      do {
        try savepoint { _ = try run("SET CONSTRAINTS ALL IMMEDIATE") }
      } catch PostgresStoreError.server("23503", let message) {
        try explainReferences()
        throw PostgresStoreError.server(state: "23503", message: message)
      }
    }
    try checkKinds()
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
  func references(
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

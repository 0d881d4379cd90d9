import Cambium

// MARK: - Foreign keys of parts

extension ServerTransaction {
  /// The error of a foreign key between parts, which their server checks during the commit; nil if the error is another one.
  func brokenReference(_ error: PostgresError) -> (any Error)? {
    guard error.state == "23503" else { return nil }
    for table in plan.dividedTables {
      for field in table.record.declaredFields {
        guard let reference = CheckedReference(field, of: table, in: plan),
          error.message.contains("\"\(reference.key.name)\"")
        else { continue }
        let key = Self.key(in: error.detail ?? "")
        // That of a row that is still referred to names the table of the references as well.
        guard error.detail?.contains("still referenced") == true else {
          return reference.dangling((key: "of the transaction", destination: key))
        }
        return StoreError.deleteDenied(
          record: reference.target.record.name, key: key,
          by: "\(table.record.name).\(field.name)", count: 1)
      }
    }
    return nil
  }

  /// The key in a detail of the server: `Key (id)=(7) is not present in table "order_1".`
  private static func key(in detail: String) -> String {
    guard let start = detail.firstRange(of: ")=("), let end = detail.firstRange(of: ") is ") else {
      return detail
    }
    return start.upperBound <= end.lowerBound
      ? String(detail[start.upperBound..<end.lowerBound]) : detail
  }
}

// MARK: - Parts of divided tables

extension ServerTransaction {
  /// Throws if records on several servers were changed, unless that is allowed.
  ///
  /// - Throws: `PostgresStoreError.severalServers`.
  func checkServers(allowingSeveral: Bool) throws {
    guard allowingSeveral || changed.serverCount <= 1 else {
      throw PostgresStoreError.severalServers
    }
  }

  /// Writes a row of a divided table: it is changed if it is there, and added otherwise. There is no `ON CONFLICT` for the rows of other
  /// servers.
  func putPart(_ row: RecordRow, _ table: TablePlan) throws {
    let names = table.written.map { SQL.name($0.name) }
    let keys = Set(table.key.map { SQL.name($0.name) })
    func terms(_ isIncluded: (String) -> Bool) -> [String] {
      names.enumerated().filter { isIncluded($0.element) }.map {
        "\($0.element) = $\($0.offset + 1)"
      }
    }
    let name = plan.qualified(table.name)
    let isRow = terms { keys.contains($0) }.joined(separator: " AND ")
    let changes = terms { !keys.contains($0) }.joined(separator: ", ")
    if changes.isEmpty {
      let found = try run("SELECT FROM \(name) WHERE \(isRow)", row.columns)
      if found.count > 0 { return }
    } else {
      let count = try runOnParts(
        "UPDATE \(name) AS r SET \(changes) WHERE \(isRow)", row.columns, of: "r")
      if count > 0 { return }
    }
    let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    _ = try runOnParts(
      "INSERT INTO \(name) AS r (\(names.joined(separator: ", "))) VALUES (\(places))", row.columns,
      of: "r")
  }

  /// Runs a statement that changes rows of a divided table, and notes the servers of these rows.
  ///
  /// - Parameter alias: That of the table.
  /// - Returns: the number of the rows.
  func runOnParts(
    _ sql: String, _ parameters: [SQLParameter], of alias: String
  ) throws -> Int {
    let found = try run(
      sql + " RETURNING (SELECT f.ftserver::bigint FROM pg_foreign_table AS f"
        + " WHERE f.ftrelid = \(alias).tableoid)", parameters)
    for row in found.rows {
      if let server = row[0].flatMap({ ValueDecoder.integer($0) }) { changed.note(server) }
    }
    return found.rows.count
  }
}

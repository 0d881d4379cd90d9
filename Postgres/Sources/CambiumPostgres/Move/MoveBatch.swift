import Cambium

/// Rows of one table that are committed together, with their number.
final class MoveBatch {
  private let table: TablePlan
  private let plan: PostgresPlan
  private let connection: Connection
  /// The number of rows that are committed.
  private var committed: Int
  private var isOpen = false
  /// The table with the numbers of committed rows.
  private let progress: String

  init(
    _ table: TablePlan, of plan: PostgresPlan, _ connection: Connection, after count: Int,
    progress: String = "\(PostgresPlan.stateSchema).moved"
  ) {
    self.table = table
    self.progress = progress
    self.plan = plan
    self.connection = connection
    committed = count
  }

  /// Copies the records that are not committed yet, in the order of their keys.
  ///
  /// - Parameter body: Called with the number of committed rows, after each batch.
  func copyAll(from snapshot: StoreSnapshot, size: Int, _ body: (Int) -> Void) throws {
    let rows = RowCopy(table, of: plan, connection, partsMax: size) { [self] in try open() }
    try snapshot.forEach(
      record: table.record.name, offset: committed, stringsAsBlobs: true
    ) { record in
      try rows.add(record)
      if rows.byteCount >= size {
        try commit(rows)
        body(committed)
      }
    }
    if rows.count > 0 {
      try commit(rows)
      body(committed)
    }
  }

  private var recordLiteral: String { SQL.literal(table.record.name) }

  /// Begins the transaction, unless it has begun. No other connection may have added rows since.
  private func open() throws(PostgresError) {
    if isOpen { return }
    try connection.run("BEGIN")
    let found = try connection.run(
      "SELECT row_count FROM \(progress) WHERE record = \(recordLiteral) FOR UPDATE")
    guard found.first?.first == "\(committed)" else {
      // A commit whose answer was lost. It is looked up again.
      throw PostgresError.overtaken("Another connection has moved records of \(table.record.name).")
    }
    isOpen = true
  }

  private func commit(_ rows: RowCopy) throws {
    let count = rows.count
    try rows.flush()
    try connection.run(
      "UPDATE \(progress) SET row_count = row_count + \(count) WHERE record = \(recordLiteral)")
    try connection.run("COMMIT")
    isOpen = false
    committed += count
  }
}

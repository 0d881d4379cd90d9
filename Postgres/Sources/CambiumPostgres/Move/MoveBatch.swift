import Cambium
import FoundationEssentials

/// Rows of one table that are committed together, with their number.
final class MoveBatch {
  private let table: TablePlan
  private let plan: PostgresPlan
  private let connection: Connection
  private var encoder: RowEncoder
  /// The number of rows that are committed.
  private var committed: Int
  /// The rows of the batch, and those of lists and of parts of long values.
  private var rows: ValueEncoder
  private var lists: [ValueEncoder]
  private var parts: ValueEncoder
  private var rowCount = 0
  private var isOpen = false

  init(_ table: TablePlan, of plan: PostgresPlan, _ connection: Connection, after count: Int) {
    self.table = table
    self.plan = plan
    self.connection = connection
    committed = count
    let dates = plan.options.dates
    encoder = RowEncoder(table, dates: dates)
    rows = ValueEncoder(dates: dates)
    lists = Array(repeating: ValueEncoder(dates: dates), count: table.lists.count)
    parts = ValueEncoder(dates: dates)
  }

  /// Copies the records that are not committed yet, in the order of their keys.
  ///
  /// - Parameter body: Called with the number of committed rows, after each batch.
  func copyAll(from snapshot: StoreSnapshot, size: Int, _ body: (Int) -> Void) throws {
    try snapshot.forEach(
      record: table.record.name, offset: committed, stringsAsBlobs: true
    ) { record in
      try add(record, size: size)
      if rows.bytes.count + lists.reduce(0, { $0 + $1.bytes.count }) >= size {
        try commit()
        body(committed)
      }
    }
    if rowCount > 0 {
      try commit()
      body(committed)
    }
  }

  private func add(_ record: DynamicRecord, size: Int) throws {
    try encoder.encode(record) { identity, number, bytes in
      parts.append(Int16(3))
      parts.append(.uuid(identity), of: .uuid)
      parts.append(.integer(Int64(number)), of: .int32)
      parts.append(.data(bytes), of: .binaryData)
      // A long value need not fit into the memory.
      if parts.bytes.count >= size { try flushParts() }
    }
    for (field, loss) in encoder.losses where loss.isFatal {
      throw MoveError.impossible(
        record: table.record.name, key: table.keyText(of: record), field: field, loss: loss)
    }
    rows.append(Int16(encoder.columns.count))
    rows.bytes += encoder.fields.bytes
    rowCount += 1
    for (place, elements) in encoder.lists.enumerated() {
      for (position, element) in elements.enumerated() {
        lists[place].append(Int16(table.key.count + 2))
        lists[place].bytes += encoder.key.bytes
        lists[place].append(.integer(Int64(position)), of: .int32)
        lists[place].bytes += element.bytes
      }
    }
  }

  private var recordLiteral: String { SQL.literal(table.record.name) }
  private var state: String { PostgresPlan.stateSchema }

  /// Begins the transaction, unless it has begun. No other connection may have added rows since.
  private func open() throws(PostgresError) {
    if isOpen { return }
    try connection.run("BEGIN")
    let found = try connection.run(
      "SELECT row_count FROM \(state).moved WHERE record = \(recordLiteral) FOR UPDATE")
    guard found.first?.first == "\(committed)" else {
      // A commit whose answer was lost. It is looked up again.
      throw PostgresError(
        message: "Another connection has moved records of \(table.record.name).", state: "08000",
        isOfConnection: true)
    }
    isOpen = true
  }

  private func flushParts() throws(PostgresError) {
    try open()
    try connection.copy(into: "\(state).blob (identity, part, bytes)", parts.bytes)
    parts.bytes.removeAll(keepingCapacity: true)
  }

  private func commit() throws(PostgresError) {
    try open()
    if !parts.bytes.isEmpty { try flushParts() }
    try connection.copy(
      into: "\(plan.qualified(table.name)) (\(SQL.names(encoder.columns.map(\.name))))", rows.bytes)
    for (place, list) in table.lists.enumerated() where !lists[place].bytes.isEmpty {
      let columns =
        list.keyColumns.map(\.name) + [list.positionColumn, list.elementColumn]
      try connection.copy(
        into: "\(plan.qualified(list.name)) (\(SQL.names(columns)))", lists[place].bytes)
      lists[place].bytes.removeAll(keepingCapacity: true)
    }
    try connection.run(
      "UPDATE \(state).moved SET row_count = row_count + \(rowCount) WHERE record = \(recordLiteral)"
    )
    try connection.run("COMMIT")
    isOpen = false
    committed += rowCount
    rowCount = 0
    rows.bytes.removeAll(keepingCapacity: true)
  }
}

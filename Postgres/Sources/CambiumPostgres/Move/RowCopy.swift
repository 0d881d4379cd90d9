import Cambium
import FoundationEssentials

/// Encodes records, and copies them into their table and those of their lists and long values.
final class RowCopy {
  private let table: TablePlan
  private let plan: PostgresPlan
  private let connection: Connection
  /// The number of bytes of long values that are copied at once.
  private let partsMax: Int
  /// Begins the transaction, if it has not begun; called before anything is copied.
  private let begin: () throws -> Void
  private var encoder: RowEncoder
  private var rows: ValueEncoder
  private var lists: [ValueEncoder]
  private var parts: ValueEncoder
  /// The number of records that were added since the last flush.
  private(set) var count = 0

  init(
    _ table: TablePlan, of plan: PostgresPlan, _ connection: Connection, partsMax: Int,
    begin: @escaping () throws -> Void = {}
  ) {
    self.table = table
    self.plan = plan
    self.connection = connection
    self.partsMax = partsMax
    self.begin = begin
    let dates = plan.options.dates
    encoder = RowEncoder(table, dates: dates)
    rows = ValueEncoder(dates: dates)
    lists = Array(repeating: ValueEncoder(dates: dates), count: table.lists.count)
    parts = ValueEncoder(dates: dates)
  }

  /// The bytes of the rows that were added since the last flush.
  var byteCount: Int { rows.bytes.count + lists.reduce(0) { $0 + $1.bytes.count } }

  func add(_ record: DynamicRecord) throws {
    try encoder.encode(record) { identity, number, bytes in
      parts.append(Int16(3))
      parts.append(.uuid(identity), of: .uuid)
      parts.append(.integer(Int64(number)), of: .int32)
      parts.append(.data(bytes), of: .binaryData)
      // A long value need not fit into the memory.
      if parts.bytes.count >= partsMax { try flushParts() }
    }
    for (field, loss) in encoder.losses where loss.isFatal {
      throw MoveError.impossible(
        record: table.record.name, key: table.keyText(of: record), field: field, loss: loss)
    }
    rows.append(Int16(encoder.columns.count))
    rows.bytes += encoder.fields.bytes
    count += 1
    for (place, elements) in encoder.lists.enumerated() {
      for (position, element) in elements.enumerated() {
        lists[place].append(Int16(table.key.count + 2))
        lists[place].bytes += encoder.key.bytes
        lists[place].append(.integer(Int64(position)), of: .int32)
        lists[place].bytes += element.bytes
      }
    }
  }

  private func flushParts() throws {
    try begin()
    try connection.copy(
      into: "\(PostgresPlan.stateSchema).blob (identity, part, bytes)", parts.bytes)
    parts.bytes.removeAll(keepingCapacity: true)
  }

  /// Copies the rows into a temporary table, and from there to the servers of their parts: the server sends rows that are inserted
  /// together, and copied ones one by one.
  private func divide() throws {
    let name = "pg_temp.\(SQL.name("cambium_rows_" + table.name))"
    let definitions = encoder.columns.map { "\(SQL.name($0.name)) \($0.typeText)" }
    let columns = SQL.names(encoder.columns.map(\.name))
    try connection.run(
      "CREATE TEMPORARY TABLE IF NOT EXISTS \(name) (\(definitions.joined(separator: ", ")))"
        + " ON COMMIT DELETE ROWS")
    try connection.copy(into: "\(name) (\(columns))", rows.bytes)
    try connection.run(
      "INSERT INTO \(plan.qualified(table.name)) (\(columns)) SELECT \(columns) FROM \(name);"
        + " DELETE FROM \(name)")
  }

  /// Copies the records that were added.
  func flush() throws {
    if count == 0 { return }
    try begin()
    if !parts.bytes.isEmpty { try flushParts() }
    if table.division == nil {
      try connection.copy(
        into: "\(plan.qualified(table.name)) (\(SQL.names(encoder.columns.map(\.name))))",
        rows.bytes)
    } else {
      try divide()
    }
    rows.bytes.removeAll(keepingCapacity: true)
    count = 0
    for (place, list) in table.lists.enumerated() where !lists[place].bytes.isEmpty {
      let columns =
        list.keyColumns.map(\.name) + [list.positionColumn, list.elementColumn]
      try connection.copy(
        into: "\(plan.qualified(list.name)) (\(SQL.names(columns)))", lists[place].bytes)
      lists[place].bytes.removeAll(keepingCapacity: true)
    }
  }
}

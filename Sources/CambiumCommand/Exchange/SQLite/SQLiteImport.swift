import Cambium
import FoundationEssentials

/// Writes the rows of a database as the records that a mapping makes of them.
struct SQLiteImport {
  private let database: SQLiteDatabase
  private let mapping: SQLiteMapping
  private let bar: ProgressBar
  private let total: Int

  init(_ database: SQLiteDatabase, _ mapping: SQLiteMapping, _ bar: ProgressBar) {
    self.database = database
    self.mapping = mapping
    self.bar = bar
    total = mapping.records.reduce(0) { $0 + $1.profile.count }
  }

  /// Fills a new store, in one commit.
  ///
  /// - Returns: The number of records.
  func run(into store: PersistentStore) throws -> Int {
    try store.write { transaction in
      var count = 0
      for record in mapping.records { try write(record, &transaction, &count) }
      return count
    }
  }

  private func write(
    _ record: SQLiteMapping.Record, _ transaction: inout WriteTransaction, _ count: inout Int
  ) throws {
    let key = record.fields.firstIndex { $0.name == record.key[0] } ?? 0
    let rows = try database.query(
      "SELECT \(record.fields.map(\.expression).joined(separator: ", "))"
        + " FROM \(record.table.name.sqlName)")
    let lists = try record.lists.map { list in
      (query: try database.query(list.query), type: type(ofKeyOf: list.destination))
    }
    let types = record.fields.map(\.type)
    // Lists are queried for each row, by the same thread as the rows.
    let isLarge = record.profile.count >= SQLiteRowsAhead.countMin
    let ahead = isLarge && lists.isEmpty ? try SQLiteRowsAhead(rows, types) : nil
    defer { ahead?.end() }
    do {
      _ = try transaction.load(
        record: record.name, fields: record.fields.map(\.name) + record.lists.map(\.name),
        expecting: record.profile.count
      ) { values in
        if let ahead {
          guard try ahead.next() else { return false }
          for column in types.indices { values[column] = ahead.value(column) }
        } else {
          guard try rows.next() else { return false }
          for column in types.indices { values[column] = rows.value(column, types[column]) }
        }
        for (place, list) in lists.enumerated() {
          try list.query.restart(with: key, of: rows)
          values[types.count + place] = .array(try list.query.values(of: list.type))
        }
        count += 1
        if count & 0xfff == 0 { try show(count) }
        return true
      }
    } catch let error as StoreError {
      // The import may begin again without the constraint.
      if case .uniqueConflict = error { throw error }
      guard ExitStatus(of: error) == .invalid else { throw error }
      throw CommandFailure(.invalid, "table \(record.table.name): \(error)")
    }
  }

  private func show(_ count: Int) throws {
    try Interruption.check("The import was interrupted; there is no store.")
    bar.show(Double(count) / Double(max(1, total)), "\(Figures.count(count)) records")
  }

  private func type(ofKeyOf name: String) -> ScalarType {
    guard let record = mapping.records.first(where: { $0.name == name }) else { return .int64 }
    return record.fields.first { $0.name == record.key[0] }?.type ?? .int64
  }
}

extension SQLiteMapping.List {
  /// The keys that a record leads to, whose key is the parameter.
  fileprivate var query: String {
    // The index of a column without regard to case finds more than the key itself.
    "SELECT \(target.sqlName) FROM \(table.sqlName) WHERE \(source.sqlName) = ?1"
      + " AND \(source.sqlName) = ?1 COLLATE BINARY"
      + (order.map { " ORDER BY \($0.sqlName)" } ?? "")
  }
}

extension SQLiteQuery {
  /// The first columns of the remaining rows.
  fileprivate func values(of type: ScalarType) throws -> [FieldValue] {
    var values: [FieldValue] = []
    while try next() { values.append(value(0, type)) }
    return values
  }

  /// A value as one of a type that was found to hold all values of the column.
  func value(_ column: Int, _ type: ScalarType) -> FieldValue {
    switch (self.type(column), type) {
    case (.null, _): .null
    case (.integer, .boolean): .boolean(integer(column) != 0)
    case (_, .int64): .integer(integer(column))
    case (_, .double): .double(double(column))
    case (.text, .date): Date(iso: string(column)).map { .date($0) } ?? .null
    case (_, .date): .date(Date(timeIntervalSinceReferenceDate: double(column)))
    case (.text, .uuid): UUID(uuidString: string(column)).map { .uuid($0) } ?? .null
    case (.blob, .uuid): .uuid(uuid(column))
    case (.blob, .binaryData), (.text, .binaryData): .data(data(column))
    case (_, .binaryData): .data(Data(text(column).utf8))
    default: .string(text(column))
    }
  }

  /// A string, or the shortest text of a number of which it can be made again: SQLite's own has 15 digits.
  private func text(_ column: Int) -> String {
    type(column) == .real ? "\(double(column))" : string(column)
  }

  private func uuid(_ column: Int) -> UUID {
    // The profile has found that each has 16 bytes.
    var bytes = Array(data(column).prefix(16))
    while bytes.count < 16 { bytes.append(0) }
    return unsafe bytes.withUnsafeBytes { unsafe UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

import CSQLite
import Cambium
import FoundationEssentials

/// The records of a store as rows of SQLite, as the articles for users of SQL have them.
///
/// A record is a table with a column for each field; a reference is the key that it holds. A part of a composite is a column, such
/// as `address_city`. A list of references is a table with two columns. A kind is a table of its own, with the columns of its
/// parent. Keys are primary keys, and each reference has an index, each end of a list, and each field that has one in the store.
final class QuestionDatabase {
  private let connection: SQLiteConnection
  private var tables: [String: [String]] = [:]

  init(directory: String, of store: PersistentStore) throws {
    connection = try .searched(in: directory)
    try connection.run("BEGIN")
    for schema in store.schema.records { try copy(schema, of: store) }
    try connection.run("COMMIT")
    try connection.run("ANALYZE")
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Runs all statements of a question but the last, such as those that make an index of words, and returns that.
  func prepare(_ statements: String) throws -> String {
    let parts = statements.split(separator: ";\n")
    for part in parts.dropLast() { try connection.run(String(part)) }
    return parts.last.map(String.init) ?? ""
  }

  /// Returns the rows of a statement, which is prepared once.
  func rows(_ statement: String) throws -> [[FieldValue]] {
    let select = try connection.statement(statement)
    let columns = 0..<select.columnCount
    var rows: [[FieldValue]] = []
    while try select.step() { rows.append(columns.map { select.value($0) }) }
    try select.reset()
    return rows
  }
}

// MARK: - Copying

extension QuestionDatabase {
  private func copy(_ schema: RecordSchema, of store: PersistentStore) throws {
    let kinds = schema.kinds.map { schema.name(of: $0) }
    let lists = schema.fields.filter { field in
      if case .array = field.type { field.reference != nil } else { false }
    }
    let keys = schema.primaryKey.compactMap { part in
      schema.fields.first { $0.number == part.field }?.name
    }
    let indexed = Self.indexedFields(of: schema)
    try store.forEach(record: schema.name) { record in
      var own: [(name: String, value: FieldValue)] = []
      for field in schema.fields
      where field.composite == nil && !kinds.contains(field.name)
        && !lists.contains(where: { $0.name == field.name })
      {
        own += Self.columns(field.name, record[field.name])
      }
      try insert(own, into: schema.name, keys: keys, indexed: indexed)
      for kind in kinds {
        guard case .composite(let parts) = record[kind] else { continue }
        let more = parts.sorted { $0.key < $1.key }.flatMap { Self.columns($0.key, $0.value) }
        try insert(own + more, into: kind, keys: keys, indexed: indexed)
      }
      for list in lists {
        guard case .array(let elements) = record[list.name],
          let target = list.reference?.destination
        else { continue }
        let (one, other) = (schema.name.lowercased(), target.lowercased())
        for element in elements {
          try insert(
            [(name: one, value: record["id"]), (name: other, value: element)],
            into: schema.name + target, keys: [], indexed: [one, other])
        }
      }
    }
  }

  private static func indexedFields(of schema: RecordSchema) -> [String] {
    var names = schema.fields.filter { $0.reference != nil }.map(\.name)
    for index in schema.indexes {
      guard let part = index.parts.first, part.expansion == .none,
        let field = schema.fields.first(where: { $0.number == part.field })
      else { continue }
      if !names.contains(field.name) { names.append(field.name) }
    }
    return names
  }

  /// The columns of a field: one, or of a composite one for each part.
  private static func columns(
    _ name: String, _ value: FieldValue
  ) -> [(name: String, value: FieldValue)] {
    guard case .composite(let parts) = value else { return [(name: name, value: value)] }
    return parts.sorted { $0.key < $1.key }.map { (name: "\(name)_\($0.key)", value: $0.value) }
  }

  /// Inserts a row, into a table that is created with the first one.
  private func insert(
    _ row: [(name: String, value: FieldValue)], into table: String, keys: [String],
    indexed: [String]
  ) throws {
    if tables[table] == nil {
      let names = row.map(\.name)
      tables[table] = names
      try create(table, row, keys: keys)
      for name in indexed where names.contains(name) && keys.first != name {
        try connection.run("CREATE INDEX \"\(table) \(name)\" ON \"\(table)\" (\"\(name)\")")
      }
    }
    let marks = row.map { _ in "?" }.joined(separator: ", ")
    let insert = try connection.statement("INSERT INTO \"\(table)\" VALUES (\(marks))")
    for (place, column) in row.enumerated() {
      try insert.bind(value: column.value, at: Int32(place + 1))
    }
    try insert.stepAndReset()
  }

  private func create(
    _ table: String, _ row: [(name: String, value: FieldValue)], keys: [String]
  ) throws {
    var columns = row.map { column in
      let isKey = keys == [column.name]
      return "\"\(column.name)\" \(Self.type(of: column.value))\(isKey ? " PRIMARY KEY" : "")"
    }
    if keys.count > 1 {
      columns.append("PRIMARY KEY (\(keys.map { "\"\($0)\"" }.joined(separator: ", ")))")
    }
    try connection.run("CREATE TABLE \"\(table)\" (\(columns.joined(separator: ", ")))")
  }

  /// The type of a column by its first value; none if that is null, so that values stay what they are.
  private static func type(of value: FieldValue) -> String {
    switch value {
    case .integer: "INTEGER"
    case .double: "REAL"
    case .string, .date, .array: "TEXT"
    default: ""
    }
  }
}

extension SQLiteStatement {
  /// The value in a column of the current row.
  fileprivate func value(_ column: Int32) -> FieldValue {
    switch type(column) {
    case SQLITE_INTEGER: .integer(Int64(number(column)))
    case SQLITE_FLOAT: .double(double(column))
    case SQLITE_NULL: .null
    default: .string(text(column) ?? "")
    }
  }

  fileprivate func bind(value: FieldValue, at position: Int32) throws {
    switch value {
    case .integer(let number): try bind(number: Int(number), at: position)
    case .double(let number): try bind(number, at: position)
    case .null: try bind(String?.none, at: position)
    default: try bind(QuestionCell.text(value), at: position)
    }
  }
}

/// A value of an answer as text, by which the answers of engines are compared.
enum QuestionCell {
  static func text(_ value: FieldValue) -> String {
    switch value {
    case .null: ""
    case .boolean(let isTrue): isTrue ? "1" : "0"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let string): string
    case .date(let date): date.formatted(.iso8601)
    case .array(let elements): elements.map(text).joined(separator: ",")
    default: "\(value)"
    }
  }

  /// With six decimal places of numbers, so that an integer equals a double of the same value.
  static func compared(_ value: FieldValue) -> String {
    let cell = text(value)
    guard let number = Double(cell), number.isFinite else { return cell }
    return "\((number * 1_000_000).rounded() / 1_000_000)"
  }
}

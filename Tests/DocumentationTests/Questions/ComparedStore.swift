import Cambium
import Foundation

/// A store, and SQLite with the same records as rows.
///
/// A record is a table with a column for each field, by the same names; a reference is the key that it holds. A part of a
/// composite is a column, such as `address_city`. A list of references is a table with two columns: `Playlist.tracks` is
/// `PlaylistTrack(playlist, track)`. A kind is a table of its own, with the columns of its parent.
struct ComparedStore: Sendable {
  let store: PersistentStore
  /// The statements that make the tables and their rows.
  private let script: String

  struct Failure: Error {
    let statement: String
    let message: String
  }

  init(_ store: PersistentStore) throws {
    self.store = store
    var tables: [String: [[String: FieldValue]]] = [:]
    for schema in store.schema.records {
      let kinds = schema.kinds.map { schema.name(of: $0) }
      for record in try store.fetch(record: schema.name) {
        var row: [String: FieldValue] = [:]
        for field in schema.fields where !kinds.contains(field.name) {
          let value = record[field.name]
          if case .array(let elements) = value, let target = field.reference?.destination {
            for element in elements {
              tables[schema.name + target, default: []].append([
                schema.name.lowercased(): record["id"], target.lowercased(): element,
              ])
            }
          } else {
            row.merge(Self.columns(field.name, value)) { one, _ in one }
          }
        }
        tables[schema.name, default: []].append(row)
        for kind in kinds {
          guard case .composite(let parts) = record[kind] else { continue }
          let own = parts.map { Self.columns($0.key, $0.value) }
          tables[kind, default: []].append(
            own.reduce(row) { $0.merging($1) { one, _ in one } })
        }
      }
    }
    script = tables.sorted { $0.key < $1.key }.map { Self.table($0.key, $0.value) }
      .joined(separator: "\n")
  }

  /// The columns of a field: one, or of a composite one for each part.
  private static func columns(_ name: String, _ value: FieldValue) -> [String: FieldValue] {
    guard case .composite(let parts) = value else { return [name: value] }
    return Dictionary(uniqueKeysWithValues: parts.map { ("\(name)_\($0.key)", $0.value) })
  }

  private static func table(_ name: String, _ rows: [[String: FieldValue]]) -> String {
    let columns = Set(rows.flatMap(\.keys)).sorted()
    let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let values = rows.map { row in
      "(" + columns.map { literal(row[$0] ?? .null) }.joined(separator: ", ") + ")"
    }
    return "CREATE TABLE \"\(name)\" (\(list));\n"
      + values.map { "INSERT INTO \"\(name)\" VALUES \($0);" }.joined(separator: "\n")
  }

  private static func literal(_ value: FieldValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    default: "'" + text(value).replacing("'", with: "''") + "'"
    }
  }

  /// The value as a cell of a result of SQLite; null is empty.
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

  /// Returns the rows that statements have in SQLite, as texts of their cells.
  func rows(_ statements: String) throws -> [[String]] {
    let shell = Process()
    shell.executableURL = URL(filePath: "/usr/bin/env")
    shell.arguments = ["sqlite3", "-bail", "-batch", "-list", "-separator", "|", ":memory:"]
    let (input, output, messages) = (Pipe(), Pipe(), Pipe())
    (shell.standardInput, shell.standardOutput, shell.standardError) = (input, output, messages)
    try shell.run()
    try input.fileHandleForWriting.write(
      contentsOf: Data("BEGIN;\n\(script)\nCOMMIT;\n\(statements)\n".utf8))
    try input.fileHandleForWriting.close()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let message = try messages.fileHandleForReading.readToEnd() ?? Data()
    shell.waitUntilExit()
    guard shell.terminationStatus == 0 else {
      throw Failure(statement: statements, message: String(decoding: message, as: UTF8.self))
    }
    // A line break ends each row, and a row of one null is an empty line.
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
  }
}

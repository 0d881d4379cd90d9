import CSQLite

/// SQLite alone, with prepared statements whose columns are read into structs one by one.
@safe final class SQLiteQueryEngine: QueryEngine {
  private var connection: OpaquePointer?
  private var statements: [String: OpaquePointer]

  init(directory: String) throws {
    unsafe connection = nil
    unsafe statements = [:]
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard
      unsafe sqlite3_open_v2(directory + "/store.sqlite", &connection, flags, nil) == SQLITE_OK
    else { throw error("sqlite3_open_v2") }
    try run("PRAGMA journal_mode = WAL")
    try run("PRAGMA synchronous = NORMAL")
    try run("PRAGMA cache_size = -1048576")
    try run("PRAGMA mmap_size = \(Int32.max)")
    try run(QueryStatements.schema)
  }

  deinit {
    unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
    unsafe sqlite3_close_v2(connection)
  }

  func load(_ persons: [Person]) throws {
    try run("BEGIN")
    let insert = unsafe try statement("INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    for person in persons {
      unsafe sqlite3_bind_int64(insert, 1, Int64(person.id))
      unsafe bind(person.name, insert, 2)
      unsafe bind(person.city, insert, 3)
      unsafe sqlite3_bind_double(insert, 4, person.joined)
      unsafe sqlite3_bind_double(insert, 5, person.score)
      unsafe sqlite3_bind_int64(insert, 6, Int64(person.level))
      unsafe sqlite3_bind_double(insert, 7, person.weight)
      if let note = person.note {
        unsafe bind(note, insert, 8)
      } else {
        unsafe sqlite3_bind_null(insert, 8)
      }
      guard unsafe sqlite3_step(insert) == SQLITE_DONE else { throw error("insert") }
      unsafe sqlite3_reset(insert)
    }
    try run("COMMIT")
    try run("ANALYZE")
    try run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func answer(_ workload: QueryWorkload, _ number: Int, of count: Int) throws -> QueryAnswer {
    let statement = unsafe try statement(QueryStatements.sql(workload))
    defer { unsafe sqlite3_reset(statement) }
    for (index, value) in QueryStatements.values(workload, number, of: count).enumerated() {
      switch value {
      case .text(let text): unsafe bind(text, statement, Int32(index + 1))
      case .double(let double): unsafe sqlite3_bind_double(statement, Int32(index + 1), double)
      case .integer(let integer):
        unsafe sqlite3_bind_int64(statement, Int32(index + 1), Int64(integer))
      }
    }
    var answer = QueryAnswer()
    var persons: [Person] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      switch workload {
      case .count: answer.count = Int(unsafe sqlite3_column_int64(statement, 0))
      case .sum: answer = QueryAnswer(count: 1, sum: unsafe sqlite3_column_double(statement, 0))
      case .group:
        answer.count += Int(unsafe sqlite3_column_int64(statement, 1))
        answer.sum += unsafe sqlite3_column_double(statement, 2)
      default: persons.append(unsafe person(statement))
      }
    }
    for person in persons { answer.add(person) }
    return answer
  }

  private func person(_ statement: OpaquePointer?) -> Person {
    unsafe Person(
      id: Int(sqlite3_column_int64(statement, 0)), name: text(statement, 1) ?? "",
      city: text(statement, 2) ?? "", joined: sqlite3_column_double(statement, 3),
      score: sqlite3_column_double(statement, 4), level: Int(sqlite3_column_int64(statement, 5)),
      weight: sqlite3_column_double(statement, 6), note: text(statement, 7))
  }

  private func text(_ statement: OpaquePointer?, _ column: Int32) -> String? {
    guard let bytes = unsafe sqlite3_column_text(statement, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(statement, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  private func bind(_ text: String, _ statement: OpaquePointer?, _ index: Int32) {
    // Copied, since the string does not outlive the call.
    let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    unsafe sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copied)
  }

  private func statement(_ sql: String) throws -> OpaquePointer? {
    if let known = unsafe statements[sql] { return unsafe known }
    var prepared: OpaquePointer?
    guard unsafe sqlite3_prepare_v3(connection, sql, -1, 0, &prepared, nil) == SQLITE_OK else {
      throw error(sql)
    }
    unsafe statements[sql] = prepared
    return unsafe prepared
  }

  private func run(_ sql: String) throws {
    guard unsafe sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw error(sql)
    }
  }

  private func error(_ call: String) -> EngineError {
    let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
    return EngineError(engine: .sqlite, call: call, message: message ?? "out of memory")
  }
}

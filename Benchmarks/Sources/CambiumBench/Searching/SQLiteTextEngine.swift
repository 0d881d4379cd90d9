import CSQLite

/// SQLite's FTS5 by prepared statements, with its default tokenizer, and texts in the table that is searched.
///
/// All is inserted in one transaction, and the segments of the index are merged (`optimize`) before queries, untimed.
@safe final class SQLiteTextEngine: TextEngine {
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
    try run("CREATE VIRTUAL TABLE package USING fts5(body)")
  }

  deinit {
    // The formatter would take `unsafe` out of a loop.
    // swift-format-ignore: ReplaceForEachWithForLoop
    unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
    unsafe sqlite3_close_v2(connection)
  }

  func load(_ texts: [PackageText]) throws {
    try run("BEGIN")
    let insert = unsafe try statement("INSERT INTO package (rowid, body) VALUES (?, ?)")
    for text in texts {
      unsafe sqlite3_bind_int64(insert, 1, Int64(text.id))
      unsafe bind(text.body, insert, 2)
      guard unsafe sqlite3_step(insert) == SQLITE_DONE else { throw error("insert") }
      unsafe sqlite3_reset(insert)
    }
    try run("COMMIT")
    try run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func settle() throws {
    try run("INSERT INTO package (package) VALUES ('optimize')")
    try run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func answer(_ workload: TextWorkload, _ words: [String]) throws -> TextAnswer {
    let columns = workload.isCount ? "COUNT(*)" : "rowid, body"
    let limit = workload == .first ? " LIMIT 20" : ""
    let statement = unsafe try statement(
      "SELECT \(columns) FROM package WHERE package MATCH ?\(limit)")
    defer { unsafe sqlite3_reset(statement) }
    unsafe bind(
      workload == .prefix ? words[0] + "*" : words.joined(separator: " AND "), statement, 1)
    var answer = TextAnswer()
    var texts: [PackageText] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      let number = unsafe Int(sqlite3_column_int64(statement, 0))
      if workload.isCount {
        answer.count = number
      } else {
        texts.append(PackageText(id: number, body: unsafe text(statement, 1)))
      }
    }
    for text in texts { answer.add(text) }
    return answer
  }

  private func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
    guard let bytes = unsafe sqlite3_column_text(statement, column) else { return "" }
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

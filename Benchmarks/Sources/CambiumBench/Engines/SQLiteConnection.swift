import CSQLite

/// A connection to an SQLite store, used by one thread at a time and so without mutexes.
@safe final class SQLiteConnection {
  private static let isConfigured = csqlite_disable_memory_statistics() == SQLITE_OK

  private var connection: OpaquePointer?
  private var statements: [String: SQLiteStatement] = [:]
  private let keys: KeyShape

  /// - Parameters:
  ///   - cacheSize: Of the page cache, in bytes.
  ///   - keys: The form of the keys that statements bind and read.
  ///   - countsMemory: True if SQLite may count the bytes that it allocates, which can only be switched off before any
  ///     code uses it, as GRDB in the same process has.
  init(
    to path: String, cacheSize: Int, keys: KeyShape = .random16, countsMemory: Bool = false
  ) throws {
    self.keys = keys
    unsafe connection = nil
    guard countsMemory || Self.isConfigured else { throw error("sqlite3_config") }
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard unsafe sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK else {
      throw error("sqlite3_open_v2")
    }
    try run("PRAGMA cache_size = -\(cacheSize / 1024)")
  }

  deinit {
    statements = [:]
    unsafe sqlite3_close_v2(connection)
  }

  func run(_ sql: String) throws {
    guard unsafe sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw error(sql)
    }
  }

  /// Runs `body` in a transaction; not one for a single statement, which is its own.
  func write(_ count: Int, _ body: () throws -> Void) throws {
    if count == 1 { return try body() }
    _ = try statement("BEGIN IMMEDIATE").stepAndReset()
    try body()
    _ = try statement("COMMIT").stepAndReset()
  }

  func insert(_ entries: EntryList, at positions: Range<Int>) throws {
    let insert = try statement("INSERT INTO entries VALUES (?, ?)")
    for index in positions {
      try insert.bind(key: entries.keys[index], at: 1)
      try insert.bind(entries.values[index], at: 2)
      try insert.stepAndReset()
    }
  }

  /// Prepared once.
  func statement(_ sql: String) throws -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard unsafe sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil) == SQLITE_OK else {
      throw error(sql)
    }
    let statement = unsafe SQLiteStatement(prepared, keys: keys)
    statements[sql] = statement
    return statement
  }

  /// The number that a query answers.
  func number(_ sql: String) throws -> Int {
    var prepared: OpaquePointer?
    guard unsafe sqlite3_prepare_v3(connection, sql, -1, 0, &prepared, nil) == SQLITE_OK,
      unsafe sqlite3_step(prepared) == SQLITE_ROW
    else { throw error(sql) }
    defer { unsafe sqlite3_finalize(prepared) }
    return Int(unsafe sqlite3_column_int64(prepared, 0))
  }

  private func error(_ call: String) -> EngineError {
    let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
    return EngineError(engine: .sqlite, call: call, message: message ?? "out of memory")
  }
}

extension SQLiteStatement {
  /// Runs a statement that answers nothing.
  @inline(__always)
  func stepAndReset() throws {
    _ = try step()
    try reset()
  }
}

extension SQLiteConnection {
  /// A new store for queries: with a write-ahead log, cached and mapped whole.
  static func searched(in directory: String) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(
      to: directory + "/store.sqlite", cacheSize: 1 << 30, countsMemory: true)
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run("PRAGMA synchronous = NORMAL")
    try connection.run("PRAGMA mmap_size = \(Int32.max)")
    return connection
  }
}

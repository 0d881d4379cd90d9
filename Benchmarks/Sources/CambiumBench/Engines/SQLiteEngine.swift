import CSQLite

/// SQLite, set up as its documentation advises for speed.
///
/// - A key is the primary key of a table `WITHOUT ROWID`; a number is the `INTEGER PRIMARY KEY`.
/// - Loading: one transaction, one prepared statement, a page cache that holds the whole store, and
///   `synchronous=FULL`. With the rollback journal, in which new pages have no entry: a write-ahead
///   log would hold every page once more, and took 1.4 to 2.2 times as long. `TRUNCATE`, because
///   with `DELETE` nobody flushes the directory, and a journal that comes back undoes the commit.
/// - Reading: one transaction, prepared statements, the file mapped as far as SQLite maps (2 GiB).
/// - Without mutexes (`SQLITE_OPEN_NOMUTEX`) and without counting memory.
@safe final class SQLiteEngine: Engine {
  static var version: String { unsafe String(cString: sqlite3_libversion()) }

  private static let isConfigured = csqlite_disable_memory_statistics() == SQLITE_OK

  private let path: String
  private let shape: StoreShape
  private var connection: OpaquePointer?
  private var statements: [String: SQLiteStatement] = [:]

  required init(directory: String, shape: StoreShape) throws {
    path = directory + "/store.sqlite"
    self.shape = shape
    unsafe connection = nil
    guard SQLiteEngine.isConfigured else { throw error("sqlite3_config") }
  }

  deinit {
    close()
  }

  // MARK: Loading

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    try connect()
    try run("PRAGMA journal_mode = TRUNCATE")
    try run("PRAGMA synchronous = FULL")
    try run(tableDefinition)
    try run("BEGIN")
    try insert(entries)
    try run("COMMIT")
  }

  private var tableDefinition: String {
    switch shape.keys {
    case .integer8: "CREATE TABLE entries (key INTEGER PRIMARY KEY, value BLOB)"
    case .random16, .string24:
      "CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
    }
  }

  private func insert(_ entries: EntryList) throws {
    let insert = try statement("INSERT INTO entries VALUES (?, ?)")
    for index in 0..<entries.count {
      try insert.bind(key: entries.keys[index], at: 1)
      try insert.bind(entries.values[index], at: 2)
      _ = try insert.step()
      try insert.reset()
    }
  }

  // MARK: Opening and closing

  func open() throws {
    try connect()
    try run("PRAGMA mmap_size = \(Int32.max)")
    try run("BEGIN")
  }

  private func connect() throws {
    close()
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard unsafe sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK else {
      throw error("sqlite3_open_v2")
    }
    // In KiB. Twice the entries, because shuffled ones leave pages a third empty.
    try run("PRAGMA cache_size = -\(max(shape.byteCount * 2 / 1024, 64 * 1024))")
  }

  func close() {
    statements = [:]
    unsafe sqlite3_close_v2(connection)
    unsafe connection = nil
  }

  // MARK: Reading

  func pointReads(_ keys: ByteList) throws -> Digest {
    let select = try statement("SELECT value FROM entries WHERE key = ?")
    var digest = Digest()
    for index in 0..<keys.count {
      try select.bind(key: keys[index], at: 1)
      if try select.step() {
        select.addColumn(0, to: &digest)
      } else {
        digest.addMiss()
      }
      try select.reset()
    }
    return digest
  }

  /// `IN (…)` answers in the order of the table, not of the question, so one by one.
  func batchReads(_ keys: ByteList, of size: Int) throws -> Digest {
    try pointReads(keys)
  }

  func ranges(from keys: ByteList, of length: Int) throws -> Digest {
    let select = try statement(
      "SELECT key, value FROM entries WHERE key >= ? ORDER BY key LIMIT \(length)")
    var digest = Digest()
    for index in 0..<keys.count {
      try select.bind(key: keys[index], at: 1)
      try addRows(of: select, to: &digest)
    }
    return digest
  }

  func scan() throws -> Digest {
    let select = try statement("SELECT key, value FROM entries ORDER BY key")
    var digest = Digest()
    try addRows(of: select, to: &digest)
    return digest
  }

  private func addRows(of select: SQLiteStatement, to digest: inout Digest) throws {
    while try select.step() {
      select.addKeyColumn(0, to: &digest)
      select.addColumn(1, to: &digest)
    }
    try select.reset()
  }

  // MARK: Calling SQLite

  private func run(_ sql: String) throws {
    guard unsafe sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw error(sql)
    }
  }

  /// Prepared once for each connection.
  private func statement(_ sql: String) throws -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard unsafe sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil) == SQLITE_OK else {
      throw error(sql)
    }
    let statement = unsafe SQLiteStatement(prepared, keys: shape.keys)
    statements[sql] = statement
    return statement
  }

  private func error(_ call: String) -> EngineError {
    let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
    return EngineError(engine: .sqlite, call: call, message: message ?? "out of memory")
  }
}

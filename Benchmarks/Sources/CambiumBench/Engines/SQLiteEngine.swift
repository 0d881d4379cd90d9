import CSQLite

/// SQLite, set up as its documentation advises for speed.
///
/// - A key is the primary key of a table `WITHOUT ROWID`; a number is the `INTEGER PRIMARY KEY`.
/// - Loading: one transaction, one prepared statement, a page cache that holds the whole store, and
///   `synchronous=FULL`. With the rollback journal, in which new pages have no entry: a write-ahead
///   log would hold every page once more, and took 1.4 to 2.2 times as long. `TRUNCATE`, because
///   with `DELETE` the directory is not flushed, and a journal that comes back undoes the commit.
/// - Reading: one transaction, prepared statements, the file mapped as far as SQLite maps (2 GiB).
/// - Without mutexes (`SQLITE_OPEN_NOMUTEX`) and without counting memory.
final class SQLiteEngine: Engine {
  static var version: String { unsafe String(cString: sqlite3_libversion()) }

  private let path: String
  private let shape: StoreShape
  private var opened: SQLiteConnection?

  required init(directory: String, shape: StoreShape) throws {
    path = directory + "/store.sqlite"
    self.shape = shape
  }

  // MARK: Loading

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    let connection = try connect()
    try connection.run("PRAGMA journal_mode = TRUNCATE")
    try connection.run("PRAGMA synchronous = FULL")
    try connection.run(tableDefinition)
    try connection.write(entries.count) { try connection.insert(entries, at: 0..<entries.count) }
  }

  private var tableDefinition: String {
    switch shape.keys {
    case .integer8: "CREATE TABLE entries (key INTEGER PRIMARY KEY, value BLOB)"
    case .random16, .string24:
      "CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
    }
  }

  // MARK: Opening and closing

  func open() throws {
    let connection = try connect()
    try connection.run("PRAGMA mmap_size = \(Int32.max)")
    try connection.run("BEGIN")
  }

  private func connect() throws -> SQLiteConnection {
    close()
    // Twice the entries, because shuffled ones leave pages a third empty.
    let connection = try SQLiteConnection(
      to: path, cacheSize: max(shape.byteCount * 2, 64 << 20), keys: shape.keys)
    opened = connection
    return connection
  }

  func close() { opened = nil }

  private var connection: SQLiteConnection {
    get throws {
      guard let opened else {
        throw EngineError(engine: .sqlite, call: "use", message: "nothing is open")
      }
      return opened
    }
  }

  // MARK: Reading

  func pointReads(_ keys: ByteList) throws -> Digest {
    let select = try connection.statement("SELECT value FROM entries WHERE key = ?")
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
    let select = try connection.statement(
      "SELECT key, value FROM entries WHERE key >= ? ORDER BY key LIMIT \(length)")
    var digest = Digest()
    for index in 0..<keys.count {
      try select.bind(key: keys[index], at: 1)
      try addRows(of: select, to: &digest)
    }
    return digest
  }

  func scan() throws -> Digest {
    let select = try connection.statement("SELECT key, value FROM entries ORDER BY key")
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
}

import CSQLite
import Glibc

/// SQLite as a store that is written to.
///
/// - With a write-ahead log, which its documentation calls significantly faster in most scenarios. A
///   durable commit flushes it (`synchronous=FULL`), a relaxed one only writes it (`NORMAL`).
/// - The log is copied back whenever it has 1000 pages, as is the default, and at the end: within the
///   clock, since the rest of the copying is a debt.
/// - A commit of one record is a single statement, with the transaction that SQLite makes for it.
/// - Threads share one connection and a mutex. A connection for each, with a busy timeout, sleeps where it
///   could continue: 4 or 16 threads took 1.1 to 2.6 times as long with it.
/// - Loading: as for reading (`SQLiteEngine`), with the rollback journal, which has no new pages in it.
@safe final class SQLiteCommitEngine: CommitEngine, @unchecked Sendable {
  static var version: String { unsafe String(cString: sqlite3_libversion()) }

  static func promise(of durability: CommitDurability) -> String {
    switch durability {
    case .durable: "survives a power cut (WAL, synchronous=FULL)"
    case .relaxed:
      "survives a killed process; a power cut may undo the last ones (WAL, synchronous=NORMAL)"
    }
  }

  private let path: String
  private let options: CommitOptions
  private var opened: SQLiteConnection?
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init(directory: String, options: CommitOptions) {
    path = directory + "/store.sqlite"
    self.options = options
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  // MARK: Opening and closing

  func open() throws {
    close()
    // Twice the entries, because shuffled ones leave pages a third empty.
    let connection = try SQLiteConnection(
      to: path, cacheSize: max(options.byteCount * 2, 64 << 20))
    opened = connection
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run(
      "PRAGMA synchronous = \(options.durability == .durable ? "FULL" : "NORMAL")")
    try connection.run(
      "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
  }

  func close() {
    opened = nil
  }

  private var connection: SQLiteConnection {
    get throws {
      guard let opened else {
        throw CommitEngineError(engine: .sqlite, call: "use", message: "nothing is open")
      }
      return opened
    }
  }

  // MARK: Writing

  func commit(_ entries: EntryList, at positions: Range<Int>, by thread: Int) throws {
    let connection = try connection
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    try connection.write(positions.count) { try connection.insert(entries, at: positions) }
  }

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    let connection = try connection
    try connection.run("PRAGMA journal_mode = TRUNCATE")
    try connection.run("PRAGMA synchronous = FULL")
    try connection.write(0) { try connection.insert(entries, at: 0..<entries.count) }
    try open()
  }

  func remove(_ keys: ByteList) throws {
    let connection = try connection
    try connection.run("PRAGMA synchronous = FULL")
    let delete = try connection.statement("DELETE FROM entries WHERE key = ?")
    try connection.write(0) {
      for index in 0..<keys.count {
        try delete.bind(key: keys[index], at: 1)
        try delete.stepAndReset()
      }
    }
  }

  func settle() throws {
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  // MARK: Reading

  func count() throws -> Int {
    try connection.number("SELECT count(*) FROM entries")
  }

  func read(_ keys: ByteList) throws -> Digest {
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
}

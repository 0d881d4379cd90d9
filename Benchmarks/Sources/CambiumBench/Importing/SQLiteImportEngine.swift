import FoundationEssentials

/// SQLite alone: one prepared `INSERT … ON CONFLICT (id) DO UPDATE` for all records of a transaction.
///
/// - The key is the primary key of a table `WITHOUT ROWID`, as SQLite's documentation advises for keys that are no integers.
/// - With a write-ahead log; a durable commit flushes it (`synchronous=FULL`). It is copied back whenever it has 1000 pages,
///   as is the default, and at closing.
/// - The page cache holds the whole store, and the file is mapped as far as SQLite maps (2 GiB).
/// - Where stored records do not change, the statement has the condition that leaves equal rows alone, which is faster than
///   to write them again.
final class SQLiteImportEngine: ImportEngine {
  private let path: String
  private let options: RecordOptions
  private var opened: SQLiteConnection?

  init(directory: String, options: RecordOptions) {
    path = directory + "/store.sqlite"
    self.options = options
  }

  // MARK: Opening and closing

  func open() throws {
    try close()
    let connection = try SQLiteConnection(
      to: path, cacheSize: max(options.byteCount * 3, 64 << 20), countsMemory: true)
    opened = connection
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run("PRAGMA synchronous = \(options.durability == .durable ? "FULL" : "NORMAL")")
    try connection.run("PRAGMA mmap_size = \(Int32.max)")
    try connection.run(Self.table)
    if options.indexes == .none { return }
    try connection.run("CREATE INDEX IF NOT EXISTS item_created ON item (created)")
    try connection.run("CREATE INDEX IF NOT EXISTS item_title ON item (title)")
    guard options.indexes == .three else { return }
    try connection.run("CREATE INDEX IF NOT EXISTS item_count ON item (count)")
  }

  /// The last connection to close copies the log back.
  func close() throws { opened = nil }

  private var connection: SQLiteConnection {
    get throws {
      guard let opened else {
        throw EngineError(engine: .sqlite, call: "use", message: "nothing is open")
      }
      return opened
    }
  }

  private static let table = """
    CREATE TABLE IF NOT EXISTS item (id BLOB PRIMARY KEY, created REAL NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
      count INTEGER NOT NULL, weight REAL NOT NULL, isDone INTEGER NOT NULL, note TEXT) WITHOUT ROWID
    """

  // MARK: Writing

  func insert(_ items: ArraySlice<Item>) throws {
    try write(items, "INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
  }

  func importItems(_ items: [Item], _ workload: ImportWorkload) throws {
    try write(items[...], workload == .changed ? Self.upsert : Self.upsertIfChanged)
  }

  private static let upsert = """
    INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET created = excluded.created,
      title = excluded.title, body = excluded.body, count = excluded.count, weight = excluded.weight,
      isDone = excluded.isDone, note = excluded.note
    """
  private static let upsertIfChanged = """
    \(upsert) WHERE (created, title, body, count, weight, isDone, note) IS NOT (excluded.created, excluded.title,
      excluded.body, excluded.count, excluded.weight, excluded.isDone, excluded.note)
    """

  private func write(_ items: ArraySlice<Item>, _ sql: String) throws {
    let connection = try connection
    try connection.write(items.count) {
      let statement = try connection.statement(sql)
      for item in items {
        // The key's bytes must stay until the statement is done.
        try unsafe withUnsafeBytes(of: item.id.uuid) { id in
          try statement.bind(unsafe id.bytes, at: 1)
          try statement.bind(item.created.timeIntervalSinceReferenceDate, at: 2)
          try statement.bind(item.title, at: 3)
          try statement.bind(item.body, at: 4)
          try statement.bind(number: item.count, at: 5)
          try statement.bind(item.weight, at: 6)
          try statement.bind(number: item.isDone ? 1 : 0, at: 7)
          try statement.bind(item.note, at: 8)
          try statement.stepAndReset()
        }
      }
    }
  }

  // MARK: Reading

  func scan(_ body: (Item) throws -> Void) throws {
    let select = try connection.statement("SELECT * FROM item")
    while try select.step() {
      let id = select.withColumn(0) { bytes in
        unsafe bytes.withUnsafeBytes { unsafe UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
      }
      try body(
        Item(
          id: id, created: Date(timeIntervalSinceReferenceDate: select.double(1)),
          title: select.text(2) ?? "", body: select.text(3) ?? "", count: select.number(4),
          weight: select.double(5), isDone: select.number(6) != 0, note: select.text(7)))
    }
    try select.reset()
  }
}

import FoundationEssentials
import GRDB

/// GRDB, with a pool and so a write-ahead log, as its documentation advises for performance, and a Codable
/// record.
///
/// - A durable write flushes the log (`synchronous=FULL`), a relaxed one only writes it (`NORMAL`, which is
///   what a pool has by itself).
/// - The table is `WITHOUT ROWID`, which SQLite's documentation advises for keys that are no integers: without,
///   every fetch looks up two trees and every key is stored twice.
/// - Statements are cached: by the record's methods themselves, and where records are fetched many at once, by
///   `cachedStatement`. Each fetch on its own is the everyday `fetchOne(db, key:)` in a `read`.
/// - The page cache holds the whole store, and the file is mapped as far as SQLite maps (2 GiB).
/// - The log is copied back whenever it has 1000 pages, as is the default, and at closing.
class GRDBRecordEngine: RecordEngine {
  static var version: String { "7.10.0 on SQLite \(SQLiteEngine.version)" }

  static func promise(of durability: CommitDurability) -> String {
    switch durability {
    case .durable: "survives a power cut (WAL, synchronous=FULL)"
    case .relaxed:
      "survives a killed process; a power cut may undo the last ones (WAL, synchronous=NORMAL)"
    }
  }

  private let path: String
  private let options: RecordOptions
  private var opened: DatabasePool?

  required init(directory: String, options: RecordOptions) {
    path = directory + "/store.sqlite"
    self.options = options
  }

  // MARK: Opening and closing

  func open() throws {
    try close()
    var configuration = Configuration()
    // Three times the values, because keys that come at random leave pages a third empty.
    let cacheSize = max(options.byteCount * 3, 64 << 20) / 1024
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -\(cacheSize)")
      try database.execute(sql: "PRAGMA mmap_size = \(Int32.max)")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    opened = pool
    // After the pool has set its own.
    let synchronous = options.durability == .durable ? 2 : 1
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(synchronous)")
      let set = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      let journal = try String.fetchOne(database, sql: "PRAGMA journal_mode")
      guard set == synchronous, journal == "wal" else {
        throw RecordEngineError(engine: .grdb, message: "the durability asked for is refused")
      }
    }
    try pool.write { database in
      if try !database.tableExists(Item.databaseTableName) { try makeTable(database) }
    }
  }

  fileprivate var tableOptions: TableOptions { .withoutRowID }

  private func makeTable(_ database: Database) throws {
    try database.create(table: Item.databaseTableName, options: tableOptions) { table in
      table.primaryKey("id", .blob)
      table.column("created", .double).notNull()
      table.column("title", .text).notNull()
      table.column("body", .text).notNull()
      table.column("count", .integer).notNull()
      table.column("weight", .double).notNull()
      table.column("isDone", .boolean).notNull()
      table.column("note", .text)
    }
    if options.indexes == .none { return }
    try database.create(index: "item_created", on: Item.databaseTableName, columns: ["created"])
    try database.create(index: "item_title", on: Item.databaseTableName, columns: ["title"])
    guard options.indexes == .three else { return }
    try database.create(index: "item_count", on: Item.databaseTableName, columns: ["count"])
  }

  func close() throws {
    guard let pool = opened else { return }
    opened = nil
    // The last connection to close copies the log back.
    try pool.close()
  }

  private var pool: DatabasePool {
    get throws {
      guard let opened else { throw RecordEngineError(engine: .grdb, message: "nothing is open") }
      return opened
    }
  }

  // MARK: Writing

  func insertEach(_ items: ArraySlice<Item>) throws {
    let pool = try pool
    for item in items { try pool.write { database in try item.insert(database) } }
  }

  func saveEach(_ items: ArraySlice<Item>) throws {
    let pool = try pool
    for item in items {
      try pool.write { database in try item.insert(database, onConflict: .replace) }
    }
  }

  func insert(_ items: ArraySlice<Item>) throws {
    try pool.write { database in
      for item in items { try item.insert(database) }
    }
  }

  func update(_ items: ArraySlice<Item>) throws {
    try pool.write { database in
      for item in items { try item.update(database) }
    }
  }

  func delete(_ items: ArraySlice<Item>) throws {
    try pool.write { database in
      for item in items where try !item.delete(database) {
        throw RecordEngineError(engine: .grdb, message: "there is no \(item.id) to delete")
      }
    }
  }

  // MARK: Reading

  func fetch(_ ids: [UUID]) throws -> ItemDigest {
    try pool.read { database in
      let statement = try database.cachedStatement(sql: "SELECT * FROM item WHERE id = ?")
      var digest = ItemDigest()
      for id in ids {
        if let item = try Item.fetchOne(statement, arguments: [id]) {
          digest.add(item)
        } else {
          digest.addMiss()
        }
      }
      return digest
    }
  }

  func fetchEach(_ ids: [UUID]) throws -> ItemDigest {
    let pool = try pool
    var digest = ItemDigest()
    for id in ids {
      if let item = try pool.read({ try Item.fetchOne($0, key: id) }) {
        digest.add(item)
      } else {
        digest.addMiss()
      }
    }
    return digest
  }

  func scan(_ body: (Item) throws -> Void) throws {
    try pool.read { database in
      let cursor = try Item.fetchCursor(database)
      while let item = try cursor.next() { try body(item) }
    }
  }
}

/// With a table whose rows have numbers, and an index from the keys to these.
final class RowIDGRDBRecordEngine: GRDBRecordEngine {
  fileprivate override var tableOptions: TableOptions { [] }
}

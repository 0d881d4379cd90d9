import Cambium
import FoundationEssentials

/// The store that the records of a database are read into, to be migrated there.
struct MigrationStore {
  private let database: StoredDatabase
  private let model: StoreModel
  private let steps: [MigrationStep]
  private let path: String

  init(
    _ database: StoredDatabase, _ model: StoreModel, _ steps: [MigrationStep], at path: String
  ) {
    self.database = database
    self.model = model
    self.steps = steps
    self.path = path
  }

  /// The number of rows that are fetched at once.
  private static let rowCount = 1_000

  /// Reads all records of the database, in one state of it, into a new store: in one transaction, since they lead to each other.
  func fill(_ connection: Connection, _ cancellation: MigrationCancellation) throws {
    let files = FileManager.default
    try? files.removeItem(atPath: path)
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    try files.createDirectory(atPath: String(parent), withIntermediateDirectories: true)
    let old = try StoreModel(continuing: [database.old.schema], with: [])
    let store = try PersistentStore(at: path, model: old)
    defer { try? store.close() }
    try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    defer { _ = try? connection.run("ROLLBACK") }
    try store.write { transaction in
      for table in database.old.tables {
        try forEachRow(of: table, connection, cancellation) { record in
          try transaction.save(record)
        }
      }
    }
  }

  private func forEachRow(
    of table: TablePlan, _ connection: Connection, _ cancellation: MigrationCancellation,
    _ body: (DynamicRecord) throws -> Void
  ) throws {
    var translation = QueryTranslation(database.old)
    let scope = translation.scope(of: table)
    let columns = RecordColumns(table, dates: database.options.dates)
    try connection.run(
      "DECLARE cambium_rows NO SCROLL CURSOR FOR SELECT \(columns.list(in: scope, translation)) FROM"
        + " \(database.old.qualified(table.name)) AS \(scope.alias)")
    while true {
      try cancellation.check(database)
      let rows = try connection.run("FETCH \(Self.rowCount) FROM cambium_rows", []).rows
      for row in rows { try body(try columns.record(row)) }
      if rows.count < Self.rowCount { break }
    }
    try connection.run("CLOSE cambium_rows")
  }

  /// Migrates the store, in parts that are not done again after an interruption.
  func migrate(_ options: PostgresOptions, _ cancellation: MigrationCancellation) throws {
    var storeOptions = StoreOptions()
    storeOptions.migration = options.migration
    let migration = try PersistentStore.migration(
      at: path, to: model, steps: steps, options: storeOptions)
    _ = try cancellation.run(migration, database)
  }

  /// Opens the migrated store for reading.
  func open() throws -> PersistentStore {
    var options = StoreOptions()
    options.access = .reading
    return try PersistentStore(untypedAt: path, options: options)
  }
}

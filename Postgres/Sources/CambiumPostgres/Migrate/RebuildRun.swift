import Cambium
import FoundationEssentials

/// A migration whose steps take the records themselves: they are read into a store of the old version, that store is migrated as any
/// other, and its records are copied into new tables, which then take the places of the old ones.
///
///     exporting ─▶ exported ─▶ migrated ─▶ copying ─▶ copied ─▶ (the switch, one transaction)
///
/// Two connections work on it. The first holds one transaction from the beginning to the switch, in which it locks the old tables
/// against writing. The second commits each stage and each batch, in tables that nothing else reads. If the program is killed, the
/// locks go, and the next run resumes at the stage that the database says; unless a program has written meanwhile, which
/// triggers of the old tables note, or the directory of the store is lost: then the migration begins again.
final class RebuildRun {
  let database: StoredDatabase
  private let model: StoreModel
  private let steps: [MigrationStep]
  private let options: PostgresOptions
  private let address: ServerAddress
  private let cancellation: MigrationCancellation
  /// Nil before the migration has begun, and in a rehearsal.
  private var mark: MigrationMark?

  init(
    _ database: StoredDatabase, _ model: StoreModel, _ steps: [MigrationStep],
    _ options: PostgresOptions, _ address: ServerAddress, _ cancellation: MigrationCancellation
  ) {
    self.database = database
    self.model = model
    self.steps = steps
    self.options = options
    self.address = address
    self.cancellation = cancellation
  }

  /// The size of a batch at which it is committed.
  private static let batchSize = 4 << 20

  // MARK: The whole

  /// Does everything, up to the commit of the transaction of `connection`.
  func run(_ connection: Connection, _ outcome: MigrationWork.Outcome) throws
    -> MigrationWork.Outcome
  {
    var outcome = outcome
    let worker = try address.connect()
    let (found, startedOver) = try MigrationMark.begin(worker, database, in: directory)
    var mark = found
    self.mark = mark
    outcome.startedOver = startedOver
    try lockTables(connection)
    // A program may have written before the tables were locked.
    if try mark.isVoid(connection) {
      throw PostgresError.overtaken("Another program has written since the migration was begun.")
    }
    let workshop = MigrationStore(database, model, steps, at: mark.path(in: directory))
    if mark.stage == .exporting {
      try workshop.fill(worker, cancellation)
      try advance(&mark, to: .exported, worker)
    }
    if mark.stage == .exported {
      try workshop.migrate(options, cancellation)
      try advance(&mark, to: .migrated, worker)
    }
    let store = try workshop.open()
    defer { try? store.close() }
    let snapshot = try store.snapshot()
    let staged = StagedTables(database, in: StagedTables.schema)
    if mark.stage == .migrated {
      try worker.transact(staged.creation(mark, after: .copying))
      mark.stage = .copying
    }
    if mark.stage == .copying {
      for table in staged.plan.tables {
        try copy(table, of: staged, snapshot, worker)
      }
      try worker.transact(staged.ending(mark, after: .copied))
      mark.stage = .copied
      cancellation.noteProgress()
    }
    for table in database.old.tables { outcome.records += try database.count(table, connection) }
    try cancellation.check(database)
    try switchTables(to: staged, connection)
    return outcome
  }

  /// Does everything but the switch, in directories and transactions that are thrown away.
  func rehearse(_ connection: Connection, _ outcome: MigrationWork.Outcome) throws
    -> MigrationWork.Outcome
  {
    var outcome = outcome
    let path = directory + "/rehearsal-" + UUID().uuidString.lowercased()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try lockTables(connection)
    let workshop = MigrationStore(database, model, steps, at: path)
    let worker = try address.connect()
    try workshop.fill(worker, cancellation)
    try workshop.migrate(options, cancellation)
    let store = try workshop.open()
    defer { try? store.close() }
    let snapshot = try store.snapshot()
    let staged = StagedTables(database, in: StagedTables.schema + "_rehearsal")
    try worker.run("BEGIN")
    defer { _ = try? worker.run("ROLLBACK") }
    for statement in staged.tableStatements { try worker.run(statement) }
    for table in staged.plan.tables {
      let rows = RowCopy(table, of: staged.plan, worker, partsMax: Self.batchSize)
      try snapshot.forEach(record: table.record.name, stringsAsBlobs: true) { record in
        try rows.add(record)
        guard rows.byteCount >= Self.batchSize else { return }
        try rows.flush()
        try cancellation.check(database)
      }
      try rows.flush()
      for statement in staged.plan.keyStatements(of: table) { try worker.run(statement) }
    }
    for statement in staged.plan.foreignKeyStatements { try worker.run(statement) }
    try worker.run("SET CONSTRAINTS ALL IMMEDIATE")
    for table in database.old.tables { outcome.records += try database.count(table, connection) }
    return outcome
  }

  // MARK: Stages

  private func advance(
    _ mark: inout MigrationMark, to stage: MigrationMark.Stage, _ worker: Connection
  ) throws {
    try worker.run(mark.statement(reaching: stage))
    mark.stage = stage
    cancellation.noteProgress()
    try cancellation.check(database)
  }

  /// Keeps writers out, of this library by the lock that each of their transactions takes first, and others by the tables'.
  private func lockTables(_ connection: Connection) throws {
    try connection.run("LOCK TABLE \(CommitMark.table) IN SHARE MODE")
    for table in database.oldTables { try connection.run("LOCK TABLE \(table) IN SHARE MODE") }
  }

  private func copy(
    _ table: TablePlan, of staged: StagedTables, _ snapshot: StoreSnapshot, _ worker: Connection
  ) throws {
    let record = SQL.literal(table.record.name)
    let found = try worker.run(
      "SELECT row_count, has_keys FROM \(StagedTables.progress) WHERE record = \(record)")
    guard let row = found.first, row[1] != "t" else { return }
    let batch = MoveBatch(
      table, of: staged.plan, worker, after: row[0].flatMap { Int($0) } ?? 0,
      progress: StagedTables.progress)
    var failure: (any Error)?
    try batch.copyAll(from: snapshot, size: Self.batchSize) { _ in
      cancellation.noteProgress()
      do { try cancellation.check(database) } catch { failure = error }
    }
    if let failure { throw failure }
    try worker.transact(
      staged.plan.keyStatements(of: table) + [
        "UPDATE \(StagedTables.progress) SET has_keys = true WHERE record = \(record)"
      ])
    cancellation.noteProgress()
  }

  private func switchTables(to staged: StagedTables, _ connection: Connection) throws {
    try database.lockVersion(connection)
    try database.removeOutbox(connection)
    let rights = try staged.rights(connection)
    do {
      for statement in staged.replacing { try connection.run(statement) }
    } catch {
      guard error.state == "2BP01" else { throw error }
      throw PostgresStoreError.migrationBlocked(
        reason: "other objects depend on the tables, such as views: \(error.message)")
    }
    for statement in rights { try connection.run(statement) }
    for statement in try database.stateStatements(connection) { try connection.run(statement) }
    for statement in MigrationMark.removal { try connection.run(statement) }
    try database.renewOutbox(connection)
  }

  // MARK: The end

  /// The directory for the stores of migrations.
  private var directory: String {
    options.migrationDirectory ?? FileManager.default.temporaryDirectory.path
  }

  /// Removes the store, after the commit of the switch.
  func removeStore() {
    if let path = mark?.path(in: directory) { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Removes everything that was made, after a failure of which another run would not be free.
  func discard(_ connection: Connection) {
    guard mark != nil else { return }
    try? connection.transact(MigrationMark.discarding(database))
    removeStore()
  }
}

import Cambium

/// Plans and runs a migration over a connection.
struct MigrationWork: Sendable {
  private let model: StoreModel
  private let steps: [MigrationStep]
  private let options: PostgresOptions
  private let address: ServerAddress
  let cancellation = MigrationCancellation()

  init(
    _ model: StoreModel, _ steps: [MigrationStep], _ options: PostgresOptions,
    _ address: ServerAddress
  ) {
    self.model = model
    self.steps = steps
    self.options = options
    self.address = address
  }

  /// The result of a run, without the time that it took.
  struct Outcome: Sendable {
    let from: Int
    let to: Int
    var records = 0
    var isOneCommit = false
    var startedOver = false

    func report(after elapsed: Duration) -> MigrationReport {
      MigrationReport(
        from: from, to: to, records: records, isOneCommit: isOneCommit, elapsed: elapsed,
        startedOver: startedOver)
    }
  }

  private func database(_ connection: Connection) throws -> StoredDatabase {
    try StoredDatabase(connection, to: model, steps, options.migration)
  }

  // MARK: The plan

  /// Returns the plan, and the statements by which the server takes its steps.
  func plan(_ connection: Connection) throws -> (MigrationPlan, [String]) {
    // The records are counted in one state.
    try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    defer { _ = try? connection.run("ROLLBACK") }
    let database = try database(connection)
    var plan = database.outline.plan
    guard plan.from != plan.to, plan.canRun else { return (plan, []) }
    switch database.statements {
    case .success(let statements):
      let count = statements.count
      var work = [
        MigrationPlan.Work(
          kind: .publish,
          task: "one transaction of the server, of \(count) statement\(count == 1 ? "" : "s")",
          records: nil)
      ]
      var records = 0
      for statement in statements where statement.readsRows {
        let count = try statement.record.flatMap { try database.count(of: $0, connection) }
        records += count ?? 0
        work.append(MigrationPlan.Work(kind: .convert, task: statement.sql, records: count))
      }
      let faults = try RecordFaults(database).found(connection)
      plan.add(work, reading: records, faults: faults)
      return (plan, statements.map(\.sql))
    case .failure(let obstacle):
      var work: [MigrationPlan.Work] = []
      var records = 0
      for table in database.old.tables {
        let count = try database.count(table, connection)
        records += count
        work.append(
          MigrationPlan.Work(
            kind: .rebuild, task: "reading \(table.record.name) into a store of the program",
            records: count))
      }
      work += [
        MigrationPlan.Work(
          kind: .transform, task: "migrating that store, since \(obstacle.reason)", records: nil),
        MigrationPlan.Work(
          kind: .rebuild, task: "copying its records into new tables", records: nil),
        MigrationPlan.Work(
          kind: .publish, task: "one transaction that puts them in the place of the old ones",
          records: nil),
      ]
      plan.add(work, reading: records, faults: [])
      return (plan, [])
    }
  }

  // MARK: The run

  /// Migrates, or rehearses that. If it is interrupted, another call resumes it.
  ///
  /// - Throws: `PostgresError` of the connection, and if other transactions are in the way; errors of the migration.
  func run(_ connection: Connection, isRehearsal: Bool) throws -> Outcome {
    try begin(connection)
    var rebuild: RebuildRun?
    do {
      let database = try database(connection)
      var outcome = Outcome(from: database.from, to: database.to)
      if database.from != database.to {
        let plan = database.outline.plan
        guard plan.canRun else {
          throw StoreError.cannotMigrate(
            from: plan.from, to: plan.to, reasons: plan.faults.map(\.description))
        }
        switch database.statements {
        case .success(let statements):
          try run(statements, of: database, connection, &outcome)
        case .failure:
          let run = RebuildRun(database, model, steps, options, address, cancellation)
          rebuild = run
          outcome =
            isRehearsal ? try run.rehearse(connection, outcome) : try run.run(connection, outcome)
        }
      }
      try connection.run(isRehearsal ? "ROLLBACK" : "COMMIT")
      rebuild?.removeStore()
      return outcome
    } catch {
      _ = try? connection.run("ROLLBACK")
      if Self.isFinal(error) { rebuild?.discard(connection) }
      throw error
    }
  }

  /// True of an error that another run would have as well.
  private static func isFinal(_ error: any Error) -> Bool {
    switch error {
    case StoreError.migrationCancelled, StoreError.full, StoreError.io: false
    case let error as PostgresError: !(error.isTransient || error.isLoss)
    case PostgresStoreError.migrationBlocked: false
    default: true
    }
  }

  /// Begins the transaction that keeps other migrations, and writers, out.
  private func begin(_ connection: Connection) throws {
    try connection.run(
      """
      BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = '5s';
      SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0
      """)
    do {
      try connection.run("SELECT pg_advisory_xact_lock(hashtext('cambium'), hashtext('migrate'))")
    } catch {
      _ = try? connection.run("ROLLBACK")
      throw error
    }
  }

  private func run(
    _ statements: [MigrationStatement], of database: StoredDatabase, _ connection: Connection,
    _ outcome: inout Outcome
  ) throws {
    try database.lockVersion(connection)
    // Rows that statements change would otherwise have checks pending, with which no table can be changed.
    try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
    try database.removeOutbox(connection)
    var read: Set<String> = []
    for statement in statements {
      try cancellation.check(database)
      do {
        try connection.run(statement.sql)
      } catch {
        throw error.ofMigration(statement, to: database.to)
      }
      if statement.readsRows, let record = statement.record { read.insert(record) }
    }
    for statement in try database.stateStatements(connection) { try connection.run(statement) }
    try database.renewOutbox(connection)
    for table in database.new.tables where read.contains(table.record.name) {
      outcome.records += try database.count(rowsOf: table.name, connection)
    }
    outcome.isOneCommit = read.isEmpty
  }
}

// MARK: - Parts of every run

extension StoredDatabase {
  /// Waits for the transactions that run in the version, and keeps others out until the end of the migration.
  func lockVersion(_ connection: Connection) throws {
    try connection.run("LOCK TABLE \(CommitMark.table) IN SHARE MODE")
    let table = VersionGuard.table(of: from)
    if try connection.run("SELECT to_regclass('\(table)')") != [[nil]] {
      try connection.run("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
    }
  }

  /// Removes the triggers of the outbox: the changes that a migration makes are of all records.
  func removeOutbox(_ connection: Connection) throws { try connection.run(Outbox.removal) }

  /// Makes the triggers of the new version, if the database has an outbox.
  func renewOutbox(_ connection: Connection) throws {
    guard try connection.run("SELECT to_regclass('\(Outbox.table)')") != [[nil]] else { return }
    for statement in Outbox.creation(new) { try connection.run(statement) }
  }

  /// The number of records of a table of the old version; nil for a record that it does not have.
  func count(of record: String, _ connection: Connection) throws -> Int? {
    let number = new.schema.record(named: record)?.number
    let table = old.tables.first { $0.record.number == number }
    return try table.map { try count($0, connection) }
  }

  func count(_ table: TablePlan, _ connection: Connection) throws -> Int {
    try count(rowsOf: table.name, connection)
  }

  func count(rowsOf table: String, _ connection: Connection) throws -> Int {
    let rows = try connection.run("SELECT count(*) FROM \(old.qualified(table))")
    return rows.first?.first.flatMap { $0.flatMap { Int($0) } } ?? 0
  }
}

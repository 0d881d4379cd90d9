package import Cambium

/// Copies one state of a store into a database: table by table in the order of keys, in batches that are committed with
/// their number of rows. So it resumes where it stopped, whatever stopped it.
package struct Move {
  let snapshot: StoreSnapshot
  let plan: PostgresPlan
  let identity: String
  let schemas: [Schema]
  let address: String
  /// True to drop the tables of an earlier move that cannot be resumed.
  package var restarts = false
  /// For how long a lost connection is made again before the move ends with its error.
  package var patience: Duration = .seconds(60)
  /// The size of a batch at which it is committed.
  package var batchSize = 4 << 20
  package var progress: (MoveProgress) -> Void = { _ in }

  /// - Parameters:
  ///   - inspection: Of the same store, for its identity and its versions.
  ///   - address: The database, as libpq takes it.
  package init(
    _ snapshot: StoreSnapshot, of inspection: StoreInspection, options: PlanOptions,
    to address: String
  ) {
    self.snapshot = snapshot
    plan = PostgresPlan(snapshot.schema, options: options)
    identity = inspection.identity
    schemas = inspection.schemas.filter { $0.version <= snapshot.schema.version }
    self.address = address
  }

  /// Moves, or resumes a move. Returns the number of records.
  ///
  /// - Throws: `MoveError`; `PostgresError` of the server, or of a connection that cannot be made again; errors of reading the
  ///   store.
  @discardableResult
  package func run() throws -> Int {
    var committed = -1
    return try MoveSession(address: address, patience: patience).run { connection, progressed in
      try MoveRun(self, connection).finish { count in
        if count != committed {
          committed = count
          progressed()
        }
      }
    }
  }
}

package struct MoveProgress: Sendable {
  package let record: String
  package let count: Int
  package let total: Int
}

/// A move over one connection.
private final class MoveRun {
  private let move: Move
  private let connection: Connection
  private var plan: PostgresPlan { move.plan }
  private let state = PostgresPlan.stateSchema

  init(_ move: Move, _ connection: Connection) {
    self.move = move
    self.connection = connection
  }

  /// - Parameter body: Called with the number of committed records, whenever it grows.
  func finish(_ body: (Int) -> Void) throws -> Int {
    let found = try prepare()
    var count = 0
    for table in plan.tables {
      let progress = found.records[table.record.name]
      let total = try move.snapshot.count(record: table.record.name)
      var done = progress?.rowCount ?? 0
      move.progress(MoveProgress(record: table.record.name, count: done, total: total))
      if progress?.hasKeys != true {
        if done > 0, table.division != nil { done = try resumed(table, after: done) }
        let batch = MoveBatch(table, of: plan, connection, after: done)
        try batch.copyAll(from: move.snapshot, size: move.batchSize) { committed in
          done = committed
          body(count + done)
          move.progress(MoveProgress(record: table.record.name, count: done, total: total))
        }
        try addKeys(to: table)
      }
      count += done
      body(count)
    }
    if found.stage == .copying { try end() }
    return count
  }

  /// Makes the tables if there are none, and returns the state of the move.
  private func prepare() throws -> MoveState {
    var hadMadeSchema = false
    if let found = try MoveState(from: connection) {
      guard found.identity == move.identity else {
        throw MoveError.otherStore(found: found.identity)
      }
      // The tables are in use.
      if found.stage == .finished { throw MoveError.finished }
      let isSamePlan =
        found.options == plan.options && found.fingerprint == "\(plan.schema.fingerprint)"
      let isResumable = found.stage == .copying || found.stage == .moved
      if isSamePlan, isResumable, found.sequence == move.snapshot.sequence { return found }
      guard move.restarts else {
        if !isSamePlan { throw MoveError.otherPlan }
        throw found.stage == .copying
          ? MoveError.changed(moved: found.sequence, now: move.snapshot.sequence)
          : MoveError.isMoved(found.stage, sequence: found.sequence)
      }
      hadMadeSchema = found.hasMadeSchema
      try connection.transact(
        BackOut.dropStatements(try MoveState.tables(connection), found, cascading: true))
      try found.dropParts()
    }
    if let division = plan.options.division {
      try connection.checkServer(dividesRecords: true)
      try PartServers(division, of: move.identity).makeTables(of: plan)
    }
    let name = SQL.literal(plan.options.schema)
    let isMade = try connection.run("SELECT 1 FROM pg_namespace WHERE nspname = \(name)").isEmpty
    let statements =
      plan.stateStatements + plan.tableStatements
      + (try MoveState.statements(
        plan, move.schemas, identity: move.identity, at: move.snapshot.historyCursor,
        makingSchema: isMade || hadMadeSchema))
    try connection.transact(statements)
    guard let state = try MoveState(from: connection) else { throw MoveError.noMove }
    return state
  }

  /// Returns the number of rows after which the copy of a divided table is resumed. The servers commit one after the other; if that was
  /// cut off, some have rows that are not counted, and it begins again.
  private func resumed(_ table: TablePlan, after count: Int) throws(PostgresError) -> Int {
    let name = plan.qualified(table.name)
    if try connection.run("SELECT count(*) FROM \(name)") == [["\(count)"]] { return count }
    try connection.transact([
      "UPDATE \(state).moved SET row_count = 0 WHERE record = \(SQL.literal(table.record.name))",
      "DELETE FROM \(name)",
    ])
    return 0
  }

  private func addKeys(to table: TablePlan) throws(PostgresError) {
    try connection.run("BEGIN")
    let record = SQL.literal(table.record.name)
    let changed = try connection.change(
      "UPDATE \(state).moved SET has_keys = true WHERE record = \(record) AND NOT has_keys")
    if changed == 1 {
      for statement in plan.keyStatements(of: table) { try connection.run(statement) }
    }
    try connection.run("COMMIT")
  }

  /// Adds the foreign keys, sets the sequences, and says that the move is done.
  private func end() throws(PostgresError) {
    try connection.run("BEGIN")
    let changed = try connection.change(
      "UPDATE \(state).store SET stage = 'moved', changed_at = now() WHERE stage = 'copying'")
    if changed == 1 {
      for statement in plan.foreignKeyStatements + plan.sequenceStatements {
        try connection.run(statement)
      }
    }
    try connection.run("COMMIT")
    for table in plan.tables { try connection.run("ANALYZE \(plan.qualified(table.name))") }
  }
}

package import Cambium
import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
    let clock = ContinuousClock()
    var lastProgress = clock.now
    var committed = -1
    while true {
      do {
        let run = MoveRun(self, try Connection(address))
        return try run.finish { count in
          if count != committed { (committed, lastProgress) = (count, clock.now) }
        }
      } catch let error as PostgresError where error.isTransient {
        guard clock.now - lastProgress < patience else { throw error }
        usleep(200_000)
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
  private var restarts: Bool { move.restarts }

  init(_ move: Move, _ connection: Connection) {
    self.move = move
    self.connection = connection
  }

  /// - Parameter body: Called with the number of committed records, whenever it grows.
  func finish(_ body: (Int) -> Void) throws -> Int {
    try connection.checkServer()
    try lock()
    let found = try prepare()
    var count = 0
    for table in plan.tables {
      let progress = found.records[table.record.name]
      let total = try move.snapshot.count(record: table.record.name)
      var done = progress?.rowCount ?? 0
      move.progress(MoveProgress(record: table.record.name, count: done, total: total))
      if progress?.hasKeys != true {
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
    if !found.isDone { try end() }
    return count
  }

  /// Keeps other moves out of the database.
  private func lock() throws(PostgresError) {
    let rows = try connection.run(
      "SELECT pg_try_advisory_lock(hashtext('cambium'), hashtext('move'))")
    guard rows.first?.first == "t" else {
      // That of a connection which the server does not know to be lost goes by itself.
      throw PostgresError(
        message: "Another move into the database is running.", state: "57P00", isOfConnection: false
      )
    }
  }

  /// Makes the tables if there are none, and returns the state of the move.
  private func prepare() throws -> MoveState {
    if let found = try MoveState(from: connection) {
      guard found.identity == move.identity else {
        throw MoveError.otherStore(found: found.identity)
      }
      let isSamePlan =
        found.options == plan.options && found.fingerprint == "\(plan.schema.fingerprint)"
      if isSamePlan, found.sequence == move.snapshot.sequence { return found }
      guard restarts else {
        throw isSamePlan
          ? MoveError.changed(moved: found.sequence, now: move.snapshot.sequence)
          : MoveError.otherPlan
      }
      try drop(found)
    }
    let statements =
      plan.stateStatements + plan.tableStatements
      + (try MoveState.statements(
        plan, move.schemas, identity: move.identity, sequence: move.snapshot.sequence))
    try transact(statements)
    guard let state = try MoveState(from: connection) else { throw MoveError.noMove }
    return state
  }

  /// Drops the tables that an earlier move made.
  private func drop(_ found: MoveState) throws {
    let tables = try connection.run("SELECT DISTINCT table_name FROM \(state).map")
    let names = tables.compactMap { $0[0] }.map {
      "DROP TABLE IF EXISTS \(SQL.name(found.options.schema)).\(SQL.name($0)) CASCADE"
    }
    try transact(names + ["DROP SCHEMA \(state) CASCADE"])
  }

  private func transact(_ statements: [String]) throws(PostgresError) {
    try connection.run("BEGIN")
    for statement in statements { try connection.run(statement) }
    try connection.run("COMMIT")
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
      "UPDATE \(state).store SET is_done = true WHERE NOT is_done")
    if changed == 1 {
      for statement in plan.foreignKeyStatements { try connection.run(statement) }
      for table in plan.tables {
        for column in table.columns where column.identity != nil {
          let name = plan.qualified(table.name)
          try connection.run(
            "SELECT setval(pg_get_serial_sequence(\(SQL.literal(name)), \(SQL.literal(column.name))),"
              + " max(\(SQL.name(column.name)))) FROM \(name)"
              + " HAVING max(\(SQL.name(column.name))) > 0")
        }
      }
    }
    try connection.run("COMMIT")
    for table in plan.tables { try connection.run("ANALYZE \(plan.qualified(table.name))") }
  }
}

extension Connection {
  /// Throws unless the server can hold the tables of a plan.
  func checkServer() throws {
    let version = try run("SHOW server_version_num").first?.first.flatMap { $0 } ?? ""
    guard let number = Int(version), number >= 120_000 else { throw MoveError.oldServer(version) }
    let encoding = try run("SHOW server_encoding").first?.first.flatMap { $0 } ?? ""
    guard encoding == "UTF8" else { throw MoveError.encoding(encoding) }
    try run(
      "SET standard_conforming_strings = on; SET client_encoding = 'UTF8'; SET DateStyle = ISO")
  }
}

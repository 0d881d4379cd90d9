#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Work over a connection that keeps others from moving into the same database, and that is made again when it is lost.
struct MoveSession {
  let address: String
  /// For how long the connection is made again without progress before its error is thrown.
  let patience: Duration
  /// Called with the error of each connection that is made again.
  var trouble: (PostgresError) -> Void = { _ in }

  /// A connection of a process that was killed ends within a second, so after this time another move is running.
  private static let grace = Duration.seconds(2)

  /// Runs `body` until it returns; again, over another connection, after each error that may pass.
  ///
  /// - Parameter body: Given a connection that holds the lock, and a function to call after each progress.
  /// - Throws: `MoveError.running`; errors of `body`, and of a connection that cannot be made again.
  func run<Result>(_ body: (Connection, _ progressed: () -> Void) throws -> Result) throws -> Result
  {
    let clock = ContinuousClock()
    var lastProgress = clock.now
    var hadLock = false
    while true {
      do {
        let connection = try Connection(address)
        try connection.checkServer()
        if let other = try connection.lockForMove() {
          let rest = hadLock ? patience : Self.grace
          guard clock.now - lastProgress < rest else { throw MoveError.running(other) }
        } else {
          hadLock = true
          return try body(connection) { lastProgress = clock.now }
        }
      } catch let error as PostgresError where error.isTransient {
        guard clock.now - lastProgress < patience else { throw error }
        trouble(error)
      }
      usleep(100_000)
    }
  }
}

extension Connection {
  /// Throws unless the server can hold the tables of a plan.
  func checkServer(dividesRecords: Bool = false) throws {
    let version = try run("SHOW server_version_num").first?.first.flatMap { $0 } ?? ""
    guard let number = Int(version), number >= 120_000 else { throw MoveError.oldServer(version) }
    guard !dividesRecords || number >= 140_000 else {
      throw MoveError.division(
        "The server is PostgreSQL \(version). It divides records from version 14 on.")
    }
    let encoding = try run("SHOW server_encoding").first?.first.flatMap { $0 } ?? ""
    guard encoding == "UTF8" else { throw MoveError.encoding(encoding) }
    try run(
      "SET standard_conforming_strings = on; SET client_encoding = 'UTF8'; SET DateStyle = ISO")
    // Without it, a statement of a client that was killed runs to its end, with all of its locks.
    if number >= 140_000 { try run("SET client_connection_check_interval = '500ms'") }
  }

  /// Takes the lock that keeps others out for as long as the connection lasts.
  ///
  /// - Returns: Nil; or a description of the connection that has the lock.
  func lockForMove() throws(PostgresError) -> String? {
    let (one, other) = ("hashtext('cambium')", "hashtext('move')")
    if try run("SELECT pg_try_advisory_lock(\(one), \(other))").first?.first == "t" { return nil }
    let rows = try run(
      "SELECT 'server process ' || a.pid || coalesce(', of ' || a.client_addr, '')"
        + " || ', since ' || to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS TZ')"
        + " FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory'"
        + " AND l.granted AND l.objsubid = 2 AND l.classid::bigint = \(one)::bigint & 4294967295"
        + " AND l.objid::bigint = \(other)::bigint & 4294967295"
        + " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())")
    return rows.first?.first.flatMap { $0 } ?? "a connection that the server does not show"
  }

  /// Runs statements in a transaction.
  func transact(_ statements: [String]) throws(PostgresError) {
    try run("BEGIN")
    for statement in statements { try run(statement) }
    try run("COMMIT")
  }
}

import FoundationEssentials

/// The mark by which a commit is found if its answer is lost: the last statement of a transaction writes it, so it is in the database
/// if and only if the commit was made, also in that of a stand-by that has become the primary meanwhile.
///
/// The table has a row for each connection, with the mark of its last commit. A row is only ever changed by its connection, and by the
/// lookup of its last commit, so transactions do not conflict by it.
struct CommitMark: Sendable {
  /// The connection: not its process, since poolers have several.
  private let writer: UUID
  private let identity: UUID
  /// The server's process, and its number of the transaction.
  private let process: Int64
  private let number: Int64
  /// True if there are observers that are to be notified after the commit.
  let isObserved: Bool

  static let table = "\(PostgresPlan.stateSchema).committed"

  /// The pages have space for another version of each row, so that no index has to be changed.
  static let tableStatement = """
    CREATE TABLE \(table) (
      writer uuid PRIMARY KEY,
      identity uuid NOT NULL,
      committed_at timestamp with time zone NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)
    """

  /// Removes the rows of connections that have not committed anything for a day. No lookup takes so long.
  static let removalStatement = """
    DELETE FROM \(table) WHERE writer IN (
      SELECT writer FROM \(table) WHERE committed_at < now() - interval '1 day' FOR UPDATE SKIP LOCKED)
    """

  /// Writes the mark of a transaction, as its last statement; nil if the transaction has changed nothing.
  init?(writtenBy writer: UUID, in server: ServerTransaction) throws {
    let identity = UUID()
    let found = try server.run(
      """
      INSERT INTO \(Self.table) (writer, identity)
        SELECT '\(writer)'::uuid, '\(identity)'::uuid WHERE txid_current_if_assigned() IS NOT NULL
        ON CONFLICT (writer) DO UPDATE SET identity = excluded.identity, committed_at = excluded.committed_at
        RETURNING pg_backend_pid()::bigint, txid_current(), (\(Outbox.isObserved))::int
      """)
    guard let row = found.rows.first else { return nil }
    let numbers = row.map { $0.flatMap { ValueDecoder.integer($0) } ?? 0 }
    self.writer = writer
    self.identity = identity
    (process, number, isObserved) = (numbers[0], numbers[1], numbers[2] == 1)
  }

  /// Looks up whether the commit was made, over another connection than that of the transaction.
  ///
  /// The row is written, and that is committed. So the transaction has ended: until then, the row is locked. And where commits wait
  /// for a stand-by, the outcome is there, too: a server that has just restarted shows commits that no stand-by has.
  ///
  /// - Returns: The outcome, and the position of the lookup in the log of the server.
  /// - Throws: `PostgresError`, also if the transaction has not ended after a second; then the server is told to end it.
  func lookUp(_ connection: Connection) throws -> (isCommitted: Bool, position: LogPosition?) {
    try connection.run(
      "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = '1s'")
    do {
      let found = try connection.run(
        """
        INSERT INTO \(Self.table) AS found (writer, identity) VALUES ('\(writer)', '\(UUID())')
          ON CONFLICT (writer) DO UPDATE SET committed_at = now() RETURNING found.identity
        """)
      let position = try LogPosition(committing: connection)
      return (found.first?.first == identity.uuidString.lowercased(), position)
    } catch {
      if error.state == "55P03" { end(connection) }
      throw error
    }
  }

  /// Has the server end the transaction, whose client is gone. If it waits only for a stand-by, it is committed nonetheless.
  private func end(_ connection: Connection) {
    _ = try? connection.run(
      """
      ROLLBACK; SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid = \(process) AND backend_xid = '\(number & 0xFFFF_FFFF)'::xid
      """)
  }
}

/// A position in the log of a server. Stand-bys have the same positions, and a stand-by that becomes the primary continues from its own.
struct LogPosition: Sendable, Hashable, Comparable {
  private let bytes: UInt64

  static let zero = LogPosition(bytes: 0)

  private init(bytes: UInt64) { self.bytes = bytes }

  static func < (one: LogPosition, other: LogPosition) -> Bool { one.bytes < other.bytes }

  /// Commits, and takes a position that is not before that of the commit.
  init?(committing connection: Connection) throws(PostgresError) {
    let found = try connection.run(
      "COMMIT; SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
    guard let bytes = found.first?.first.flatMap({ $0 }).flatMap({ UInt64($0) }) else { return nil }
    self.bytes = bytes
  }

  /// True if a server shows every commit up to the position. The primary does.
  func isReached(by connection: Connection) throws(PostgresError) -> Bool {
    try connection.run(
      "SELECT NOT pg_is_in_recovery() OR pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') >= \(bytes)"
    ).first?.first == "t"
  }
}

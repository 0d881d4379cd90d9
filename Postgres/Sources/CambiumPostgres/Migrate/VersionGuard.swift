import Cambium

/// Keeps transactions and migrations apart, by a table without columns that is named after the version of the database.
///
/// Each transaction of a store locks it, shared, before it reads anything: if the database has another version, there is no such table,
/// and the transaction throws `StoreError.newerSchema`. A migration locks it alone, and so waits for the transactions that run.
/// Those that write lock the table of commit marks before, as every write does in any case: while a migration rewrites
/// records, they wait there, where they hold nothing that the migration waits for.
struct VersionGuard: Sendable {
  let version: Int
  /// False in a database of an earlier release, if the program may not make the table, or may not lock it.
  let isUsed: Bool

  static func table(of version: Int) -> String {
    "\(PostgresPlan.stateSchema).version_\(version)"
  }

  static func creation(of version: Int) -> String { "CREATE TABLE \(table(of: version)) ()" }

  /// Drops the tables of all versions.
  static let removal = """
    DO $cambium$
    DECLARE name regclass;
    BEGIN
      FOR name IN SELECT oid::regclass FROM pg_class
        WHERE relnamespace = to_regnamespace('\(PostgresPlan.stateSchema)') AND relname ~ '^version_[0-9]+$'
      LOOP EXECUTE 'DROP TABLE ' || name; END LOOP;
    END $cambium$
    """

  /// Looks for the table in a database that has the version, and makes it if the database is of an earlier release.
  ///
  /// - Throws: `PostgresError`.
  init(_ version: Int, _ connection: Connection) throws(PostgresError) {
    self.version = version
    let table = Self.table(of: version)
    let isUsable =
      "SELECT CASE WHEN to_regclass('\(table)') IS NULL THEN NULL"
      + " ELSE has_table_privilege('\(table)', 'SELECT') END"
    if try connection.run(isUsable) == [[nil]] {
      _ = try? connection.run(Self.creation(of: version))
    }
    // Another process may have made it since.
    isUsed = try connection.run(isUsable) == [["t"]]
  }

  /// The statements at the beginning of a transaction that reads.
  var reading: [String] {
    isUsed ? ["LOCK TABLE \(Self.table(of: version)) IN ACCESS SHARE MODE"] : []
  }

  /// The statements at the beginning of a transaction that writes.
  var writing: [String] {
    isUsed ? ["LOCK TABLE \(CommitMark.table) IN ROW EXCLUSIVE MODE"] + reading : []
  }

  /// The error for a database that does not have the version any more.
  func refusal(_ connection: Connection) -> any Error {
    let newest = "SELECT max(version) FROM \(PostgresPlan.stateSchema).schema"
    let found = try? connection.run(newest).first?.first.flatMap { $0.flatMap { Int($0) } }
    guard let found else {
      return PostgresStoreError.unsuitableDatabase(reason: "its tables were dropped")
    }
    return StoreError.newerSchema(found: found, supported: version)
  }
}

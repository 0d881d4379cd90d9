import Cambium
import FoundationEssentials

/// The state of a migration whose records are copied, as the database has it, so that it is resumed by any program with the same
/// steps that finds the directory of its store.
struct MigrationMark {
  let identity: String
  var stage: Stage

  enum Stage: String {
    /// Records are read into a store.
    case exporting
    /// The store has all of them.
    case exported
    /// The store has the new version.
    case migrated
    /// The new tables exist, and get the records of the store.
    case copying
    /// They have all of them, with keys, indexes and foreign keys.
    case copied
  }

  static let table = "\(PostgresPlan.stateSchema).migration"
  private static let function = "\(PostgresPlan.stateSchema).migration_void"
  private static let trigger = "cambium_migration"

  /// Finds the migration that was interrupted, or begins one.
  ///
  /// - Parameter directory: The place of the stores of migrations.
  /// - Returns: The mark, and whether another migration was discarded for it.
  static func begin(
    _ connection: Connection, _ database: StoredDatabase, in directory: String
  ) throws -> (mark: MigrationMark, startedOver: Bool) {
    try connection.run(
      """
      CREATE TABLE IF NOT EXISTS \(table) (
        identity uuid PRIMARY KEY,
        definitions text NOT NULL,
        stage text NOT NULL,
        is_void boolean NOT NULL DEFAULT false
      )
      """)
    let rows = try connection.run("SELECT identity, definitions, stage, is_void FROM \(table)")
    if let row = rows.first, let identity = row[0], row[1] == database.outline.definitions,
      row[3] == "f", let stage = row[2].flatMap({ Stage(rawValue: $0) }),
      FileManager.default.fileExists(atPath: path(of: identity, in: directory))
        || stage == .exporting
    {
      return (MigrationMark(identity: identity, stage: stage), false)
    }
    for row in rows {
      guard let identity = row[0] else { continue }
      try? FileManager.default.removeItem(atPath: path(of: identity, in: directory))
    }
    let mark = MigrationMark(identity: UUID().uuidString.lowercased(), stage: .exporting)
    try connection.transact(mark.beginning(database))
    return (mark, !rows.isEmpty)
  }

  /// Replaces what another migration has left, and has the old tables note that they were written.
  private func beginning(_ database: StoredDatabase) -> [String] {
    [
      "DROP SCHEMA IF EXISTS \(SQL.name(StagedTables.schema)) CASCADE",
      "DELETE FROM \(Self.table)",
      "INSERT INTO \(Self.table) VALUES ('\(identity)', \(SQL.literal(database.outline.definitions)),"
        + " '\(stage.rawValue)')",
      """
      CREATE OR REPLACE FUNCTION \(Self.function)() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $cambium$
      BEGIN
        UPDATE \(Self.table) SET is_void = true WHERE NOT is_void;
        RETURN NULL;
      END $cambium$
      """,
    ]
      + database.oldTables.flatMap { table in
        [
          "DROP TRIGGER IF EXISTS \(Self.trigger) ON \(table)",
          "CREATE TRIGGER \(Self.trigger) AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON \(table)"
            + " FOR EACH STATEMENT EXECUTE FUNCTION \(Self.function)()",
        ]
      }
  }

  /// The statements that remove the mark, after the tables with the triggers.
  static let removal = [
    "DROP TABLE IF EXISTS \(StagedTables.progress), \(table)", "DROP FUNCTION \(function)()",
  ]

  /// The statements that remove all that a migration has made.
  static func discarding(_ database: StoredDatabase) -> [String] {
    ["DROP SCHEMA IF EXISTS \(SQL.name(StagedTables.schema)) CASCADE"]
      + database.oldTables.map { "DROP TRIGGER IF EXISTS \(trigger) ON \($0)" } + removal
  }

  /// Returns true if the old tables were written since the migration was begun.
  func isVoid(_ connection: Connection) throws -> Bool {
    try connection.run("SELECT FROM \(Self.table) WHERE identity = '\(identity)' AND NOT is_void")
      .isEmpty
  }

  func statement(reaching stage: Stage) -> String {
    "UPDATE \(Self.table) SET stage = '\(stage.rawValue)' WHERE identity = '\(identity)'"
  }

  /// The directory of its store.
  func path(in directory: String) -> String { Self.path(of: identity, in: directory) }

  static func path(of identity: String, in directory: String) -> String {
    directory + "/cambium-migration-" + identity
  }
}

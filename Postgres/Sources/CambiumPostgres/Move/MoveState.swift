import Cambium
import FoundationEssentials

/// The state of a move, as the database has it.
struct MoveState {
  let identity: String
  /// The commit of the store that the database shows, or of which it is a copy that is not complete yet.
  let sequence: UInt64
  /// The place in the store's history after that commit; nil if the records were never in a store.
  let cursor: HistoryCursor?
  let fingerprint: String
  let options: PlanOptions
  let stage: MoveStage
  /// True if the move made the schema of the tables.
  let hasMadeSchema: Bool
  /// The progress of each record, by its stored name.
  private(set) var records: [String: Progress] = [:]

  struct Progress {
    /// The number of rows that are committed.
    let rowCount: Int
    /// True if the table has its keys and indexes.
    let hasKeys: Bool
  }

  private static let schema = PostgresPlan.stateSchema

  /// Reads the state; nil if there was no move.
  init?(from connection: Connection) throws {
    let tables = try connection.run("SELECT to_regclass('\(Self.schema).store')")
    guard tables.first?.first.flatMap({ $0 }) != nil else { return nil }
    let rows = try connection.run(
      "SELECT identity, sequence, cursor, fingerprint, options, stage, made_schema FROM \(Self.schema).store"
    )
    guard let row = rows.first, let identity = row[0],
      let sequence = row[1].flatMap({ UInt64($0) }), let fingerprint = row[3], let options = row[4],
      let stage = row[5].flatMap({ MoveStage(rawValue: $0) })
    else { return nil }
    self.identity = identity
    self.sequence = sequence
    cursor = try row[2].map { try JSONDecoder().decode(HistoryCursor.self, from: Data($0.utf8)) }
    self.fingerprint = fingerprint
    self.options = try JSONDecoder().decode(PlanOptions.self, from: Data(options.utf8))
    self.stage = stage
    hasMadeSchema = row[6] == "t"
    for row in try connection.run("SELECT record, row_count, has_keys FROM \(Self.schema).moved") {
      guard let record = row[0], let count = row[1].flatMap({ Int($0) }) else { continue }
      records[record] = Progress(rowCount: count, hasKeys: row[2] == "t")
    }
  }

  /// The state of a move of a store.
  ///
  /// - Throws: `MoveError.noMove`, `.otherStore`, `.otherPlan` if the store was migrated since.
  init(from connection: Connection, of identity: String, _ schema: Schema) throws {
    guard let found = try MoveState(from: connection) else { throw MoveError.noMove }
    guard found.identity == identity else { throw MoveError.otherStore(found: found.identity) }
    guard found.fingerprint == "\(schema.fingerprint)" else { throw MoveError.otherPlan }
    self = found
  }

  /// Drops the tables that the move made on other servers.
  func dropParts() throws {
    guard let division = options.division else { return }
    try PartServers(division, of: identity).dropTables()
  }

  static func text(of cursor: HistoryCursor) throws -> String {
    String(decoding: try JSONEncoder().encode(cursor), as: UTF8.self)
  }

  /// The tables that the move made, apart from those of the schema `cambium`.
  static func tables(_ connection: Connection) throws(PostgresError) -> [String] {
    try connection.run("SELECT DISTINCT table_name FROM \(schema).map ORDER BY 1")
      .compactMap { $0[0] }
  }

  /// The tables of the schema `cambium`.
  static let ownTables = [
    "store", "moved", "schema", "map", "blob", "outbox", "outbox_mark", "committed",
    "migration", "migration_progress",
  ]

  /// The statements that make and fill the tables with the state.
  ///
  /// - Parameter cursor: The place of the state that is copied; nil if the records were never in a store, so that nothing is to
  ///   be copied.
  static func statements(
    _ plan: PostgresPlan, _ schemas: [Schema], identity: String, at cursor: HistoryCursor?,
    makingSchema: Bool
  ) throws -> [String] {
    let place = try cursor.map { SQL.literal(try text(of: $0)) } ?? "NULL"
    let stage = cursor == nil ? MoveStage.finished : .copying
    let options = String(decoding: try JSONEncoder().encode(plan.options), as: UTF8.self)
    let statements = [
      """
      CREATE TABLE \(schema).store (
        identity text PRIMARY KEY,
        sequence numeric(20,0) NOT NULL,
        cursor text,
        fingerprint text NOT NULL,
        options text NOT NULL,
        stage text NOT NULL,
        made_schema boolean NOT NULL,
        changed_at timestamp with time zone NOT NULL DEFAULT now()
      )
      """,
      """
      CREATE TABLE \(schema).moved (
        record text COLLATE "C" PRIMARY KEY,
        row_count bigint NOT NULL DEFAULT 0,
        has_keys boolean NOT NULL DEFAULT false
      )
      """,
      "INSERT INTO \(schema).store VALUES (\(SQL.literal(identity)),"
        + " \(cursor?.sequence ?? 0), \(place), \(SQL.literal("\(plan.schema.fingerprint)")),"
        + " \(SQL.literal(options)), '\(stage.rawValue)', \(makingSchema))",
    ]
    return statements + schemas.map { statement(of: $0) } + recordStatements(plan)
  }

  /// The statement that adds a version.
  static func statement(of version: Schema) -> String {
    let label = version.label.map { SQL.literal($0) } ?? "NULL"
    return "INSERT INTO \(schema).schema VALUES (\(version.version), \(label),"
      + " \(SQL.literal("\(version.fingerprint)")), \(SQL.literal("\(SchemaLock([version]))")))"
  }

  /// The statements that add the records, with the names of their tables and columns.
  static func recordStatements(_ plan: PostgresPlan) -> [String] {
    var statements: [String] = []
    for table in plan.tables {
      statements.append(
        "INSERT INTO \(schema).moved (record) VALUES (\(SQL.literal(table.record.name)))")
      statements.append(mapping(table.record.name, nil, table.name, nil))
      for column in table.columns {
        guard let field = column.field else { continue }
        statements.append(mapping(table.record.name, field, table.name, column.name))
      }
      for list in table.lists {
        statements.append(mapping(table.record.name, list.field, list.name, list.elementColumn))
      }
    }
    return statements
  }

  private static func mapping(
    _ record: String, _ field: String?, _ table: String, _ column: String?
  ) -> String {
    let values = [record, field, table, column].map { $0.map { SQL.literal($0) } ?? "NULL" }
    return "INSERT INTO \(schema).map VALUES (\(values.joined(separator: ", ")))"
  }
}

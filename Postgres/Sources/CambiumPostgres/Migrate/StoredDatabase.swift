import Cambium

/// A database that has a version of a model, and the steps from there to another version.
struct StoredDatabase: Sendable {
  let outline: MigrationOutline
  /// The options of the tables.
  let options: PlanOptions
  /// All versions of the model, in ascending order.
  let schemas: [Schema]
  let old: PostgresPlan
  let new: PostgresPlan
  /// The statements that the server takes the steps by; the reason for which there are none.
  let statements: Result<[MigrationStatement], StepObstacle>

  /// The reason for which a database without tables is not migrated.
  static let empty = "it has no tables of a store"

  /// - Throws: `PostgresStoreError.unsuitableDatabase`, `.unsupportedModel`; `StoreError.schemaMismatch`, `.newerSchema`,
  ///   `.invalidDescription`; `PostgresError`.
  init(
    _ connection: Connection, to model: StoreModel, _ steps: [MigrationStep],
    _ migration: MigrationOptions
  ) throws {
    guard let state = try MoveState(from: connection) else {
      throw PostgresStoreError.unsuitableDatabase(reason: Self.empty)
    }
    guard state.stage == .finished else {
      throw PostgresStoreError.unsuitableDatabase(reason: DatabaseOpening.unfinished)
    }
    options = state.options
    guard options.division == nil else {
      throw PostgresStoreError.unsupported(
        "migrations of records that are divided over several servers; programs of the database's version still work"
      )
    }
    schemas = try model.schemas()
    let stored = try Self.stored(schemas, connection)
    outline = try MigrationOutline(from: stored, to: model, steps, migration)
    old = PostgresPlan(stored, options: options)
    let mapping = try RecordMapping(model)
    new = PostgresPlan(mapping.schema, options: options)
    let reasons = try DatabaseOpening.obstacles(new, mapping)
    guard reasons.isEmpty else { throw PostgresStoreError.unsupportedModel(reasons: reasons) }
    statements = Self.statements(outline, options)
    if case .failure = statements {
      let fields = old.tables.flatMap { table in
        table.columns.filter { $0.kind == .parts }.map { "\(table.record.name).\($0.field ?? "")" }
      }
      guard fields.isEmpty else {
        throw PostgresStoreError.unsupportedModel(
          reasons: fields.map { "\($0) is kept outside of its row in version \(stored.version)" })
      }
    }
    try DatabaseOpening.checkMap(old, connection)
  }

  private static func stored(_ schemas: [Schema], _ connection: Connection) throws -> Schema {
    let newest = try connection.run(
      "SELECT version, fingerprint, lock FROM \(PostgresPlan.stateSchema).schema ORDER BY version DESC LIMIT 1"
    )
    guard let row = newest.first, let version = row[0].flatMap({ Int($0) }) else {
      throw PostgresStoreError.unsuitableDatabase(reason: "it does not say which version it has")
    }
    guard version <= schemas.count else {
      throw StoreError.newerSchema(found: version, supported: schemas.count)
    }
    let described = schemas[version - 1]
    if row[1] == "\(described.fingerprint)" { return described }
    let lock = row[2].flatMap { try? SchemaLock(parsing: $0) }
    let found = lock.flatMap { try? StoreModel($0).schemas().last }
    throw StoreError.schemaMismatch(
      version: version, differences: found?.differences(to: described) ?? [])
  }

  private static func statements(
    _ outline: MigrationOutline, _ options: PlanOptions
  ) -> Result<[MigrationStatement], StepObstacle> {
    do throws(StepObstacle) {
      var all: [MigrationStatement] = []
      for step in outline.steps { all += try StepStatements(step, options).all }
      return .success(all)
    } catch {
      return .failure(error)
    }
  }

  var from: Int { outline.plan.from }
  var to: Int { outline.plan.to }

  /// The tables of the old version with those of its lists, as statements name them.
  var oldTables: [String] {
    old.tables.flatMap { [$0.name] + $0.lists.map(\.name) }.map { old.qualified($0) }
  }

  /// The statements after which the database says that it has the new version.
  func stateStatements(_ connection: Connection) throws -> [String] {
    let state = PostgresPlan.stateSchema
    let (before, after) = (VersionGuard.table(of: from), VersionGuard.table(of: to))
    let isGuarded = try connection.run("SELECT to_regclass('\(before)')") != [[nil]]
    var statements = [
      "DROP TABLE IF EXISTS \(after)",
      // Renamed, it keeps the rights of programs.
      isGuarded
        ? "ALTER TABLE \(before) RENAME TO version_\(to)" : VersionGuard.creation(of: to),
    ]
    statements += schemas.filter { $0.version > from }.map { MoveState.statement(of: $0) }
    statements += [
      "DELETE FROM \(state).map", "DELETE FROM \(state).moved",
      "UPDATE \(state).store SET changed_at = now(), fingerprint = "
        + SQL.literal("\(new.schema.fingerprint)"),
    ]
    statements += MoveState.recordStatements(new)
    statements.append("UPDATE \(state).moved SET has_keys = true")
    return statements
  }
}

import Cambium
import FoundationEssentials

/// Compares a database with a model, and makes its tables.
struct DatabaseOpening: Sendable {
  private let mapping: RecordMapping
  /// All versions of the model.
  private let schemas: [Schema]
  private let options: PostgresOptions

  init(_ mapping: RecordMapping, _ schemas: [Schema], _ options: PostgresOptions) {
    self.mapping = mapping
    self.schemas = schemas
    self.options = options
  }

  /// The reason for which a database is not opened into which a store is moved.
  static let unfinished =
    "the move of a store into it is not finished: run \"cambium postgres finish\""

  /// Returns the plan of the database, and the guard of its version.
  ///
  /// - Throws: `PostgresStoreError.unsupportedModel`, `.unsuitableDatabase`, `.server`, `.connectionLost`; `StoreError.needsMigration`,
  ///   `.newerSchema`.
  func open(_ connection: Connection) throws -> (PostgresPlan, VersionGuard) {
    do {
      let plan = try plan(connection)
      let reasons = try Self.obstacles(plan, mapping)
      guard reasons.isEmpty else { throw PostgresStoreError.unsupportedModel(reasons: reasons) }
      if try MoveState(from: connection) == nil { try create(plan, connection) }
      try check(plan, connection)
      try prepareMarks(connection)
      return (plan, try VersionGuard(plan.schema.version, connection))
    } catch let error as PostgresError {
      throw error.ofStore
    }
  }

  /// The plan by the options that the tables were made with.
  private func plan(_ connection: Connection) throws -> PostgresPlan {
    guard let state = try MoveState(from: connection) else {
      guard options.createsTables else {
        throw PostgresStoreError.unsuitableDatabase(reason: "it has no tables of a store")
      }
      return PostgresPlan(mapping.schema)
    }
    guard state.stage == .finished else {
      throw PostgresStoreError.unsuitableDatabase(reason: Self.unfinished)
    }
    return PostgresPlan(mapping.schema, options: state.options)
  }

  /// Makes the tables, unless another process has made them since.
  private func create(_ plan: PostgresPlan, _ connection: Connection) throws {
    try connection.run("BEGIN")
    do {
      try connection.run(
        "SELECT pg_advisory_xact_lock(hashtext('cambium'), hashtext('create'))")
      if try MoveState(from: connection) == nil {
        for statement in plan.statements { try connection.run(statement) }
        let statements = try MoveState.statements(
          plan, schemas, identity: UUID().uuidString, at: nil, makingSchema: false)
        for statement in statements { try connection.run(statement) }
        try connection.run("UPDATE \(PostgresPlan.stateSchema).moved SET has_keys = true")
      }
      try connection.run("COMMIT")
    } catch {
      _ = try? connection.run("ROLLBACK")
      throw error
    }
  }

  /// Makes the table of commit marks in a database of an earlier version, and removes old marks.
  private func prepareMarks(_ connection: Connection) throws {
    if try connection.run("SELECT to_regclass('\(CommitMark.table)')") == [[nil]] {
      do {
        try connection.run(CommitMark.tableStatement)
      } catch {
        // Another process may have made it since.
        guard try connection.run("SELECT to_regclass('\(CommitMark.table)')") == [[nil]] else {
          return
        }
        throw PostgresStoreError.unsuitableDatabase(
          reason: "it has no table \(CommitMark.table), and it cannot be made: \(error.message)")
      }
    }
    // A program that only reads may not be allowed to.
    _ = try? connection.run(CommitMark.removalStatement)
  }

  /// Throws unless the database has the model's version, in the tables of the plan.
  private func check(_ plan: PostgresPlan, _ connection: Connection) throws {
    let newest = try connection.run(
      "SELECT version, fingerprint FROM \(PostgresPlan.stateSchema).schema ORDER BY version DESC LIMIT 1"
    )
    guard let row = newest.first, let version = row[0].flatMap({ Int($0) }) else {
      throw PostgresStoreError.unsuitableDatabase(reason: "it does not say which version it has")
    }
    if version < plan.schema.version {
      throw StoreError.needsMigration(found: version, wanted: plan.schema.version)
    }
    if version > plan.schema.version {
      throw StoreError.newerSchema(found: version, supported: plan.schema.version)
    }
    guard row[1] == "\(plan.schema.fingerprint)" else {
      throw PostgresStoreError.unsuitableDatabase(
        reason: "version \(version) is described differently there")
    }
    try Self.checkMap(plan, connection)
    try checkGenerated(plan, connection)
  }

  /// Throws unless the database has the tables and columns of a plan.
  static func checkMap(_ plan: PostgresPlan, _ connection: Connection) throws {
    let found = try connection.run(
      "SELECT record, field, table_name, column_name FROM \(PostgresPlan.stateSchema).map")
    let missing = map(plan).subtracting(found.map { Mapping($0) })
    if let first = missing.first {
      throw PostgresStoreError.unsuitableDatabase(
        reason: "it has no \(first.table ?? "").\(first.column ?? "") for \(first.record ?? "")")
    }
  }

  /// Throws unless the server computes what it is to compute: this store writes none of it, and a database that an earlier version
  /// of the mover made may have a column of values there.
  private func checkGenerated(_ plan: PostgresPlan, _ connection: Connection) throws {
    let found = try connection.run(
      """
      SELECT c.relname, a.attname FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE a.attgenerated = 's' AND n.nspname = \(SQL.literal(plan.options.schema))
      """)
    let generated = Set(found)
    for table in plan.tables {
      for column in table.columns
      where column.generated != nil && !generated.contains([table.name, column.name]) {
        throw PostgresStoreError.unsuitableDatabase(
          reason:
            "\(table.name).\(column.name) is to be computed by the server: move the store into a new database"
        )
      }
    }
  }

  private struct Mapping: Hashable {
    let record, field, table, column: String?

    init(_ row: [String?]) { (record, field, table, column) = (row[0], row[1], row[2], row[3]) }
  }

  private static func map(_ plan: PostgresPlan) -> Set<Mapping> {
    var map: Set<Mapping> = []
    for table in plan.tables {
      let record = table.record.name
      map.insert(Mapping([record, nil, table.name, nil]))
      for column in table.columns where column.field != nil {
        map.insert(Mapping([record, column.field, table.name, column.name]))
      }
      for list in table.lists {
        map.insert(Mapping([record, list.field, list.name, list.elementColumn]))
      }
    }
    return map
  }

  // MARK: The model

  /// The features of a model that neither the server nor this store has, as sentences.
  static func obstacles(_ plan: PostgresPlan, _ mapping: RecordMapping) throws -> [String] {
    var reasons: [String] = []
    for table in plan.tables {
      let record = table.record
      for duty in try mapping.duties(ofRecord: record.name) {
        reasons.append("\(record.name) has \(duty.text)")
      }
      for field in record.fields { reasons += obstacles(field, of: table, in: plan) }
    }
    reasons += plan.notes.filter { $0.text.hasPrefix("its unique constraint") }.map {
      "\($0.record): \($0.text)"
    }
    return reasons.sorted()
  }

  private static func obstacles(
    _ field: FieldSchema, of table: TablePlan, in plan: PostgresPlan
  ) -> [String] {
    let schema = plan.schema
    let name = "\(table.record.name).\(field.name)"
    var reasons: [String] = []
    if case .external = field.type { reasons.append("\(name) is kept outside of its row") }
    let column = table.columns.first { $0.field == field.name }
    if field.derivation != nil, column?.generated == nil {
      reasons.append("\(name) is derived, or numbered, by the store")
    }
    guard let reference = field.reference, reference.isChecked else { return reasons }
    let isBetweenServers =
      plan.options.isDivided(table.record.name) || plan.options.isDivided(reference.destination)
    if isBetweenServers, CheckedReference(field, of: table, in: plan) == nil {
      reasons.append("\(name) is a reference between servers, which none of them checks")
    }
    if reference.deleteRule != .nullify {
      reasons.append("\(name) has a delete rule for the records that it leads to")
    }
    let inverse = schema.record(named: reference.destination)?.inverses.first {
      $0.related == table.record.name && $0.reference == field.name
    }
    if case .array = field.type, inverse?.deleteRule == .cascade {
      reasons.append("\(name) is a list whose record is deleted with any element")
    }
    return reasons
  }
}

extension RecordMapping.Duty {
  fileprivate var text: String {
    switch self {
    case .hooks: "hooks before it is written or deleted"
    case .trackedProperties: "tracked properties"
    case .expiry: "records that expire"
    case .relationBounds: "bounds of a relation"
    }
  }
}

package import Cambium

/// Takes a move back, by one step: a finished one, or a fence, if there is one; otherwise the tables.
package struct BackOut {
  let path: String
  let options: StoreOptions
  let address: String
  /// True to return to the store although the database has changes that it does not have, or to drop objects that depend on
  /// the tables.
  package var isForced = false
  package var patience: Duration = .seconds(60)

  /// - Parameter options: Those to open the store with; their `access` does not matter.
  package init(_ path: String, options: StoreOptions = StoreOptions(), to address: String) {
    self.path = path
    var options = options
    options.access = .reading
    self.options = options
    self.address = address
  }

  package enum Outcome: Sendable, Hashable {
    /// Programs can write the store again. The database still has the tables.
    case unfenced
    /// The tables that the move made are dropped.
    case dropped(tables: [String])
  }

  /// - Throws: `MoveError.different` if the database has changes that the store does not have; `.dependents`; others;
  ///   `PostgresError`; errors of the store.
  package func run() throws -> Outcome {
    let store = try PersistentStore(untypedAt: path, options: options)
    let identity = try PersistentStore.inspect(at: path, lastCommits: 0, options: options).identity
    return try MoveSession(address: address, patience: patience).run { connection, _ in
      let isFenced = try store.snapshot().movedTo == connection.place
      guard let found = try MoveState(from: connection) else {
        if isFenced { return try unfence() }
        throw MoveError.noMove
      }
      guard found.identity == identity else { throw MoveError.otherStore(found: found.identity) }
      if found.stage == .finished {
        try takeBack(found, connection, store, identity)
        return isFenced ? try unfence() : .unfenced
      }
      return isFenced ? try unfence() : try drop(found, connection)
    }
  }

  private func unfence() throws -> Outcome {
    try PersistentStore.liftFence(at: path, options: options)
    return .unfenced
  }

  /// Says in the database that the store is used again, unless the database has changes of its own.
  private func takeBack(
    _ found: MoveState, _ connection: Connection, _ store: PersistentStore, _ identity: String
  ) throws {
    let plan = PostgresPlan(store.schema, options: found.options)
    try connection.run("BEGIN")
    // No client writes them until the stage is changed.
    let tables = plan.tables.flatMap { [$0.name] + $0.lists.map(\.name) }
    for table in tables { try connection.run("LOCK TABLE \(plan.qualified(table)) IN SHARE MODE") }
    let difference = try Verification(of: try store.snapshot(), identity: identity, in: address)
    if !difference.isSame, !isForced { throw MoveError.different(difference) }
    let stage = difference.isSame ? MoveStage.moved : .abandoned
    try connection.run(
      "UPDATE \(PostgresPlan.stateSchema).store SET stage = '\(stage.rawValue)', changed_at = now()"
    )
    // Before the fence is lifted: the other way round, there could be two stores that programs use.
    try connection.run("COMMIT")
  }

  private func drop(_ found: MoveState, _ connection: Connection) throws -> Outcome {
    let tables = try MoveState.tables(connection)
    do {
      try connection.transact(Self.dropStatements(tables, found, cascading: isForced))
    } catch {
      if error.state == "2BP01" { throw MoveError.dependents(error.message) }
      throw error
    }
    try found.dropParts()
    let state = PostgresPlan.stateSchema
    for (name, isMade) in [(state, true), (found.options.schema, found.hasMadeSchema)] where isMade
    {
      // A schema that has other tables stays, with them.
      let rest = try connection.run(
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
          + " WHERE n.nspname = \(SQL.literal(name)) LIMIT 1")
      if rest.isEmpty { try connection.run("DROP SCHEMA IF EXISTS \(SQL.name(name))") }
    }
    return .dropped(tables: tables)
  }

  /// The statements that drop the tables of a move, and nothing else.
  static func dropStatements(
    _ tables: [String], _ found: MoveState, cascading: Bool
  ) -> [String] {
    let names =
      tables.map { "\(SQL.name(found.options.schema)).\(SQL.name($0))" }
      + MoveState.ownTables.map { "\(PostgresPlan.stateSchema).\($0)" }
    return [
      "DROP TABLE IF EXISTS \(names.joined(separator: ", "))\(cascading ? " CASCADE" : "")",
      Outbox.removal, VersionGuard.removal,
    ]
  }
}

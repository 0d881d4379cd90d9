import Cambium

/// The servers that have the parts of divided records, each over a connection of its own.
struct PartServers {
  private let division: Division
  private let mark: String

  /// - Parameter identity: That of the store, by which its tables are told from others.
  init(_ division: Division, of identity: String) {
    self.division = division
    mark = "a part of the Cambium store \(identity)"
  }

  /// Makes the tables of the parts. Those of an earlier attempt are dropped first.
  ///
  /// - Throws: `MoveError.division` if a server has another table of such a name; `PostgresError`.
  func makeTables(of plan: PostgresPlan) throws {
    try dropTables()
    for number in division.servers.indices {
      let connection = try connection(number)
      let names = plan.dividedTables.compactMap { $0.division?.parts[number] }
      for name in names {
        let table = SQL.literal(plan.qualified(name))
        guard try connection.run("SELECT to_regclass(\(table))") == [[nil]] else {
          throw MoveError.division(
            "The server \(division.servers[number]) has a table \(name) already, which is not of this store."
          )
        }
      }
      let marks = names.map {
        "COMMENT ON TABLE \(plan.qualified($0)) IS \(SQL.literal(mark))"
      }
      try connection.transact(plan.partStatements(onServer: number) + marks)
    }
  }

  /// Drops the tables of the parts of this store.
  func dropTables() throws {
    for number in division.servers.indices {
      let connection = try connection(number)
      let found = try connection.run(
        "SELECT c.oid::regclass FROM pg_class c WHERE c.relkind = 'r'"
          + " AND obj_description(c.oid, 'pg_class') = \(SQL.literal(mark))")
      let names = found.compactMap { $0.first.flatMap { $0 } }
      if !names.isEmpty { try connection.run("DROP TABLE \(names.joined(separator: ", "))") }
    }
  }

  /// Makes the foreign keys between the parts of each server, also if some are there.
  func addForeignKeys(of plan: PostgresPlan) throws {
    for number in division.servers.indices {
      try connection(number).transact(
        plan.partKeyRemovals(onServer: number) + plan.partKeyStatements(onServer: number))
    }
  }

  /// Drops the foreign keys between the parts of each server, before rows are replaced.
  func dropForeignKeys(of plan: PostgresPlan) throws {
    for number in division.servers.indices {
      try connection(number).transact(plan.partKeyRemovals(onServer: number))
    }
  }

  private func connection(_ number: Int) throws -> Connection {
    let connection = try Connection(division.servers[number])
    try connection.checkServer()
    return connection
  }
}

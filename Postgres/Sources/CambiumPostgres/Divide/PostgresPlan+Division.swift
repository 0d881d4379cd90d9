import Cambium

extension PostgresPlan {
  var dividedTables: [TablePlan] { tables.filter { $0.division != nil } }

  /// The statements that make the servers of the parts known to the server of the address.
  var serverStatements: [String] {
    guard let division = options.division else { return [] }
    return ["CREATE EXTENSION IF NOT EXISTS postgres_fdw WITH SCHEMA pg_catalog"]
      + division.servers.indices.flatMap { number in
        let parameters = division.parameters(ofServer: number)
        let name = division.name(ofServer: number)
        let place = ["host", "port", "dbname"].compactMap { key in
          parameters[key].map { "\(key) \(SQL.literal($0))" }
        }
        let user = parameters["user"].map { " OPTIONS (user \(SQL.literal($0)))" } ?? ""
        return [
          "CREATE SERVER IF NOT EXISTS \(name) FOREIGN DATA WRAPPER postgres_fdw OPTIONS"
            + " (\(place.joined(separator: ", ")), fetch_size '1000', batch_size '500', async_capable 'true')",
          "CREATE USER MAPPING IF NOT EXISTS FOR CURRENT_USER SERVER \(name)\(user)",
        ]
      }
  }

  /// The statements that make the parts of a divided table on the server of the address, which lead to those of the others.
  func foreignPartStatements(of table: TablePlan) -> [String] {
    guard let division = options.division, let parts = table.division?.parts else { return [] }
    return parts.enumerated().map { number, part in
      "CREATE FOREIGN TABLE \(qualified(part)) PARTITION OF \(qualified(table.name))"
        + " FOR VALUES WITH (MODULUS \(parts.count), REMAINDER \(number))"
        + " SERVER \(division.name(ofServer: number)) OPTIONS"
        + " (schema_name \(SQL.literal(options.schema)), table_name \(SQL.literal(part)))"
    }
  }

  /// The statements that make the tables of a server's parts, with their keys and indexes.
  func partStatements(onServer number: Int) -> [String] {
    ["CREATE SCHEMA IF NOT EXISTS \(SQL.name(options.schema))"]
      + dividedTables.flatMap { table in
        let part = table.part(number, in: self)
        return [statement(of: part)] + keyStatements(of: part)
      }
  }

  /// The statements that make the foreign keys between the parts of a server.
  func partKeyStatements(onServer number: Int) -> [String] {
    dividedTables.map { $0.part(number, in: self) }.flatMap { part in
      part.foreignKeys.map { statement(of: $0, in: part.name) }
    }
  }

  /// The statements that drop these foreign keys, where they are there.
  func partKeyRemovals(onServer number: Int) -> [String] {
    dividedTables.map { $0.part(number, in: self) }.flatMap { part in
      part.foreignKeys.map {
        "ALTER TABLE \(qualified(part.name)) DROP CONSTRAINT IF EXISTS \(SQL.name($0.name))"
      }
    }
  }

  /// The calls by which Citus would divide the same tables, each with its parts on its workers.
  var citusStatements: [String] {
    dividedTables.compactMap { table in
      table.division.map {
        "SELECT create_distributed_table(\(SQL.literal(qualified(table.name))), \(SQL.literal($0.column)))"
      }
    }
  }
}

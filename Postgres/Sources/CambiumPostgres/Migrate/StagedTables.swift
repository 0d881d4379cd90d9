import Cambium

/// The tables of the new version, in a schema of their own until they take the places of the old ones.
struct StagedTables {
  private let database: StoredDatabase
  /// The plan of the new version in that schema.
  let plan: PostgresPlan

  static let schema = "cambium_next"
  /// The numbers of records that are copied, by record.
  static let progress = "\(PostgresPlan.stateSchema).migration_progress"

  init(_ database: StoredDatabase, in schema: String) {
    self.database = database
    var options = database.options
    options.schema = schema
    plan = PostgresPlan(database.new.schema, options: options)
  }

  /// Makes the tables, without keys.
  var tableStatements: [String] {
    ["CREATE SCHEMA \(SQL.name(plan.options.schema))"] + plan.tableStatements
  }

  /// Makes the tables, and notes that nothing is copied yet.
  func creation(_ mark: MigrationMark, after stage: MigrationMark.Stage) -> [String] {
    tableStatements + [
      "DROP TABLE IF EXISTS \(Self.progress)",
      """
      CREATE TABLE \(Self.progress) (
        record text COLLATE "C" PRIMARY KEY,
        row_count bigint NOT NULL DEFAULT 0,
        has_keys boolean NOT NULL DEFAULT false
      )
      """,
    ]
      + plan.tables.map {
        "INSERT INTO \(Self.progress) (record) VALUES (\(SQL.literal($0.record.name)))"
      } + [mark.statement(reaching: stage)]
  }

  /// Adds the foreign keys, after all rows and keys, and has sequences continue.
  func ending(_ mark: MigrationMark, after stage: MigrationMark.Stage) -> [String] {
    plan.foreignKeyStatements + plan.sequenceStatements + continuedSequences
      + plan.tables.map { "ANALYZE \(plan.qualified($0.name))" } + [mark.statement(reaching: stage)]
  }

  /// Numbers of records that were deleted are not given again.
  private var continuedSequences: [String] {
    plan.tables.flatMap { table -> [String] in
      guard let old = database.old.tables.first(where: { $0.record.number == table.record.number })
      else { return [] }
      return table.columns.filter { $0.identity != nil }.compactMap { column in
        let field = column.field.flatMap { table.record.field(named: $0) }
        guard
          let before = old.columns.first(where: { column in
            column.identity != nil
              && column.field.flatMap { old.record.field(named: $0)?.number } == field?.number
          })
        else { return nil }
        func sequence(_ plan: PostgresPlan, _ table: String, _ column: String) -> String {
          "pg_get_serial_sequence(\(SQL.literal(plan.qualified(table))), \(SQL.literal(column)))"
        }
        let last =
          "pg_sequence_last_value(\(sequence(database.old, old.name, before.name))::regclass)"
        let present =
          "pg_sequence_last_value(\(sequence(plan, table.name, column.name))::regclass)"
        return "SELECT setval(\(sequence(plan, table.name, column.name)), \(last))"
          + " WHERE \(last) IS NOT NULL AND coalesce(\(last) > \(present), true)"
      }
    }
  }

  /// Drops the old tables, and puts these in their places, with the names of a database that was made with the new version.
  var replacing: [String] {
    let names = plan.tables.flatMap { [$0.name] + $0.lists.map(\.name) }
    let drop =
      database.oldTables.isEmpty
      ? [] : ["DROP TABLE \(database.oldTables.joined(separator: ", "))"]
    return drop
      + names.map {
        "ALTER TABLE \(plan.qualified($0)) SET SCHEMA \(SQL.name(database.options.schema))"
      } + ["DROP SCHEMA \(SQL.name(plan.options.schema))"]
  }

  /// The statements that give the new tables the rights that the old ones have, as they are before these are dropped.
  func rights(_ connection: Connection) throws -> [String] {
    var statements: [String] = []
    for table in database.new.tables {
      guard let old = database.old.tables.first(where: { $0.record.number == table.record.number })
      else { continue }
      let names =
        [(old.name, table.name)]
        + table.lists.compactMap { list in
          old.lists.first { $0.field == list.field }.map { ($0.name, list.name) }
        }
      for (before, after) in names {
        let rows = try connection.run(
          """
          SELECT a.privilege_type, coalesce(quote_ident(r.rolname), 'PUBLIC'), a.is_grantable
            FROM pg_class c, aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
            WHERE c.oid = \(SQL.literal(database.old.qualified(before)))::regclass AND a.grantee <> c.relowner
          """)
        for row in rows {
          statements.append(
            "GRANT \(row[0] ?? "") ON \(database.new.qualified(after)) TO \(row[1] ?? "")"
              + (row[2] == "t" ? " WITH GRANT OPTION" : ""))
        }
      }
    }
    return statements
  }
}

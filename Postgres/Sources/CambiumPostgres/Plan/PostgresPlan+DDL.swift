import Cambium

extension PostgresPlan {
  /// The schema of the database with the state of a move, and the parts of long values.
  package static let stateSchema = "cambium"

  /// The statements that make the database, in their order: a table is filled after `tables`, and gets its keys then.
  package var statements: [String] {
    stateStatements + tableStatements + tables.flatMap { keyStatements(of: $0) }
      + foreignKeyStatements
  }

  /// A table's name with its schema.
  package func qualified(_ name: String) -> String {
    "\(SQL.name(options.schema)).\(SQL.name(name))"
  }

  var stateStatements: [String] {
    let state = Self.stateSchema
    return [
      "CREATE SCHEMA IF NOT EXISTS \(state)",
      "CREATE SCHEMA IF NOT EXISTS \(SQL.name(options.schema))",
      """
      CREATE TABLE \(state).schema (
        version bigint PRIMARY KEY,
        label text,
        fingerprint text NOT NULL,
        lock text NOT NULL
      )
      """,
      """
      CREATE TABLE \(state).map (
        record text COLLATE "C" NOT NULL,
        field text COLLATE "C",
        table_name text NOT NULL,
        column_name text
      )
      """,
      """
      CREATE TABLE \(state).blob (
        identity uuid NOT NULL,
        part integer NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (identity, part)
      )
      """,
      CommitMark.tableStatement,
      VersionGuard.creation(of: schema.version),
    ] + serverStatements
  }

  /// The tables without keys and indexes, which are made after the rows.
  var tableStatements: [String] {
    tables.flatMap { table in
      [statement(of: table)] + foreignPartStatements(of: table)
        + table.lists.map { statement(of: $0) }
    }
  }

  /// The table without keys and indexes.
  func statement(of table: TablePlan) -> String {
    let lines =
      table.columns.map { column in column.line }
      + table.checks.map { "CONSTRAINT \(SQL.name($0.name)) CHECK (\($0.condition))" }
    return "CREATE TABLE \(qualified(table.name)) (\n"
      + lines.map { "  " + $0 }.joined(separator: ",\n") + "\n)"
      + (table.division.map { " PARTITION BY HASH (\(SQL.name($0.column)))" } ?? "")
  }

  /// The table of a list, without keys and indexes.
  func statement(of list: ListPlan) -> String {
    let lines =
      list.keyColumns.map { "\(SQL.name($0.name)) \($0.type.columnText) NOT NULL" } + [
        "\(SQL.name(list.positionColumn)) integer NOT NULL",
        "\(SQL.name(list.elementColumn)) \(list.type.columnText) NOT NULL",
      ]
    return "CREATE TABLE \(qualified(list.name)) (\n"
      + lines.map { "  " + $0 }.joined(separator: ",\n") + "\n)"
  }

  /// The primary key, unique constraints and indexes of a table, and those of its lists. A divided table has none: its parts do.
  func keyStatements(of table: TablePlan) -> [String] {
    if table.division != nil { return [] }
    let name = qualified(table.name)
    var statements = [
      "ALTER TABLE \(name) ADD PRIMARY KEY (\(SQL.names(table.key.map(\.name))))"
    ]
    statements += table.indexes.map { statement(of: $0, in: table) }
    return statements + table.lists.flatMap { keyStatements(of: $0) }
  }

  /// A unique constraint or an index of a table.
  func statement(of index: IndexPlan, in table: TablePlan) -> String {
    let name = qualified(table.name)
    let parts = index.parts.joined(separator: ", ")
    if index.isConstraint {
      return "ALTER TABLE \(name) ADD CONSTRAINT \(SQL.name(index.name)) UNIQUE (\(parts))"
    }
    return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(SQL.name(index.name)) ON \(name)"
      + (index.method == "btree" ? "" : " USING \(index.method)") + " (\(parts))"
      + (index.condition.map { " WHERE \($0)" } ?? "")
  }

  /// The primary key and the index of a list's table.
  func keyStatements(of list: ListPlan) -> [String] {
    let names = list.keyColumns.map(\.name) + [list.positionColumn]
    return [
      "ALTER TABLE \(qualified(list.name)) ADD CONSTRAINT \(SQL.name(list.keyName)) PRIMARY KEY (\(SQL.names(names)))",
      "CREATE INDEX \(SQL.name(list.indexName)) ON \(qualified(list.name)) (\(SQL.name(list.elementColumn)))",
    ]
  }

  /// The foreign keys, which are checked at the end of a transaction, as in the store.
  var foreignKeyStatements: [String] { tables.flatMap { foreignKeyStatements(of: $0) } }

  /// Those of a table and of its lists.
  func foreignKeyStatements(of table: TablePlan) -> [String] {
    if table.division != nil { return [] }
    return table.foreignKeys.map { statement(of: $0, in: table.name) }
      + table.lists.flatMap { foreignKeyStatements(of: $0, in: table) }
  }

  /// Those of a list's table, to the record with the list and to those in it.
  func foreignKeyStatements(of list: ListPlan, in table: TablePlan) -> [String] {
    [
      "ALTER TABLE \(qualified(list.name)) ADD CONSTRAINT \(SQL.name(list.ownerKeyName))"
        + " FOREIGN KEY (\(SQL.names(list.keyColumns.map(\.name))))"
        + " REFERENCES \(qualified(table.name)) (\(SQL.names(table.key.map(\.name))))"
        + " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
      statement(of: list.foreignKey, in: list.name),
    ]
  }

  /// The same foreign keys, each with its table, by name.
  var foreignKeyNames: [(table: String, name: String)] {
    tables.filter { $0.division == nil }.flatMap { table in
      table.foreignKeys.map { (qualified(table.name), SQL.name($0.name)) }
        + table.lists.flatMap { list in
          [list.ownerKeyName, list.foreignKey.name].map { (qualified(list.name), SQL.name($0)) }
        }
    }
  }

  /// Sets the sequences to the highest number of their columns.
  var sequenceStatements: [String] {
    tables.flatMap { table in
      table.columns.filter { $0.identity != nil }.map { column in
        let name = qualified(table.name)
        return
          "SELECT setval(pg_get_serial_sequence(\(SQL.literal(name)), \(SQL.literal(column.name))),"
          + " max(\(SQL.name(column.name)))) FROM \(name)"
          + " HAVING max(\(SQL.name(column.name))) > 0"
      }
    }
  }

  func statement(of key: ForeignKeyPlan, in table: String) -> String {
    "ALTER TABLE \(qualified(table)) ADD CONSTRAINT \(SQL.name(key.name))"
      + " FOREIGN KEY (\(SQL.name(key.column)))"
      + " REFERENCES \(qualified(key.table)) (\(SQL.name(key.tableColumn)))"
      + " ON DELETE \(key.deletion) DEFERRABLE INITIALLY DEFERRED"
  }
}

extension ColumnPlan {
  /// The column as a table's definition has it.
  var line: String {
    var line = "\(SQL.name(name)) \(typeText)"
    if let generated { line += " GENERATED ALWAYS AS (\(generated)) STORED" }
    if let identity {
      line +=
        " GENERATED BY DEFAULT AS IDENTITY (START WITH \(identity.first) INCREMENT BY \(identity.step))"
    } else if let defaultValue, generated == nil {
      line += " DEFAULT \(defaultValue)"
    }
    if !isNullable { line += " NOT NULL" }
    return line
  }
}

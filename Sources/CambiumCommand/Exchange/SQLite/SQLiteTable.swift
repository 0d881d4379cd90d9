/// A table as the database declares it.
struct SQLiteTable {
  var name: String
  var columns: [Column] = []
  /// The places of the columns of the declared primary key, in its order; empty if there is none.
  var primaryKey: [Int] = []
  var foreignKeys: [ForeignKey] = []
  var indexes: [Index] = []
  /// True if an index, or the key, is sorted by a collation that only the program defines that made the database.
  private(set) var hasForeignCollation = false
  /// The name and order of the list that the table becomes if it links two others.
  var list: ListDeclaration?
  /// The kinds that rows are of, each after its parent; empty if no row is of one.
  var kinds: [Kind] = []

  /// The column of a table with kinds that has the place of the row's kind among them; null for a row of none.
  static let kindColumn = "Z_ENT"
  /// The name that the caller chooses for the record that the table becomes, or the list.
  var chosenName: String?
  /// The places of the columns of the primary key that the caller chooses.
  var chosenKey: [Int]?

  struct Column {
    var name: String
    /// As it was written, in capitals; empty for none.
    var declaredType: String
    let isRequired: Bool
    /// The expression of its default; nil if that is null.
    let defaultText: String?
    /// The place of the only kind whose rows have values; nil if rows of no kind may have some.
    var kind: Int?
    /// The name that the caller chooses for its field.
    var chosenName: String?
    /// The reading of its values that the caller chooses; nil for the one that fits all of them.
    var reading: ColumnReading?
  }

  /// Rows of a table that have something in common which the others have not.
  struct Kind {
    var name: String
    /// The place of the kind that it is one of; nil for none.
    let parent: Int?
  }

  struct ForeignKey {
    let columns: [String]
    let table: String
    /// The place of the kind of the other table to whose rows alone it leads; nil for all rows.
    var kind: Int? = nil
    /// Empty for the primary key of the other table.
    let destinations: [String]
    /// The rule for the rows when the one that they lead to is deleted: `CASCADE` and so on.
    let deletion: String
  }

  struct Index {
    let name: String
    let isUnique: Bool
    /// True if it has only rows that meet a condition.
    let isPartial: Bool
    /// Nil if an expression is indexed.
    var parts: [Part]?

    struct Part {
      var column: String
      let isDescending: Bool
      let isCaseInsensitive: Bool
    }
  }

  struct ListDeclaration {
    let name: String
    /// The column with the order of the elements.
    let order: String?
  }

  func column(named name: String) -> Int? {
    columns.firstIndex { $0.name.isName(name) }
  }
}

extension SQLiteTable {
  /// Reads how a database declares a table.
  init(_ name: String, of database: SQLiteDatabase) throws {
    self.name = name
    var key: [(place: Int64, column: Int)] = []
    // Type, NOT NULL, default, place in the key, and 1 for a hidden column of a virtual table.
    try database.forEach("PRAGMA table_xinfo(\(name.sqlName))") { row in
      guard row.integer(6) != 1 else { return }
      if row.integer(5) > 0 { key.append((row.integer(5), columns.count)) }
      let isNull = row.type(4) == .null || row.string(4).uppercased() == "NULL"
      columns.append(
        Column(
          name: row.string(1), declaredType: row.string(2).uppercased(),
          isRequired: row.integer(3) != 0, defaultText: isNull ? nil : row.string(4)))
    }
    primaryKey = key.sorted { $0.place < $1.place }.map(\.column)
    try readForeignKeys(of: database)
    try readIndexes(of: database)
  }

  private mutating func readForeignKeys(of database: SQLiteDatabase) throws {
    var keys: [(number: Int64, key: ForeignKey)] = []
    // A row for each column: number, place, table, from, to, on update, on delete.
    try database.forEach("PRAGMA foreign_key_list(\(name.sqlName))") { row in
      let destination = row.type(4) == .null ? [] : [row.string(4)]
      if let last = keys.last, last.number == row.integer(0) {
        keys[keys.count - 1].key = ForeignKey(
          columns: last.key.columns + [row.string(3)], table: last.key.table,
          destinations: last.key.destinations + destination, deletion: last.key.deletion)
      } else {
        keys.append(
          (
            row.integer(0),
            ForeignKey(
              columns: [row.string(3)], table: row.string(2), destinations: destination,
              deletion: row.string(6))
          ))
      }
    }
    // The last one declared comes first.
    foreignKeys = keys.reversed().map(\.key)
  }

  private mutating func readIndexes(of database: SQLiteDatabase) throws {
    var found: [(name: String, isUnique: Bool, isPartial: Bool)] = []
    var key: String?
    try database.forEach("PRAGMA index_list(\(name.sqlName))") { row in
      // The index of the primary key is the key.
      if row.string(3) == "pk" {
        key = row.string(1)
      } else {
        found.append((row.string(1), row.integer(2) != 0, row.integer(4) != 0))
      }
    }
    try forEachPart(of: key, database) { _ in }
    for index in found.reversed() {
      var parts: [Index.Part]? = []
      try forEachPart(of: index.name, database) { row in
        guard row.integer(1) >= 0, row.string(4).uppercased() != "RTRIM" else {
          parts = nil
          return
        }
        parts?.append(
          Index.Part(
            column: row.string(2), isDescending: row.integer(3) != 0,
            isCaseInsensitive: row.string(4).uppercased() == "NOCASE"))
      }
      indexes.append(
        Index(
          name: index.name, isUnique: index.isUnique, isPartial: index.isPartial, parts: parts))
    }
  }
}

extension SQLiteTable {
  private static let collations: Set<String> = ["BINARY", "NOCASE", "RTRIM"]

  /// Calls `body` with the number of each column of an index, which is negative for an expression, its name, whether it is
  /// descending, and its collation, in the columns 1 to 4 of a row.
  private mutating func forEachPart(
    of index: String?, _ database: SQLiteDatabase, _ body: (SQLiteQuery) -> Void
  ) throws {
    guard let index else { return }
    var foreign: [String] = []
    try database.forEach("PRAGMA index_xinfo(\(index.sqlName))") { row in
      // The last one is 0 for the part of the row's key in an index.
      guard row.integer(5) != 0 else { return }
      let collation = row.string(4)
      if !collation.isEmpty, !Self.collations.contains(collation.uppercased()) {
        foreign.append(collation)
      }
      body(row)
    }
    for collation in foreign { try database.addCollation(collation) }
    if !foreign.isEmpty { hasForeignCollation = true }
  }

  /// The expression of SQLite's own key of a row: of its names, one that no column has. In a table that has none, the rows
  /// are numbered.
  func rowKey(in database: SQLiteDatabase) -> (expression: String, isNumber: Bool) {
    for name in ["rowid", "oid", "_rowid_"] where column(named: name) == nil {
      let query = try? database.query("SELECT \(name) FROM \(self.name.sqlName)")
      if query != nil { return (name, false) }
    }
    return ("row_number() OVER ()", true)
  }
}

extension SQLiteDatabase {
  /// Returns the names of the tables that hold the user's rows, and the tables left out, in words.
  func tableNames() throws -> (tables: [String], left: [String]) {
    var (tables, left): ([String], [String]) = ([], [])
    // The tables in which virtual ones keep their data. A library without this PRAGMA, or the module of a virtual table,
    // knows none of them: then they are tables like others.
    var shadows: Set<String> = []
    try forEach("PRAGMA main.table_list") { row in
      if row.string(0) == "main", row.string(2) == "shadow" { shadows.insert(row.string(1)) }
    }
    try forEach("SELECT type, name, sql FROM sqlite_master ORDER BY rowid") { row in
      let (type, name) = (row.string(0), row.string(1))
      switch type {
      case "table" where name.hasPrefix("sqlite_") || shadows.contains(name): break
      case "table" where Self.bookkeeping.contains(name):
        left.append("table \(name), which describes the file")
      case "table" where row.string(2).uppercased().hasPrefix("CREATE VIRTUAL"):
        left.append("virtual table \(name)")
      case "table": tables.append(name)
      case "view", "trigger": left.append("\(type) \(name)")
      default: break
      }
    }
    return (tables, left)
  }

  /// True for a file that Core Data made: its dates are seconds since 2001.
  func isOfCoreData() throws -> Bool {
    try number("SELECT count(*) FROM sqlite_master WHERE name = 'Z_METADATA'") > 0
  }

  /// Tables in which libraries keep their own data about the file.
  private static let bookkeeping: Set<String> = [
    "grdb_migrations", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", "android_metadata",
    "room_master_table", "_prisma_migrations", "_fluent_migrations",
  ]
}

extension String {
  /// The name as SQLite's statements quote it.
  var sqlName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }

  /// The name with its ASCII letters in lowercase: names that are the same then are one for SQLite.
  var sqlFolded: String {
    String(
      decoding: utf8.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
  }

  /// Returns true if both are the same name for SQLite.
  func isName(_ other: String) -> Bool { sqlFolded == other.sqlFolded }
}

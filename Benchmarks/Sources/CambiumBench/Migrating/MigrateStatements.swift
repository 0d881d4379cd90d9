// The same changes as SQLite makes them.

extension MigrateWorkload {
  static let table = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined REAL NOT NULL,
      weight REAL NOT NULL, note TEXT, city TEXT NOT NULL, level INTEGER NOT NULL, score REAL)
    """

  /// The best way that SQLite has for a change, as one transaction each.
  var statements: [[String]] {
    switch self {
    case .add: [["ALTER TABLE item ADD COLUMN more INTEGER NOT NULL DEFAULT 7"]]
    case .rename: [["ALTER TABLE item RENAME COLUMN joined TO since"]]
    case .remove: [["ALTER TABLE item DROP COLUMN weight"]]
    case .require, .rollback:
      [
        Self.copy(
          "id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined REAL NOT NULL, weight REAL NOT NULL,"
            + " note TEXT, city TEXT NOT NULL, level INTEGER NOT NULL, score REAL NOT NULL",
          "id, name, joined, weight, note, city, level, coalesce(score, 0)")
      ]
    case .widen:
      [
        Self.copy(
          "id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined REAL NOT NULL, weight REAL NOT NULL,"
            + " note TEXT, city TEXT NOT NULL, level BIGINT NOT NULL, score REAL",
          "id, name, joined, weight, note, city, level, score")
      ]
    case .transform: [["UPDATE item SET level = 2 * level + 1"]]
    case .split, .splitUntyped:
      [
        [
          "CREATE TABLE place (id INTEGER PRIMARY KEY, city TEXT NOT NULL)",
          "INSERT INTO place SELECT id, city FROM item",
          "ALTER TABLE item DROP COLUMN city",
        ]
      ]
    case .chain:
      [
        Self.add.statements[0], Self.rename.statements[0], Self.remove.statements[0],
        Self.copy(
          "id INTEGER PRIMARY KEY, name TEXT NOT NULL, since REAL NOT NULL, note TEXT,"
            + " city TEXT NOT NULL, level INTEGER NOT NULL, score REAL NOT NULL, more INTEGER NOT NULL",
          "id, name, since, note, city, level, coalesce(score, 0), more"),
        Self.copy(
          "id INTEGER PRIMARY KEY, name TEXT NOT NULL, since REAL NOT NULL, note TEXT,"
            + " city TEXT NOT NULL, level BIGINT NOT NULL, score REAL NOT NULL, more INTEGER NOT NULL",
          "id, name, since, note, city, level, score, more"),
      ]
    }
  }

  /// A copy to a table with one more column: the way to make every change for which SQLite has no statement.
  static var copying: [[String]] {
    [
      copy(
        "id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined REAL NOT NULL, weight REAL NOT NULL,"
          + " note TEXT, city TEXT NOT NULL, level INTEGER NOT NULL, score REAL,"
          + " more INTEGER NOT NULL",
        "id, name, joined, weight, note, city, level, score, 7")
    ]
  }

  private static func copy(_ columns: String, _ values: String) -> [String] {
    [
      "CREATE TABLE new (\(columns))", "INSERT INTO new SELECT \(values) FROM item",
      "DROP TABLE item", "ALTER TABLE new RENAME TO item",
    ]
  }
}

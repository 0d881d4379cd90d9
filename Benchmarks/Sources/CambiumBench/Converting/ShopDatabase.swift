import ArgumentParser
import FoundationEssentials

/// A SQLite database of customers, orders and items, with references and three indexes, and a CSV file of items.
struct ShopDatabase {
  let path: String
  /// The items alone, none of them, which refer to nothing.
  let emptyPath: String
  let csvPath: String
  let quantities: ItemSum
  let csvQuantities: ItemSum

  init(rows: Int, lines: Int, in directory: String) throws {
    path = "\(directory)/shop.db"
    emptyPath = "\(directory)/empty.db"
    csvPath = "\(directory)/items.csv"
    let customers = rows / 51
    let orders = customers * 10
    let database = try SQLiteConnection(to: path, cacheSize: 1 << 28)
    for sql in Self.schema(references: true) { try database.run(sql) }
    try database.run("BEGIN")
    try database.run(
      """
      \(Self.numbers(to: customers)) INSERT INTO customer SELECT i, 'Customer number ' || i,
      'customer' || i || '@example.org', (i * 7919 % 1000000) / 100.0 FROM n
      """)
    try database.run(
      """
      \(Self.numbers(to: orders)) INSERT INTO "order" SELECT i, 1 + i * 7919 % \(customers),
      datetime(1700000000 + i * 31, 'unixepoch'), i % 5,
      CASE i % 3 WHEN 0 THEN 'please ring twice at door ' || (i % 977) END FROM n
      """)
    try database.run(Self.items(rows - customers - orders, orders: orders))
    try database.run("COMMIT")
    quantities = try Self.sum(in: database)

    let listed = try SQLiteConnection(to: "\(directory)/listed.db", cacheSize: 1 << 28)
    for sql in Self.schema(references: false) { try listed.run(sql) }
    try listed.run(Self.items(lines, orders: max(1, lines / 4)))
    csvQuantities = try Self.sum(in: listed)
    let empty = try SQLiteConnection(to: emptyPath, cacheSize: 1 << 20)
    for sql in Self.schema(references: false) { try empty.run(sql) }
    let line = "sqlite3 -header -csv \"$0\" 'SELECT * FROM item' > \"$1\""
    let end = try ChildProcess.run(
      ["sh", "-c", line, "\(directory)/listed.db", csvPath], at: "/bin/sh")
    if let problem = end.problem { throw ValidationError("sqlite3: \(problem)") }
  }

  /// Returns the number and quantities of the items in another database.
  func sum(of path: String) throws -> ItemSum {
    try Self.sum(in: SQLiteConnection(to: path, cacheSize: 1 << 20))
  }

  private static func sum(in database: SQLiteConnection) throws -> ItemSum {
    ItemSum(
      count: try database.number("SELECT count(*) FROM item"),
      quantity: try database.number("SELECT total(quantity) FROM item"))
  }

  // MARK: SQL

  private static func schema(references: Bool) -> [String] {
    let item = """
      CREATE TABLE item(id INTEGER PRIMARY KEY,
      "order" INTEGER NOT NULL \(references ? "REFERENCES \"order\"(id)" : ""), product TEXT NOT NULL,
      quantity INTEGER NOT NULL, price REAL NOT NULL, remark TEXT)
      """
    let indexes = [
      "CREATE INDEX item_order ON item(\"order\")", "CREATE INDEX item_product ON item(product)",
    ]
    guard references else { return [item] + indexes }
    return [
      "CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, balance REAL NOT NULL)",
      """
      CREATE TABLE "order"(id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customer(id),
      placed TEXT NOT NULL, status INTEGER NOT NULL, note TEXT)
      """,
      item, "CREATE INDEX order_customer ON \"order\"(customer)",
    ] + indexes
  }

  private static func numbers(to count: Int) -> String {
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
  }

  private static func items(_ count: Int, orders: Int) -> String {
    """
    \(numbers(to: count)) INSERT INTO item SELECT i, 1 + i * 104729 % \(orders),
    'Product ' || (i * 31 % 50000) || ' in a box', 1 + i % 9, (i * 13 % 100000) / 100.0,
    CASE i % 4 WHEN 0 THEN 'remark ' || (i * 17 % 100003) END FROM n
    """
  }
}

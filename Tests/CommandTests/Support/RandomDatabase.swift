import TestSupport

/// A database of SQLite in which everything that can be odd is so now and then: names, types, keys, collations, references,
/// tables that link others, and virtual tables.
struct RandomDatabase {
  private(set) var tables: [Table] = []
  private(set) var hasMalformedStrings = false
  /// The SQL that makes it.
  private(set) var statements = ""
  private var random: SplitMix64

  struct Table {
    let name: String
    var columns: [Column] = []
    /// The places of the columns of the key.
    var key: [Int] = []
    var foreignKeys: [ForeignKey] = []
    /// True for one with nothing but two foreign keys, whose rows have no numbers.
    var isLink = false
  }

  struct Column {
    let name: String
    var declaredType = ""
    /// Everything else that is declared.
    var constraints = ""
    fileprivate var kinds: [Kind] = []

    /// The column with the number of each row.
    static let number = "zz"
  }

  /// A reference to the key of a table before.
  struct ForeignKey {
    let column: Int
    let table: Int
  }

  /// The sorts of values.
  fileprivate enum Kind: CaseIterable {
    case small, large, real, text, blob, date, noDate, boolean, uuid, uuidBytes, malformed
  }

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    for _ in 0...Int(random.next() % 4) { addTable() }
    if chance(3) { addLink() }
    if chance(3) { addLink() }
    if chance(4) { addVirtualTable() }
    if chance(5) { statements += "CREATE VIEW v AS SELECT 1;\n" }
  }

  private mutating func chance(_ count: UInt64) -> Bool { random.next() % count == 0 }

  private mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[Int(random.next() % UInt64(choices.count))]
  }
}

// MARK: - Tables

extension RandomDatabase {
  private static let oddities = [
    "", "", "", "", " x", ".y", "_y", "\"q", "'s", "é", "Class", "-1", "日本", "`t", "%d", "[z",
  ]

  private static let columnNames = [
    "id", "ID_", "rowid", "oid", "Type", "self", "class", "order", "Key", "select", "record", "_",
  ]

  private static let types = [
    "", "", "INTEGER", "INT", "BIGINT", "UNSIGNED BIG INT", "REAL", "FLOAT", "DOUBLE PRECISION",
    "TEXT", "VARCHAR(20)", "CLOB", "STRING", "BLOB", "NUMERIC", "DECIMAL(10,2)", "DATE",
    "DATETIME", "TIMESTAMP", "BOOLEAN", "UUID", "GUID", "JSON", "ANY",
  ]

  private mutating func addTable() {
    var table = Table(name: "t\(tables.count)" + pick(Self.oddities))
    var tail = ""
    addKey(to: &table, &tail)
    table.columns.append(Column(name: Column.number, declaredType: "INTEGER NOT NULL"))
    for place in 0...Int(random.next() % 5) { addColumn(place, to: &table) }
    if !tables.isEmpty, chance(2) { addForeignKey(to: &table) }
    let columns = table.columns.map {
      "\($0.name.quoted) \($0.declaredType) \($0.constraints)"
    }
    let rest =
      table.key.count > 1 || tail.contains("WITHOUT")
      ? ["PRIMARY KEY (\(table.key.map { table.columns[$0].name.quoted }.joined(separator: ", ")))"]
      : []
    statements +=
      "CREATE TABLE \(table.name.quoted) (\((columns + rest).joined(separator: ", ")))\(tail);\n"
    addIndex(of: table)
    tables.append(table)
    fill(table)
  }

  private mutating func addKey(to table: inout Table, _ tail: inout String) {
    let name = pick(["id", "k", "Key.x", "rowid", "größe"])
    switch random.next() % 9 {
    case 0: return
    case 1, 2:
      table.columns.append(
        Column(
          name: name == "rowid" ? "id" : name, declaredType: "INTEGER",
          constraints: "PRIMARY KEY" + (chance(3) ? " AUTOINCREMENT" : ""), kinds: [.small]))
    case 3:
      table.columns.append(
        Column(
          name: name, declaredType: "TEXT", constraints: "PRIMARY KEY" + collation(),
          kinds: [.text]))
    case 4:
      table.columns.append(
        Column(
          name: name, declaredType: pick(["INT", "STRING", "", "REAL", "NUMERIC", "BLOB"]),
          constraints: "PRIMARY KEY", kinds: [pick([.small, .large, .real, .text, .blob])]))
    case 5:
      table.columns.append(
        Column(
          name: name, declaredType: pick(["", "TEXT", "INT"]), constraints: "PRIMARY KEY",
          kinds: [.small, .text, .real]))
    case 6:
      table.columns.append(
        Column(
          name: name, declaredType: pick(["UUID", "DATE"]), constraints: "PRIMARY KEY",
          kinds: [pick([.uuid, .date])]))
    case 7:
      tail = " WITHOUT ROWID"
      let kind: Kind = pick([.small, .text, .real, .blob, .large])
      table.columns.append(
        Column(
          name: name, declaredType: pick(["", "TEXT", "INTEGER", "BLOB"]),
          constraints: collation(), kinds: [kind]))
    default:
      table.columns.append(Column(name: "k1", declaredType: "INT", kinds: [.small, .boolean]))
      table.columns.append(Column(name: "k2", declaredType: "TEXT", kinds: [.text, .date]))
    }
    table.key = Array(table.columns.indices)
  }

  private mutating func collation() -> String {
    pick(["", "", "", " COLLATE NOCASE", " COLLATE RTRIM", " COLLATE BINARY"])
  }

  private mutating func addColumn(_ place: Int, to table: inout Table) {
    var name = chance(3) ? pick(Self.columnNames) : "c\(place)" + pick(Self.oddities)
    let taken = table.columns.map { $0.name.lowercased() }
    if taken.contains(name.lowercased()) { name = "c\(place)" }
    let kind: Kind = pick(Kind.allCases)
    var column = Column(name: name, declaredType: pick(Self.types), kinds: [kind])
    if chance(4) { column.kinds.append(pick(Kind.allCases)) }
    column.constraints = collation()
    switch random.next() % 16 {
    case 0: column.constraints += " NOT NULL"
    case 1: column.constraints += " DEFAULT (\(literal(kind, 0)))"
    case 2: column.constraints += " CHECK (length(\(name.quoted)) < 100)"
    case 3: column.constraints += " UNIQUE"
    case 4:
      column.constraints = " GENERATED ALWAYS AS (\(Column.number) * 2) VIRTUAL"
      column.kinds = []
    default: break
    }
    table.columns.append(column)
  }

  private mutating func addForeignKey(to table: inout Table) {
    let target = Int(random.next() % UInt64(tables.count))
    guard tables[target].key.count == 1 else { return }
    let key = tables[target].columns[tables[target].key[0]]
    let other = tables[target].name.quoted
    let text = " REFERENCES \(chance(4) ? other.uppercasedASCII : other) (\(key.name.quoted))"
    var column = Column(name: "f", declaredType: chance(4) ? pick(Self.types) : key.declaredType)
    column.constraints =
      text + pick(["", "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON UPDATE CASCADE"])
      + pick(["", "", "", " DEFERRABLE INITIALLY DEFERRED", text])
    table.foreignKeys.append(ForeignKey(column: table.columns.count, table: target))
    table.columns.append(column)
  }

  private mutating func addIndex(of table: Table) {
    guard let column = table.columns.last, chance(2) else { return }
    let name = "i\(tables.count)"
    let kind = chance(3) ? "UNIQUE INDEX" : "INDEX"
    let part = column.name.quoted + collation() + (chance(3) ? " DESC" : "")
    let rest = chance(5) ? " WHERE \(Column.number) > 2" : ""
    statements += "CREATE \(kind) \(name) ON \(table.name.quoted) (\(part))\(rest);\n"
  }

  private mutating func addLink() {
    let ends = tables.indices.filter { tables[$0].key.count == 1 && !tables[$0].isLink }
    guard !ends.isEmpty else { return }
    let pair = [pick(ends), pick(ends)]
    var table = Table(name: "t\(tables.count)" + pick(Self.oddities))
    table.isLink = true
    table.foreignKeys = [
      ForeignKey(column: 0, table: pair[0]), ForeignKey(column: 1, table: pair[1]),
    ]
    for (place, end) in pair.enumerated() {
      let key = tables[end].columns[tables[end].key[0]]
      table.columns.append(
        Column(
          name: ["a", "b"][place],
          declaredType: chance(5) ? pick(["", "TEXT", "INT"]) : key.declaredType,
          constraints: " REFERENCES \(tables[end].name.quoted)"
            + pick(["", " ON DELETE CASCADE", " ON DELETE RESTRICT"])))
    }
    table.key = chance(3) ? [1, 0] : [0, 1]
    let columns = table.columns.map { "\($0.name) \($0.declaredType)\($0.constraints)" }
    let key = table.key.map { table.columns[$0].name }.joined(separator: ", ")
    statements +=
      """
      CREATE TABLE \(table.name.quoted) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)));
      INSERT OR IGNORE INTO \(table.name.quoted) SELECT s.\(keyName(pair[0])), d.\(keyName(pair[1]))
      FROM \(tables[pair[0]].name.quoted) AS s, \(tables[pair[1]].name.quoted) AS d
      WHERE (s.zz * 5 + d.zz * 3) % 4 = 1 AND s.\(keyName(pair[0])) IS NOT NULL
      AND d.\(keyName(pair[1])) IS NOT NULL;

      """
    tables.append(table)
  }

  private func keyName(_ table: Int) -> String {
    tables[table].columns[tables[table].key[0]].name.quoted
  }

  /// A virtual table, and one of the user's that is called like those that belong to it.
  private mutating func addVirtualTable() {
    var table = Table(name: "docs_" + pick(["users", "t9", "content2"]))
    table.columns = [Column(name: Column.number, declaredType: "INTEGER NOT NULL")]
    statements += """
      CREATE VIRTUAL TABLE docs USING fts5(title, body);
      INSERT INTO docs VALUES ('a', 'b');
      CREATE TABLE \(table.name) (\(Column.number) INTEGER NOT NULL);
      INSERT INTO \(table.name) VALUES (1), (2);

      """
    tables.append(table)
  }
}

// MARK: - Rows

extension RandomDatabase {
  private mutating func fill(_ table: Table) {
    for number in 1...Int(random.next() % 8) + 1 {
      var (names, values): ([String], [String]) = ([], [])
      for (place, column) in table.columns.enumerated() {
        if column.name == Column.number {
          values.append("\(number)")
        } else if let key = table.foreignKeys.first(where: { $0.column == place }) {
          values.append(reference(to: key.table))
        } else if column.kinds.isEmpty {
          continue
        } else if table.key.contains(place) {
          let kind = pick(column.kinds)
          values.append(chance(30) ? "NULL" : self.key(kind, number))
        } else {
          let kind = pick(column.kinds)
          if kind == .malformed { hasMalformedStrings = true }
          values.append(chance(6) ? "NULL" : literal(kind, number))
        }
        names.append(column.name.quoted)
      }
      // Rows that break a constraint are none.
      statements +=
        "INSERT OR IGNORE INTO \(table.name.quoted) (\(names.joined(separator: ", ")))"
        + " VALUES (\(values.joined(separator: ", ")));\n"
    }
  }

  private mutating func reference(to table: Int) -> String {
    if chance(6) { return "NULL" }
    if chance(25) { return "99" }
    return "(SELECT \(keyName(table)) FROM \(tables[table].name.quoted)"
      + " ORDER BY \(Column.number) LIMIT 1 OFFSET \(random.next() % 4))"
  }

  /// A value that others of the kind seldom are equal to.
  private mutating func key(_ kind: Kind, _ number: Int) -> String {
    switch kind {
    case .small, .boolean: "\(number % 7)"
    case .large: "\(9_007_199_254_740_990 + number)"
    case .real: pick(["\(number).5", "\(number).0", "0.1 + 0.2 + \(number)"])
    case .text: pick(["'k\(number)'", "'K\(number)'", "'\(number)'", "'0\(number)'", "'k '"])
    case .blob: "x'0\(number)'"
    case .date: pick(["'2020-01-0\(number)'", "'2020-01-0\(number)T00:00:00Z'"])
    default: literal(kind, number)
    }
  }

  private mutating func literal(_ kind: Kind, _ number: Int) -> String {
    switch kind {
    case .small: "\(random.next() % 20)"
    case .large:
      pick([
        "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808",
        "4611686018427387905",
      ])
    case .real: pick(["(0.1 + 0.2)", "1e300", "-2.5", "1.0", "9007199254740992.0", "1e-7", "1e20"])
    case .text:
      pick([
        "''", "'a'", "'A'", "'a '", "'ä'", "'Ä'", "'it''s'", "'日本'", "('x' || char(10) || 'y')",
        "'12'", "'1e3'", "'007'", "'true'",
      ])
    case .blob: pick(["x''", "x'00ff'", "x'61'"])
    case .date: "'\(pick(Self.dates.keys.sorted()))'"
    case .noDate: pick(["''", "'0000-00-00'", "'soon'"])
    case .boolean: "\(random.next() % 2)"
    case .uuid:
      pick([
        "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'", "'e621e1f8-c36c-495a-93fc-0c247a3e6e5f'",
        "'00010203-0405-0607-0809-0A0B0C0D0E\(10 + number)'",
      ])
    case .uuidBytes: "x'000102030405060708090A0B0C0D0E\(10 + number)'"
    case .malformed: pick(["CAST(x'61ff' AS TEXT)", "CAST(x'c3' AS TEXT)", "'whole'"])
    }
  }

  /// Dates as text, and the seconds since 2001 that they are.
  static let dates: [String: Double] = [
    "2020-01-02": 599_616_000, "2020-01-02 03:04:05": 599_627_045,
    "2020-01-02T03:04:05.500Z": 599_627_045.5, "2020-01-02T03:04:05+02:00": 599_619_845,
  ]
}

// MARK: - Everything that SQLite has

extension RandomDatabase {
  /// Prints the rows of all tables, and which rows the foreign keys lead to: a line for each, with the number of the table,
  /// `@` and the number of the foreign key for references, and the values with their types.
  ///
  ///     0|1|integer:7|text:6162
  ///     1@0|3|1
  var dump: String {
    var text = ""
    for (place, table) in tables.enumerated() {
      let values = table.columns.map(\.name.quoted.dumped).joined(separator: " || '|' || ")
      text += "SELECT '\(place)|' || \(values) FROM \(table.name.quoted);\n"
      for (number, key) in table.foreignKeys.enumerated() where !table.isLink {
        text += """
          SELECT '\(place)@\(number)|' || s.zz || '|' || d.zz FROM \(table.name.quoted) AS s
          JOIN \(tables[key.table].name.quoted) AS d
          ON d.\(keyName(key.table)) = s.\(table.columns[key.column].name.quoted);

          """
      }
      guard table.isLink else { continue }
      let ends = table.foreignKeys.map(\.table)
      text += """
        SELECT '\(place)@0|' || s.zz || '|' || d.zz FROM \(table.name.quoted) AS l
        JOIN \(tables[ends[0]].name.quoted) AS s ON s.\(keyName(ends[0])) = l.a
        JOIN \(tables[ends[1]].name.quoted) AS d ON d.\(keyName(ends[1])) = l.b;

        """
    }
    return text
  }
}

extension String {
  /// As a name in a statement.
  fileprivate var quoted: String { "\"" + replacing("\"", with: "\"\"") + "\"" }

  fileprivate var uppercasedASCII: String {
    String(decoding: utf8.map { (0x61...0x7a).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
  }

  /// An expression with the type of a column's value and its bytes.
  fileprivate var dumped: String {
    "typeof(\(self)) || ':' || CASE typeof(\(self)) WHEN 'null' THEN '' WHEN 'integer' THEN \(self)"
      + " WHEN 'real' THEN hex(ieee754_to_blob(\(self))) ELSE hex(\(self)) END"
  }
}

import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Databases of SQLite that become stores.
@Suite struct SQLiteImportTests {
  private let stage: Stage
  private var database: String { stage.path("file.db") }
  private var store: String { stage.path("copy.cambium") }

  init() throws { stage = try Stage() }

  /// Runs statements by SQLite's own program.
  private func execute(_ statements: String) throws {
    let script = stage.path("script.sql")
    try write(statements, to: script)
    #expect(unsafe system("sqlite3 -bail '\(database)' < '\(script)'") == 0)
  }

  private func make(_ name: String) throws {
    let directory = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    try execute(try contents(of: "/\(directory)/Fixtures/\(name)"))
  }

  private func imported(_ arguments: String...) throws -> Command {
    try Command.run(["import", store, "--sqlite", database] + arguments)
  }

  /// All records by their fields as text, and the store checked.
  private func records(_ name: String) throws -> [DynamicRecord] {
    #expect(try PersistentStore.check(at: store, .deep).isWhole)
    let opened = try PersistentStore(untypedAt: store)
    defer { try? opened.close() }
    return try opened.fetch(record: name)
  }

  @Test func `a few bytes of schema do not take all memory`() throws {
    try execute(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, g AS (zeroblob(900000000))); INSERT INTO t(id) VALUES (1);"
    )
    let command = try imported()
    #expect(command.status == 9, "\(command.status)")
    #expect(command.error.contains("too big"), "\(command.error)")
    #expect(unsafe access(store, F_OK) != 0)
  }

  @Test func `rows that are too long with all their columns keep these outside`() throws {
    // 300 columns of 60,000 bytes are 18 MB.
    let names = (0..<300).map { "c\($0)" }
    let values = names.map { _ in "printf('%.*c', 60000, 'x')" }
    let long = String(repeating: "x", count: 60_000)
    try execute(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, short TEXT, \(names.joined(separator: ", ")));
      INSERT INTO t VALUES (1, 'y', \(values.joined(separator: ", ")));
      """)
    let command = try imported()
    #expect(command.status == 0, "\(command.error)")
    let record = try #require(try records("t").first)
    #expect(record["short"] == .string("y"))
    let schema = try #require(try PersistentStore.inspect(at: store).schemas.last)
    #expect(schema.record(named: "t")?.field(named: "short")?.type == .scalar(.string))
    for name in names { #expect(record[name] == .string(long), "\(name)") }
  }

  @Test func `many tables are imported in time linear in their number`() throws {
    let tables = (0..<1_000).map {
      "CREATE TABLE t\($0)(id INTEGER PRIMARY KEY, a INT REFERENCES t\($0 / 2));"
    }
    try execute("BEGIN;" + tables.joined() + "COMMIT;")
    let command = try imported()
    #expect(command.status == 0, "\(command.error.prefix(300))")
    #expect(try PersistentStore(untypedAt: store).schema.records.count == 1_000)
  }

  @Test func `a database's description in Swift is recorded, with everything that differs`() throws
  {
    try make("library.sql")
    let command = try imported()
    #expect(command.status == 0, "\(command.error)")
    try Recorded.check(
      command.output + Recorded.masked(command.error, path: store), "import-sqlite.txt")
    let shown = try Command.run("schema", store, "--form", "swift")
    #expect(shown.output == command.output)
  }

  @Test func `rows are records, with the values that the columns' types promise`() throws {
    try make("library.sql")
    #expect(try imported().status == 0)
    let books = try records("book")
    #expect(books.count == 3)
    #expect(books[0]["title"] == .string("The Dispossessed"))
    #expect(books[0]["added"] == .date(Date(timeIntervalSinceReferenceDate: 789_015_845.678)))
    #expect(books[1]["added"] == .date(Date(timeIntervalSinceReferenceDate: 789_015_845)))
    #expect(
      try books[0]["token", as: UUID.self].uuidString == "00010203-0405-0607-0809-0A0B0C0D0E0F")
    #expect(
      try books[1]["token", as: UUID.self].uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    #expect(books.map { $0["cover"] } == [.data(Data([1, 2])), .null, .data(Data())])
    #expect(
      books.map { $0["odd"] } == ["1", "x"].map { .data(Data($0.utf8)) } + [.data(Data([255]))])
    #expect(books.map { $0["author_id"] } == [.integer(1), .integer(2), .integer(2)])
    #expect(books[0]["tag"] == .array([.string("sf")]))
    #expect(books[1]["tag"] == .array([.string("sea"), .string("sf")]))
    #expect(try records("author").map { $0["alive"] } == [false, false, true].map { .boolean($0) })
    #expect(try records("lost").map { $0["book"] } == [.integer(1), .integer(99)])
    #expect(try records("log").map { $0["a_b"] } == [.integer(1), .null])
  }

  @Test func `delete rules and constraints are those of the database`() throws {
    try make("library.sql")
    #expect(try imported().status == 0)
    let opened = try PersistentStore(untypedAt: store)
    func delete(_ name: String, _ key: some FieldValueConvertible) throws {
      try opened.write { transaction in _ = try transaction.delete(record: name, key: key) }
    }
    #expect(throws: StoreError.self) { try delete("book", 1) }  // two loans lead to it
    try delete("tag", "sf")
    #expect(try opened.fetch(record: "book", key: 2)?["tag"] == .array([.string("sea")]))
    try delete("country", "us")
    #expect(try opened.fetch(record: "author", key: 1)?["country"] == .null)
    #expect(throws: StoreError.self) { try delete("author", 1) }  // its book is lent
    try delete("author", 2)
    #expect(try opened.count(record: "book") == 1)
    #expect(throws: StoreError.self) {
      try opened.write { transaction in
        var author = try #require(try transaction.fetch(record: "author", key: 1))
        author["id"] = .integer(9)
        author["name"] = .string("LE GUIN")
        try transaction.save(author)
      }
    }
    try opened.close()
  }

  /// Every mixture of types of values under every kind of declared type.
  @Test func `a column gets the type that holds all of its values`() throws {
    let samples = ["7", "2.5", "'word'", "x'00ff'", "NULL"]
    let declared = ["", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "DATE", "BOOLEAN", "UUID"]
    var (columns, rows) = ([String](), [[String]](repeating: [], count: samples.count))
    for (kind, type) in declared.enumerated() {
      for set in 0..<32 {
        columns.append("c\(kind)_\(set) \(type)")
        for place in samples.indices {
          rows[place].append(set >> place & 1 == 1 ? samples[place] : "NULL")
        }
      }
    }
    try execute(
      "CREATE TABLE t (\(columns.joined(separator: ", ")));\n"
        + rows.map { "INSERT INTO t VALUES (\($0.joined(separator: ", ")));" }.joined(
          separator: "\n"))
    #expect(try imported().status == 0)
    let schema = try #require(
      try PersistentStore.inspect(at: store).schemas.last?.record(named: "t"))
    let found = try records("t")
    for (kind, type) in declared.enumerated() {
      for set in 0..<32 {
        let name = "c\(kind)_\(set)"
        let field = try #require(schema.field(named: name))
        #expect(field.isOptional)
        // SQLite's own value of a number in a column of the type.
        let integers = set & 1 != 0 && !["REAL", "TEXT"].contains(type)
        let reals = set & 2 != 0 && type != "TEXT" || set & 1 != 0 && type == "REAL"
        let strings = set & 4 != 0 || set & 3 != 0 && type == "TEXT"
        let blobs = set & 8 != 0
        let expected: ScalarType? =
          switch (integers || reals, strings, blobs) {
          case (true, false, false): reals ? .double : .int64
          case (_, true, false): .string
          case (_, _, true): .binaryData
          case (false, false, false): nil
          }
        guard let expected else { continue }
        #expect(field.type == .scalar(expected), "\(type) \(set)")
        for (place, record) in found.enumerated() {
          let isThere = set >> place & 1 == 1 && place < 4
          #expect((record[name] != .null) == isThere, "\(type) \(set) \(place)")
        }
      }
    }
  }

  private static let manyColumns: String = {
    let columns = (0..<1_899).map { "c\($0) INTEGER" }.joined(separator: ", ")
    return
      "CREATE TABLE t (id INTEGER PRIMARY KEY, \(columns)); INSERT INTO t (id, c7) VALUES (1, 7);"
  }()

  @Test func `columns that are computed by functions for JSON have their values`() throws {
    try execute(
      """
      CREATE TABLE t (body TEXT, n INT AS (json_extract(body, '$.n')) STORED,
        m INT AS (json_extract(body, '$.m')) VIRTUAL);
      INSERT INTO t (body) VALUES ('{"n": 7, "m": 8}');
      """)
    let command = try imported()
    #expect(command.status == 0, "\(command.error)")
    let found = try records("t")
    #expect(found.map { $0["n"] } == [.integer(7)])
    #expect(found.map { $0["m"] } == [.integer(8)])
  }

  private static let oddities: [(name: String, statements: String, note: String)] = [
    (
      "a key that is null",
      "CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES (NULL), ('a');", "rowid"
    ),
    (
      "keys that are equal as strings",
      "CREATE TABLE t (k PRIMARY KEY); INSERT INTO t VALUES (1), ('1');", "rowid"
    ),
    (
      "a key of 2,000 bytes",
      "CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES (hex(zeroblob(1000)));",
      "rowid"
    ),
    (
      "a string that is not UTF-8",
      "CREATE TABLE t (s TEXT); INSERT INTO t VALUES (CAST(x'61ff' AS TEXT));",
      "not UTF-8"
    ),
    (
      "a link table with a column of its own",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);
      CREATE TABLE t (x INTEGER REFERENCES a, y INTEGER REFERENCES a, n INTEGER, PRIMARY KEY (x, y));
      INSERT INTO t VALUES (1, 1, 5);
      """, ""
    ),
    (
      "a link table with more than a thousand rows of one record",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY);
      WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1001) INSERT INTO a SELECT n FROM c;
      CREATE TABLE t (x INTEGER REFERENCES a, y INTEGER REFERENCES a, PRIMARY KEY (x, y));
      INSERT INTO t SELECT 1, id FROM a;
      """, ""
    ),
    (
      "a foreign key to a table that is not there",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, x REFERENCES absent (id)); INSERT INTO t VALUES (1, 2);",
      "leads to absent"
    ),
    (
      "a foreign key of another type",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);
      CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT REFERENCES a (id)); INSERT INTO t VALUES (1, '1');
      """, "plain field"
    ),
    (
      "a key that leads to itself",
      "CREATE TABLE t (id INTEGER PRIMARY KEY REFERENCES t (id)); INSERT INTO t VALUES (1);",
      "leads to itself"
    ),
    (
      "keys that lead to each other",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY REFERENCES t (id)); INSERT INTO a VALUES (1);
      CREATE TABLE t (id INTEGER PRIMARY KEY REFERENCES a (id)); INSERT INTO t VALUES (1);
      """, "leads to itself"
    ),
    (
      "a key of real numbers that others lead to",
      """
      CREATE TABLE a (id REAL PRIMARY KEY NOT NULL); INSERT INTO a VALUES (1.5);
      CREATE TABLE t (id INTEGER PRIMARY KEY, a REAL REFERENCES a (id)); INSERT INTO t VALUES (1, 1.5);
      """, "no reference can be"
    ),
    (
      "references in a circle",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (id)); INSERT INTO a VALUES (1, 1);
      CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id)); INSERT INTO t VALUES (1, 1);
      """, ""
    ),
    (
      "names with quotes, spaces and letters of any script",
      #"CREATE TABLE t ("a ""b'" TEXT, "größe" INTEGER, "" TEXT); INSERT INTO t VALUES ('x', 1, 'y');"#,
      "unnamed"
    ),
    (
      "strings in 16 bits",
      "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (s TEXT); INSERT INTO t VALUES ('ä😀');", "rowid"
    ),
    (
      "a write-ahead log",
      "PRAGMA journal_mode = WAL; CREATE TABLE t (s TEXT); INSERT INTO t VALUES ('x');", "rowid"
    ),
    (
      "keys of several columns and of bytes, without rowids",
      """
      CREATE TABLE a (k BLOB PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO a VALUES (x'00ff', 1), (x'', 2);
      CREATE TABLE t (x TEXT, y INTEGER, z, PRIMARY KEY (x, y)) WITHOUT ROWID;
      INSERT INTO t VALUES ('b', 2, 'q'), ('a', 1, NULL), ('b', 1, 3);
      """, ""
    ),
    (
      "a link table with doubles and nulls",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1), (2);
      CREATE TABLE t (x INTEGER REFERENCES a, y INTEGER REFERENCES a);
      INSERT INTO t VALUES (1, 1), (1, 1), (NULL, 2);
      """, ""
    ),
    (
      "1,900 columns",
      manyColumns, ""
    ),
    (
      "a column called rowid beside SQLite's own",
      "CREATE TABLE t (\"rowid\" TEXT, x); INSERT INTO t VALUES ('a', 1), ('a', 2), (NULL, 3);",
      "t: its key is SQLite's rowid"
    ),
    (
      "columns with all names of SQLite's own key",
      "CREATE TABLE t (rowid, oid, _rowid_); INSERT INTO t VALUES (1, 1, 1), (1, 1, 1);",
      "is the number of the row"
    ),
    (
      "keys of a table without rowid that are too long",
      """
      CREATE TABLE t (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
      INSERT INTO t VALUES (hex(zeroblob(600)), 1), (hex(zeroblob(601)), 2);
      """, "is the number of the row"
    ),
    (
      "a key of two blobs of zeros, each of which takes two bytes",
      """
      CREATE TABLE t (a BLOB, b BLOB, PRIMARY KEY (a, b)); INSERT INTO t VALUES (zeroblob(460), zeroblob(460));
      """, "t: its key is SQLite's rowid"
    ),
    (
      "a foreign key stated twice",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);
      CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER REFERENCES a (id), FOREIGN KEY (x) REFERENCES A (ID));
      INSERT INTO t VALUES (1, 1);
      """, ""
    ),
    (
      "a date that is none",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, d DATE, n DATETIME, b BOOLEAN);
      INSERT INTO t VALUES (1, '2020-01-02', 7, 1), (2, NULL, 8, 2), (3, '', 9, 0);
      """,
      "t.d: row 3 has the first value that is no date, as which it is declared; all stay as they are"
    ),
    (
      "a foreign key stated twice, with other rules",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);
      CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER REFERENCES a (id) ON DELETE CASCADE,
        FOREIGN KEY (x) REFERENCES A (ID));
      INSERT INTO t VALUES (1, 1);
      """,
      "t.x: it is stated twice; ON DELETE CASCADE holds, and ON DELETE NO ACTION is left out"
    ),
    (
      "two foreign keys of one column",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);
      CREATE TABLE b (id INTEGER PRIMARY KEY); INSERT INTO b VALUES (1);
      CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER REFERENCES a (id) REFERENCES b (id));
      INSERT INTO t VALUES (1, 1);
      """, "t.x: it leads to b, too"
    ),
    (
      "a foreign key to a key without regard to case",
      """
      CREATE TABLE a (id TEXT PRIMARY KEY COLLATE nocase); INSERT INTO a VALUES ('Anna');
      CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT REFERENCES a (id)); INSERT INTO t VALUES (1, 'anna');
      """, "t.x: 1 row leads to keys that are spelled otherwise; it is a plain field"
    ),
    (
      "a link to a key without regard to case",
      """
      CREATE TABLE a (id TEXT PRIMARY KEY COLLATE NOCASE); INSERT INTO a VALUES ('Anna');
      CREATE TABLE b (id INTEGER PRIMARY KEY); INSERT INTO b VALUES (1);
      CREATE TABLE t (x TEXT REFERENCES a, y INTEGER REFERENCES b, PRIMARY KEY (x, y)); INSERT INTO t VALUES ('anna', 1);
      """, "t.x: 1 row leads to keys that are spelled otherwise"
    ),
    (
      "a link to a key of real numbers",
      """
      CREATE TABLE a (id REAL PRIMARY KEY); INSERT INTO a VALUES (1.5);
      CREATE TABLE b (id INTEGER PRIMARY KEY); INSERT INTO b VALUES (1);
      CREATE TABLE t (x REAL REFERENCES a, y INTEGER REFERENCES b, PRIMARY KEY (y, x)); INSERT INTO t VALUES (1.5, 1);
      """, "t.x: it leads to a key that is double"
    ),
    (
      "two spellings of a date as keys",
      "CREATE TABLE t (d DATE PRIMARY KEY); INSERT INTO t VALUES ('2020-01-01'), ('2020-01-01T00:00:00Z');",
      ""
    ),
    (
      "two spellings of a UUID under a constraint",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, u UUID UNIQUE);
      INSERT INTO t VALUES (1, 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'), (2, 'e621e1f8-c36c-495a-93fc-0c247a3e6e5f');
      """, "t: UNIQUE of u is left out"
    ),
    (
      "letters that SQLite holds apart under a constraint without regard to case",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT UNIQUE COLLATE nocase); INSERT INTO t VALUES (1, 'É'), (2, 'é');",
      "t: UNIQUE of s without case is left out"
    ),
    (
      "an index with a column twice",
      "CREATE TABLE t (a, b); CREATE INDEX i ON t (a, b, a DESC);",
      "t: the index i is left out: a column is in it twice"
    ),
    (
      "names that differ in the case of a letter that is not ASCII",
      "CREATE TABLE t (\"É\" INTEGER PRIMARY KEY, \"é\" TEXT); INSERT INTO t VALUES (1, 'x');", ""
    ),
    (
      "a blob of a million bytes",
      "CREATE TABLE t (b BLOB); INSERT INTO t VALUES (zeroblob(1000000));",
      "rowid"
    ),
  ]

  @Test(arguments: oddities.indices)
  func `odd tables are imported, and what differs is said`(number: Int) throws {
    let (name, statements, note) = Self.oddities[number]
    try execute(statements)
    let command = try imported()
    #expect(command.status == 0, "\(name): \(command.error)")
    #expect(note.isEmpty || command.error.contains(note), "\(name): \(command.error)")
    let rows = try execute("SELECT count(*) FROM t", into: "count")
    #expect(try records("t").count == Int(rows), "\(name)")
  }

  private func execute(_ query: String, into name: String) throws -> String {
    #expect(unsafe system("sqlite3 '\(database)' '\(query)' > '\(stage.path(name))'") == 0)
    return String(try contents(of: stage.path(name)).dropLast())
  }

  @Test func `what a table declares and the store does not have is said line by line`() throws {
    try execute(
      """
      CREATE TABLE "a.b" (id INTEGER PRIMARY KEY AUTOINCREMENT, -- CHECK (0)
        n INT DEFAULT 5 CHECK (n > 0 AND "n" <> ')'), s TEXT DEFAULT NULL COLLATE nocase,
        twice AS (n * 2), CHECK (n < 9));
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, x INT REFERENCES "a.b" ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
        y TEXT UNIQUE ON CONFLICT REPLACE);
      """)
    let command = try imported("--json")
    #expect(command.status == 0, "\(command.error)")
    for note in [
      "a.b.twice: it is computed there", "a.b.id: AUTOINCREMENT",
      #"a.b.n: CHECK (n > 0 AND \"n\" <> ')') is left out"#,
      "a.b.s: COLLATE nocase holds in indexes",
      "a.b: CHECK (n < 9) is left out", "a.b: it is called a_b in the store",
      "t.x: ON UPDATE CASCADE is left out", "t.x: DEFERRABLE is left out",
      "t.y: ON CONFLICT REPLACE is left out",
    ] {
      #expect(command.output.contains(note), "\(note)\n\(command.output)")
    }
    #expect(!command.output.contains("CHECK (0)") && !command.output.contains("DEFAULT NULL"))
  }

  @Test func `constants are defaults, all others are named, and columns keep their order`() throws {
    try execute(
      """
      CREATE TABLE t (
        z INT PRIMARY KEY, n INT DEFAULT 5, m INTEGER DEFAULT ('7'), r REAL DEFAULT -1, s TEXT DEFAULT 'it''s',
        y VARCHAR DEFAULT 12, q TEXT DEFAULT "two words", b BLOB DEFAULT x'0aFF', f BOOLEAN NOT NULL DEFAULT TRUE,
        d DATE DEFAULT '2026-01-02', i UUID DEFAULT 'e621e1f8-c36c-495a-93fc-0c247a3e6e5f', l INT DEFAULT NULL,
        c TEXT DEFAULT CURRENT_TIMESTAMP, e INT DEFAULT (1 + 2), u INT UNIQUE DEFAULT 1, w INT DEFAULT 'many',
        a TEXT);
      INSERT INTO t (z, w) VALUES (1, 4);
      """)
    let command = try imported("--json")
    #expect(command.status == 0, "\(command.error)")
    for note in [
      "t.c: DEFAULT CURRENT_TIMESTAMP is left out: it is not a constant",
      "t.e: DEFAULT 1 + 2 is left out: it is not a constant",
      "t.u: DEFAULT 1 is left out: the field is unique",
      "t.w: DEFAULT 'many' is left out: it is not a value of int64",
    ] {
      #expect(command.output.contains(note), "\(note)\n\(command.output)")
    }
    for line in [
      #"\"n\", type: .integer, optional: true, default: 5)"#,
      #"\"s\", type: .string, optional: true, default: \"it's\")"#,
      #"\"d\", type: .date, optional: true, default: .date(Date(timeIntervalSinceReferenceDate: "#,
      #"\"b\", type: .binaryData, optional: true, default: .data(Data([10, 255])))"#,
    ] {
      #expect(command.output.contains(line), "\(line)\n\(command.output)")
    }
    let opened = try PersistentStore(untypedAt: store)
    try opened.write { try $0.save(DynamicRecord("t", ["z": 2])) }
    let (old, new) = (
      try #require(try opened.fetch(record: "t", key: 1)),
      try #require(try opened.fetch(record: "t", key: 2))
    )
    for name in ["n", "m", "r", "s", "y", "q", "b", "f", "d", "i", "l", "a", "e", "u", "w"] {
      let isLeftOut = ["e", "u", "w"].contains(name)
      #expect(isLeftOut ? new[name] == .null : new[name] == old[name], "\(name): \(new[name])")
    }
    try opened.close()
    let shown = try Command.run("schema", store)
    let properties = shown.output.split(separator: "\n").filter { $0.hasPrefix("  var ") }
      .compactMap { $0.dropFirst(6).first }
    #expect(String(properties) == "znmrsyqbfdilceuwa")
  }

  @Test func `a list keeps the rules that its table had for deletions at both ends`() throws {
    let keys = [("", false), ("ON DELETE CASCADE", true)]
    for (source, isSourceDeleted) in keys {
      for (target, isTargetDeleted) in keys {
        try execute(
          """
          DROP TABLE IF EXISTS l; DROP TABLE IF EXISTS a; DROP TABLE IF EXISTS b;
          CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY);
          CREATE TABLE l (x INTEGER NOT NULL REFERENCES a \(source),
            y INTEGER NOT NULL REFERENCES b \(target), PRIMARY KEY (x, y));
          INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1), (2); INSERT INTO l VALUES (1, 1);
          """)
        try #require(try imported("--force").status == 0)
        let opened = try PersistentStore(untypedAt: store)
        func isDeleted(_ name: String, _ key: Int) throws -> Bool {
          do {
            return try opened.write { transaction in
              try transaction.delete(record: name, key: key)
            }
          } catch StoreError.deleteDenied {
            return false
          }
        }
        #expect(try isDeleted("a", 2))
        #expect(try isDeleted("b", 2))
        #expect(try isDeleted("b", 1) == isTargetDeleted, "\(source), \(target)")
        // Its list has nothing that refuses it any more.
        #expect(
          try isDeleted("a", 1) == (isSourceDeleted || isTargetDeleted), "\(source), \(target)")
        try opened.close()
      }
    }
  }

  @Test func `a link to a table whose declared key cannot be one keeps its rows`() throws {
    try execute(
      """
      CREATE TABLE tag (id INT PRIMARY KEY, name TEXT);
      CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT);
      CREATE TABLE note_tag (note INTEGER NOT NULL REFERENCES note, tag INT NOT NULL REFERENCES tag,
        PRIMARY KEY (note, tag));
      INSERT INTO tag VALUES (3, 'three'), (1, 'one'), (2, 'two'), (NULL, 'none');
      INSERT INTO note VALUES (1, 'x'), (2, 'y'); INSERT INTO note_tag VALUES (1, 1), (1, 2), (2, 3);
      """)
    let command = try imported()
    #expect(command.status == 0 && command.error.contains("note_tag.tag: "), "\(command.error)")
    let links = try records("note_tag")
    #expect(links.map { $0["note"] } == [.integer(1), .integer(1), .integer(2)])
    #expect(links.map { $0["tag"] } == [.integer(1), .integer(2), .integer(3)])
  }

  @Test func `a table that is called like those of a virtual one is imported`() throws {
    try execute(
      """
      CREATE VIRTUAL TABLE docs USING fts5(title, body); INSERT INTO docs VALUES ('a', 'b');
      CREATE TABLE docs_users (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO docs_users VALUES (1, 'Ann');
      """)
    let command = try imported()
    #expect(command.status == 0 && command.error.contains("virtual table docs"), "\(command.error)")
    #expect(try records("docs_users").map { $0["name"] } == [.string("Ann")])
    let names = try PersistentStore.inspect(at: store).schemas.last?.records.map(\.name)
    #expect(names == ["docs_users"])
  }

  @Test func `numbers keep their value beside others and beside text, and dates theirs`() throws {
    try execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a NUMERIC, v, b, d DATE, e DATE, u UUID);
      INSERT INTO t VALUES (1, 9007199254740993, 0.1 + 0.2, 1e300, '2020-01-02T03:04:05.123456789',
        '2020-01-02T03:04:05+02:00', 'e621e1f8-c36c-495a-93fc-0c247a3e6e5f');
      INSERT INTO t VALUES (2, 0.5, 'x', x'00', '2020-01-02', '2020-01-02', NULL);
      """)
    let command = try imported()
    for note in [
      "t.a: it has 1 real numbers and 1 integers that no double is; all are strings now",
      "t.v: it has 1 strings and 1 numbers; all are strings now", "t.b: it has blobs and 1 other",
      "t.e: 1 of its dates has an offset", "t.u: 1 of its UUIDs is not in capitals",
    ] {
      #expect(command.error.contains(note), "\(command.error)")
    }
    let found = try records("t")
    #expect(found.map { $0["a"] } == [.string("9007199254740993"), .string("0.5")])
    #expect(found.map { $0["v"] } == [.string("0.30000000000000004"), .string("x")])
    #expect(found.map { $0["b"] } == [.data(Data("1e+300".utf8)), .data(Data([0]))])
    #expect(found[0]["d"] == .string("2020-01-02T03:04:05.123456789"))
    #expect(found[0]["e"] == .date(Date(timeIntervalSinceReferenceDate: 599_619_845)))
  }

  @Test func `strings that are not UTF-8 are kept as bytes, or read as they are said to be`() throws
  {
    try execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT);
      INSERT INTO t VALUES (1, CAST(x'61e4' AS TEXT)), (2, 'ä');
      """)
    let strings: [([String], [FieldValue], String)] = [
      (
        [], [.data(Data([0x61, 0xe4])), .data(Data("ä".utf8))], "the first in row 1; all values are"
      ),
      (["--encoding", "latin1"], [.string("aä"), .string("ä")], "read as Latin-1"),
      (["--lossy"], [.string("a\u{fffd}"), .string("ä")], "bytes are replaced"),
    ]
    for (options, values, note) in strings {
      let command = try Command.run(
        ["import", store, "--sqlite", database, "--force"] + options)
      #expect(
        command.error.contains("t.s: 1 strings are not UTF-8")
          && command.error.contains(note), "\(command.error)")
      #expect(try records("t").map { $0["s"] } == values, "\(options)")
    }
    #expect(try imported("--force", "--lossy", "--encoding", "latin1").status == 2)
    #expect(try Command.run("import", store, stage.path("script.sql"), "--lossy").status == 2)
  }

  @Test func `a collation of the program's costs no table, and no reference that it decides`()
    throws
  {
    try execute(
      """
      CREATE TABLE tag (name TEXT PRIMARY KEY COLLATE NOCASE, n) WITHOUT ROWID;
      INSERT INTO tag VALUES ('a', 1), ('B', 2);
      CREATE TABLE t (id INTEGER PRIMARY KEY, tag TEXT REFERENCES tag); INSERT INTO t VALUES (1, 'a');
      PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET sql = replace(sql, 'NOCASE', 'unicase') WHERE name = 'tag';
      """)
    let command = try imported()
    #expect(command.status == 0, "\(command.error)")
    #expect(
      command.error.contains("t.tag: it leads to a key that the program compares"),
      "\(command.error)")
    #expect(try Set(records("tag").map { $0["name"] }) == [.string("a"), .string("B")])
    #expect(try records("t").map { $0["tag"] } == [.string("a")])
  }

  @Test func `a unique index is kept beside another one of the same columns`() throws {
    try execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t (a); CREATE UNIQUE INDEX u ON t (a);
      """)
    #expect(try imported().status == 0)
    let record = try PersistentStore.inspect(at: store).schemas.last?.record(named: "t")
    #expect(record?.indexes.map(\.isUnique) == [true])
  }

  @Test func `names are cut that are longer than those of a store, and noted`() throws {
    let (table, column) = (String(repeating: "t", count: 300), String(repeating: "ä", count: 140))
    let columns = (1...12).map { "column_\($0)_of_a_name_of_thirty_letters" }
    try execute(
      """
      CREATE TABLE \(table) (id INTEGER PRIMARY KEY, \(column) TEXT, \(column)2 TEXT);
      CREATE TABLE u (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")));
      CREATE UNIQUE INDEX many ON u (\(columns.joined(separator: ", ")));
      """)
    let command = try imported()
    #expect(command.status == 0, "\(command.error)")
    #expect(command.error.contains("\(table): it is called"), "\(command.error)")
    let schema = try #require(try PersistentStore.inspect(at: store).schemas.last)
    #expect(schema.record(named: "u")?.indexes.map(\.name) == ["many"])
    #expect(schema.records.map(\.fields.count).sorted() == [3, 13])
  }

  @Test func `dates of Core Data are seconds since 2001`() throws {
    try execute(
      """
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY);
      CREATE TABLE ZTRIP (Z_PK INTEGER PRIMARY KEY, ZSTART TIMESTAMP);
      INSERT INTO ZTRIP VALUES (1, 0.5), (2, 86400);
      """)
    #expect(try imported().status == 0)
    let starts = try records("ZTRIP").map { $0["ZSTART"] }
    #expect(starts == [0.5, 86_400].map { .date(Date(timeIntervalSinceReferenceDate: $0)) })
  }

  @Test func `the rows of a large table are read ahead, also of one that breaks a constraint`()
    throws
  {
    try execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, r REAL);
      WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 25000)
      INSERT INTO t SELECT n, CASE WHEN n % 3 THEN 'row ' || n END, n / 4.0 FROM c;
      CREATE UNIQUE INDEX s ON t (s COLLATE NOCASE);
      """)
    #expect(try imported().status == 0)
    let found = try records("t")
    #expect(found.count == 25_000)
    for (record, id) in zip(found, Int64(1)...) {
      let text = id % 3 == 0 ? FieldValue.null : .string("row \(id)")
      let values = [.integer(id), text, .double(Double(id) / 4)]
      guard ["id", "s", "r"].map({ record[$0] }) == values else {
        Issue.record("\(record)")
        break
      }
    }
    // SQLite ignores the case of ASCII letters only. The import begins again without the constraint.
    try execute("UPDATE t SET s = 'Ä' WHERE id = 1; UPDATE t SET s = 'ä' WHERE id = 20000;")
    let broken = try imported("--force")
    #expect(
      broken.status == 0 && broken.error.contains("t: UNIQUE of s without case is left out"),
      "\(broken.error)")
    #expect(try records("t").count == 25_000)
  }

  @Test func `nothing is left of an import that cannot be`() throws {
    try write("This is no database, but a text of some length.", to: database)
    let text = try imported()
    #expect(text.status == 9 && text.error.contains("not a database"), "\(text.error)")
    #expect(!exists(store))
    _ = unsafe unlink(database)
    #expect(try imported().status == 5)
    try execute("CREATE TABLE t (a)")
    let missing = try imported("--table", "x")
    #expect(missing.status == 8 && missing.error.contains("but t"), "\(missing.error)")
    try execute("DROP TABLE t")
    #expect(try imported().status == 9)
    #expect(!exists(store))
    #expect(try Command.run("import", store, "--table", "x").status == 2)
    #expect(try imported("--into").status == 2)
  }

  @Test func `a database is known by its first bytes, and arguments in the wrong order are told`()
    throws
  {
    try make("library.sql")
    let command = try Command.run("import", store, database, "--table", "book", "--table", "author")
    #expect(command.status == 0 && command.output.contains("struct Book"), "\(command.error)")
    let typed = try Command.run("import", store, "book", database)
    #expect(typed.status == 2 && typed.error.contains("--table"), "\(typed.error)")
    #expect(try Command.run("import", store, database, "--into").status == 2)
    #expect(try Command.run("import", store, "x", "--sqlite", database).status == 2)
    let export = stage.path("books.jsonl")
    try #require(try Command.run("export", store, "--output", export).status == 0)
    let tables = try Command.run("import", stage.path("new"), export, "--table", "book")
    #expect(tables.status == 2 && tables.error.contains("is none"), "\(tables.error)")
    let new = stage.path("new.cambium")
    for (arguments, meant) in [
      ([export, new], [new, export]), ([export, store], [store, export]),
      ([database, store], [store, database]), ([database, "--sqlite", store], [store, database]),
      ([store, export, "book"], [store, "book", export]),
      (["book", store, export], [store, "book", export]),
      ([export, "book", store], [store, "book", export]),
    ] {
      let wrong = try Command.run(["import"] + arguments)
      #expect(wrong.status == 2, "\(arguments): \(wrong.error)")
      let proposal = "cambium import " + meant.joined(separator: " ")
      #expect(wrong.error.contains(proposal), "\(arguments): \(wrong.error)")
    }
    #expect(!exists(new))
    #expect(try Command.run("import", new, export).status == 0)
  }

  @Test func `some tables are taken along, and a store that is there is replaced only if told to`()
    throws
  {
    try make("library.sql")
    #expect(try imported("--table", "book", "--table", "AUTHOR").status == 0)
    let names = try PersistentStore.inspect(at: store).schemas.last?.records.map(\.name)
    #expect(names == ["author", "book"])
    #expect(try imported().status == 7)
    let command = try imported("--force", "--json")
    #expect(command.status == 0)
    #expect(command.output.contains(#""records":17,"#), "\(command.output)")
  }
}

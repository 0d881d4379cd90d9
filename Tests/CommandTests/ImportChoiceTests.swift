import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Types, names and keys that are chosen for the tables of a SQLite database.
@Suite struct ImportChoiceTests {
  private let stage: Stage
  private var database: String { stage.path("file.db") }
  private var store: String { stage.path("copy.cambium") }

  init() throws { stage = try Stage() }

  /// Makes a new database with the `sqlite3` shell.
  private func make(_ statements: String) throws {
    let script = stage.path("script.sql")
    try write(statements, to: script)
    _ = unsafe unlink(database)
    #expect(unsafe system("sqlite3 -bail '\(database)' < '\(script)'") == 0)
  }

  private func imported(_ arguments: [String]) throws -> Command {
    try Command.run(["import", store, database, "--force"] + arguments)
  }

  private func imported(_ arguments: String...) throws -> Command { try imported(arguments) }

  private func records(_ name: String) throws -> [DynamicRecord] {
    #expect(try PersistentStore.check(at: store, .deep).isWhole)
    let opened = try PersistentStore(untypedAt: store)
    defer { try? opened.close() }
    return try opened.fetch(record: name)
  }

  private func schema(_ name: String) throws -> RecordSchema {
    try #require(try PersistentStore.inspect(at: store).schemas.last?.record(named: name))
  }

  private static let orders = """
    CREATE TABLE orders (id INTEGER PRIMARY KEY, total TEXT, placed INTEGER, seen REAL, noon REAL,
      changed INTEGER, late TEXT, small INTEGER NOT NULL, started REAL, sum NUMERIC);
    INSERT INTO orders VALUES (1, '12.50', 1767323045, 1767323045.25, julianday('2026-01-02 12:00:00'),
      1767323045678, 'TRUE', 255, 789015845.5, 0.1);
    INSERT INTO orders (id, total, small, sum) VALUES (2, '-3', 0, 7);
    """

  @Test func `defaults are read as the values of their columns are`() throws {
    try make(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, at INTEGER DEFAULT 0, price TEXT DEFAULT '1.50',
        small INTEGER DEFAULT 300);
      INSERT INTO t VALUES (1, 1, '2', 3);
      """)
    let command = try imported(
      "--type", "t.at=unix-seconds", "--type", "t.price=decimal", "--type", "t.small=uint8")
    #expect(command.status == 0, "\(command.error)")
    #expect(command.error.contains("DEFAULT 300 is left out"), "\(command.error)")
    let schema = try schema("t")
    #expect(schema.field(named: "at")?.defaultValue == .date(Date(timeIntervalSince1970: 0)))
    #expect(schema.field(named: "price")?.defaultValue == .decimal(1.5))
    #expect(schema.field(named: "small")?.defaultValue == nil)
  }

  @Test func `columns get the types that are chosen, and numbers become the dates that they are`()
    throws
  {
    try make(Self.orders)
    let types = [
      "total=decimal", "placed=unix-seconds", "seen=unix-seconds", "noon=julian-day",
      "changed=unix-milliseconds", "late=boolean", "small=uint8", "started=seconds-since-2001",
      "SUM=decimal",
    ]
    let command = try imported(types.flatMap { ["--type", "Orders.\($0)"] })
    #expect(command.status == 0, "\(command.error)")
    #expect(command.output.contains("var placed: Date?"), "\(command.output)")
    #expect(
      command.error.contains("orders.total: 1 of its values is spelled otherwise"),
      "\(command.error)")
    let found = try records("orders")
    let dates: [(String, Double)] = [
      ("placed", 789_015_845), ("seen", 789_015_845.25), ("noon", 789_048_000),
      ("changed", 789_015_845.678), ("started", 789_015_845.5),
    ]
    for (field, seconds) in dates {
      #expect(found[0][field] == .date(Date(timeIntervalSinceReferenceDate: seconds)), "\(field)")
      #expect(found[1][field] == .null, "\(field)")
    }
    #expect(found.map { $0["total"] } == [.decimal(Decimal(12.5)), .decimal(-3)])
    #expect(found.map { $0["sum"] } == [.decimal(Decimal(1) / 10), .decimal(7)])
    #expect(found.map { $0["late"] } == [.boolean(true), .null])
    #expect(found.map { $0["small"] } == [.unsigned(255), .unsigned(0)])
    let small = try schema("orders").field(named: "small")
    #expect(small?.type == .scalar(.uint8) && small?.isOptional == false)
  }

  /// Values of a column of a declared type, the type that is chosen, and the first of them that it does not hold.
  private static let inexact: [(declared: String, values: [String], type: String, shown: String)] =
    [
      ("TEXT", ["'1.5'", "'abc'"], "decimal", #"row 2 has "abc""#),
      ("TEXT", ["'7'", "'007'"], "integer", #"row 2 has "007""#),
      ("INTEGER", ["1", "NULL", "300"], "uint8", "row 3 has 300"),
      ("INTEGER", ["0", "2"], "boolean", "row 2 has 2"),
      ("REAL", ["0.5", "0.1"], "float", "row 2 has 0.1"),
      ("REAL", ["1.0", "1.5"], "integer", "row 2 has 1.5"),
      ("INTEGER", ["9007199254740993"], "double", "row 1 has 9007199254740993"),
      ("INTEGER", ["9223372036854775807"], "unix-seconds", "row 1 has 9223372036854775807"),
      ("REAL", ["1e15", "0.1"], "unix-milliseconds", "row 2 has 0.1"),
      ("TEXT", ["'2020-01-01'", "'2020-13-01'"], "date", #"row 2 has "2020-13-01""#),
      ("TEXT", ["'x'"], "uuid", #"row 1 has "x""#),
      ("BLOB", ["x'61'", "x'ff'"], "string", "row 2 has 1 byte"),
    ]

  @Test(arguments: inexact.indices)
  func `a value that a chosen type does not hold exactly is refused with its row, or lost`(
    number: Int
  ) throws {
    let (declared, values, type, shown) = Self.inexact[number]
    try make(
      "CREATE TABLE t (c \(declared));"
        + values.map { "INSERT INTO t VALUES (\($0));" }.joined(separator: "\n"))
    let refused = try imported("--type", "t.c=\(type)")
    #expect(refused.status == 9, "\(refused.error)")
    #expect(
      refused.error.contains("t.c: \(shown), which is not exactly a value of \(type)."),
      "\(refused.error)")
    #expect(!exists(store))
    let lossy = try imported("--type", "t.c=\(type)", "--lossy")
    #expect(lossy.status == 0, "\(lossy.error)")
    #expect(lossy.error.contains("t.c: 1 value is not exactly \(type)"), "\(lossy.error)")
    #expect(try records("t").count == values.count)
  }

  private static let shop = """
    CREATE TABLE customers (serial INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL);
    CREATE TABLE "order" (number INTEGER, customer TEXT REFERENCES customers (email), "a.b" TEXT);
    CREATE TABLE tag (name TEXT PRIMARY KEY);
    CREATE TABLE order_tag (customer TEXT REFERENCES customers (email), tag TEXT REFERENCES tag, PRIMARY KEY (customer, tag));
    INSERT INTO customers VALUES (7, 'ann@example.org'), (8, 'bob@example.org');
    INSERT INTO "order" VALUES (1, 'ann@example.org', 'x'), (2, 'bob@example.org', 'y');
    INSERT INTO tag VALUES ('new'); INSERT INTO order_tag VALUES ('ann@example.org', 'new');
    """
  private static let shopChoices = [
    "--name", "customers=Customer", "--name", "order=Order", "--name", "order.a.b=note",
    "--name", "order_tag=labels", "--key", "customers=email", "--key", "order=customer,number",
  ]

  @Test
  func `types, fields, lists and keys are called as it is chosen, and references lead to the keys`()
    throws
  {
    try make(Self.shop)
    let command = try imported(Self.shopChoices)
    #expect(command.status == 0, "\(command.error)")
    for line in [
      "struct Customer: Record, Identifiable {", "  var email: String", "struct Order: Record {",
      "  var customer: Reference<Customer>", "  var note: String?",
      "  var labels: [Reference<Tag>]",
      #"    PrimaryKey("customer", "number")"#, #"    Unique("serial")"#,
    ] {
      #expect(command.output.contains(line + "\n"), "\(line)\n\(command.output)")
    }
    #expect(!command.output.contains("RecordName(\"Order\")"), "\(command.output)")
    let customers = try records("Customer")
    #expect(customers.map { $0["labels"] } == [.array([.string("new")]), .array([])])
    #expect(customers.map { $0["serial"] } == [.integer(7), .integer(8)])
    #expect(try records("Order").map { $0["number"] } == [.integer(1), .integer(2)])
  }

  @Test func `a file of choices has the effect of the options`() throws {
    try make(Self.shop)
    let options = Self.shopChoices + ["--type", "customers.serial=int32"]
    let first = try imported(options)
    let file = stage.path("choices.json")
    try write(
      """
      {
        "types": {"customers.serial": "int32"},
        "names": {"customers": "Customer", "order": "Order", "ORDER.a.b": "note", "order_tag": "labels"},
        "keys": {"customers": "email", "order": ["customer", "number"]}
      }
      """, to: file)
    let second = try imported("--choices", file)
    #expect(first.status == 0 && second.status == 0, "\(second.error)")
    #expect(second.output == first.output)
    #expect(second.output.contains("var serial: Int32"), "\(second.output)")
    for (text, message) in [
      (#"{"type": {}}"#, "there are no type, but types, names, keys"),
      (#"{"types": {"tag.name": 7}}"#, "tag.name: 7 is no string"),
      (#"{"types": []}"#, "types is no object"), ("{", "no JSON"),
    ] {
      try write(text, to: file)
      let wrong = try imported("--choices", file)
      #expect(wrong.status == 9 && wrong.error.contains(message), "\(text): \(wrong.error)")
    }
    #expect(try imported("--choices", stage.path("none.json")).status == 8)
  }

  @Test
  func
    `a link table with fields that are chosen is a record, and keys of a chosen type are references`()
    throws
  {
    let (one, two) = (
      "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", "00010203-0405-0607-0809-0a0b0c0d0e0f"
    )
    try make(
      """
      CREATE TABLE a (id TEXT PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY);
      CREATE TABLE l (x TEXT REFERENCES a, y INTEGER REFERENCES b, PRIMARY KEY (y, x));
      INSERT INTO a VALUES ('\(one)'), ('\(two)'); INSERT INTO b VALUES (1);
      INSERT INTO l VALUES ('\(one)', 1), ('\(two)', 1);
      """)
    let types = ["--type", "a.id=uuid", "--type", "l.x=uuid"]
    let keys = try [two, one].map { FieldValue.uuid(try #require(UUID(uuidString: $0))) }
    let list = try imported(types)
    #expect(list.status == 0, "\(list.error)")
    let found = try records("b").map { $0["a"] }
    #expect(found == [.array(keys)] || found == [.array(keys.reversed())])
    let record = try imported(types + ["--name", "l.x=owner"])
    #expect(record.output.contains("var owner: Reference<A>"), "\(record.output)")
    #expect(try Set(records("l").map { $0["owner"] }) == Set(keys))
    // Without the same type at both ends, there is no reference.
    let plain = try imported("--type", "a.id=uuid")
    #expect(
      plain.error.contains("its values are string, the key that it leads to is uuid"),
      "\(plain.error)")
  }

  @Test func `a choice that cannot be followed is refused, with the names that exist`() throws {
    try make(Self.shop)
    for (arguments, status, message) in [
      (["--type", "order.number=money"], 2, #"no type "money". It has boolean, int8"#),
      (
        ["--type", "order.total=decimal"], 2,
        #"The table order has no column "total". It has number"#
      ),
      (["--type", "orders.total=decimal"], 2, #"no table "orders". It has customers, order"#),
      (["--type", "order=decimal"], 2, "order is a table. Say order.number"),
      (["--type", "order.number"], 2, "has no =. Say --type table.column=type"),
      (["--type", "tag.name=string", "--type", "TAG.NAME=uuid"], 2, "chosen twice"),
      (["--name", "order=tag"], 2, #"two tables that would be called "tag": order and tag"#),
      (["--name", "order.number=customer"], 2, "two columns that would be called"),
      (["--name", "order=a.b"], 2, "no dots"), (["--name", "order="], 2, "no dots"),
      (
        ["--key", "customers=email", "--name", "order_tag=serial"], 2,
        "cannot be called serial. Its names are serial, email"
      ),
      (["--name", "orders=x"], 2, "no table"),
      (["--key", "orders=number"], 2, "no table"), (["--key", "order=x"], 2, "no column"),
      (["--key", "order=number,number"], 2, "twice"), (["--key", "order="], 2, "no columns"),
      (["--table", "tag", "--name", "order=Order"], 2, "It has tag"),
    ] as [([String], Int32, String)] {
      let command = try imported(arguments)
      #expect(command.status == status, "\(arguments): \(command.error)")
      #expect(command.error.contains(message), "\(arguments): \(command.error)")
    }
    try make(
      """
      CREATE TABLE t (a, b, c);
      INSERT INTO t VALUES (1, 'x', NULL), (1, 'y', 2), ('1', 'y', 3), (1, 'y', 4);
      """)
    for (key, message) in [
      ("b", "several rows have 'y'"), ("b,c", "1 row has no c"), ("a", "of several types"),
    ] {
      let command = try imported("--key", "t=\(key)")
      #expect(command.status == 9, "\(command.error)")
      #expect(command.error.contains(message), "\(command.error)")
    }
    #expect(!exists(store))
    let export = stage.path("records.jsonl")
    try write("{}\n", to: export)
    let wrong = try Command.run("import", store, export, "--name", "t=T")
    #expect(wrong.status == 2 && wrong.error.contains("--name is for SQLite"), "\(wrong.error)")
  }
}

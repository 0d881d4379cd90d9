import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Files in the layout of Core Data that become stores.
@Suite struct CoreDataImportTests {
  private let stage: Stage
  private var database: String { stage.path("file.sqlite") }
  private var store: String { stage.path("copy.cambium") }

  init() throws { stage = try Stage() }

  private func imported(_ statements: String, _ arguments: String...) throws -> Command {
    let script = stage.path("script.sql")
    try write(statements, to: script)
    try #require(unsafe system("sqlite3 -bail '\(database)' < '\(script)'") == 0)
    return try Command.run(["import", store, "--sqlite", database] + arguments)
  }

  /// Everything of a type, with the store checked.
  private func records(_ name: String) throws -> [DynamicRecord] {
    #expect(try PersistentStore.check(at: store, .deep).isWhole)
    let opened = try PersistentStore(untypedAt: store)
    defer { try? opened.close() }
    return try opened.fetch(record: name)
  }

  private func schema() throws -> Schema {
    try #require(try PersistentStore.inspect(at: store).schemas.last)
  }

  /// Persons, of whom some are managers, in departments, with ordered projects and friends.
  private static let company =
    CoreDataFile.described + """
      INSERT INTO Z_PRIMARYKEY VALUES
        (1, 'ABDepartment', 0, 2), (2, 'ABPerson', 0, 4), (3, 'ABManager', 2, 0), (4, 'ABProject', 0, 3);
      CREATE TABLE ZABDEPARTMENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
      CREATE TABLE ZABPERSON (
        Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBUDGET INTEGER, ZHOMEDEPARTMENT INTEGER,
        ZBOSS INTEGER, Z2_BOSS INTEGER, ZLEVEL INTEGER, Z_FOK_HOMEDEPARTMENT INTEGER, ZBORN TIMESTAMP,
        ZID BLOB, ZNAME VARCHAR);
      CREATE TABLE ZABPROJECT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR);
      CREATE TABLE Z_2PROJECTS (
        Z_2MEMBERS INTEGER, Z_4PROJECTS INTEGER, Z_FOK_4PROJECTS INTEGER, PRIMARY KEY (Z_2MEMBERS, Z_4PROJECTS));
      CREATE TABLE Z_2FRIENDS (Z_2FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_2FRIENDS, REFLEXIVE));
      CREATE INDEX ZABPERSON_Z_ENT_INDEX ON ZABPERSON (Z_ENT);
      CREATE INDEX ZABPERSON_ZHOMEDEPARTMENT_INDEX ON ZABPERSON (ZHOMEDEPARTMENT);
      CREATE INDEX ZABPERSON_ZBOSS_INDEX ON ZABPERSON (ZBOSS);
      CREATE INDEX ZABPERSON_ZLEVEL_INDEX ON ZABPERSON (ZLEVEL);
      CREATE INDEX Z_2PROJECTS_Z_4PROJECTS_INDEX ON Z_2PROJECTS (Z_4PROJECTS, Z_2MEMBERS);
      INSERT INTO ZABDEPARTMENT VALUES (1, 1, 1, 'Sales'), (2, 1, 7, 'Care');
      INSERT INTO ZABPERSON VALUES
        (1, 3, 1, 500, 2, NULL, NULL, 1, 1024, 0.5, x'000102030405060708090a0b0c0d0e0f', 'Ada'),
        (2, 2, 1, NULL, 2, 1, 3, 2, 2048, 86400, NULL, 'Ben'),
        (4, 2, 1, NULL, NULL, 2, 2, 1, NULL, NULL, NULL, 'Cyd');
      INSERT INTO ZABPROJECT VALUES (1, 4, 1, 'Roof'), (2, 4, 1, 'Wall'), (3, 4, 1, 'Door');
      INSERT INTO Z_2PROJECTS VALUES (1, 1, 30), (1, 2, 10), (1, 3, 20), (4, 2, 1);
      INSERT INTO Z_2FRIENDS VALUES (1, 2), (2, 1), (4, 1);

      """

  @Test func `a file of Core Data has the names and relations of its entities`() throws {
    let command = try imported(Self.company)
    #expect(command.status == 0, "\(command.error)")
    let schema = try schema()
    #expect(schema.records.map(\.name).sorted() == ["ABDepartment", "ABPerson", "ABProject"])
    let person = try #require(schema.record(named: "ABPerson"))
    #expect(
      person.fields.map(\.name).sorted() == [
        "ABManager", "ABManager.budget", "ABManager.id_2", "born", "boss", "fok_homedepartment",
        "friends", "homedepartment", "id", "level", "name", "projects",
      ])
    for (field, destination) in [
      ("boss", "ABPerson"), ("homedepartment", "ABDepartment"), ("friends", "ABPerson"),
      ("projects", "ABProject"),
    ] {
      #expect(person.field(named: field)?.reference?.destination == destination, "\(field)")
      #expect(person.field(named: field)?.reference?.isChecked == true, "\(field)")
    }
    let persons = try records("ABPerson")
    #expect(persons.map { $0["id"] } == [.integer(1), .integer(2), .integer(4)])
    #expect(persons.map { $0["name"] } == [.string("Ada"), .string("Ben"), .string("Cyd")])
    #expect(
      persons.map { $0["ABManager"] } == [
        .composite(["budget": .integer(500), "id_2": .data(Data(0...15))]), .null, .null,
      ])
    #expect(persons.map { $0["boss"] } == [.null, .integer(1), .integer(2)])
    #expect(persons.map { $0["homedepartment"] } == [.integer(2), .integer(2), .null])
    #expect(persons[0]["born"] == .date(Date(timeIntervalSinceReferenceDate: 0.5)))
    #expect(persons[0]["level"] == .integer(1))
    // In the order of the relation, not of the keys.
    #expect(persons[0]["projects"] == .array([.integer(2), .integer(3), .integer(1)]))
    #expect(persons[2]["projects"] == .array([.integer(2)]))
    #expect(persons[1]["projects"] == .array([]))
    // The column of the other end is the owner, as REFLEXIVE is.
    #expect(persons[0]["friends"] == .array([.integer(2), .integer(4)]))
    #expect(try records("ABDepartment").map { $0["name"] } == [.string("Sales"), .string("Care")])
  }

  @Test func `everything that is not as Core Data has it is said`() throws {
    let notes = try imported(Self.company).error.split(separator: "\n").map(String.init)
    for text in [
      "note: ZABPERSON: it is called ABPerson",
      "note: ZABPERSON: its entities become kinds: ABManager of ABPerson",
      "note: ZABPERSON: ZBUDGET, ZID are of ABManager", "which entities are abstract",
      "note: ZABPERSON.ZHOMEDEPARTMENT: it is taken for a reference to ABDepartment",
      "note: ZABPERSON.ZLEVEL: if it is a relation", "Z_OPT", "delete rules",
      "note: not imported: table Z_PRIMARYKEY",
    ] {
      #expect(notes.contains { $0.contains(text) }, "\(text): \(notes)")
    }
  }

  @Test func `a relation to many without an inverse is a reference from its other end`() throws {
    let command = try imported(
      Self.company + """
        ALTER TABLE ZABPROJECT ADD COLUMN Z1PROJECTS INTEGER; ALTER TABLE ZABPROJECT ADD COLUMN Z3PLANS INTEGER;
        CREATE INDEX ZABPROJECT_Z1PROJECTS_INDEX ON ZABPROJECT (Z1PROJECTS);
        CREATE INDEX ZABPROJECT_Z3PLANS_INDEX ON ZABPROJECT (Z3PLANS);
        UPDATE ZABPROJECT SET Z1PROJECTS = 2, Z3PLANS = 1 WHERE Z_PK = 3;
        """)
    #expect(command.status == 0, "\(command.error)")
    let project = try #require(try schema().record(named: "ABProject"))
    #expect(project.field(named: "z1projects")?.reference?.destination == "ABDepartment")
    #expect(project.field(named: "z3plans")?.reference?.kind == "ABManager")
    #expect(try records("ABProject").map { $0["z1projects"] } == [.null, .null, .integer(2)])
  }

  // MARK: Hierarchies

  /// The value of a field, within the composites of the kinds before it; null in a record that is not of these.
  private static func value(_ path: String, _ record: DynamicRecord) -> FieldValue {
    let names = path.split(separator: ".").map(String.init)
    return names.dropFirst().reduce(record[names[0]]) { value, name in
      if case .composite(let parts) = value { parts[name] ?? .null } else { .null }
    }
  }

  @Test func `entities that inherit become kinds, each with the fields that only its rows have`()
    throws
  {
    let command = try imported(CoreDataFile.fleet)
    #expect(command.status == 0, "\(command.error)")
    let asset = try #require(try schema().record(named: "Asset"))
    #expect(
      asset.fields.map(\.name).sorted() == [
        "House", "House.asset", "House.data", "House.data.is", "House.rooms", "House.rooms_2",
        "House.rooms_2.is", "Vehicle", "Vehicle.Car", "Vehicle.Car.bought", "Vehicle.Car.doors",
        "Vehicle.Car.drivers", "Vehicle.Car.is_2", "Vehicle.Car.keeper", "Vehicle.Car.plate",
        "Vehicle.Truck", "Vehicle.Truck.load", "Vehicle.wheels", "id", "motto", "price",
      ])
    #expect(asset.kinds.count == 6 && !asset.isAbstract)
    #expect(asset.kinds.allSatisfy { !$0.isAbstract })
    let assets = try records("Asset")
    for (path, values) in [
      ("price", [100, 200, 300, nil]), ("Vehicle.wheels", [4, 6, nil, 4]),
      ("Vehicle.Car.doors", [5, nil, nil, 3]), ("House.rooms", [nil, nil, 7, nil]),
      ("House.asset", [nil, nil, 9, nil]), ("Vehicle.Car.keeper", [1, nil, nil, 2]),
    ] as [(String, [Int64?])] {
      let expected = values.map { $0.map { FieldValue.integer($0) } ?? .null }
      #expect(assets.map { Self.value(path, $0) } == expected, "\(path)")
    }
    #expect(
      assets.map { Self.value("Vehicle.Car.is_2", $0) } == [
        .boolean(true), .null, .null, .boolean(false),
      ])
    #expect(
      Self.value("Vehicle.Car.bought", assets[0])
        == .date(Date(timeIntervalSinceReferenceDate: 0.5)))
    #expect(Self.value("House.data", assets[2]) == .null)
    for (name, count) in [("Vehicle", 3), ("Car", 2), ("Truck", 1), ("House", 1), ("data", 0)] {
      let query = try Command.run("query", store, "Asset", "is(\(name))", "--count")
      #expect(query.output.contains("\(count)"), "\(name): \(query.output)\(query.error)")
    }
  }

  @Test func `relations are of the kinds that have them, and lead to the kinds that they reach`()
    throws
  {
    #expect(try imported(CoreDataFile.fleet).status == 0)
    let schema = try schema()
    for (record, field, destination, kind) in [
      ("Driver", "firstasset", "Asset", nil), ("Driver", "vehicle", "Asset", "Vehicle"),
      ("Driver", "car", "Asset", "Vehicle.Car"), ("Driver", "trucks", "Asset", "Vehicle.Truck"),
      ("Asset", "Vehicle.Car.drivers", "Driver", nil),
      ("Asset", "Vehicle.Car.keeper", "Driver", nil),
    ] as [(String, String, String, String?)] {
      let reference = schema.record(named: record)?.field(named: field)?.reference
      #expect(reference?.destination == destination && reference?.kind == kind, "\(field)")
      #expect(reference?.isChecked == true, "\(field)")
    }
    let drivers = try records("Driver")
    #expect(drivers.map { $0["firstasset"] } == [.integer(3), .integer(1)])
    #expect(drivers.map { $0["vehicle"] } == [.integer(2), .null])
    #expect(drivers.map { $0["trucks"] } == [.array([.integer(2)]), .array([])])
    let assets = try records("Asset")
    #expect(
      Self.value("Vehicle.Car.drivers", assets[0]) == .array([.integer(1), .integer(2)]))
    #expect(Self.value("Vehicle.Car.drivers", assets[3]) == .array([.integer(2)]))
    // A reference to a car can lead to no truck.
    let opened = try PersistentStore(untypedAt: store)
    defer { try? opened.close() }
    #expect(throws: StoreError.self) {
      try opened.write { transaction in
        var driver = try #require(try transaction.fetch(record: "Driver", key: 1))
        driver["car"] = .integer(2)
        try transaction.save(driver)
      }
    }
  }

  @Test func `indexes of columns that a kind has are of its records`() throws {
    let command = try imported(CoreDataFile.fleet)
    let asset = try #require(try schema().record(named: "Asset"))
    let names = asset.indexes.map(\.name)
    #expect(names.contains("doors, price"), "\(names)")
    #expect(asset.indexes.contains { $0.isUnique }, "\(names)")
    #expect(command.error.contains("the index Z_mixed is left out"), "\(command.error)")
  }

  @Test func `a constraint of a kind that its rows break by the rules of a store is left out`()
    throws
  {
    let command = try imported(
      CoreDataFile.fleet + "UPDATE ZASSET SET ZPLATE = 'Ä' WHERE Z_PK = 4;")
    #expect(command.status == 0, "\(command.error)")
    #expect(command.error.contains("is left out, and an index kept"), "\(command.error)")
    let plates = try records("Asset").map { Self.value("Vehicle.Car.plate", $0) }
    #expect(plates == [.string("ä"), .null, .null, .string("Ä")])
  }

  @Test func `rows of unknown entities are plain records, which keep the number`() throws {
    let command = try imported(
      CoreDataFile.fleet + """
        UPDATE ZASSET SET Z_ENT = 77 WHERE Z_PK = 3;
        INSERT INTO ZDRIVER (Z_PK, Z_ENT, ZNAME) VALUES (3, NULL, 'Cyd'), (4, 2, 'Dan');
        """)
    #expect(command.status == 0, "\(command.error)")
    #expect(
      command.error.contains("note: ZASSET: 1 row is of no entity of this table"),
      "\(command.error)")
    #expect(
      command.error.contains("note: ZDRIVER: 2 rows are of no entity of this table"),
      "\(command.error)")
    let assets = try records("Asset")
    #expect(assets.map { $0["ent"] } == [3, 4, 77, 3].map { .integer($0) })
    #expect(assets.map { $0["rooms"] } == [.null, .null, .integer(7), .null])
    #expect(assets[2]["House"] == .null && assets[2]["Vehicle"] == .null)
    let drivers = try records("Driver")
    #expect(drivers.map { $0["ent"] } == [.integer(6), .integer(6), .null, .integer(2)])
    #expect(drivers.map { $0["name"] } == ["Ada", "Ben", "Cyd", "Dan"].map { .string($0) })
  }

  @Test func `entities whose names are too long together become no kinds, and no row is lost`()
    throws
  {
    let name = String(repeating: "Long", count: 30)
    let command = try imported(
      CoreDataFile.fleet + """
        UPDATE Z_PRIMARYKEY SET Z_NAME = '\(name)A' WHERE Z_ENT = 2;
        UPDATE Z_PRIMARYKEY SET Z_NAME = '\(name)B' WHERE Z_ENT = 3;
        """)
    #expect(command.status == 0, "\(command.error)")
    #expect(command.error.contains("3 is \(name)B, 4 is Truck"), "\(command.error)")
    let assets = try records("Asset")
    #expect(assets.map { $0["ent"] } == [3, 4, 5, 3].map { .integer($0) })
    #expect(assets.map { $0["doors"] } == [.integer(5), .null, .null, .integer(3)])
    #expect(assets[0]["drivers"] == .array([.integer(1), .integer(2)]))
  }

  // MARK: Doubtful files

  /// The name of the column with the order, the record with the list, and its elements.
  private static let orders: [(column: String, record: String, list: String, elements: [Int64])] = [
    ("Z_FOK_4PROJECTS", "ABPerson", "projects", [2, 3, 1]),
    ("Z_FOK_PROJECTS", "ABPerson", "projects", [2, 3, 1]),
    ("Z_FOK_2MEMBERS", "ABProject", "members", [1]),
  ]

  @Test(arguments: orders.indices)
  func `a list is at the end of a relation that has an order`(number: Int) throws {
    let (column, name, list, elements) = Self.orders[number]
    let command = try imported(Self.company.replacing("Z_FOK_4PROJECTS", with: column))
    #expect(command.status == 0, "\(command.error)")
    #expect(try records(name).first?[list] == .array(elements.map { .integer($0) }), "\(column)")
  }

  @Test func `an order of neither end is kept`() throws {
    let command = try imported(Self.company.replacing("Z_FOK_4PROJECTS", with: "Z_FOK_7OTHERS"))
    #expect(command.status == 0, "\(command.error)")
    #expect(try records("Z_2PROJECTS").first?["Z_FOK_7OTHERS"] == .integer(30))
  }

  private static let doubtful: [(name: String, statements: String, field: String)] = [
    (
      "a row leads nowhere",
      "UPDATE ZABPERSON SET ZHOMEDEPARTMENT = 99 WHERE Z_PK = 1;", "homedepartment"
    ),
    (
      "the column has no index",
      "DROP INDEX ZABPERSON_ZHOMEDEPARTMENT_INDEX;", "homedepartment"
    ),
    (
      "two entities are called like it",
      "INSERT INTO Z_PRIMARYKEY VALUES (5, 'XYDepartment', 0, 0);", "homedepartment"
    ),
    (
      "the destinations are of two tables",
      "UPDATE ZABPERSON SET Z2_BOSS = 1 WHERE Z_PK = 2;", "boss"
    ),
  ]

  @Test(arguments: doubtful.indices)
  func `a number that may lead elsewhere stays a number`(number: Int) throws {
    let (name, statements, field) = Self.doubtful[number]
    let command = try imported(Self.company + statements)
    #expect(command.status == 0, "\(name): \(command.error)")
    let person = try #require(try schema().record(named: "ABPerson"))
    #expect(person.field(named: field)?.type == .scalar(.int64), "\(name)")
    #expect(person.field(named: field)?.reference == nil, "\(name)")
  }

  @Test func `what the destinations do not know of their entities is kept`() throws {
    let command = try imported(
      Self.company + "UPDATE ZABPERSON SET Z2_BOSS = 2 WHERE Z_PK = 2;")  // Ada is a manager
    #expect(command.status == 0, "\(command.error)")
    let persons = try records("ABPerson")
    #expect(persons.map { $0["z2_boss"] } == [.null, .integer(2), .integer(2)])
    #expect(persons.map { $0["boss"] } == [.null, .integer(1), .integer(2)])
  }

  @Test func `a list that would be too long stays a record, with its order`() throws {
    let command = try imported(
      Self.company + """
        WITH RECURSIVE c(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM c WHERE n < 1100)
        INSERT INTO ZABPROJECT SELECT n, 4, 1, 'Part' FROM c;
        INSERT INTO Z_2PROJECTS SELECT 2, Z_PK, -Z_PK FROM ZABPROJECT WHERE Z_PK > 9;
        """)
    #expect(command.status == 0, "\(command.error)")
    let links = try records("Z_2PROJECTS")
    #expect(links.count == 1_095)
    #expect(links.first?["Z_FOK_4PROJECTS"] == .integer(30))
    let link = try #require(try schema().record(named: "Z_2PROJECTS"))
    #expect(link.field(named: "Z_4PROJECTS")?.reference?.destination == "ABProject")
  }

  private static let hostile: [(name: String, statements: String)] = [
    (
      "entities inherit in a ring",
      "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Trip', 2, 0), (2, 'Other', 1, 0), (3, 'Third', 3, 0);"
    ),
    (
      "the list of entities has no names",
      "DROP TABLE Z_PRIMARYKEY; CREATE TABLE Z_PRIMARYKEY (a, b);"
    ),
    ("there is no list of entities", "DROP TABLE Z_PRIMARYKEY;"),
    (
      "names of entities are not text, empty or quoted",
      """
      INSERT INTO Z_PRIMARYKEY VALUES (1, NULL, 0, 0), (2, '', 0, 0), (3, 7, 0, 0), (4, 'o''"x', 0, 0);
      CREATE TABLE "ZO'""X" (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER); INSERT INTO "ZO'""X" VALUES (1, 4);
      """
    ),
    (
      "an entity is called as another table",
      """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Trip', 0, 0);
      CREATE TABLE trip (a TEXT); INSERT INTO trip VALUES ('x');
      """
    ),
    (
      "an entity's name is SQLite's own",
      """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'sqlite_x', 0, 0);
      CREATE TABLE ZSQLITE_X (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER); INSERT INTO ZSQLITE_X VALUES (1, 1);
      """
    ),
    (
      "two columns have one name in lowercase without Z",
      """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Trip', 0, 0);
      ALTER TABLE ZTRIP ADD COLUMN NAME TEXT; ALTER TABLE ZTRIP ADD COLUMN ZNAME TEXT; UPDATE ZTRIP SET NAME = 'x';
      """
    ),
    (
      "columns of the link lead to no entity",
      """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Trip', 0, 0);
      CREATE TABLE Z_1STOPS (Z_1TRIPS INTEGER, Z_8STOPS INTEGER, PRIMARY KEY (Z_1TRIPS, Z_8STOPS));
      INSERT INTO Z_1STOPS VALUES (1, 1);
      """
    ),
    (
      "the key is no key",
      """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Stop', 0, 0);
      CREATE TABLE ZSTOP (Z_PK TEXT, Z_ENT TEXT); INSERT INTO ZSTOP VALUES (NULL, 'x');
      """
    ),
  ]

  @Test(arguments: hostile.indices)
  func `a file that is only similar to one of Core Data loses no rows`(number: Int) throws {
    let (name, statements) = Self.hostile[number]
    let command = try imported(
      CoreDataFile.described + """
        CREATE TABLE ZTRIP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSTART TIMESTAMP);
        INSERT INTO ZTRIP VALUES (1, 1, 1, 0.5), (2, 1, 1, 86400);

        """ + statements)
    #expect(command.status == 0, "\(name): \(command.error)")
    let names = try schema().records.map(\.name)
    var count = 0
    for record in names { count += try records(record).count }
    // Most have one more table, with one row.
    let more = statements.ranges(of: "INSERT INTO").count
    let ofEntities = statements.ranges(of: "INSERT INTO Z_PRIMARYKEY").count
    #expect(count == 2 + more - ofEntities, "\(name): \(names)")
    let trips = try records(names.contains("Trip") ? "Trip" : "ZTRIP")
    let starts = trips.map { $0["start"] == .null ? $0["ZSTART"] : $0["start"] }
    #expect(starts.contains(.date(Date(timeIntervalSinceReferenceDate: 0.5))), "\(name)")
  }
}

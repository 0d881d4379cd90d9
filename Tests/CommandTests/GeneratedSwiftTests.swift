import Glibc
import TestSupport
import Testing

/// The Swift that describes an imported database is compiled by a program that opens the store with it.
@Suite struct GeneratedSwiftTests {
  private let stage: Stage

  init() throws { stage = try Stage() }

  /// As many databases as an optimized test has time for; all of them in a soak.
  private static var count: Int {
    if unsafe getenv("CAMBIUM_SOAK") != nil { return 200 }
    #if DEBUG
      return 15
    #else
      return 60
    #endif
  }

  @Test func `the Swift of random databases with odd names compiles and opens their stores`()
    throws
  {
    // One has kinds.
    let databases =
      [CoreDataFile.fleet] + (1..<Self.count).map { OddDatabase(seed: UInt64($0)).statements }
    let script = databases.enumerated().map { number, statements in
      ".open '\(stage.path("\(number).db"))'\n" + statements
    }
    try write(script.joined(separator: "\n"), to: stage.path("all.sql"))
    try #require(unsafe system("sqlite3 -bail < '\(stage.path("all.sql"))'") == 0)
    var code = ["import Cambium", "import FoundationEssentials"]
    var calls = ["import Cambium"]
    for number in databases.indices {
      let store = stage.path("\(number).cambium")
      let command = try Command.run(
        "import", store, "--sqlite", stage.path("\(number).db"))
      #expect(command.status == 0, "\(number): \(command.error)")
      code.append(Self.namespace("S\(number)", command.output))
      calls.append("open(\(number), S\(number).model, S\(number).count)")
    }
    calls.append(
      """
      func open(
        _ number: Int, _ model: StoreModel, _ count: (PersistentStore) throws -> Int
      ) {
        do {
          let store = try PersistentStore(at: "\\(CommandLine.arguments[1])/\\(number).cambium", model: model)
          _ = try count(store)
          try store.close()
        } catch {
          print("\\(number): \\(error)")
        }
      }
      """)
    try write(calls.joined(separator: "\n"), to: stage.path("main.swift"))
    try write(code.joined(separator: "\n"), to: stage.path("Descriptions.swift"))
    let errors = try Self.compile(in: stage.directory.path)
    #expect(errors.isEmpty, "\(errors)")
    let faults = stage.path("faults")
    let status = unsafe system(
      "'\(stage.path("program"))' '\(stage.directory.path)' > '\(faults)' 2>&1")
    let text = try contents(of: faults)
    #expect(status == 0 && text.isEmpty, "\(text.prefix(2000))")
  }

  /// The text as a namespace, with a function that reads all records.
  private static func namespace(_ name: String, _ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("import ") }
      .map { $0.hasPrefix("let model") ? "static \($0)" : String($0) }
    let list = text.split(separator: "records: [").last?.prefix { $0 != "]" } ?? ""
    let counts = list.split(separator: ",").map { type in
      "try store.fetch(\(type.drop { $0 == " " })).count"
    }
    return """
      enum \(name) {
      \(lines.joined(separator: "\n"))
      static func count(_ store: PersistentStore) throws -> Int {
        var count = 0
        \(counts.map { "count += \($0)" }.joined(separator: "\n  "))
        return count
      }
      }
      """
  }

  /// Compiles the program against the library as the tests were, and returns the errors.
  private static func compile(in directory: String) throws -> String {
    let build = String(Command.path.prefix(upTo: try #require(Command.path.lastIndex(of: "/"))))
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    // The objects that the command was linked from, without itself: in a build's directory there may be objects that
    // are out of date.
    let linked = try contents(of: "\(build)/cambium.product/Objects.LinkFileList")
    let objects = linked.split(separator: "\n").filter { path in
      ["Cambium", "CCambium", "Logging"].contains { path.contains("/\($0).build/") }
    }
    try write(objects.joined(separator: "\n"), to: "\(directory)/objects")
    let log = "\(directory)/log"
    let status = unsafe system(
      """
      swiftc -swift-version 6 -suppress-warnings -Onone -wmo -I '\(build)/Modules' \
      -I '\(root)/Sources/CZstd' -Xcc '-fmodule-map-file=\(build)/CCambium.build/module.modulemap' \
      '\(directory)/main.swift' '\(directory)/Descriptions.swift' \
      '@\(directory)/objects' -lzstd -o '\(directory)/program' > '\(log)' 2>&1
      """)
    if status == 0 { return "" }
    let lines = try contents(of: log).split(separator: "\n")
    let errors = lines.filter { $0.contains("error:") }
    return (errors.isEmpty ? lines : errors).prefix(40).joined(separator: "\n")
  }
}

/// Tables that lead to each other, called as anything that SQLite takes.
private struct OddDatabase {
  private(set) var statements = ""
  private var random: SplitMix64
  private var tables: [Table] = []
  /// In lowercase, since SQLite's names have no case.
  private var taken: Set<String> = []

  private struct Table {
    let name: String
    /// Of one column that others can lead to; nil if there is none.
    let key: (name: String, type: String)?
  }

  /// Names of types, keywords and properties in the code, and names that are no identifiers.
  private static let names = [
    "Abstract", "Any", "Array", "Blob", "Bool", "class", "Codable", "CodingKeys", "coding",
    "Computed", "count", "data", "Date", "default", "Decimal", "deinit", "Encodable", "Error",
    "Field", "first name", "Foundation", "hooks", "id", "ID", "Identifiable", "import", "Index",
    "init", "Int", "Inverse", "Key", "model", "name:de", "Never", "Note", "Optional", "Order",
    "Parent", "PrimaryKey", "Protocol", "Query", "Record", "record", "recordDescription",
    "RecordName", "Reference", "Schema", "self", "Self", "Sendable", "some", "StoreModel", "String",
    "Swift", "Tag", "Transient", "Type", "Unique", "UserInfo", "UUID", "Validation", "version",
    "where", "_", "$0", "1a", "a-b", "a.b", "größe", "名前", "x y z", "+", "a`b", "a\\b", "👩‍👧",
    "e\u{301}", "rethrows", "inout", "fileprivate", "await", "macro", "URL", "Cambium", "Target",
    "get", "any",
  ]
  private static let types = [
    "INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC", "DATE", "BOOLEAN", "UUID", "",
  ]

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    for _ in 0..<Int.random(in: 1...3, using: &random) { addTable() }
    if tables.count > 1, Bool.random(using: &random) { addLink() }
  }

  /// A name that is not among others, which it joins.
  private static func name(
    besides others: inout Set<String>, _ random: inout SplitMix64
  ) -> String {
    while true {
      var name = names.randomElement(using: &random) ?? "a"
      if Int.random(in: 0..<8, using: &random) == 0 { name += "_2" }
      if Int.random(in: 0..<8, using: &random) == 0 { name = name.lowercased() }
      if others.insert(name.lowercased()).inserted { return name }
    }
  }

  /// A value of a type: the same everywhere, so that all keys of a type lead to each other.
  private static func value(_ type: String) -> String {
    switch type {
    case "TEXT": "'word'"
    case "REAL": "1.5"
    case "DATE": "'2026-01-02'"
    case "UUID": "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'"
    case "BLOB", "": "x'0102'"
    default: "1"
    }
  }

  /// A default that is a constant, or none.
  private mutating func defaultClause(_ type: String) -> String {
    Int.random(in: 0..<3, using: &random) == 0 ? " DEFAULT \(Self.value(type))" : ""
  }

  private static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }

  private mutating func addTable() {
    let name = Self.name(besides: &taken, &random)
    var columns: Set<String> = []
    var (parts, values) = ([String](), [String]())
    func add(_ column: String, _ type: String, _ rest: String) {
      parts.append("\(Self.quoted(column)) \(type)\(rest)")
      values.append(Self.value(type))
    }
    var key: (name: String, type: String)?
    let keyColumn = Self.name(besides: &columns, &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: break
    case 1:
      let type = ["TEXT", "DATE", "UUID", "REAL"].randomElement(using: &random) ?? ""
      add(keyColumn, type, " NOT NULL PRIMARY KEY")
      key = (keyColumn, type)
    case 2 where !tables.isEmpty && tables[0].key != nil:
      let type = tables[0].key?.type ?? ""
      add(keyColumn, type, " NOT NULL PRIMARY KEY" + Self.leading(to: tables[0]))
      key = (keyColumn, type)
    default:
      add(keyColumn, "INTEGER", " PRIMARY KEY")
      key = (keyColumn, "INTEGER")
    }
    let table = Table(name: name, key: key)
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let column = Self.name(besides: &columns, &random)
      let type = Self.types.randomElement(using: &random) ?? ""
      let target = (tables + [table]).filter { $0.key != nil }.randomElement(using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: add(column, "TEXT", " COLLATE NOCASE UNIQUE")
      case 1: add(column, type, " NOT NULL" + defaultClause(type))
      case 2, 3: add(column, target?.key?.type ?? type, target.map { Self.leading(to: $0) } ?? "")
      default: add(column, type, defaultClause(type))
      }
    }
    statements += Self.table(name, parts, values)
    tables.append(table)
  }

  private static func leading(to table: Table) -> String {
    " REFERENCES \(quoted(table.name))" + (table.key.map { " (\(quoted($0.name)))" } ?? "")
  }

  /// A table of one row.
  private static func table(_ name: String, _ parts: [String], _ values: [String]) -> String {
    "CREATE TABLE \(quoted(name)) (\(parts.joined(separator: ", ")));\n"
      + "INSERT INTO \(quoted(name)) VALUES (\(values.joined(separator: ", ")));\n"
  }

  /// A table that is a list in one of the two that it leads to.
  private mutating func addLink() {
    let ends = tables.filter { ["INTEGER", "TEXT"].contains($0.key?.type) }.prefix(2)
    guard ends.count == 2 else { return }
    var columns: Set<String> = []
    var (parts, names, values) = ([String](), [String](), [String]())
    for end in ends {
      let type = end.key?.type ?? ""
      names.append(Self.quoted(Self.name(besides: &columns, &random)))
      parts.append("\(names[names.count - 1]) \(type) NOT NULL" + Self.leading(to: end))
      values.append(Self.value(type))
    }
    parts.append("PRIMARY KEY (\(names.joined(separator: ", ")))")
    statements += Self.table(Self.name(besides: &taken, &random), parts, values)
  }
}

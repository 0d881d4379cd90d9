import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Names come from stores and databases that others made: no terminal and no compiler takes them for something else.
@Suite struct NameTests {
  private static let hostile = [
    "a\u{600}`: String? = { print(1); return nil }() //", "a`b", "a\nlet x = 1", "a\r\nlet x = 1",
    "a\u{2028}let x = 1", "a\u{85}b", "\u{202e}txt", "a\u{2066}b\u{2069}", "a\u{1b}[31mb",
    "a\u{0}b",
    "a*/b", "a/*b", "a#>b", "a\\(b)", "a\"b", "a\u{200b}b", "e\u{301}\u{600}`", "a\u{fe0f}`b", "`",
    "//", "+", " ", "$0", "a\u{feff}", "\u{301}`a", "a\u{e000}b", "class", "a\u{1f1e6}`\u{1f1e7}",
  ]

  /// Characters that the compiler or an editor would act on within the text of an identifier.
  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: false
    }
  }

  @Test(arguments: hostile)
  func `a name is an identifier of Swift and nothing else`(name: String) {
    for text in [name.swiftName, name.swiftTypeName] {
      let scalars = Array(text.unicodeScalars)
      #expect(!scalars.contains(where: Self.isUnsafe) && !scalars.contains("\\"), "\(text)")
      let ticks = scalars.indices.filter { scalars[$0] == "`" }
      #expect(ticks.isEmpty || ticks == [0, scalars.count - 1], "\(text)")
      if ticks.isEmpty {
        #expect(scalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }, "\(text)")
        #expect(scalars.first.map { !("0"..."9").contains($0) } ?? false)
      } else {
        #expect(scalars.dropFirst().dropLast().contains { $0.properties.isAlphabetic || $0 == "_" })
      }
    }
  }

  @Test func `names that are identifiers stay as they are`() {
    for name in ["a", "_a", "größe", "名前", "a1", "Ⅷ", "naïve", "e\u{301}a"] {
      #expect(name.swiftName == name && name.swiftIdentifier == name)
    }
    #expect("first name".swiftName == "`first name`" && "1a".swiftName == "`1a`")
    #expect("class".swiftName == "`class`" && "class".swiftIdentifier == "class")
  }

  /// Everything is called by the name.
  private func makeStore(_ name: String, at path: String) throws {
    let database = path + ".db"
    let column = name.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"")
    try write(
      "create table \"\(column)\" (id integer primary key, \"\(column)\" text);"
        + "insert into \"\(column)\" values (1, 'x');", to: path + ".sql")
    try #require(unsafe system("sqlite3 -bail '\(database)' < '\(path).sql'") == 0)
  }

  @Test(arguments: hostile.filter { !$0.contains("\0") && !$0.contains("\u{feff}") })
  func `a database's names are shown without effect, and written as Swift of the same shape`(
    name: String
  ) throws {
    let stage = try Stage()
    let path = stage.path("store")
    try makeStore(name, at: path)
    let command = try Command.run("import", path, "--sqlite", path + ".db")
    guard command.status == 0 else {
      // Some names are none of a record.
      #expect(!command.error.dropLast().unicodeScalars.contains(where: Self.isUnsafe))
      return
    }
    let plain = stage.path("plain")
    try makeStore("plain", at: plain)
    let expected = try Command.run("import", plain, "--sqlite", plain + ".db").output
    func lines(_ text: String) -> Int { text.unicodeScalars.count { $0 == "\n" } }
    #expect(abs(lines(command.output) - lines(expected)) <= 1, "\(command.output)")
    let table = try #require(
      try PersistentStore.inspect(at: path).schemas.last?.records.first?.name)
    for arguments in [
      ["schema", path], ["info", path], ["query", path, table], ["get", path, table, "1"],
      ["query", path, table, "--explain"], ["query", path, "no"], ["schema", path, "--step"],
      ["query", path, table, "--fields", "no"], ["check", path], ["query", path, table, "no == 1"],
    ] {
      let command = try Command.run(arguments)
      for text in [command.output, command.error] {
        let rest = text.unicodeScalars.filter { $0 != "\n" }
        #expect(!rest.contains(where: Self.isUnsafe), "\(arguments): \(text)")
      }
    }
  }

  @Test func `a value in JSON has escapes for everything that a terminal acts on`() throws {
    let stage = try Stage()
    let path = try stage.store(.good).path
    let name = "\u{202e}txt.\u{2066}é\u{2069}\u{feff}\u{e0001}\u{f0000}\u{9b}31m 👩‍👧"
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    try store.save(Shop.item(90, name: name))
    try store.close()
    let escaped =
      #"\u202etxt.\u2066é\u2069\ufeff\udb40\udc01\udb80\udc00\u009b31m 👩‍👧"#
    let file = stage.path("items.json")
    try #require(try Command.run("export", path, "--output", file).status == 0)
    for text in [
      try Command.run("query", path, "Item", "id == 90", "--json").output,
      try Command.run("get", path, "Item", "90", "--json").output,
      try Command.run("export", path).output, try contents(of: file),
    ] {
      #expect(text.contains(escaped), "\(text)")
      #expect(!text.unicodeScalars.contains { $0 != "\n" && $0 != "\u{200d}" && Self.isUnsafe($0) })
    }
    // It is read as it was written.
    let copy = stage.path("copy")
    try #require(try Command.run("import", copy, file).status == 0)
    #expect(try Command.run("get", copy, "Item", "90", "--json").output.contains(escaped))
  }

  @Test func `no type is called as one that the code uses`() throws {
    let stage = try Stage()
    let path = stage.path("store")
    for name in ["data", "Record", "Type", "protocol", "uuid"] {
      try makeStore(name, at: path)
      let swift = try Command.run("import", path, "--sqlite", path + ".db").output
      let record = try #require(
        try PersistentStore.inspect(at: path).schemas.last?.records.first?.name)
      let type = record.prefix(1).uppercased() + record.dropFirst()
      // Only the very names are taken.
      let isTaken = ["Data", "Record", "Type", "Protocol"].contains(type)
      #expect(swift.contains("struct \(type)\(isTaken ? "_2" : ""): Record"), "\(swift)")
      #expect(swift.contains("records: [\(type)\(isTaken ? "_2" : "").self]"), "\(swift)")
      #expect(!isTaken || swift.contains("RecordName(\"\(record)\")"), "\(swift)")
      for file in ["", ".db", ".sql"] { try FileManager.default.removeItem(atPath: path + file) }
    }
  }

  @Test func `no property is called as a type that the code uses, and id means the key`() throws {
    let stage = try Stage()
    try write(
      """
      create table Note (ID integer primary key, "Date" text, Type text);
      create table Tag (pk integer primary key, id text);
      create table NoteTag (
        Note integer references Note (ID), Tag integer references Tag (pk), primary key (Note, Tag));
      create table x (n integer references Note (ID));
      create table Await (await integer primary key, next integer references Await (await));
      """, to: stage.path("sql"))
    try #require(unsafe system("sqlite3 -bail '\(stage.path("db"))' < '\(stage.path("sql"))'") == 0)
    let command = try Command.run("import", stage.path("store"), stage.path("db"))
    #expect(command.status == 0, "\(command.error)")
    for text in [
      "var Tag_2: [Reference<Tag>]",
      #"Field(name: "Tag", type: .references(to: Tag.self, deleteRule: .deny), property: "Tag_2")"#,
      "var Date_2: String?", "var Type_2: String?", "var ID: Int\n", "var id: Int { self.ID }",
      "var id_2: String?", "var id: Int { pk }", "var id: Int { self.await }",
    ] {
      #expect(command.output.contains(text), "\(text)\n\(command.output)")
    }
  }

  @Test func `names that would be the same in Swift get different ones`() throws {
    let stage = try Stage()
    let path = stage.path("store")
    let model = StoreModel(records: [PlainName.self, TickedName.self, SmallName.self])
    try PersistentStore(at: path, model: model).close()
    let command = try Command.run("schema", path)
    #expect(command.status == 0, "\(command.error)")
    let lines = command.output.split(separator: "\n").map { $0.drop { $0 == " " } }
    func count(_ start: String) -> Int { lines.count { $0.hasPrefix(start) } }
    for name in ["T_x", "T_x_2", "T_x_3"] {
      #expect(count("struct \(name): Record") == 1, "\(command.output)")
    }
    for name in ["T_x.self", "T_x_2.self", "T_x_3.self"] {
      #expect(command.output.contains(name), "\(command.output)")
    }
    for name in ["a_b", "a_b_2", "a_b_3"] {
      #expect(count("var \(name): ") == 1, "\(command.output)")
    }
    #expect(count(#"Field(name: "a_b", type: .integer)"#) == 1)
    #expect(count(#"Field(name: "a`b", type: .integer, property: "a_b_"#) == 1)
    // The one that is called so keeps its name, and references lead to the right type.
    #expect(count("var other: Reference<T_x>") == 1, "\(command.output)")
    #expect(count(#"RecordName("t_x")"#) == 1 && count(#"RecordName("T`x")"#) == 1)
    #expect(count(#"RecordName("T_x")"#) == 0)
  }
}

private struct PlainName: Record, Identifiable {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("T_x")
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

private struct TickedName: Record {
  var id: Int
  var plain: Int
  var ticked: Int
  var slashed: Int
  var other: Reference<PlainName>

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("T`x")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "a`b", type: .integer, property: "ticked")
    Field(name: "a_b", type: .integer, property: "plain")
    Field(name: "a\\b", type: .integer, property: "slashed")
    Field(name: "other", type: .reference(to: PlainName.self))
  }
}

private struct SmallName: Record {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("t_x")
    Field(primaryKey: true, name: "id", type: .integer)
  }
}

import Cambium
import Glibc
import Testing

/// Each command on stores in each condition: its exit status.
@Suite struct ConditionTests {
  /// In the order of `Stage.Condition`: good, damaged, locked, newer, empty, missing, file.
  private static let table: [(arguments: [String], statuses: [Int32])] = [
    (["info", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["info", "STORE", "--json"], [0, 1, 0, 4, 5, 5, 5]),
    (["check", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["check", "--deep", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["map", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["schema", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["query", "STORE", "Item"], [0, 1, 0, 4, 5, 5, 5]),
    (["get", "STORE", "Item", "1"], [0, 1, 0, 4, 5, 5, 5]),
    (["put", "STORE", "Visit", visit], [0, 1, 3, 4, 5, 5, 5]),
    (["set", "STORE", "Item", "1", "count=2"], [0, 1, 3, 4, 5, 5, 5]),
    (["delete", "STORE", "Item", "1"], [0, 1, 3, 4, 5, 5, 5]),
    (["history", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["blob", "cat", "STORE", "Item", "name", "1"], [0, 1, 0, 4, 5, 5, 5]),
    (["diff", "STORE", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["export", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["plan", "STORE", "--schema", "LOCK"], [0, 1, 0, 4, 5, 5, 5]),
    (["migrate", "STORE", "--schema", "LOCK"], [0, 1, 3, 4, 5, 5, 5]),
    (["rollback", "STORE", "--discard"], [0, 1, 3, 4, 5, 5, 5]),
    (["import", "STORE", "EXPORT", "--into"], [0, 1, 3, 4, 5, 5, 5]),
    (["compact", "STORE"], [0, 1, 3, 4, 5, 5, 5]),
    (["collect", "STORE"], [0, 1, 3, 4, 5, 5, 5]),
    (["expire", "STORE"], [0, 1, 3, 4, 5, 5, 5]),
    (["compact", "--dry-run", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["backup", "STORE", "COPY"], [0, 1, 0, 4, 5, 5, 5]),
    (["salvage", "STORE", "COPY"], [0, 1, 3, 4, 5, 5, 5]),
    (["import", "STORE", "EXPORT"], [7, 7, 7, 7, 7, 0, 7]),
    (["torture", "STORE", "--seconds", "1"], [7, 7, 7, 7, 7, 0, 7]),
  ]

  private static let visit = #"{"person":"Ada","day":"2001-01-01T00:00:01Z","seen":false}"#

  @Test(arguments: Stage.Condition.allCases)
  func `each command ends with the status that the manual names`(
    _ condition: Stage.Condition
  ) throws {
    let column = Stage.Condition.allCases.firstIndex(of: condition) ?? 0
    let shared = try Stage()
    try Shop.make(at: shared.path("other"))
    let export = shared.path("export")
    #expect(try Command.run("export", shared.path("other"), "--output", export).status == 0)
    for (arguments, statuses) in Self.table {
      let stage = try Stage()
      let (path, holder) = try stage.store(condition)
      let lock = try Recorded.newerLock(in: stage)
      let command = try Command.run(
        arguments.map {
          ["STORE": path, "LOCK": lock, "EXPORT": export, "COPY": stage.path("copy")][$0] ?? $0
        })
      #expect(
        command.status == statuses[column], "\(arguments) \(condition): \(command.error)")
      if command.status != 0 { #expect(!command.error.isEmpty, "\(arguments) \(condition)") }
      try holder?.close()
    }
  }

  /// The error that a command with --json has written: its name, and its values.
  private static func error(
    of arguments: [String], status: Int32
  ) throws -> (name: String, text: String, parts: JSONValue) {
    let command = try Command.run(arguments + ["--json"])
    #expect(command.status == status, "\(arguments): \(command.error)")
    let json = try JSONParser.parse(Array(command.error.utf8))
    let error = try #require(json["error"])
    #expect(error["status"]?.integer == Int(status), "\(command.error)")
    return (
      try #require(error["case"]?.text), try #require(error["text"]?.text),
      try #require(error["parts"])
    )
  }

  @Test(arguments: Stage.Condition.allCases)
  func `with --json an error is JSON, with the name of its case and its values`(
    _ condition: Stage.Condition
  ) throws {
    let column = Stage.Condition.allCases.firstIndex(of: condition) ?? 0
    let names: [Stage.Condition: (name: String, part: String)] = [
      .damaged: ("corrupt", "place"), .locked: ("locked", "holder"),
      .newer: ("newerFormat", "path"), .empty: ("missing", "path"), .missing: ("missing", "path"),
    ]
    for verb in ["info", "query", "compact", "rollback"] {
      guard let row = Self.table.first(where: { $0.arguments[0] == verb }) else { continue }
      let (status, stage) = (row.statuses[column], try Stage())
      let (path, holder) = try stage.store(condition)
      defer { try? holder?.close() }
      if status == 0 { continue }
      let error = try Self.error(
        of: row.arguments.map { $0 == "STORE" ? path : $0 }, status: status)
      #expect(!error.text.isEmpty)
      if let expected = names[condition] {
        #expect(error.name == expected.name, "\(verb)")
        #expect(error.parts[expected.part] != nil, "\(verb): \(error.parts)")
      }
      if condition == .locked { #expect(error.parts["holder"]?.integer == Int(getpid())) }
    }
  }

  @Test func `what does not fit the store is a usage error that says what exists`() throws {
    let stage = try Stage()
    let (path, _) = try stage.store(.good)
    let types = "It has Item, Visit."
    for (arguments, name, text) in [
      (["query", path, "Item", "id ==="], "conditionSyntaxError", "was expected"),
      (["query", path, "Item", "id == \"x\""], "invalidQuery", "Item.id cannot be queried"),
      (
        ["query", path, "Item", "nme == 1"], "invalidQuery",
        "no such field; it has added, extra, id, "
      ),
      (
        ["query", path, "Item", "--sort", "nme"], "invalidQuery",
        "no such field; it has added, extra, id, "
      ),
      (["query", path, "Item", "name == paid"], "invalidQuery", "write it in quotes"),
      (["query", path, "Item", "--fields", "id,nme"], "unknownField", "It has id, name, "),
      (["query", path, "Item", "--including", "x"], "unknownRelation", "It has none."),
      (["query", path, "Nothing"], "unknownType", types),
      (["get", path, "Nothing", "1"], "unknownType", types),
      (["export", path, "--record", "Nothing"], "unknownType", types),
    ] as [([String], String, String)] {
      let error = try Self.error(of: arguments, status: 2)
      #expect(error.name == name && error.text.contains(text), "\(arguments): \(error)")
    }
    let error = try Self.error(of: ["query", path, "Nothing"], status: 2)
    #expect(error.parts == ["name": "Nothing", "known": ["Item", "Visit"]])
    // Errors of the parser come without the lines on how to use the command.
    let unparsed = try Self.error(of: ["query", path], status: 2)
    #expect(unparsed.name == "usage" && !unparsed.text.contains("Usage:"), "\(unparsed)")
    // After two hyphens it is a value.
    #expect(try !Command.run("get", path, "Item", "--", "--json").error.hasPrefix("{"))
  }

  @Test func `a file that does not exist has the status of what does not exist`() throws {
    let stage = try Stage()
    let (path, _) = try stage.store(.good)
    let none = stage.path("none")
    for arguments in [
      ["plan", path, "--schema", none], ["schema", path, "--lock", none],
      ["import", path, "Item", none], ["import", stage.path("new"), none],
    ] {
      let error = try Self.error(of: arguments, status: 8)
      #expect(error.text.contains("There is no"), "\(error)")
    }
  }

  @Test func `what is missing or too much is a usage error`() throws {
    for arguments in [
      ["nonsense"], ["info"], ["query", "a"], ["info", "a", "b"], ["get", "a", "b"],
      ["info", "a", "--commits", "-1"], ["torture", "a", "--seconds", "0"],
      ["query", "a", "b", "--csv", "--json"], ["import", "a", "b", "--into", "--force"],
      ["schema", "a", "--step", "--diff", "1"], ["compact", "a", "--rate", "0"], ["backup", "a"],
      ["query", "a", "b", "--csv", "--including", "c"], ["query", "a", "b", "--after"],
      ["query", "a", "b", "--count", "--after", "1"],
    ] {
      #expect(try Command.run(arguments).status == 2, "\(arguments)")
    }
    let stage = try Stage()
    let (path, _) = try stage.store(.good)
    let query = try Command.run("query", path, "Item", "id ===")
    #expect(query.status == 2)
    #expect(query.error.contains("line 1, column"))
    #expect(try Command.run("get", path, "Item", "x").status == 2)
    for (key, status) in [(["x"], 2), (["1", "2"], 2), (["77"], 8)] as [([String], Int32)] {
      let after = key.flatMap { ["--after", $0] }
      let command = try Command.run(["query", path, "Item", "--sort", "name"] + after)
      #expect(command.status == status, "\(key): \(command.error)")
    }
    #expect(try Command.run("get", path, "Item", "77").status == 8)
    #expect(try Command.run("schema", path, "--version", "9").status == 8)
  }

  @Test func `a store without a model has no records`() throws {
    let stage = try Stage()
    let path = stage.path("bare")
    try Recorded.makeBare(at: path)
    let info = try Command.run("info", path)
    #expect(info.status == 0)
    #expect(info.output.contains("no program has put a model into it yet"))
    #expect(try Command.run("check", "--deep", path).status == 0)
    #expect(try Command.run("query", path, "Item").status == 8)
    #expect(try Command.run("schema", path).status == 8)
    #expect(try Command.run("rollback", path).status == 8)
  }
}

import Cambium
import Testing

/// Each command on stores in each condition: what it ends with.
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
    (["export", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["plan", "STORE", "--schema", "LOCK"], [0, 1, 0, 4, 5, 5, 5]),
    (["migrate", "STORE", "--schema", "LOCK"], [0, 1, 3, 4, 5, 5, 5]),
    (["rollback", "STORE", "--discard"], [0, 1, 3, 4, 5, 5, 5]),
    (["import", "STORE", "EXPORT", "--into"], [0, 1, 3, 4, 5, 5, 5]),
    (["compact", "STORE"], [0, 1, 3, 4, 5, 5, 5]),
    (["compact", "--dry-run", "STORE"], [0, 1, 0, 4, 5, 5, 5]),
    (["backup", "STORE", "COPY"], [0, 1, 0, 4, 5, 5, 5]),
    (["salvage", "STORE", "COPY"], [0, 1, 3, 4, 5, 5, 5]),
    (["import", "STORE", "EXPORT"], [7, 7, 7, 7, 7, 0, 7]),
    (["torture", "STORE", "--seconds", "1"], [7, 7, 7, 7, 7, 0, 7]),
  ]

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
    #expect(try Command.run("query", path, "Item", "id == \"x\"").status == 9)
    #expect(try Command.run("get", path, "Item", "x").status == 2)
    #expect(try Command.run("query", path, "Nothing").status == 8)
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

import Cambium
import Glibc
import Testing

/// The history as the command shows it.
@Suite struct HistoryCommandTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  private func lines(_ arguments: String...) throws -> [JSONValue] {
    let command = try Command.run(["history", path, "--json"] + arguments)
    #expect(command.status == 0, "\(arguments): \(command.error)")
    return try command.output.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
  }

  @Test func `a history is shown of the store, of a type and of a record`() throws {
    var options = Shop.options
    options.history?.keepsOldValues = true
    let store = try PersistentStore(at: path, model: Shop.model, options: options)
    try store.write(author: "Ada") { transaction in
      try transaction.save(Shop.item(4, name: "newer"))
      try transaction.save(Shop.item(5))
    }
    try store.write(author: "Bob") { transaction in
      _ = try transaction.delete(Shop.Item.self, key: 5)
    }
    try store.close()
    let all = try lines("--last", "2")
    #expect(all.map { $0["author"]?.text } == ["Ada", "Bob"])
    #expect(try lines().suffix(2) == all[...])
    let four = try lines("Item", "4", "--last", "1")
    #expect(four.count == 1 && four[0]["author"]?.text == "Ada")
    guard case .array(let changes)? = four.first?["changes"] else {
      Issue.record("\(four)")
      return
    }
    #expect(changes.count == 1)
    #expect(changes[0]["key"] == .array([.number("4")]) && changes[0]["change"]?.text == "updated")
    #expect(changes[0]["old"]?["name"]?.text == "new")
    #expect(try lines("Visit", "--last", "9").allSatisfy { $0["author"]?.text == "test" })
    let text = try Command.run("history", path, "Item", "5").output
    #expect(text.contains("  Ada\n  Item 5 inserted\n"), "\(text)")
    #expect(text.contains("  Bob\n  Item 5 deleted\n    was: "), "\(text)")
    #expect(text.contains(", id 5, "), "\(text)")
    #expect(text.contains(", name new, "), "\(text)")
    #expect(try Command.run("history", path, "Thing").status == 2)
    #expect(try Command.run("history", path, "Visit", "Ada").status == 2)
  }

  @Test func `a history that is followed shows commits as programs make them`() throws {
    let (output, error) = (stage.path("output"), stage.path("error"))
    let child = try ChildProcess(
      ["history", path, "Item", "7", "--follow"], files: ["/dev/null", output, error])
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    for (name, change) in [("one", "inserted"), ("two", "updated")] {
      try store.write(author: name) { transaction in
        try transaction.save(Shop.item(6, name: name))
        try transaction.save(Shop.item(7, name: name))
      }
      while try !contents(of: output).contains("  \(name)\n  Item 7 \(change)\n"),
        !child.hasEnded
      {
        usleep(1_000)
      }
    }
    kill(child.number, SIGINT)
    #expect(child.wait() == 0)
    #expect(try contents(of: error).isEmpty)
    let text = try contents(of: output)
    #expect(text.contains("Item 7 updated") && !text.contains("Item 6"), "\(text)")
    try store.close()
  }

  @Test func `a store without a history says so`() throws {
    let path = stage.path("gallery.cambium")
    try Gallery.make(at: path)
    let command = try Command.run("history", path)
    #expect(command.status == 8 && command.error.contains("keeps no history"), "\(command)")
  }
}

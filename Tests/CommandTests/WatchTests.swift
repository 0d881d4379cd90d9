import Cambium
import Glibc
import Testing

/// The changes that the command shows while programs write.
@Suite struct WatchTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  /// Waits until the output of a process has a text.
  private func wait(for text: String, from child: ChildProcess) throws {
    while try !contents(of: stage.path("output")).contains(text), !child.hasEnded { usleep(1_000) }
  }

  @Test func `changes of the records that meet a condition are shown as they are made`() throws {
    let files = ["/dev/null", stage.path("output"), stage.path("error")]
    let child = try ChildProcess(["watch", path, "Item", "count >= 7"], files: files)
    try wait(for: "Watching 1 record. End with Ctrl-C.\n", from: child)
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    try store.save(Shop.item(4, name: "newer"))
    try wait(for: "  name  new → newer\n", from: child)
    var item = Shop.item(4, name: "newer")
    item.count = 6
    try store.write { transaction in
      try transaction.save(item)
      try transaction.save(Shop.item(5))
    }
    try wait(for: "Item 5 inserted", from: child)
    kill(child.number, SIGINT)
    #expect(child.wait() == 0)
    let output = try contents(of: stage.path("output"))
    for text in ["Item 4 updated  commit ", "Item 4 deleted  commit ", "Item 5 inserted  commit "] {
      #expect(output.contains(text), "\(output)")
    }
    #expect(try contents(of: stage.path("error")).isEmpty)
    try store.close()
  }

  @Test func `a change as JSON has the old and the new record`() throws {
    let files = ["/dev/null", stage.path("output"), stage.path("error")]
    let child = try ChildProcess(["watch", path, "Item", "--json"], files: files)
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    var count = 7
    while try !contents(of: stage.path("output")).contains("\n"), !child.hasEnded {
      count += 1
      var item = Shop.item(4)
      item.count = count
      try store.save(item)
      usleep(20_000)
    }
    kill(child.number, SIGTERM)
    #expect(child.wait() == 0)
    let line = try contents(of: stage.path("output")).split(separator: "\n").first
    let json = try JSONParser.parse(Array((line ?? "").utf8))
    #expect(json["record"]?.text == "Item" && json["change"]?.text == "updated", "\(json)")
    #expect(json["key"] == .array([.number("4")]))
    let counts = (json["old"]?["count"]?.integer ?? 0, json["new"]?["count"]?.integer ?? 0)
    #expect(counts.0 >= 7 && counts.1 > counts.0, "\(json)")
    try store.close()
  }

  @Test func `what cannot be watched is refused`() throws {
    #expect(try Command.run("watch", path, "Thing").status == 2)
    #expect(try Command.run("watch", path, "Item", "size > 1").status == 2)
    #expect(try Command.run("watch", stage.path("none"), "Item").status == 5)
  }
}

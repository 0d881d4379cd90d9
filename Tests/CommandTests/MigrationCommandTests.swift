import Cambium
import FoundationEssentials
import Glibc
import Testing

/// Migrations without the program.
@Suite struct MigrationCommandTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = stage.path("shop.cambium")
    try Shop.makeOld(at: path)
  }

  private func lock(_ model: StoreModel = Shop.model) throws -> String {
    let file = stage.path("Schema.lock")
    try write("\(try SchemaLock(model))", to: file)
    return file
  }

  /// A model whose items are other ones from version 2 on.
  private static func model(
    version: Int,
    @RecordDescription.ResultBuilder item: @escaping @Sendable (Int) -> RecordDescription
  ) -> StoreModel {
    StoreModel(
      version: version,
      untyped: [
        RemovedRecord("Item") { version in
          if version == 1 { Shop.Item.recordDescription(for: 1) } else { item(version) }
        },
        RemovedRecord("Visit") { version in Shop.Visit.recordDescription(for: version) },
      ])
  }

  @Test func `a plan says what would be done, and changes nothing`() throws {
    let plan = try Command.run("plan", path, "--schema", try lock())
    #expect(plan.status == 0, "\(plan.error)")
    try Recorded.check(
      Recorded.masked(plan.output.replacing(/; .* are free/, with: "; SIZE are free"), path: path),
      "plan.txt")
    // No size is rounded to nothing.
    #expect(plan.output.contains(/about [1-9][0-9.]* (bytes|KiB), and writes/), "\(plan.output)")
    #expect(
      try Command.run("plan", path, "--schema", try lock(), "--json").output.contains(
        #""canRun":true"#))
    #expect(try PersistentStore.inspect(at: path).version == 1)
    #expect(try Command.run("plan", path, "--schema", try lock(), "--to", "7").status == 8)
    #expect(try Command.run("plan", path, "--schema", stage.path("none")).status == 8)
    try write("schema-lock 1\nversion 0", to: stage.path("bad"))
    #expect(try Command.run("plan", path, "--schema", stage.path("bad")).status == 9)
  }

  @Test func `a store is migrated as the program would have`() throws {
    let file = try lock()
    #expect(try Command.run("migrate", path, "--schema", file, "--dry-run").status == 0)
    #expect(try PersistentStore.inspect(at: path).version == 1)
    let command = try Command.run("migrate", path, "--schema", file)
    #expect(command.status == 0, "\(command.error)")
    #expect(command.output.hasPrefix("Migrated from version 1 to 2: 6 records read"))
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    #expect(try store.fetch(Shop.Item.self, key: 2)?.name == "thing 2")
    #expect(try store.fetch(Shop.Item.self, key: 2)?.count == 0)
    try store.close()
    #expect(
      try Command.run("migrate", path, "--schema", file).output
        == "The store already has version 2.\n")
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  @Test func `a migration that is one commit says so`() throws {
    let file = try lock(
      Self.model(version: 2) { _ in
        Shop.Item.recordDescription(for: 1)
        Field(name: "more", type: .string, optional: true)
      })
    let rehearsal = try Command.run("migrate", path, "--schema", file, "--dry-run")
    #expect(
      rehearsal.output.hasPrefix("Rehearsed the migration from version 1 to 2: one commit in "))
    let command = try Command.run("migrate", path, "--schema", file, "--json")
    #expect(command.status == 0, "\(command.error)")
    #expect(command.output.contains(#""records":0,"oneCommit":true"#), "\(command.output)")
    #expect(try PersistentStore.inspect(at: path).version == 2)
  }

  @Test func `what only a program can say is refused`() throws {
    let file = try lock(
      Self.model(version: 2) { _ in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "title", type: .int32)
      })
    let plan = try Command.run("plan", path, "--schema", file)
    #expect(plan.status == 7)
    #expect(plan.output.contains("it cannot run"))
    #expect(try Command.run("migrate", path, "--schema", file).status == 7)
    #expect(try PersistentStore.inspect(at: path).version == 1)
  }

  @Test func `the skeleton of a step chooses an element of what was a list`() throws {
    func model(_ version: Int) -> StoreModel {
      StoreModel(
        version: version,
        untyped: [
          RemovedRecord("Note") { version in
            Field(primaryKey: true, name: "id", type: .integer)
            if version == 1 {
              Field(name: "next", type: .references(to: "Note"))
            } else {
              Field(name: "next", type: .reference(to: "Note"), optional: true)
            }
          }
        ])
    }
    let notes = stage.path("notes.cambium")
    try PersistentStore(at: notes, model: model(1)).close()
    let skeleton = try Command.run("schema", notes, "--step", "--lock", try lock(model(2)))
    #expect(skeleton.status == 0, "\(skeleton.error)")
    #expect(skeleton.output.contains(#"UpdateField("next", choosing: .first)"#))
  }

  @Test func `what does not follow from the schema file is said by a file of steps, K17`() throws {
    let model = Self.model(version: 3) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "title", type: .string)
      Field(name: "price", type: version == 2 ? .decimal : .string)
      Field(name: "x", type: .double, optional: true)
      Field(name: "origin", type: .string)
    }
    let file = try lock(model)
    let steps = stage.path("Steps.json")
    let arguments = [path, "--schema", file, "--to", "2", "--steps", steps]
    #expect(try Command.run(["plan"] + arguments).status == 8)
    #expect(try Command.run("plan", path, "--schema", file).status == 7)
    try write(#"[{"to": 2, "records": {"Item": {"price": {}}}}]"#, to: steps)
    let refused = try Command.run(["migrate"] + arguments)
    #expect(refused.status == 9)
    #expect(refused.error.contains("the step to 2, Item.price: it has one source"))
    try write(
      """
      [ { "to": 2, "label": "origins",
          "records": { "Item": { "x": { "path": "place.x" }, "origin": { "value": "import" } } } },
        { "to": 3, "records": { "Item": { "price": { "convert": "refuse" } } } } ]
      """, to: steps)
    let plan = try Command.run(["plan"] + arguments)
    #expect(plan.status == 0, "\(plan.error)")
    #expect(plan.output.contains("Item.x is place.x of the old record"))
    #expect(plan.output.contains(#"Item.origin is "import""#))
    #expect(try Command.run(["migrate"] + arguments).status == 0)
    #expect(try Command.run("migrate", path, "--schema", file, "--steps", steps).status == 0)
    let store = try PersistentStore(at: path, model: model, options: Shop.options)
    let item = try #require(try store.fetch(record: "Item", key: 2))
    #expect(item["origin"] == "import" && item["x"] == 2.0 && item["price"] == "0.5")
    try store.close()
  }

  // MARK: Steps of the program

  /// Version 2 has no tags any more: a step of the program puts them into another record.
  private static let tagless = model(version: 2) { _ in
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
  }

  private static func step(
    _ from: Int = 1, to: Int = 2, label: String? = "tags apart", revision: Int = 3
  ) -> MigrationStep {
    MigrationStep(from: from, to: to, label: label, revision: revision) {
      UpdateRecord("Item") {
        UpdateField("title", from: { old in try old["title", as: String.self] + "!" })
      }
    }
  }

  private func lock(_ model: StoreModel, _ steps: [MigrationStep]) throws -> String {
    let file = stage.path("Schema.lock")
    try write("\(try SchemaLock(model, steps: steps))", to: file)
    return file
  }

  private func refused(_ arguments: String...) throws -> String {
    let found = try Command.run(["plan", path] + arguments)
    #expect(found.status == 7, "\(found.output)")
    #expect(try Command.run(["migrate", path] + arguments).status == 7)
    #expect(try Command.run(["migrate", path, "--dry-run"] + arguments).status == 7)
    #expect(try PersistentStore.inspect(at: path).version == 1)
    return found.output
  }

  @Test func `a version that a step of the program makes is not migrated to without it`() throws {
    let file = try lock(Self.tagless, [Self.step()])
    let output = try refused("--schema", file)
    #expect(output.contains("step 1 → 2 “tags apart”, revision 3 of the program"))
    #expect(output.contains("open the store with the program"))
    #expect(output.contains("--steps FILE"))
    // A file with another step is no better, nor one with a step to another version.
    let steps = stage.path("Steps.json")
    try write("[]", to: steps)
    _ = try refused("--schema", file, "--steps", steps)
    for other in [#""label": "tags""#, #""revision": 4"#] {
      try write(
        #"[{"to": 2, \#(other), "records": {"Item": {"title": {"value": "a"}}}}]"#, to: steps)
      #expect(
        try refused("--schema", file, "--steps", steps).contains("the program's is step 1 → 2"))
    }
    try write(
      #"[{"to": 2, "label": "tags apart", "revision": 3, "records": {"Item": {"title": {"value": "a"}}}}]"#,
      to: steps)
    let migrated = try Command.run("migrate", path, "--schema", file, "--steps", steps)
    #expect(migrated.status == 0, "\(migrated.error)")
    let store = try PersistentStore.snapshot(at: path)
    #expect(try store.fetch(record: "Item", key: 2)?["title"] == "a")
  }

  @Test func `steps in the middle, over several versions, and in place of several are known`()
    throws
  {
    let model = Self.model(version: 3) { _ in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "title", type: .string)
    }
    let steps = stage.path("Steps.json")
    // From 1 to 3, with a step in the middle.
    var file = try lock(model, [Self.step()])
    #expect(try refused("--schema", file).contains("step 1 → 2 “tags apart”"))
    try write(#"[{"from": 1, "to": 3, "records": {"Item": {"title": {"value": "a"}}}}]"#, to: steps)
    #expect(
      try refused("--schema", file, "--steps", steps).contains("would pass over step 1 → 2"))
    // The program would take the step over both.
    file = try lock(model, [Self.step(to: 3, label: nil, revision: 0)])
    #expect(try refused("--schema", file).contains("version 3 is made by step 1 → 3 of"))
    #expect(try Command.run("plan", path, "--schema", file, "--to", "2").status == 0)
    #expect(try Command.run("plan", path, "--schema", file, "--steps", steps).status == 0)
    let squashed = MigrationStep(squashing: 1...2, to: 3) {
      UpdateRecord("Item") { UpdateField("title", value: "a") }
    }
    file = try lock(model, [squashed])
    #expect(try refused("--schema", file).contains("version 3 is made by step 1–2 → 3 of"))
    try write(
      #"[{"from": [1, 2], "to": 3, "records": {"Item": {"title": {"value": "a"}}}}]"#, to: steps)
    #expect(try Command.run("migrate", path, "--schema", file, "--steps", steps).status == 0)
    // Back, by a step that only the program has.
    file = try lock(model, [squashed, Self.step(3, to: 1, label: "back")])
    let back = try Command.run("plan", path, "--schema", file, "--to", "1")
    #expect(back.status == 7)
    #expect(back.output.contains("step 3 → 1 “back”, revision 3 of the program"))
    #expect(try Command.run("migrate", path, "--schema", file, "--to", "1").status == 7)
  }

  @Test func `a lock that does not state the steps takes nothing out of a store`() throws {
    let file = try lock(Self.tagless)
    let output = try refused("--schema", file)
    #expect(output.contains("Item.tags is removed"))
    #expect(output.contains("the lock does not say whether there is such a step"))
    // Where there is no step, it says so.
    #expect(try Command.run("plan", path, "--schema", try lock(Self.tagless, [])).status == 0)
    let steps = stage.path("Steps.json")
    try write("[]", to: steps)
    #expect(
      try Command.run("migrate", path, "--schema", try lock(Self.tagless), "--steps", steps)
        .status == 0)
    #expect(try PersistentStore.inspect(at: path).version == 2)
  }

  @Test func `a program with the model of a lock does not do without the steps either`() throws {
    let model = try StoreModel(SchemaLock(Self.tagless, steps: [Self.step()]))
    #expect(throws: StoreError.self) { try PersistentStore(at: path, model: model) }
    #expect(try PersistentStore.inspect(at: path).version == 1)
    try PersistentStore(at: path, model: model, steps: [Self.step()]).close()
    let item = try PersistentStore.snapshot(at: path).fetch(record: "Item", key: 2)
    #expect(item?["title"] == "thing 2!")
  }

  @Test func `a schema file that describes the store's version otherwise is refused`() throws {
    let file = try lock(
      StoreModel(
        version: 2,
        untyped: [
          RemovedRecord("Item") { _ in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "title", type: .string)
          }
        ]))
    let plan = try Command.run("plan", path, "--schema", file)
    #expect(plan.status == 9)
    #expect(plan.error.contains("Version 1 is described differently"))
  }

  @Test func `a roll-back says what it would discard`() throws {
    let file = try lock()
    #expect(try Command.run("rollback", path).status == 8)
    #expect(try Command.run("migrate", path, "--schema", file).status == 0)
    let store = try PersistentStore(at: path, model: Shop.model, options: Shop.options)
    try store.save(Shop.item(50))
    try store.close()
    let refused = try Command.run("rollback", path, "--to", "1")
    #expect(refused.status == 7)
    #expect(refused.error.contains("would discard 1 commit "))
    #expect(try Command.run("rollback", path, "--to", "3", "--discard").status == 8)
    #expect(try Command.run("rollback", path, "--dry-run").output.contains("1 commit "))
    #expect(try PersistentStore.inspect(at: path).version == 2)
    #expect(try Command.run("rollback", path, "--to", "1", "--discard").status == 0)
    #expect(try PersistentStore.inspect(at: path).version == 1)
    // Programs do not migrate it again by themselves; the command can.
    #expect(throws: StoreError.rolledBack(from: 2, to: 1)) {
      try PersistentStore(at: path, model: Shop.model)
    }
    for arguments in [["plan", path], ["migrate", path], ["migrate", path, "--dry-run"]] {
      let again = try Command.run(arguments + ["--schema", file])
      #expect(again.status == 7, "\(arguments): \(again.error)")
      #expect(again.error.contains("unless you use --after-rollback"), "\(again.error)")
    }
    #expect(try PersistentStore.inspect(at: path).version == 1)
    #expect(try Command.run("plan", path, "--schema", file, "--after-rollback").status == 0)
    #expect(try Command.run("migrate", path, "--schema", file, "--after-rollback").status == 0)
    #expect(try PersistentStore.inspect(at: path).version == 2)
  }

  @Test func `interrupted, a migration leaves the store whole and is gone on with`() throws {
    let store = try PersistentStore(at: path, model: Shop.old)
    try store.write { transaction in
      for id in 10..<5_000 { try transaction.save(Shop.oldItem(id % 100 + id * 100)) }
    }
    try store.close()
    let file = try lock()
    let command = try Command.run(
      "migrate", path, "--schema", file, signal: (SIGINT, 400))
    #expect([0, 130].contains(command.status), "\(command.error)")
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    let version = try PersistentStore.inspect(at: path).version
    #expect(version == (command.status == 0 ? 2 : 1))
    #expect(try Command.run("migrate", path, "--schema", file).status == 0)
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    #expect(try PersistentStore.snapshot(at: path).count(record: "Item") == 4_993)
  }
}

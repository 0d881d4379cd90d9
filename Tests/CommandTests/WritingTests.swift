import Cambium
import Testing

/// The commands that change one record.
@Suite struct WritingTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  @discardableResult
  private func output(_ arguments: String..., status: Int32 = 0) throws -> String {
    let command = try Command.run(arguments)
    #expect(command.status == status, "\(arguments): \(command.error)")
    return status == 0 ? command.output : command.error
  }

  @Test func `a record that was shown as JSON can be put back as it was`() throws {
    let all = try output("query", path, "Item", "--json")
    let second = try output("get", path, "Item", "2", "--json")
    #expect(try output("put", path, "Item", second) == "Item 2 was updated.\n")
    #expect(try output("query", path, "Item", "--json") == all)
    try output("delete", path, "Item", "2")
    let file = stage.path("item.json")
    try write(second, to: file)
    let put = try Command.run("put", path, "Item", "-", "--json", input: file)
    #expect(put.output == #"{"record":"Item","key":[2],"change":"inserted"}"# + "\n", "\(put)")
    #expect(try output("query", path, "Item", "--json") == all)
    #expect(try Command.run("check", path, "--deep").status == 0)
  }

  @Test func `a record is put only if it is whole, and the stored one is as was expected`() throws {
    let visit = #"{"person":"Ada","day":"2001-01-01T00:00:01Z","seen":false}"#
    #expect(
      try output("put", path, "Visit", visit, "--if", "seen == false", status: 7)
        .contains("does not meet the condition seen == false. Nothing was changed."))
    #expect(try output("query", path, "Visit", "seen == true", "--count") == "1\n")
    try output("put", path, "Visit", visit, "--if", "seen == true")
    #expect(try output("query", path, "Visit", "seen == false", "--count") == "1\n")
    let other = #"{"person":"Bob","day":"2001-01-01T00:00:01Z","seen":false}"#
    try output("put", path, "Visit", other, "--if", "seen == true", status: 8)
    #expect(
      try output("put", path, "Visit", #"{"person":"Bob"}"#, status: 9).contains("has no day"))
    #expect(
      try output("put", path, "Visit", #"{"who":"Bob"}"#, status: 9).contains("no field who"))
    try output("put", path, "Item", #"{"id":9}"#, status: 9)
    try output("put", path, "Visit", "no JSON", status: 9)
    try output("put", path, "Nothing", "{}", status: 2)
  }

  @Test func `fields that are not named get the defaults of the schema`() throws {
    let item = try output("get", path, "Item", "2", "--json")
    let partial = item.replacing(/"count":\d+,?/, with: "").replacing(#""id":2"#, with: #""id":9"#)
    try output("put", path, "Item", partial)
    #expect(try output("query", path, "Item", "id == 9 AND count == 0", "--count") == "1\n")
    let file = stage.path("items.jsonl")
    try write(partial.replacing(#""id":9"#, with: #""id":10"#), to: file)
    try output("import", path, "Item", file)
    #expect(try output("query", path, "Item", "id == 10 AND count == 0", "--count") == "1\n")
    #expect(
      try output("schema", path).contains(#"Field(name: "count", type: .integer, default: 0)"#))
  }

  @Test func `a deletion takes one record, if it is as was expected`() throws {
    try output("delete", path, "Item", "3", "--if", #"name == "other""#, status: 7)
    let json = try output("delete", path, "Item", "3", "--if", "id == 3", "--json")
    #expect(json == #"{"record":"Item","key":[3],"change":"deleted"}"# + "\n")
    #expect(try output("query", path, "Item", "--count") == "3\n")
    #expect(
      try output("delete", path, "Item", "3", status: 8)
        == "cambium: There is no Item with the key 3.\n")
    try output("delete", path, "Item", "3", "--if", "id == 3", status: 8)
    try output("delete", path, "Item", "x", status: 2)
    #expect(try output("delete", path, "Visit", "Ada", status: 2).contains("has 2 parts"))
    #expect(try Command.run("check", path, "--deep").status == 0)
  }

  @Test func `fields are set by what is written plainly or in JSON, and others stay`() throws {
    let before = try output("get", path, "Item", "1", "--json")
    #expect(try output("set", path, "Item", "1", "count=0") == "Item 1 is unchanged.\n")
    let json = try output(
      "set", path, "Item", "1", "count=7", "name=a = \"b\"", #"tags:=["x","y"]"#, "note:=null",
      "place.y=2.5", "added=2026-01-02T03:04:05Z", "--json", "--if", "count == 0")
    #expect(json == #"{"record":"Item","key":[1],"change":"updated"}"# + "\n")
    let (old, new) = try (
      JSONParser.parse(Array(before.utf8)),
      JSONParser.parse(Array(try output("get", path, "Item", "1", "--json").utf8))
    )
    let changed: [String: JSONValue] = [
      "count": JSONValue(7), "name": #"a = "b""#, "tags": ["x", "y"], "note": .null,
      "added": "2026-01-02T03:04:05Z",
    ]
    guard case .object(let members) = new else {
      Issue.record("\(new)")
      return
    }
    for member in members where member.name != "place" {
      #expect(member.value == changed[member.name] ?? old[member.name], "\(member.name)")
    }
    let place = new["place"]
    #expect(place?["x"] == old["place"]?["x"] && place?["y"] == .number("2.5"), "\(new)")
    #expect(try Command.run("check", path, "--deep").status == 0)
  }

  @Test func `nothing is set if the key, a field, a value or the condition is wrong`() throws {
    let all = try output("query", path, "Item", "--json")
    for (arguments, status, text) in [
      (["9", "count=1"], 8, "There is no Item with the key 9."),
      (["1"], 2, "name a field"), (["1", "count"], 2, "write field=value"),
      (["1", "size=1"], 2, "Item has no field \"size\""),
      (["1", "size:=1"], 2, "Item has no field \"size\""),
      (["1", "place.z=1"], 2, "place has no field \"z\""), (["1", "id=2"], 2, "primary key"),
      (["1", "count=many"], 2, "many is not"), (["1", "name:=null"], 9, "name"),
      (["1", "count:=\"1\""], 9, "count"), (["1", "name:={"], 9, "expected"),
      (["1", "count=1", "--if", "count == 1"], 7, "Nothing was changed."),
      (["1", "count=1", "--if", "size == 1"], 2, "size"),
    ] as [([String], Int32, String)] {
      let command = try Command.run(["set", path, "Item"] + arguments)
      #expect(command.status == status, "\(arguments): \(command)")
      #expect(command.error.contains(text), "\(arguments): \(command.error)")
    }
    #expect(try output("query", path, "Item", "--json") == all)
  }

  @Test(arguments: [false, true])
  func `what the command writes is in the history of a store that keeps one`(
    keepsOldValues: Bool
  ) throws {
    var options = Shop.options
    options.history?.keepsOldValues = keepsOldValues
    let before = try PersistentStore(at: path, model: Shop.model, options: options)
    try before.save(Shop.item(5))
    let cursor = try before.snapshot().historyCursor
    try before.close()
    try output("delete", path, "Item", "5")
    let file = stage.path("items.csv")
    try write("id,name\n4,other\n", to: file)
    try output("import", path, "Item", file)
    let after = try PersistentStore(at: path, model: Shop.model, options: options)
    let history = try after.history(since: cursor)
    let deletion = try #require(try history.next())
    #expect(deletion.author == "cambium")
    #expect(deletion.changes.map(\.kind) == [.deleted])
    #expect(deletion.changes.map(\.key) == [[.integer(5)]])
    #expect((deletion.changes.first?.old != nil) == keepsOldValues)
    #expect(try history.next()?.changes.map(\.kind) == [.updated])
    #expect(try history.next() == nil)
    try after.close()
  }
}

import Cambium
import Testing

/// Two stores, compared record by record.
@Suite struct DiffTests {
  private let stage: Stage
  private let path: String
  private let copy: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
    copy = stage.path("copy.cambium")
    #expect(try Command.run("backup", path, copy).status == 0)
  }

  @Test func `stores with the same records do not differ`() throws {
    let command = try Command.run("diff", path, copy)
    #expect(command.status == 0 && command.output.isEmpty, "\(command)")
  }

  @Test func `records that were inserted, updated and deleted are shown with their fields`() throws
  {
    #expect(try Command.run("set", copy, "Item", "1", "name=other").status == 0)
    #expect(try Command.run("delete", copy, "Item", "4").status == 0)
    let visit = #"{"person":"Bob","day":"2001-01-01T00:00:01Z","seen":false}"#
    #expect(try Command.run("put", copy, "Visit", visit).status == 0)
    let command = try Command.run("diff", path, copy)
    #expect(command.status == 10 && command.error == "cambium: 3 records differ.\n", "\(command)")
    #expect(command.output.contains("Item 1 updated\n  name  thing 1 → other\nItem 4 deleted\n"))
    #expect(command.output.contains("Visit Bob, 2001-01-01T00:00:01Z inserted\n"), "\(command)")
    let json = try Command.run("diff", copy, path, "--record", "Item", "--json").output
    let lines = try json.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    #expect(lines.map { $0["change"]?.text } == ["updated", "inserted"])
    #expect(lines.first?["new"]?["name"]?.text == "thing 1")
    #expect(try Command.run("diff", path, copy, "--record", "Thing").status == 2)
  }

  @RecordDescription.ResultBuilder
  private static var mark: RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
    Field(name: "values", type: .array(of: .double))
    Field(name: "value", type: .double)
  }

  @Test func `values that are stored alike do not differ, and all others do`() throws {
    func make(_ name: String, text: String, value: FieldValue) throws -> String {
      let path = stage.path(name)
      let model = StoreModel([ModelVersion(1, describing: ["Mark": Self.mark])])
      let store = try PersistentStore(at: path, model: model)
      let fields: RecordFields = [
        "id": 1, "text": .string(text), "values": [value], "value": value,
      ]
      try store.write { try $0.save(DynamicRecord("Mark", fields)) }
      try store.close()
      return path
    }
    let one = try make("one", text: "\u{e9}", value: .double(.nan))
    let same = try Command.run("diff", one, try make("same", text: "\u{e9}", value: .double(.nan)))
    #expect(same.status == 0 && same.output.isEmpty, "\(same)")
    // Swift takes the texts for equal.
    let other = try make("other", text: "e\u{301}", value: .double(.nan))
    let texts = try Command.run("diff", one, other)
    #expect(texts.status == 10 && texts.output.contains("\n  text  "), "\(texts)")
    #expect(!texts.output.contains("\n  value"), "\(texts)")
    let numbers = try Command.run("diff", one, try make("number", text: "\u{e9}", value: 1.5))
    #expect(numbers.output.contains("\n  value  ") && numbers.output.contains("\n  values"))
  }

  @Test func `all records of a type that only one store has are shown`() throws {
    let gallery = stage.path("gallery.cambium")
    try Gallery.make(at: gallery)
    let command = try Command.run("diff", path, gallery)
    #expect(command.status == 10)
    #expect(command.error.contains("7 records differ."), "\(command.error)")
    #expect(command.output.contains("Picture 3 inserted\n"))
  }
}

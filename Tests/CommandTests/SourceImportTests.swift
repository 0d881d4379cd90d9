import Cambium
import FoundationEssentials
import TestSupport
import Testing

private struct Place: Codable, Equatable, Sendable {
  var x: Double
  var city: String?
}

private struct Shelf: Record, Identifiable {
  var id: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
  }
}

private struct Item: Record, Equatable {
  var id: Int
  var code: String
  var name = ""
  var note: String?
  var price: Decimal?
  var ratio: Double?
  var flag: Bool?
  var added: Date?
  var picture: Data?
  var tags: [String]?
  var place: Place?
  var shelf: Reference<Shelf>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "code", type: .string, unique: true)
    Field(name: "name", type: .string)
    Field(name: "note", type: .string, optional: true)
    Field(name: "price", type: .decimal, optional: true)
    Field(name: "ratio", type: .double, optional: true)
    Field(name: "flag", type: .boolean, optional: true)
    Field(name: "added", type: .date, optional: true)
    Field(name: "picture", type: .binaryData, optional: true)
    Field(name: "tags", type: .array(of: .string), optional: true)
    Field(
      name: "place",
      type: .composite {
        Field(name: "x", type: .double)
        Field(name: "city", type: .string, optional: true)
      }, optional: true)
    Field(name: "shelf", type: .reference(to: Shelf.self), optional: true)
  }
}

private struct Seat: Record, Equatable {
  var row: Int
  var number: Int
  var guest: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(name: "row", type: .integer)
    Field(name: "number", type: .integer)
    Field(name: "guest", type: .string, optional: true)
    PrimaryKey("row", "number")
  }
}

/// Imports of files of records of one type.
@Suite struct SourceImportTests {
  private static let model = StoreModel(records: [Item.self, Shelf.self, Seat.self])
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = stage.path("shop.cambium")
    let store = try PersistentStore(at: path, model: Self.model)
    try store.write { transaction in
      try transaction.save(Item(id: 1, code: "one", name: "old", note: "kept"))
    }
    try store.close()
  }

  private var items: [Item] {
    get throws {
      let store = try PersistentStore(at: path, model: Self.model)
      defer { try? store.close() }
      return try store.fetch(Item.self)
    }
  }

  private func run(
    _ record: String, _ text: String, named name: String = "items.csv",
    _ options: String...
  ) throws -> Command {
    try run(record, Array(text.utf8), named: name, options)
  }

  private func run(
    _ record: String, _ bytes: [UInt8], named name: String = "items.csv",
    _ options: [String] = []
  ) throws -> Command {
    try write(bytes, to: stage.path(name))
    return try Command.run(["import", path, record, stage.path(name)] + options)
  }

  // MARK: Files that are right

  private static let all = [
    Item(
      id: 1, code: "one", name: "a \"b\", c\r\nd", note: "kept", price: Decimal(string: "1.25"),
      ratio: 0.5, flag: true, added: Date(timeIntervalSinceReferenceDate: 0),
      picture: Data([0, 255]), tags: ["x", "y,\""], place: Place(x: 1.5, city: "Ulm")),
    Item(id: 2, code: "two", name: "é"),
  ]

  @Test func `values of every type are read from cells, as a query writes them`() throws {
    let rows = [
      "\u{feff}id,code,name,price,ratio,flag,added,picture,tags,place",
      #"1,one,"a ""b"", c\#r\#nd",1.25,0.5,true,2001-01-01T00:00:00Z,AP8=,"#
        + #""[""x"",""y,\""""]","{""x"":1.5,""city"":""Ulm""}""#,
      "2,two,é,,,,,,,",
    ]
    let text = rows.map { $0 + "\r\n" }.joined()
    let first = try run("Item", text)
    #expect(first.status == 0, "\(first.error)")
    #expect(first.output.contains("1 inserted, 1 updated and 0 left as they are, of Item"))
    #expect(try items == Self.all)
    // The output of a query comes back as it is.
    let table = try Command.run("query", path, "Item", "--csv").output
    let again = try run("Item", table)
    #expect(again.output.contains("0 inserted, 0 updated and 2 left as they are"), "\(again)")
    #expect(try items == Self.all)
  }

  @Test(arguments: ["--csv", "--json"])
  func `what a query writes is read as the same values, and what is empty is not null`(
    form: String
  ) throws {
    let edges = [
      Item(id: 2, code: "", name: "", note: "", picture: Data(), tags: []),
      Item(id: 3, code: "3", name: ",\u{301}", note: "\"\u{301}", tags: [""]),
      Item(
        id: 4, code: "null", name: "\r", note: "\n\"\"\r\n,", ratio: -0.1,
        added: Date(timeIntervalSinceReferenceDate: 817_377_346.071_234_6),
        tags: ["a,b", "\"", "]", "\n"], place: Place(x: .infinity, city: "")),
      Item(id: 5, code: " ", ratio: .infinity, flag: false, place: Place(x: 1)),
    ]
    let store = try PersistentStore(at: path, model: Self.model)
    try store.write { transaction in for item in edges { try transaction.save(item) } }
    try store.close()
    let all = try items
    let text = try Command.run("query", path, "Item", form).output
    #expect(text.contains("2026-11-26T09:15:46.0712346Z"))
    let again = try PersistentStore(at: path, model: Self.model)
    try again.write { transaction in
      for item in all { try transaction.delete(Item.self, key: item.id) }
    }
    try again.close()
    let command = try run("Item", text, named: form == "--csv" ? "items.csv" : "items.jsonl")
    #expect(command.output.contains("5 inserted"), "\(command.error)")
    #expect(try items == all)
  }

  @Test func `cells are read as spreadsheets write them`() throws {
    let text = """
      id,code,name,flag,added
      2,a,x,TRUE,2020-01-02 03:04:05
      3,b,x,False,2020-01-02
      4,c,x,1,2020-01-02T03:04:05.25+01:00
      5,d,x,0,
      """
    let rows = text + "\n"
    let command = try run("Item", rows)
    #expect(command.status == 0, "\(command.error)")
    let read = try items.dropFirst()
    #expect(read.map(\.flag) == [true, false, true, false])
    let second = 599_627_045.0
    #expect(
      read.map { $0.added?.timeIntervalSinceReferenceDate } == [
        second, second - 11_045, second - 3599.75, nil,
      ])
  }

  @Test func `dates that are numbers are read as the kind that is named`() throws {
    let kind = ["--type", "when=unix-milliseconds", "--map", "when=added"]
    let rows = Array("id,code,name,when\n2,a,x,1577934245250\n3,b,x,\n".utf8)
    let cells = try run("Item", rows, kind)
    #expect(cells.status == 0, "\(cells.error)")
    let lines = Array(#"{"id":4,"code":"c","name":"x","when":1577934245250}"#.utf8)
    let members = try run("Item", lines, named: "items.jsonl", kind)
    #expect(members.status == 0, "\(members.error)")
    let second = 599_627_045.25
    #expect(
      try items.dropFirst().map { $0.added?.timeIntervalSinceReferenceDate } == [
        second, nil, second,
      ])
    for (options, status, message) in [
      (
        ["--type", "added=unix-seconds"], 9,
        "line 2: added: 2020-01-02 is not exactly a date in unix-seconds"
      ),
      (["--type", "code=unix-seconds"], 2, "Item.code is string, and no date"),
      (["--type", "x=unix-seconds"], 2, "Item has no field \"x\""),
      (["--type", "added=decimal"], 2, "The types are those of the store"),
      (["--name", "code=key"], 2, "Say --map"), (["--key", "Item=code"], 2, "--id"),
    ] as [([String], Int32, String)] {
      let wrong = try run("Item", Array("id,code,added\n5,e,2020-01-02\n".utf8), options)
      #expect(wrong.status == status, "\(options): \(wrong.error)")
      #expect(wrong.error.contains(message), "\(options): \(wrong.error)")
    }
  }

  @Test(arguments: ["\r", "\n", "\r\n"])
  func `lines may end with a return, a line feed or both`(end: String) throws {
    let lines = ["\u{feff}id,code,\"name\"", "2,a,\"x\ny\"", "3,\"b\",\"x\ry\"", "4,c,"]
    let command = try run("Item", lines.map { $0 + end }.joined())
    #expect(command.status == 0, "\(command.error)")
    #expect(
      try items.dropFirst() == [
        Item(id: 2, code: "a", name: "x\ny"), Item(id: 3, code: "b", name: "x\ry"),
        Item(id: 4, code: "c"),
      ])
    let wrong = try run("Item", (lines + ["bad,d,x"]).joined(separator: end))
    #expect(wrong.error.contains("line 6: id: bad is not"), "\(wrong.error)")
  }

  @Test(arguments: [
    ("id;code;name\n2;a;x\n", ";"), ("\"id\";\"code\"\n2;a\n", ";"),
    ("id\tcode\n2\ta\n", "\\t"), ("id|code\n2|a\n", "|"),
    ("id;name, in full;code\n2;a;b\n", ";"),
  ])
  func `a header that another separator divides is answered with that`(
    text: String, separator: String
  ) throws {
    let command = try run("Item", text)
    #expect(command.status == 9)
    #expect(command.error.contains("line 1: "), "\(command.error)")
    #expect(command.error.contains("say --separator '\(separator)'"), "\(command.error)")
    let mapped = try run("Item", text, named: "items.csv", "--map", "Code=code")
    #expect(mapped.status == (text.first == "\"" ? 9 : 8))
    #expect(mapped.error.contains("say --separator '\(separator)'"), "\(mapped.error)")
  }

  @Test(arguments: ["csv", "json", "jsonl", "txt"])
  func `a byte order mark is passed over in every form`(ending: String) throws {
    let object = #"{"id":1,"code":"one","name":"new"}"#
    let text =
      switch ending {
      case "csv": "id,code,name\n1,one,new\n"
      case "jsonl": object
      default: "[\(object)]"
      }
    let command = try run("Item", "\u{feff}" + text, named: "items.\(ending)")
    #expect(command.status == 0, "\(command.error)")
    #expect(try items.map(\.name) == ["new"])
  }

  @Test(arguments: ["json", "jsonl", "txt"])
  func `an array and lines of JSON are imported the same`(ending: String) throws {
    let objects = [
      #"{"id":1,"name":"new","place":{"x":2,"city":null}}"#, #"{"id":2,"code":"two","tags":["a"]}"#,
    ]
    let text =
      ending == "json"
      ? "[\n" + objects.joined(separator: ",\n") + "]\n" : objects.joined(separator: "\n\n") + "\n"
    let command = try run("Item", text, named: "items.\(ending)", "--json")
    // A new record needs all fields that are not optional.
    #expect(command.status == 9)
    #expect(command.error.contains("line 3: "), "\(command.error)")
    let whole = text.replacing(#""code":"two""#, with: #""code":"two","name":"2""#)
    let second = try run("Item", whole, named: "items.\(ending)", "--json")
    #expect(second.output == "{\"inserted\":1,\"updated\":1,\"unchanged\":0,\"rejected\":0}\n")
    #expect(
      try items == [
        Item(id: 1, code: "one", name: "new", note: "kept", place: Place(x: 2)),
        Item(id: 2, code: "two", name: "2", tags: ["a"]),
      ])
  }

  @Test func `columns are mapped, left out, parts of composites, and ids of a unique field`() throws
  {
    let text = "Code;Title;Extra;place.city;place.x;id\none;new;?;Ulm;3;1\n"
    let refused = try run("Item", text, named: "items.csv", "--separator", ";")
    #expect(refused.status == 9)
    #expect(refused.error.contains("line 1: Item has no field Code; say --map Code=field"))
    let command = try run(
      "Item", text, named: "items.csv", "--separator", ";", "--map", "Code=code", "--map",
      "Title=name", "--map", "Extra=", "--id", "code")
    #expect(command.status == 0, "\(command.error)")
    #expect(
      try items == [
        Item(id: 1, code: "one", name: "new", note: "kept", place: Place(x: 3, city: "Ulm"))
      ])
    let unknown = try run("Item", text, named: "items.csv", "--map", "x=nothing")
    #expect(unknown.status == 2)
    let notUnique = try run("Item", "id,name\n1,x\n", named: "items.csv", "--id", "name")
    #expect(notUnique.status == 2)
    #expect(notUnique.error.contains("not unique"))
  }

  @Test func `records are found by keys of several parts, and the last of two counts`() throws {
    let text = "row,number,guest\n1,2,a\n1,2,b\n1,3,\n"
    #expect(try run("Seat", text).status == 0)
    let store = try PersistentStore(at: path, model: Self.model)
    #expect(
      try store.fetch(Seat.self)
        == [Seat(row: 1, number: 2, guest: "b"), Seat(row: 1, number: 3)])
    try store.close()
  }

  @Test
  func `references may come before their destinations in a file, and lead somewhere in the end`()
    throws
  {
    let refused = try run("Item", "id,code,name,shelf\n5,five,x,s\n")
    #expect(refused.status == 9)
    #expect(refused.error.contains("Nothing was imported"))
    #expect(try run("Shelf", "id\ns\n").status == 0)
    #expect(try run("Item", "id,code,name,shelf\n5,five,x,s\n").status == 0)
  }

  // MARK: Odd files

  /// A file, and the text of the error; nil if it is right.
  private static let files: [(text: [UInt8], error: String?)] = [
    (Array("".utf8), "no header"),
    (Array("id,code,name".utf8), nil),
    (Array("id,code,name\r\n\r\n\n".utf8), nil),
    (Array("id,code,name\n7,x,".utf8), nil),
    (Array("id,code,name\n7,x,\"\"\n".utf8), nil),
    (Array("id,\"code\",name\r\n7,\"x\r\ny\",\"a\"\r\n".utf8), nil),
    (Array("id,code,name\n7,x\n".utf8), "line 2: it has 2 cells, and the header has 3"),
    (Array("id,code,name\n7,x,y,z\n".utf8), "line 2: it has 4 cells, and the header has 3"),
    (Array("id,code,name\n7,\"x\ny\",z\n8,\"a\nb,c\n".utf8), "line 4: a quote is never closed"),
    (Array("id,code,name\n7,\"x\"y,z\n".utf8), "line 2: cell 2: something follows a closing quote"),
    (Array("id,code,name\n7,x\"y,z\n".utf8), "line 2: cell 2: a quote within a cell"),
    (Array("id,code,name\n7,\"x\n\n\"y,z\n".utf8), "line 2: cell 2: something follows"),
    (
      Array("id,code,name\n7,".utf8) + [0xff, 0xfe] + Array(",z\n".utf8),
      "line 2: cell 2: it is not UTF-8"
    ),
    (Array("id,code,name\n,x,y\n".utf8), "line 2: id: "),
    (Array("id,code,name\nabc,x,y\n".utf8), "line 2: id: abc is not"),
    (Array("id,code,name,flag\n7,x,y,maybe\n".utf8), "line 2: flag: \"maybe\" is not"),
    (Array("id,code,name,tags\n7,x,y,[1\n".utf8), "line 2: tags: no JSON"),
    (Array("id,code,name\n7,x,a\rb\n".utf8), "line 2: cell 3: a line ends within it"),
    (Array("id,code,name\n7,x,\"a\"\r\"b\"\n".utf8), "line 2: cell 3: a line ends within it"),
    (Array("id,code,name\r7,x,y\n8,z,y\n".utf8), "line 2: cell 3: a line ends within it"),
    (Array("id,code,name\r7,\"x\r\n\",y".utf8), nil),
    (Array("id,id,code\n7,7,x\n".utf8), "line 1: two columns are for the same field"),
    (Array("code,name\nx,y\n".utf8), "line 2: Item.id is not valid: the primary key is missing"),
    (Array("id,code,name\n9223372036854775808,x,y\n".utf8), "line 2: id: 9223372036854775808 is"),
    (Array("id,code,name\n1_000,x,y\n".utf8), "line 2: id: 1_000 is not"),
    (Array("id,code,name,ratio\n7,x,y,1e309\n".utf8), "line 2: ratio: "),
    (Array("id,code,name,price\n7,x,y,1e400\n".utf8), "line 2: price: "),
    (Array("id,code,name,nothing\n7,x,y,z\n".utf8), "line 1: Item has no field nothing"),
    // In 16 bits.
    (
      [0xff, 0xfe] + Array("id,code\n".utf8).flatMap { [$0, 0] }, "line 1: cell 1: it is not UTF-8"
    ),
    (Array("id,code,name\n7,one,y\n".utf8), "line 2: "),
  ]

  @Test(arguments: files.indices)
  func `each file of records is imported as it says, or refused`(place: Int) throws {
    let file = Self.files[place]
    let before = try items
    let command = try run("Item", file.text)
    guard let error = file.error else {
      #expect(command.status == 0, "\(command.error)")
      return
    }
    #expect(command.status == 9)
    #expect(command.error.contains(error), "\(command.error)")
    #expect(try items == before)
  }

  @Test(arguments: [
    ("[{\"id\":7,\"code\":\"x\",\"name\":\"\"}", "line 1: the text is cut off"),
    ("[{\"id\":7,\"code\":\"\\ud800\",\"name\":\"\"}]", "line 1: no JSON at byte"),
    ("[{\"id\":7,\"ratio\":1e400}]", "line 1: no JSON at byte"),
    ("[{\"id\":7,\"code\":\"x\"},]", "line 1: "),
    ("[{\"id\":7}{}]", "line 1: a comma"), ("[1]", "line 1: it is no object"),
    ("[\n{\"id\":7,\n\"code\" \"x\"}]", "line 2: no JSON at byte"),
  ])
  func `an array that is not right is refused with its line`(text: String, error: String) throws {
    let command = try run("Item", text, named: "items.json")
    #expect(command.status == 9)
    #expect(command.error.contains(error), "\(command.error)")
    #expect(try items.count == 1)
  }

  // MARK: Setting aside

  @Test func `bad lines are set aside as they are, and can be imported when they are mended`()
    throws
  {
    let text = "id,code,name\n2,two,x\nbad,three,\"a\nb\"\n4,one,x\n5,five,x\n"
    let rejects = stage.path("rejects.csv")
    let command = try run("Item", text, named: "items.csv", "--rejects", rejects)
    #expect(command.status == 0, "\(command.error)")
    #expect(command.error.contains("line 3: id: bad is not"), "\(command.error)")
    #expect(command.error.contains("line 5: "), "\(command.error)")
    #expect(command.output.contains("2 inserted"))
    #expect(command.output.contains("2 records could not be imported"))
    #expect(try contents(of: rejects) == "id,code,name\nbad,three,\"a\nb\"\n4,one,x\n")
    #expect(try items.map(\.id) == [1, 2, 5])
    #expect(try run("Item", text, named: "items.csv", "--rejects", rejects).status == 7)
    let mended = try contents(of: rejects).replacing("bad", with: "3").replacing(
      "4,one", with: "4,four")
    #expect(try run("Item", mended).status == 0)
    #expect(try items.map(\.id) == [1, 2, 3, 4, 5])
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  @Test func `without bad lines there is no file of them, and lines of JSON are set aside as well`()
    throws
  {
    let rejects = stage.path("rejects.jsonl")
    #expect(try run("Item", "id,name\n1,x\n", named: "items.csv", "--rejects", rejects).status == 0)
    #expect(!exists(rejects))
    let text = "{\"id\":2,\"code\":\"2\",\"name\":\"\"}\n{\"id\":\n{\"id\":3}\n"
    let command = try run("Item", text, named: "items.jsonl", "--json", "--rejects", rejects)
    #expect(command.output == "{\"inserted\":1,\"updated\":0,\"unchanged\":0,\"rejected\":2}\n")
    #expect(try contents(of: rejects) == "{\"id\":\n{\"id\":3}\n")
  }

  // MARK: Batches

  @Test func `batches before a bad line stay, all else is undone`() throws {
    let rows = (2..<30).map { "\($0),code \($0),x\n" }.joined()
    let text = "id,code,name\n" + rows + "bad,x,x\n"
    #expect(try run("Item", text).error.contains("Nothing was imported."))
    #expect(try items.count == 1)
    let command = try run("Item", text, named: "items.csv", "--batch", "10")
    #expect(command.status == 9)
    #expect(command.error.contains("line 30: "), "\(command.error)")
    #expect(command.error.contains("The batches before it were imported."))
    #expect(try items.count == 21)
    #expect(
      try run("Item", "id,code,name\n" + rows, named: "items.csv", "--batch", "7").status == 0)
    #expect(try items.count == 29)
  }

  @Test func `many records are imported from standard input`() throws {
    let rows = (2..<20_000).map { "\($0),code \($0),x" }.joined(separator: "\n")
    let file = stage.path("file")
    try write("id,code,name\n" + rows, to: file)
    let command = try Command.run("import", path, "Item", "-", "--json", input: file)
    #expect(
      command.output == "{\"inserted\":19998,\"updated\":0,\"unchanged\":0,\"rejected\":0}\n",
      "\(command.error)")
    #expect(try items.count == 19_999)
  }

  // MARK: Arguments

  @Test func `what cannot be meant is refused, with the status of the others`() throws {
    let file = stage.path("items.csv")
    try write("id,code,name\n", to: file)
    func status(_ arguments: String...) throws -> Int32 {
      try Command.run(["import"] + arguments).status
    }
    #expect(try status(path, "Item", file, "more") == 2)
    #expect(try status(path, "Item", file, "--into") == 2)
    #expect(try status(path, "Item", file, "--batch", "0") == 2)
    #expect(try status(path, "Item", file, "--map", "x") == 2)
    #expect(try status(path, "Item", file, "--separator", "ab") == 2)
    #expect(try status(path, file, "--id", "code") == 2)
    #expect(try status(path, "Nothing", file) == 2)
    #expect(try status(path, "Item", file, "--id", "nothing") == 2)
    #expect(try status(path, "Item", file, "--map", "missing=name") == 8)
    #expect(try status(path, "Item", stage.path("nothing")) == 8)
    #expect(try status(stage.path("nothing"), "Item", file) == 5)
    let store = try PersistentStore(at: path, model: Self.model)
    #expect(try status(path, "Item", file) == 3)
    try store.close()
  }
}

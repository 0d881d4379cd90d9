import Cambium
import TestSupport
import Testing

/// Relations in the output of the command, and their rules for its changes.
@Suite struct RelationCommandTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = stage.path("library.cambium")
    let store = try PersistentStore(at: path, model: Self.model)
    try store.write { transaction in
      // Each leads to the other, so neither can come first.
      try transaction.insert(Partner(id: 1, other: Reference(2)))
      try transaction.insert(Partner(id: 2, other: Reference(1)))
      try transaction.insert(Partner(id: 3, other: nil))
      try transaction.insert(Volume(id: 10, editor: Reference(1), keywords: [Reference("swift")]))
      try transaction.insert(Keyword(id: "swift"))
    }
    try store.close()
  }

  @Test func `an import needs no order, and rings come back`() throws {
    let (file, copy) = (stage.path("file"), stage.path("copy"))
    let text = try Command.run("export", path).output
    try write(text, to: file)
    let command = try Command.run("import", copy, file)
    #expect(command.status == 0, "\(command.error)")
    #expect(try Command.run("export", copy).output == text)
    #expect(try Command.run("check", copy, "--deep").status == 0)
    let store = try PersistentStore(at: copy, model: Self.model)
    #expect(try store.fetch(Partner.self, key: 1)?.other == Reference(2))
    // The rules came with it.
    try store.delete(Partner.self, key: 1)
    #expect(try store.count(Volume.self) == 0)
    try store.close()
  }

  @Test func `an import that would leave a reference leading nowhere adds nothing`() throws {
    let text = try Command.run("export", path).output
    let lines = text.split(separator: "\n").map { line in
      line.contains("swift") && line.contains("Keyword") && !line.contains("schema")
        ? String(line).replacing("swift", with: "other") : String(line)
    }
    let (file, copy) = (stage.path("file"), stage.path("copy"))
    try write(lines.joined(separator: "\n") + "\n", to: file)
    let command = try Command.run("import", copy, file)
    #expect(command.status == 9, "\(command.output)")
    #expect(
      command.error.contains("leads to Keyword \"swift\", which is not there"), "\(command.error)")
    #expect(try Command.run("info", copy).status == 5)
  }

  @Test func `info counts the entries of each relation`() throws {
    let lines = try Command.run("info", path).output.split(separator: "\n")
      .map { $0.split(separator: " ").joined(separator: " ") }
    #expect(lines.contains("Partner.other Partner 2"))
    #expect(lines.contains("Volume.editor Partner 1"))
    #expect(lines.contains("Volume.keywords Keyword 1"))
  }

  @Test func `a schema in Swift has references and their other ends`() throws {
    let swift = try Command.run("schema", path).output
    #expect(swift.contains("var editor: Reference<Partner>"), "\(swift)")
    #expect(swift.contains("var keywords: [Reference<Keyword>]"))
    #expect(
      swift.contains(
        "Inverse<Partner, Volume>(\"volumes\", of: \"editor\", deleteRule: .cascade)"))
    let json = try Command.run("schema", path, "--json").output
    #expect(json.contains("\"of\":\"Volume.editor\""), "\(json)")
  }

  // MARK: Related records in answers

  private func query(_ arguments: String...) throws -> String {
    let command = try Command.run(["query", path] + arguments)
    #expect(command.status == 0, "\(arguments): \(command.error)")
    return command.output
  }

  @Test func `related records are nested in JSON`() throws {
    #expect(
      try query("Volume", "--json", "--including", "editor.other, keywords")
        == #"{"id":10,"editor":{"id":1,"other":{"id":2,"other":1}},"keywords":[{"id":"swift"}]}"#
        + "\n")
    let volume = #"{"id":10,"editor":1,"keywords":["swift"]}"#
    #expect(
      try query("Partner", "--json", "--including", "other.volumes,volumes")
        == """
        {"id":1,"other":{"id":2,"other":1,"volumes":[]},"volumes":[\(volume)]}
        {"id":2,"other":{"id":1,"other":2,"volumes":[\(volume)]},"volumes":[]}
        {"id":3,"other":null,"volumes":[]}

        """)
    // A field that is not shown comes after the others, and a path may be named along its parts.
    #expect(
      try query(
        "Volume", "--json", "--fields", "keywords", "--including", "editor,editor.other")
        == #"{"keywords":["swift"],"editor":{"id":1,"other":{"id":2,"other":1}}}"# + "\n")
    #expect(
      try query("Volume", "--json", "id > 10", "--including", "editor").isEmpty)
  }

  @Test func `a condition leads over relations`() throws {
    let condition = #"editor.other.id == 2 && keywords.any(id == "swift")"#
    #expect(try query("Volume", condition, "--count") == "1\n")
    #expect(try query("Partner", "volumes.count(id > 10) > 0", "--count") == "0\n")
    #expect(try query("Volume", condition, "--explain").contains("Partner"))
  }

  @Test func `related records are lines below a row of a table`() throws {
    #expect(
      try query("Volume", "--including", "keywords,editor.other,editor.volumes")
        == """
        id  editor  keywords
        10       1  [swift]
            keywords: id swift
            editor: id 1, other 2
                other: id 2, other 1
                volumes: id 10, editor 1, keywords [swift]
        1 record

        """)
    #expect(
      try query("Partner", "id == 3", "--including", "other,volumes")
        == """
        id  other
         3  –
            other: –
            volumes: –
        1 record

        """)
  }

  @Test func `many records have related records page by page`() throws {
    let store = try PersistentStore(at: path, model: Self.model)
    try store.save(contentsOf: (4...1_203).map { Partner(id: $0, other: Reference($0 - 1)) })
    try store.close()
    let lines = try query("Partner", "id > 3", "--json", "--including", "other")
      .split(separator: "\n")
    #expect(lines.count == 1_200)
    for (index, line) in lines.enumerated() {
      #expect(line.hasPrefix(#"{"id":\#(index + 4),"other":{"id":\#(index + 3),"other":"#))
    }
    let page = try query(
      "Partner", "--after", "1000", "--limit", "2", "--json", "--including", "other.other")
    #expect(
      page == """
        {"id":1001,"other":{"id":1000,"other":{"id":999,"other":998}}}
        {"id":1002,"other":{"id":1001,"other":{"id":1000,"other":999}}}

        """)
  }

  @Test func `an unknown relation is a usage error that names those of the record`() throws {
    for (relations, message) in [
      ("nobody", #"Volume has no relation "nobody". It has editor, keywords."#),
      ("editor.id", #"Partner has no relation "id". It has other, volumes."#),
      ("keywords,", #"Volume has no relation "". It has editor, keywords."#),
      ("keywords.volumes", #"Keyword has no relation "volumes". It has none."#),
      ("editors", #"Volume has no relation "editors". It has editor, keywords."#),
    ] {
      let command = try Command.run("query", path, "Volume", "--including", relations)
      #expect(command.status == 2, "\(relations)")
      #expect(command.error == "cambium: \(message)\n")
      #expect(command.output.isEmpty)
    }
  }

  @Test
  func `a condition over an unknown relation is a usage error that names those of the record`()
    throws
  {
    let command = try Command.run("query", path, "Volume", "nobody.any(id == 1)")
    #expect(command.status == 2, "\(command.error)")
    #expect(command.error.contains("it has editor, keywords"), "\(command.error)")
  }

  @Test func `included relations lead so far and to so many records, and no further`() throws {
    func including(_ relations: String) throws -> Command {
      try Command.run("query", path, "Partner", "id == 1", "--json", "--including", relations)
    }
    func chain(_ name: String, _ count: Int) -> String {
      Array(repeating: name, count: count).joined(separator: ".")
    }
    #expect(try including(chain("other", 24)).status == 0)
    // No path is too long, and there are too many of them.
    let wide = (1...11).flatMap { start in
      (1...10).map { end in
        [chain("other", start), "volumes.editor", chain("other", end), "volumes"]
          .joined(separator: ".")
      }
    }.joined(separator: ",")
    for relations in [
      chain("other", 25), chain("other", 20_000), chain("other.volumes.editor", 30), wide,
    ] {
      let command = try including(relations)
      #expect(command.status == 2 && command.output.isEmpty)
      #expect(command.error.contains("24 relations at most"), "\(command.error)")
    }
    // The same relation again is no other one.
    #expect(
      try including(Array(repeating: "other", count: 5_000).joined(separator: ",")).status == 0)
    let store = try PersistentStore(at: path, model: Self.model)
    try store.save(
      contentsOf: (100..<163).map { Volume(id: $0, editor: Reference(1), keywords: []) })
    try store.close()
    #expect(try including("volumes.editor.volumes").status == 0)
    let command = try including(chain("volumes.editor", 3))
    #expect(command.status == 7 && command.output.isEmpty)
    #expect(command.error.contains("262144 records of volumes"), "\(command.error)")
  }

  private static var model: StoreModel {
    StoreModel(records: [Partner.self, Volume.self, Keyword.self])
  }
}

private struct Partner: Record, Identifiable {
  var id: Int
  var other: Reference<Partner>?
  static let volumes = Inverse("volumes", of: \Volume.editor, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "other", type: .reference(to: Partner.self), optional: true)
    volumes
  }
}

private struct Volume: Record, Identifiable {
  var id: Int
  var editor: Reference<Partner>
  var keywords: [Reference<Keyword>]

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "editor", type: .reference(to: Partner.self))
    Field(name: "keywords", type: .references(to: Keyword.self))
  }
}

private struct Keyword: Record, Identifiable {
  var id: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
  }
}

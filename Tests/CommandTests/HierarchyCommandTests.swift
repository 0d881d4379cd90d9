import Cambium
import TestSupport
import Testing

/// Kinds in the output of the command, and the rule that a record is of one, for its changes.
@Suite struct HierarchyCommandTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = stage.path("shapes.cambium")
    let store = try PersistentStore(
      at: path, model: StoreModel(records: [Shape.self, Circle.self, Dot.self, Square.self]))
    try store.write { transaction in
      try transaction.insert(Circle(shape: Shape(id: 1, color: "red"), radius: 2))
      try transaction.insert(
        Dot(circle: Circle(shape: Shape(id: 2, color: "blue"), radius: 0)))
      try transaction.insert(Square(shape: Shape(id: 3, color: "red"), side: 5))
    }
    try store.close()
  }

  @Test func `an export is imported with the kinds and their rule`() throws {
    let (file, copy) = (stage.path("file"), stage.path("copy"))
    let text = try Command.run("export", path).output
    try write(text, to: file)
    let command = try Command.run("import", copy, file)
    #expect(command.status == 0, "\(command.error)")
    #expect(try Command.run("export", copy).output == text)
    #expect(try Command.run("check", copy, "--deep").status == 0)
    let plain = text.replacing("{\"side\":5}", with: "null")
    #expect(plain != text, "\(text)")
    try write(plain, to: file)
    let refused = try Command.run("import", stage.path("other"), file)
    #expect(refused.status != 0)
    #expect(refused.error.contains("Shape is abstract"), "\(refused.error)")
  }

  @Test func `a query asks for a kind`() throws {
    func count(_ condition: String) throws -> String {
      try Command.run("query", path, "Shape", condition, "--count").output
    }
    #expect(try count("is(Circle)").contains("2"))
    #expect(try count("isExactly(Circle)").contains("1"))
    #expect(try count("is(Square) and Square.side > 4").contains("1"))
  }

  @Test func `a schema in Swift has a type for each kind`() throws {
    let swift = try Command.run("schema", path).output
    for text in [
      "    Abstract()\n", "struct Circle: Record {\n  var shape: Shape\n  var radius: Double\n",
      "    Parent(Shape.self, property: \"shape\")\n",
      "struct Dot: Record {\n  var circle: Circle\n\n",
      "    Parent(Circle.self, property: \"circle\")\n", "    Index(\"side\"",
    ] {
      #expect(swift.contains(text), "\(text)\n\(swift)")
    }
    #expect(!swift.contains("composite"), "\(swift)")
  }
}

private struct Shape: Record {
  var id: Int
  var color: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Abstract()
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "color", type: .string)
  }
}

private struct Circle: Record {
  var shape: Shape
  var radius: Double

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Shape.self, property: "shape")
    Field(name: "radius", type: .double)
  }
}

private struct Dot: Record {
  var circle: Circle

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Circle.self, property: "circle")
  }
}

private struct Square: Record {
  var shape: Shape
  var side: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Shape.self, property: "shape")
    Field(name: "side", type: .integer, indexed: true)
  }
}

import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What `FORMAT.md` says of schemas is what the code writes.
@Suite struct SchemaFormatTests {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument()
  }

  @Test func `the schema in hex is written, and read`() throws {
    let todo: Describing = { _ in Self.todo }
    let schema = try Item.describing.withValue(todo) {
      try StoreModel(label: "first", records: [Item.self]).checked().schema
    }
    let shown = try document.hex("A schema in hex").flatMap(\.bytes)
    #expect(schema.encoded() == shown)
    #expect(try Schema(decoding: shown.rawSpan, version: 1, path: "here") == schema)
  }

  @Test func `every kind of element and type has its number`() throws {
    let kinds = try zip(
      document.column("kind", of: "Schema element kinds"),
      document.column("name", of: "Schema element kinds"))
    #expect(
      kinds.map { "\($0) \($1)" } == SchemaElement.allCases.map { "\($0.rawValue) \($0)" })
    let types = try document.table("Column types").map { row in
      "\(row["type"] ?? "") \((row["name"] ?? "").filter { $0 != "`" }) \(row["can be in keys"] ?? "")"
    }
    let known: [ColumnType] =
      ScalarType.allCases.map { .scalar($0) } + [
        .transformable(codec: "c"), .array(of: .string), .composite,
        .external(of: .string, BlobOptions()),
      ]
    #expect(
      types
        == known.sorted { $0.code < $1.code }.map { type in
          "\(type.code) \(type.description.prefix { $0 != "(" }) \(type.canBeKey ? "yes" : "no")"
        })
  }

  @Test func `elements are laid out as the tables say`() throws {
    let number = { (value: UInt8) -> Bytes in [value, 0, 0, 0] }
    let text = { (text: String) -> Bytes in number(UInt8(text.utf8.count)) + Bytes(text.utf8) }
    let shown = try document.hex("A schema in hex").flatMap(\.bytes)
    let element = Bytes(shown[0x10..<0x1d])
    try ByteTable("Schema element", in: document).verify(
      element,
      ["kind": [1, 0], "flags": [1, 0], "length": number(5), "payload": Bytes("first".utf8)])
    try ByteTable("Record element", in: document).verify(
      Bytes(shown[0x31..<0x41]),
      ["number": number(1), "next field": number(4), "name": text("Todo")])
    try ByteTable("Field element", in: document).verify(
      Bytes(shown[0x7c..<0x8e]),
      [
        "number": number(1), "composite": number(0), "flags": [1], "type": [1],
        "name": text("done"),
      ])
    try ByteTable("Index element", in: document).verify(
      Bytes(shown[0xa7..<0xbd]),
      [
        "number": number(2), "flags": [0], "name": text("open"),
        "parts": number(1) + number(3) + [0],
      ])
  }

  @Test func `the relation in hex is written, and read`() throws {
    let model = StoreModel(records: [HexAuthor.self, HexBook.self])
    let schema = try model.checked().schema
    let shown = try document.hex("Relations, worked").flatMap(\.bytes)
    #expect(schema.encoded() == shown)
    #expect(try Schema(decoding: shown.rawSpan, version: 1, path: "here") == schema)
    let number = { (value: UInt8) -> Bytes in [value, 0, 0, 0] }
    let text = { (text: String) -> Bytes in number(UInt8(text.utf8.count)) + Bytes(text.utf8) }
    let inverse = try #require(shown.firstRange(of: [10, 0, 1, 0, 30, 0, 0, 0]))
    try ByteTable("Inverse element", in: document).verify(
      Bytes(shown[inverse.upperBound..<inverse.upperBound + 30]),
      [
        "number": number(2), "record": number(2), "field": number(1), "rule": [2],
        "least": number(0), "most": number(0), "name": text("books"),
      ])
    let reference = try #require(shown.firstRange(of: [9, 0, 1, 0, 14, 0, 0, 0]))
    try ByteTable("Reference element", in: document).verify(
      Bytes(shown[reference.upperBound..<reference.upperBound + 14]),
      [
        "destination": number(1), "flags": [1], "rule": [1], "least": number(0),
        "most": number(0),
      ])
  }

  @Test func `the entries of the relation are those of the table`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [HexAuthor.self, HexBook.self]))
    try store.write { transaction in
      try transaction.insert(HexBook(id: 1, author: Reference(7)))
      try transaction.insert(HexAuthor(id: 7))
    }
    let trees = try store.snapshot().recordReader().trees
    for row in try document.table("Relations, worked") {
      let tree = try #require(row["tree"]).filter { $0 != "`" }
      func bytes(_ column: String) -> Bytes {
        (row[column] ?? "").filter { $0 != "`" }.split(separator: " ")
          .compactMap { UInt8($0, radix: 16) }
      }
      var value: Bytes = []
      let key = bytes("key")
      #expect(
        try trees.copyValue(of: key.rawSpan, in: store.backend.names.slot(of: tree), to: &value))
      #expect(value == bytes("value"), "\(tree)")
    }
  }

  private static let todo = description {
    RecordName("Todo")
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "title", type: .string)
    Field(name: "done", type: .boolean, optional: true)
    Index("title", named: "open", where: .comparison(field: "done", .equal, false))
  }
}

private struct HexAuthor: Record, Identifiable {
  var id: Int
  static let books = Inverse("books", of: \HexBook.author, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Author")
    Field(primaryKey: true, name: "id", type: .integer)
    books
  }
}

private struct HexBook: Record {
  var id: Int
  var author: Reference<HexAuthor>

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Book")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "author", type: .reference(to: HexAuthor.self))
  }
}

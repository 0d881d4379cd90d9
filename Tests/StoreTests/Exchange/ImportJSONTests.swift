import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Place: Codable, Equatable, Sendable {
  var x: Double
  var y: Double?
}

private enum Grade: String, RecordStringEnum, Codable {
  case low, high
}

private struct Shelf: Record, Identifiable, Equatable {
  var id: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
  }
}

/// A field of each kind that JSON writes in its own way; one is stored under another name.
private struct Ware: Record, Identifiable, Equatable {
  var id: Int
  var title = ""
  var price = Decimal(0)
  var added = Date(timeIntervalSinceReferenceDate: 0)
  var key = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  var tags: [String] = []
  var place: Place?
  var picture = Data()
  var large = Data()
  var level = Grade.low
  var shelf: Reference<Shelf>?
  var extra: [String: Int] = [:]
  var ratio: Float = 0.5

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, property: "title", validation: [.length(0...20)])
    Field(name: "price", type: .decimal, default: Decimal(7))
    Field(name: "added", type: .date)
    Field(name: "key", type: .uuid)
    Field(name: "tags", type: .array(of: .string))
    Field(
      name: "place",
      type: .composite {
        Field(name: "x", type: .double)
        Field(name: "y", type: .double, optional: true)
      }, optional: true)
    Field(name: "picture", type: .binaryData)
    Field(name: "large", type: .binaryData, storage: .external(threshold: 4))
    Field(name: "level", type: .string)
    Field(name: "shelf", type: .reference(to: Shelf.self), optional: true)
    Field(name: "extra", type: .transformable)
    Field(name: "ratio", type: .float)
  }
}

private struct Chair: Record, Equatable {
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

/// Imports of JSON.
@Suite struct ImportJSONTests {
  private let store: PersistentStore

  init() throws {
    store = try PersistentStore(
      inMemory: StoreModel(records: [Ware.self, Shelf.self, Chair.self]))
  }

  private func item(_ id: Int) -> Ware {
    Ware(
      id: id, title: "é \(id)", price: Decimal(id) / 4,
      added: Date(timeIntervalSinceReferenceDate: Double(id) + 0.25), tags: ["a", "\"\\\n"],
      place: Place(x: 1.5), picture: Data([0, 255]), large: Data(repeating: 3, count: 50),
      level: .high, shelf: id % 2 == 0 ? Reference("s") : nil, extra: ["one": id], ratio: 0.1)
  }

  @Test(arguments: [false, true])
  func `what JSONEncoder writes comes back, as an array and as lines`(merging: Bool) throws {
    let items = (0..<5).map(item)
    try store.save(Shelf(id: "s"))
    let array = try JSONEncoder().encode(items)
    let report = try store.importRecords(Ware.self, decoding: array, merging: merging)
    #expect(report.inserted == 5)
    #expect(try store.fetch(Ware.self) == items)
    var lines = Data()
    for item in items { lines += try JSONEncoder().encode(item) + Data("\r\n".utf8) }
    let again = try store.importRecords(Ware.self, decoding: lines, merging: merging)
    #expect(again.unchanged == 5)
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test func `fields that are missing stay as they are, also those of composites`() throws {
    try store.save(Shelf(id: "s"))
    var old = item(2)
    old.place = Place(x: 1, y: 2)
    try store.save(old)
    let text = """
      { "id": 2, "title": "new",
        "place": {"x": 9}, "unknown": [1, {"a": "]"}] }
      {"id": 3, "name": "stored name", "added": "2026-01-02T03:04:05Z",
       "key": "01020304-0506-0708-090A-0B0C0D0E0F10", "tags": [], "picture": "", "large": "",
       "level": "low", "extra": {}, "ratio": 1, "place": null}
      """
    let report = try store.importRecords(Ware.self, decoding: Data(text.utf8), merging: true)
    #expect(report.updated == 1 && report.inserted == 1)
    old.title = "new"
    old.place = Place(x: 9, y: 2)
    #expect(try store.fetch(Ware.self, key: 2) == old)
    let new = try #require(try store.fetch(Ware.self, key: 3))
    #expect(new.title == "stored name")
    #expect(new.price == 7, "the default of the description")
    #expect(new.added.timeIntervalSinceReferenceDate == 789_015_845)
    let same = try store.importRecords(
      Ware.self, decoding: Data(#"[{"id":2},{"id":3,"ratio":1.0}]"#.utf8), merging: true)
    #expect(same.unchanged == 2)
    #expect(try store.snapshot().check().isEmpty)
  }

  @Test
  func `records with keys of several parts are imported by them, and the last duplicate counts`()
    throws
  {
    try store.save(Chair(row: 1, number: 2, guest: "old"))
    let text = """
      [{"row":1,"number":2,"guest":"first"}, {"row":1,"number":3}, {"number":2,"row":1,"guest":null}]
      """
    for merging in [false, true] {
      let report = try store.importRecords(Chair.self, decoding: Data(text.utf8), merging: merging)
      #expect(report.duplicates == 1)
      #expect(
        try store.fetch(Chair.self) == [Chair(row: 1, number: 2), Chair(row: 1, number: 3)])
    }
  }

  @Test func `references may come before their destinations in one transaction`() throws {
    try store.write { transaction in
      try transaction.importRecords(
        Ware.self, decoding: try JSONEncoder().encode([item(2)]), merging: false)
      try transaction.importRecords(Shelf.self, decoding: Data(#"{"id":"s"}"#.utf8))
    }
    #expect(try store.snapshot().check().isEmpty)
  }

  /// Text, whether it is merged, and what the error says.
  private static let faults: [(text: String, merging: Bool, message: String)] = [
    ("[{\"row\":1,\"number\":1},\n{\"row\":1}]", false, "Chair.number is not valid: line 2"),
    (
      "{\"row\":1,\"number\":1}\n\n{\"row\":\"x\",\"number\":1}", false,
      "Chair.row is not valid: line 3"
    ),
    ("[{\"row\":1,\"number\":1},\n{\"row\":1}]", true, "Chair.number is not valid: line 2"),
    ("{\"row\":1,\"number\":1}\n{\"row\":\"x\",\"number\":1}", true, "line 2: row: \"x\" is not"),
    ("{\"row\":1,\"number\":1", false, "line 1: the text is cut off"),
    ("[{\"row\":1,\"number\":1}", true, "line 1: the text is cut off"),
    ("[{\"row\":1,\"number\":1}\n{}]", true, "line 2: a comma or the end of the array"),
    ("[{\"row\":1,\"number\":1}] []", false, "line 1: something follows the array"),
    ("[1,\n2]", true, "line 1: Chair is no object"),
    ("{\"row\":1,\"number\":1}\n{\"row\":1 \"number\":1}", true, "line 2: no JSON at byte"),
    ("\"text", false, "line 1: the text is cut off"),
  ]

  @Test(arguments: faults.indices)
  func `what is wrong is named with its line, and nothing is imported`(place: Int) throws {
    let fault = Self.faults[place]
    do {
      try store.importRecords(
        Chair.self, decoding: Data(fault.text.utf8), merging: fault.merging)
      Issue.record("it was imported")
    } catch let error as StoreError {
      #expect("\(error)".contains(fault.message), "\(error)")
    }
    #expect(try store.count(Chair.self) == 0)
  }

  @Test func `a value that is not valid is refused when merged, too`() throws {
    try store.save(item(1))
    let text = #"{"id":1,"title":"\#(String(repeating: "x", count: 30))"}"#
    #expect(throws: StoreError.self) {
      try store.importRecords(Ware.self, decoding: Data(text.utf8), merging: true)
    }
    #expect(try store.fetch(Ware.self) == [item(1)])
  }

  @Test(arguments: ["", " \n ", "[]", "\u{feff}[ ]\n"])
  func `text without values imports nothing`(text: String) throws {
    let report = try store.importRecords(Chair.self, decoding: Data(text.utf8))
    #expect(report == ImportReport())
  }
}

/// The division of JSON into its values.
@Suite struct JSONDividerTests {
  private func divide(_ text: String) throws(JSONFault) -> [String] {
    var divider = JSONDivider()
    var values: [[UInt8]] = []
    for byte in text.utf8 { if let value = try divider.take(byte) { values.append(value) } }
    if let value = try divider.end() { values.append(value) }
    return values.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("[]", []), ("[1]", ["1"]), ("[1,22 , 3.5e+1]", ["1", "22", "3.5e+1"]),
    (
      "[true,\"a,]\\\"\",[1,[2]],{\"a\":[\"}\"]}]",
      ["true", "\"a,]\\\"\"", "[1,[2]]", "{\"a\":[\"}\"]}"]
    ),
    ("{}{}\n{\"a\":1}", ["{}", "{}", "{\"a\":1}"]), ("1 2\n3", ["1", "2", "3"]),
    ("\"a\"\"b\"", ["\"a\"", "\"b\""]),
    ("{\"a\": \"\\\\\"} 4{}", ["{\"a\": \"\\\\\"}", "4", "{}"]),
  ])
  func `values come out whole`(text: String, values: [String]) throws {
    #expect(try divide(text) == values)
  }

  @Test(arguments: [
    "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1]1", "]", ",", "{", "\"", "{\"a\"", "}",
  ])
  func `what is not divided right is refused`(text: String) {
    #expect(throws: JSONFault.self) { try divide(text) }
  }

  @Test(arguments: [
    "[\"aaaaaaaaaaaaaaaaaaaaaaaa", "[{\"a\": [1, 2, 3, 4, 5, 6]}]", "12345678901234567",
  ])
  func `a value is no longer than its bound`(text: String) {
    let fault = #expect(throws: JSONFault.self) {
      var divider = JSONDivider(valueMax: 16)
      for byte in "\n".utf8 { _ = try divider.take(byte) }
      for byte in text.utf8 { _ = try divider.take(byte) }
    }
    #expect("\(fault.map { "\($0)" } ?? "")".contains("line 2"))
  }

  @Test func `any bytes are divided or refused, without a trap`() {
    var random = SplitMix64(seed: 5)
    let letters = Array("[]{},\"\\ \n1a:".utf8)
    for _ in 0..<20_000 {
      var divider = JSONDivider()
      do {
        for _ in 0..<Int.random(in: 0..<12, using: &random) {
          _ = try divider.take(letters.randomElement(using: &random) ?? 0)
        }
        _ = try divider.end()
      } catch {}
    }
  }
}

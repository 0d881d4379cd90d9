import FoundationEssentials
import Testing

@testable import Cambium

/// Texts that a type cannot hold: every way from text refuses them.
@Suite struct TextValueTests {
  private struct N: Record, Equatable {
    var id: Int
    var d = 0.0
    var f: Float = 0
    var m = Decimal(0)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      let isText = version == 1
      Field(name: "d", type: isText ? .string : .double)
      Field(name: "f", type: isText ? .string : .float)
      Field(name: "m", type: isText ? .string : .decimal)
    }
  }

  private static let nines = String(repeating: "9", count: 400)

  @Test(arguments: [
    "1e309", "1e400", "-1e309", nines, "1e-400", "-1e-400",
    "0." + String(repeating: "0", count: 400) + "1",
    "", " 1", "1 ", "1,5", "0x1p-2000",
  ])
  func `a text that no double holds is none`(text: String) {
    #expect(Double(numberText: text) == nil)
    #expect(Float(numberText: text) == nil)
  }

  @Test func `a text is a number of the type that holds it`() {
    #expect(Double(numberText: "1e308") == 1e308)
    #expect(Double(numberText: "5e-324") == .leastNonzeroMagnitude)
    #expect(Double(numberText: "0e999") == 0)
    #expect(Double(numberText: "-0.00")?.sign == .minus)
    #expect(Double(numberText: "inf") == .infinity)
    #expect(Double(numberText: "-inf") == -.infinity)
    #expect(Double(numberText: "nan")?.isNaN == true)
    #expect(Float(numberText: "3.4e38") == 3.4e38)
    for text in ["3.5e38", "1e39", "1e-60", "1e300"] { #expect(Float(numberText: text) == nil) }
    #expect(Decimal(numberText: "1.50") == Decimal(string: "1.5"))
    #expect(Decimal(numberText: "-0.000") == 0)
    #expect(Decimal(numberText: "nan")?.isNaN == true)
    #expect(Decimal(numberText: "1e127") == Decimal(string: "1e127"))
    // Foundation has the number, and does not read it from this text.
    #expect(
      Decimal(numberText: "1e165")?.description == "1" + String(repeating: "0", count: 165))
    #expect(
      Decimal(numberText: "340282366920938463463374607431768211455")
        == Decimal(string: "340282366920938463463374607431768211455"))
    for text in [
      "340282366920938463463374607431768211456", "123456789012345678901234567890123456789012345",
      "0.1234567890123456789012345678901234567890123", "1e166", "1e-129", "1e-9223372036854775808",
      "1.2.3", ".", "", "-", "1x", "0x10", "inf", "1e", "e5", "１",
    ] { #expect(Decimal(numberText: text) == nil, "\(text)") }
  }

  @Test func `a URL is absolute and stays as it is written, and base64 is whole`() {
    for text in ["http://a.b/c?d=%20", "mailto:a@b.c", "x:y"] {
      #expect(URL(absolute: text)?.absoluteString == text)
    }
    for text in ["not a url", "a/b?c", "", "//host/path", "http://a b"] {
      #expect(URL(absolute: text) == nil, "\(text)")
    }
    #expect(Data(wholeBase64: "") == Data())
    #expect(Data(wholeBase64: "AAE=") == Data([0, 1]))
    #expect(Data(wholeBase64: "AA==") == Data([0]))
    for text in ["====", "===", "A===", "AA=", "AAE", "AA==AAAA", "AB==", "AA A", "AAAA="] {
      #expect(Data(wholeBase64: text) == nil, "\(text)")
    }
  }

  @Test(arguments: [
    ("1e309", ColumnType.double), ("1e-400", .double), ("1e39", .float), ("1e-60", .float),
    ("1e400", .decimal), ("1234567890123456789012345678901234567890123", .decimal),
    ("a/b?c", .url), ("not a url", .url),
  ])
  func `a conversion refuses texts of values that the new type does not hold`(
    text: String, type: ColumnType
  ) throws {
    #expect(FieldValue.string(text).converting(to: type) == nil)
    let store = try DescribedStore(
      versions: 2,
      holding: [DynamicRecord("R", ["id": 1, "v": .string(text)])]
    ) { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "v", type: version == 1 ? .string : FieldType(type.scalar ?? .string))
    }
    let step = MigrationStep(to: 2) {
      UpdateRecord("R") { UpdateField("v", converting: .refuse) }
    }
    #expect(throws: StoreError.self) { try store.records(through: 2, steps: [step]) }
  }

  private struct Link: Record {
    var id: Int
    var url: URL
    var others: [URL] = []
    var more: URL?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "url", type: .url)
      Field(name: "others", type: .array(of: .url))
      Field(name: "more", type: .url, optional: true)
    }
  }

  @Test func `what cannot be queried is not saved: a relative URL is refused`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Link.self]))
    let relative = try #require(URL(string: "a/b?c"))
    let absolute = try #require(URL(string: "http://a.b/c"))
    for (field, link) in [
      ("url", Link(id: 1, url: relative)),
      ("others", Link(id: 1, url: absolute, others: [relative])),
      ("more", Link(id: 1, url: absolute, more: relative)),
    ] {
      let error = #expect(throws: StoreError.self) { try store.save(link) }
      guard case .invalidValue("Link", field, let reason)? = error else {
        Issue.record("\(error as Any)")
        continue
      }
      #expect(reason.contains("a/b?c is no absolute URL"))
    }
    #expect(throws: StoreError.self) {
      try store.write {
        try $0.save(
          DynamicRecord(
            "Link", ["id": 1, "url": .url(relative), "others": .array([])]))
      }
    }
    let listed = #expect(throws: StoreError.self) {
      try store.write {
        try $0.save(
          DynamicRecord(
            "Link",
            ["id": 1, "url": .url(absolute), "others": .array([.url(relative)])]))
      }
    }
    guard case .invalidValue("Link", "others", _)? = listed else {
      Issue.record("\(listed as Any)")
      return
    }
    #expect(throws: StoreError.self) { try store.count(Link.where { $0.url == relative }) }
    try store.save(Link(id: 1, url: absolute, others: [absolute], more: absolute))
    #expect(try store.count(Link.where { $0.url == absolute }) == 1)
  }

  @Test(arguments: ["01", "-01", "1.", "1.e5", ".5", "+1", "-", "1e", "1e+", "1.5.2", "1e2e3"])
  func `a number of JSON has JSON's grammar`(text: String) {
    #expect(throws: JSONFault.self) { try JSONParser.parse(Array(text.utf8)) }
  }

  @Test func `JSON and conditions refuse what the type does not hold`() throws {
    let store = try PersistentStore(inMemory: StoreModel(version: 2, records: [N.self]))
    for json in [
      #"{"id": 1, "f": 1e39}"#, #"{"id": 1, "f": 1e-60}"#, #"{"id": 1, "d": 1e-400}"#,
      #"{"id": 1, "d": 1e309}"#, #"{"id": 1, "m": 1e-200}"#, #"{"id": 01}"#, #"{"id": 1.}"#,
      #"{"id": 1, "d": 1.e5}"#, #"{"id": 1, "d": .5}"#, #"{"id": 1, "d": +1}"#,
      #"{"id": 1, "d": -}"#, #"{"id": 1, "d": 1e}"#, #"{"id": -01}"#,
    ] {
      #expect(throws: StoreError.self, "\(json)") {
        try store.importRecords(N.self, decoding: Data(json.utf8), merging: true)
      }
    }
    #expect(try store.count(N.self) == 0)
    try store.importRecords(
      N.self, decoding: Data(#"{"id": 0, "d": -0.5e-1, "f": 1E2, "m": 1.10}"#.utf8), merging: true)
    #expect(
      try store.fetch(N.self, key: 0) == N(id: 0, d: -0.05, f: 100, m: Decimal(string: "1.1")!))
    for text in [
      "d < 1e309", "d > 1e-400", #"f == float"1e39""#, #"m == decimal"1e400""#,
      #"d == double"1e309""#,
    ] {
      #expect(throws: (any Error).self, "\(text)") { try FieldCondition(parsing: text) }
    }
  }
}

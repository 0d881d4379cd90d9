import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record that encodes and decodes itself as a test says.
private struct Scripted: Record {
  typealias Container = KeyedEncodingContainer<Key>

  struct Key: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral: String) { stringValue = stringLiteral }
    init?(intValue: Int) { return nil }
  }

  /// The tests that set them run one after the other.
  nonisolated(unsafe) static var encoding: (any Encoder) throws -> Void = { _ in }
  nonisolated(unsafe) static var decoding: (any Decoder) throws -> Void = { _ in }

  init() {}
  init(from decoder: any Decoder) throws { try unsafe Self.decoding(decoder) }
  func encode(to encoder: any Encoder) throws { try unsafe Self.encoding(encoder) }

  static var coding: RecordCoding { .codable }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
    Field(name: "note", type: .string, optional: true)
    Field(name: "count", type: .int8, optional: true)
    Field(name: "words", type: .array(of: .string), optional: true)
    Field(name: "coded", type: .transformable, optional: true)
    Field(
      name: "place",
      type: .composite {
        Field(name: "x", type: .double)
        Field(name: "tag", type: .string, optional: true)
      }, optional: true)
    Transient("views", default: 7)
  }
}

@Suite(.serialized) struct CodingFaultTests {
  /// Encodes and takes what happens; the error's field and reason, if there is one.
  private func refusal(
    _ body: @escaping (any Encoder) throws -> Void
  ) throws -> (field: String?, reason: String)? {
    let plan = try makePlan(Scripted.self)
    do {
      unsafe Scripted.encoding = body
      try plan.write(Scripted(), to: RowWriter(), key: KeyEncoder())
      return nil
    } catch StoreError.invalidValue("Scripted", let field, let reason) { return (field, reason) }
  }

  /// Encodes a whole record and what else `body` does.
  private func refusalOf(
    _ body: @escaping (inout Scripted.Container) throws -> Void
  ) throws -> String? {
    try refusal { encoder in
      var container = encoder.container(keyedBy: Scripted.Key.self)
      try container.encode(1, forKey: "id")
      try container.encode("a", forKey: "text")
      try body(&container)
    }.map { $0.field ?? "" }
  }

  @Test func `a record that was refused leaves nothing for the next`() throws {
    let plan = try makePlan(Scripted.self)
    let rows = try [false, true].map { isAfterRefused in
      let (row, key) = (RowWriter(), KeyEncoder())
      unsafe Scripted.encoding = { encoder in
        var container = encoder.container(keyedBy: Scripted.Key.self)
        try container.encode(["a", "b"], forKey: "words")
        throw CancellationError()
      }
      if isAfterRefused {
        #expect(storeError { try plan.write(Scripted(), to: row, key: key) } != nil)
      }
      unsafe Scripted.encoding = { encoder in
        var container = encoder.container(keyedBy: Scripted.Key.self)
        try container.encode(1, forKey: "id")
        try container.encode("a", forKey: "text")
      }
      try plan.write(Scripted(), to: row, key: key)
      return row.row.array()
    }
    #expect(rows[0] == rows[1])
  }

  @Test func `a row that is too long names its record and field`() throws {
    let long = String(repeating: "x", count: 17 << 20)
    let refused = try refusal { encoder in
      var container = encoder.container(keyedBy: Scripted.Key.self)
      try container.encode("a", forKey: "text")
      try container.encode(long, forKey: "note")
      try container.encode(41, forKey: "id")
    }
    #expect(refused?.field == "note")
    #expect(refused?.reason.contains("of the record 41") == true)
  }

  @Test func `what does not fit its field is refused, the field named`() throws {
    #expect(try refusalOf { _ in } == nil)
    #expect(try refusalOf { try $0.encode(1, forKey: "text") } == "text")
    #expect(try refusalOf { try $0.encode("b", forKey: "id") } == "id")
    #expect(try refusalOf { try $0.encode(1.5, forKey: "id") } == "id")
    #expect(try refusalOf { try $0.encode(300, forKey: "count") } == "count")
    #expect(try refusalOf { try $0.encode(-129, forKey: "count") } == "count")
    #expect(try refusalOf { try $0.encode(-128, forKey: "count") } == nil)
    #expect(try refusalOf { try $0.encode(1, forKey: "other") } == "other")
    #expect(try refusalOf { try $0.encodeNil(forKey: "other") } == "other")
    #expect(try refusalOf { try $0.encodeNil(forKey: "text") } == "text")
    #expect(try refusalOf { try $0.encodeNil(forKey: "note") } == nil)
    #expect(try refusalOf { try $0.encode(UUID(), forKey: "count") } == "count")
    #expect(try refusalOf { try $0.encode(["a": 1], forKey: "note") } == "note")
    #expect(try refusalOf { try $0.encode(["a", "b"], forKey: "note") } == "note")
    #expect(try refusalOf { try $0.encode([1, 2], forKey: "words") } == "words")
    #expect(try refusalOf { try $0.encode(["a", nil], forKey: "words") } == "words")
    #expect(try refusalOf { try $0.encode([["a"]], forKey: "words") } == "words")
    #expect(try refusalOf { try $0.encode(["a": 1], forKey: "words") } == "words")
    #expect(try refusalOf { try $0.encode(["x": 1.0], forKey: "place") } == nil)
    #expect(try refusalOf { try $0.encode(["x": 1], forKey: "place") } == "place.x")
    #expect(try refusalOf { try $0.encode(["y": 1.0], forKey: "place") } == "place.y")
    #expect(try refusalOf { try $0.encode("x", forKey: "place") } == "place")
    #expect(try refusalOf { try $0.encode(9, forKey: "views") } == nil)
    #expect(try refusalOf { try $0.encode(Double.nan, forKey: "coded") } == "coded")
  }

  @Test func `optionals of optionals are refused`() throws {
    let some: Int8?? = 1
    let inner: Int8?? = .some(nil)
    let none: Int8?? = nil
    #expect(try refusalOf { try $0.encode(some, forKey: "count") } == "count")
    #expect(try refusalOf { try $0.encode(inner, forKey: "count") } == "count")
    #expect(try refusalOf { try $0.encode(none, forKey: "count") } == nil)
    #expect(try refusalOf { try $0.encodeIfPresent(inner, forKey: "count") } == "count")
    struct Twice: Record {
      var id = 1
      var name: String??
      static var coding: RecordCoding { .codable }
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string, optional: true)
      }
    }
    let error = #expect(throws: StoreError.self) { try makePlan(Twice.self) }
    guard case .invalidDescription("Twice", "name", 1, _) = error else {
      Issue.record("it is \(String(describing: error))")
      return
    }
  }

  @Test func `what is left out is nil, or refused`() throws {
    let text = try refusal { encoder in
      var container = encoder.container(keyedBy: Scripted.Key.self)
      try container.encode(1, forKey: "id")
    }
    #expect(text?.field == "text")
    let id = try refusal { encoder in
      var container = encoder.container(keyedBy: Scripted.Key.self)
      try container.encode("a", forKey: "text")
    }
    #expect(id?.field == "id")
    #expect(try refusal { _ in }?.field != nil)
    #expect(
      try refusalOf { container in
        var place = container.nestedContainer(keyedBy: Scripted.Key.self, forKey: "place")
        try place.encode("a tag", forKey: "tag")
      } == "place.x")
  }

  @Test func `containers of the wrong kind are refused, even if nothing is put in`() throws {
    #expect(try refusal { _ = $0.unkeyedContainer() }?.reason == "it is encoded without keys")
    #expect(
      try refusal { _ = $0.singleValueContainer() }?.reason == "it is encoded as a single value")
    #expect(try refusal { try "text".encode(to: $0) } != nil)
    #expect(try refusal { try [1].encode(to: $0) } != nil)
    #expect(try refusalOf { _ = $0.nestedUnkeyedContainer(forKey: "note") } == "note")
    #expect(try refusalOf { _ = $0.nestedUnkeyedContainer(forKey: "words") } == nil)
    #expect(try refusalOf { _ = $0.nestedUnkeyedContainer(forKey: "other") } == "other")
    #expect(
      try refusalOf { _ = $0.nestedContainer(keyedBy: Scripted.Key.self, forKey: "words") }
        == "words")
    #expect(
      try refusalOf {
        var nested = $0.nestedContainer(keyedBy: Scripted.Key.self, forKey: "note")
        _ = nested.superEncoder()
        var other = nested.nestedUnkeyedContainer(forKey: "a")
        try other.encode(1)
      } == "note")
    #expect(try refusalOf { _ = $0.superEncoder() } == "super")
    #expect(try refusalOf { try "a".encode(to: $0.superEncoder(forKey: "note")) } == nil)
    #expect(try refusalOf { try 1.encode(to: $0.superEncoder(forKey: "note")) } == "note")
  }

  @Test func `an error that the type throws is told`() throws {
    struct Own: Error {}
    #expect(try refusal { _ in throw Own() }?.reason.contains("Own") == true)
    #expect(try decodingRefusal { _ in throw Own() }?.reason.contains("Own") == true)
  }
}

// MARK: Decoding

extension CodingFaultTests {
  private func decodingRefusal(
    _ body: @escaping (any Decoder) throws -> Void
  ) throws -> (field: String?, reason: String)? {
    let plan = try makePlan(Scripted.self)
    let (row, key) = (RowWriter(), KeyEncoder())
    unsafe Scripted.encoding = { encoder in
      var container = encoder.container(keyedBy: Scripted.Key.self)
      try container.encode(300, forKey: "id")
      try container.encode("a", forKey: "text")
      try container.encode(["b", "c"], forKey: "words")
      try container.encode(["x": 1.5], forKey: "place")
    }
    try plan.write(Scripted(), to: row, key: key)
    do {
      unsafe Scripted.decoding = body
      _ = try plan.read(Scripted.self, key: key.key, row: row.row)
      return nil
    } catch StoreError.invalidValue("Scripted", let field, let reason) { return (field, reason) }
  }

  private func decodingRefusalOf(
    _ body: @escaping (KeyedDecodingContainer<Scripted.Key>) throws -> Void
  ) throws -> String? {
    try decodingRefusal { try body($0.container(keyedBy: Scripted.Key.self)) }.map {
      $0.field ?? ""
    }
  }

  @Test func `what is not there as asked for is refused, the field named`() throws {
    #expect(try decodingRefusalOf { _ in } == nil)
    #expect(try decodingRefusalOf { _ = try $0.decode(Int8.self, forKey: "id") } == "id")
    #expect(try decodingRefusalOf { _ = try $0.decode(UInt16.self, forKey: "id") } == nil)
    #expect(try decodingRefusalOf { _ = try $0.decode(String.self, forKey: "id") } == "id")
    #expect(try decodingRefusalOf { _ = try $0.decode(Int.self, forKey: "text") } == "text")
    #expect(try decodingRefusalOf { _ = try $0.decode(String.self, forKey: "note") } == "note")
    #expect(try decodingRefusalOf { _ = try $0.decode(Int.self, forKey: "other") } == "other")
    #expect(try decodingRefusalOf { _ = try $0.decode([Int].self, forKey: "words") } == "words")
    #expect(try decodingRefusalOf { _ = try $0.decode(String.self, forKey: "words") } == "words")
    #expect(try decodingRefusalOf { _ = try $0.decode(String.self, forKey: "place") } == "place")
    #expect(try decodingRefusalOf { _ = try $0.decode(String.self, forKey: "views") } == "views")
    #expect(try decodingRefusalOf { _ = try $0.decode(Int??.self, forKey: "count") } == nil)
    #expect(
      try decodingRefusalOf { _ = try $0.decodeIfPresent(Int?.self, forKey: "count") } == "count")
    #expect(
      try decodingRefusalOf { _ = try $0.decode([String: Int].self, forKey: "coded") } == "coded")
    #expect(try decodingRefusal { _ = try $0.unkeyedContainer() } != nil)
    #expect(try decodingRefusal { _ = try $0.singleValueContainer() } != nil)
    #expect(try decodingRefusalOf { _ = try $0.superDecoder() } == "super")
    #expect(
      try decodingRefusalOf { _ = try $0.nestedUnkeyedContainer(forKey: "text") } == "text")
    #expect(
      try decodingRefusalOf {
        var words = try $0.nestedUnkeyedContainer(forKey: "words")
        for _ in 0..<3 { _ = try words.decode(String.self) }
      } == "words")
  }

  @Test func `containers tell what is there`() throws {
    let refused = try decodingRefusalOf { container in
      #expect(container.contains("id") && container.contains("text"))
      #expect(!container.contains("note") && !container.contains("other"))
      #expect(Set(container.allKeys.map(\.stringValue)) == ["id", "text", "words", "place"])
      #expect(try container.decode(Int.self, forKey: "views") == 7)
      #expect(try container.decodeNil(forKey: "note"))
      #expect(try container.decodeIfPresent(String.self, forKey: "note") == nil)
      #expect(try container.decodeIfPresent(String.self, forKey: "text") == "a")
      #expect(try container.decodeIfPresent(String.self, forKey: "other") == nil)
      #expect(try container.decode([String].self, forKey: "words") == ["b", "c"])
      #expect(try container.decode([String: Double].self, forKey: "place") == ["x": 1.5])
      let place = try container.nestedContainer(keyedBy: Scripted.Key.self, forKey: "place")
      #expect(place.codingPath.map(\.stringValue) == ["place"])
      #expect(try place.decode(Double.self, forKey: "x") == 1.5)
    }
    #expect(refused == nil)
  }

  @Test func `a decoder that is kept refuses when its record is there`() throws {
    let kept = Kept()
    let refused = try decodingRefusal { kept.decoder = $0 }
    #expect(refused == nil)
    #expect(throws: StoreError.self) {
      let container = try kept.decoder!.container(keyedBy: Scripted.Key.self)
      #expect(container.allKeys.count <= 2)
      _ = try container.decode(String.self, forKey: "text")
    }
  }
}

private final class Kept {
  var decoder: (any Decoder)?
}

// MARK: Agreement

/// Encodes another value than its property is.
private struct Shouting: Record {
  var id: Int
  var text: String
  private enum CodingKeys: String, CodingKey { case id, text }
  init(id: Int, text: String) {
    self.id = id
    self.text = text
  }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    text = try container.decode(String.self, forKey: .text)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(text.uppercased(), forKey: .text)
  }
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
  }
}

/// Decodes another value than was stored.
private struct Forgetful: Record {
  var id: Int
  var text: String
  init(id: Int, text: String) {
    self.id = id
    self.text = text
  }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    text = ""
  }
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
  }
}

extension CodingFaultTests {
  @Test func `a type that encodes something else than its properties is noticed`() throws {
    try expectDisagreement(Shouting(id: 1, text: "a"))
    try expectDisagreement(Forgetful(id: 1, text: "a"))
    try makePlan(Shouting.self).checkAgreement(of: Shouting(id: 1, text: "A"))
    try makePlan(Forgetful.self).checkAgreement(of: Forgetful(id: 1, text: ""))
  }

  private func expectDisagreement<Subject: Record>(_ record: Subject) throws {
    let plan = try makePlan(Subject.self)
    let error = #expect(throws: StoreError.self) { try plan.checkAgreement(of: record) }
    guard case .invalidDescription(_, "text", 1, _) = error else {
      Issue.record("it is \(String(describing: error))")
      return
    }
  }
}

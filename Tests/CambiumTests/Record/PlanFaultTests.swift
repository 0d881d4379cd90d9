import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// An object that counts how many of its kind are alive.
private final class Token: Codable, Hashable, Sendable {
  static let alive = Atomic(0)
  let number: Int

  init(_ number: Int) {
    self.number = number
    Token.alive.add(1, ordering: .sequentiallyConsistent)
  }

  deinit { Token.alive.subtract(1, ordering: .sequentiallyConsistent) }

  init(from decoder: any Decoder) throws {
    number = try decoder.singleValueContainer().decode(Int.self)
    Token.alive.add(1, ordering: .sequentiallyConsistent)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }

  static func == (one: Token, other: Token) -> Bool { one.number == other.number }

  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// Fails once so many values were decoded.
private struct FailingCodec: FieldCodec {
  struct Failure: Error {}

  static let decodings = PerThread(Countdown(.max))

  final class Countdown: Sendable {
    let left: Atomic<Int>
    init(_ count: Int) { left = Atomic(count) }
  }

  var identifier: String { "failing" }

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] { try JSONCodec().encode(value) }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    let countdown = Self.decodings.value
    guard countdown.left.subtract(1, ordering: .sequentiallyConsistent).newValue >= 0 else {
      throw Failure()
    }
    return try JSONCodec().decode(type, from: bytes)
  }
}

private struct Counted: Record, Hashable {
  struct Part: Codable, Hashable, Sendable {
    var text: String
    var token: Token
    var maybe: Token?
    var inner: Inner?
  }

  struct Inner: Codable, Hashable, Sendable {
    var token: Token
    var text: String?
    var other: Token
  }

  var id: String
  var first: Token
  var text: String
  var data: Data
  var always: Part
  var there: Part?
  var gone: Part?
  var words: [String]
  var kept = Token(0)
  var last: Token?

  static let kept = Token(0)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
    Field(name: "first", type: token)
    Field(name: "text", type: .string)
    Field(name: "data", type: .binaryData)
    Field(name: "always", type: .composite { part })
    Transient("kept", default: kept)
    Field(name: "there", type: .composite { part }, optional: true)
    Field(name: "gone", type: .composite { part }, optional: true)
    Field(name: "words", type: .array(of: .string))
    Field(name: "last", type: token, optional: true)
  }

  @RecordDescription.ResultBuilder private static var part: RecordDescription {
    Field(name: "text", type: .string)
    Field(name: "token", type: token)
    Field(name: "maybe", type: token, optional: true)
    Field(
      name: "inner",
      type: .composite {
        Field(name: "token", type: token)
        Field(name: "text", type: .string, optional: true)
        Field(name: "other", type: token)
      }, optional: true)
  }

  private static var token: FieldType { .transformable(using: FailingCodec()) }

  static func sample() -> Counted {
    let text = "a text of more than fifteen bytes"
    func part(_ inner: Inner?) -> Part {
      Part(text: text, token: Token(1), maybe: Token(2), inner: inner)
    }
    return Counted(
      id: text, first: Token(3), text: text, data: Data(text.utf8), always: part(nil),
      there: part(Inner(token: Token(4), text: text, other: Token(5))), gone: nil,
      words: [text], kept: kept, last: Token(6))
  }
}

/// The tests of this suite share a count.
@Suite(.serialized) struct PlanFaultTests {
  private func bytes(_ record: Counted, _ plan: RecordPlan) throws -> (key: [UInt8], row: [UInt8]) {
    let (row, key) = (RowWriter(), KeyEncoder())
    try plan.write(record, to: row, key: key)
    return (key.key.array(), row.row.array())
  }

  private func read(_ plan: RecordPlan, _ bytes: (key: [UInt8], row: [UInt8])) throws -> Counted {
    try plan.read(Counted.self, key: bytes.key.rawSpan, row: bytes.row.rawSpan)
  }

  @Test func `what was filled before an error is let go`() throws {
    let plan = try makePlan(Counted.self)
    let bytes = try bytes(.sample(), plan)
    let before = Token.alive.load(ordering: .sequentiallyConsistent)
    var fields: [String] = []
    for count in 0..<8 {
      FailingCodec.decodings.withValue(.init(count)) {
        let error = #expect(throws: StoreError.self) { _ = try read(plan, bytes) }
        guard case .invalidValue("Counted", let field?, _) = error else {
          Issue.record("it is \(String(describing: error))")
          return
        }
        fields.append(field)
      }
      #expect(Token.alive.load(ordering: .sequentiallyConsistent) == before)
    }
    let order = ["token", "maybe", "inner.token", "inner.other"].map { "there.\($0)" }
    #expect(
      Set(fields) == Set(["first", "always.token", "always.maybe", "last"] + order))
    #expect(fields.count == 8)
    try FailingCodec.decodings.withValue(.init(8)) {
      let back = try read(plan, bytes)
      #expect(back == .sample())
    }
    #expect(Token.alive.load(ordering: .sequentiallyConsistent) == before)
  }

  @Test func `damaged rows and keys are refused or read, and leave nothing behind`() throws {
    let plan = try makePlan(Counted.self)
    let whole = try bytes(.sample(), plan)
    let before = Token.alive.load(ordering: .sequentiallyConsistent)
    var refused = 0
    for place in 0..<whole.key.count + whole.row.count {
      for change: UInt8 in [0x01, 0x10, 0x80, 0xff] {
        var damaged = whole
        if place < whole.key.count {
          damaged.key[place] ^= change
        } else {
          damaged.row[place - whole.key.count] ^= change
        }
        do {
          _ = try read(plan, damaged)
        } catch is StoreError { refused += 1 }
      }
    }
    for count in whole.row.indices {
      #expect(throws: StoreError.self) {
        _ = try read(plan, (whole.key, Array(whole.row[..<count])))
      }
    }
    #expect(refused > 100)
    #expect(Token.alive.load(ordering: .sequentiallyConsistent) == before)
  }
}

private struct Small: Record, Hashable {
  var id: Int8
  var level: Level
  var color: Color
  var count: UInt8

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Sample")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "level", type: .int8)
    Field(name: "color", type: .string)
    Field(name: "count", type: .integer)
  }
}

private struct Large: Record, Hashable {
  var id: Int
  var level: Int8
  var color: String
  var count: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Sample")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "level", type: .int8)
    Field(name: "color", type: .string)
    Field(name: "count", type: .integer)
  }
}

@Suite struct PlanRangeTests {
  @Test func `values that a property has no place for are refused, the field named`() throws {
    let small = try makePlan(Small.self)
    func expectRefusal(_ field: String, _ record: Large) throws {
      let (row, key) = (RowWriter(), KeyEncoder())
      try makePlan(Large.self).write(record, to: row, key: key)
      let error = #expect(throws: StoreError.self) {
        _ = try small.read(Small.self, key: key.key, row: row.row)
      }
      guard case .invalidValue("Sample", field, _) = error else {
        Issue.record("it is \(String(describing: error))")
        return
      }
    }
    try expectRefusal("id", Large(id: 128, level: 5, color: "red", count: 1))
    try expectRefusal("level", Large(id: 1, level: 6, color: "red", count: 1))
    try expectRefusal("color", Large(id: 1, level: 5, color: "blue", count: 1))
    try expectRefusal("count", Large(id: 1, level: 5, color: "red", count: -1))
    try expectRefusal("count", Large(id: 1, level: 5, color: "red", count: 256))
  }

  @Test func `an enum whose value does not fit into its column is refused`() throws {
    let small = try makePlan(Small.self)
    let error = #expect(throws: StoreError.self) {
      let record = Small(id: 1, level: .high, color: .red, count: 1)
      try small.write(record, to: RowWriter(), key: KeyEncoder())
    }
    guard case .invalidValue("Sample", "level", _) = error else {
      Issue.record("it is \(String(describing: error))")
      return
    }
  }

  @Test func `what is not a number is no key`() throws {
    struct Measure: Record {
      var id: Double
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .double)
      }
    }
    let plan = try makePlan(Measure.self)
    let error = #expect(throws: StoreError.self) {
      try plan.write(Measure(id: .nan), to: RowWriter(), key: KeyEncoder())
    }
    guard case .invalidValue("Measure", "id", _) = error else {
      Issue.record("it is \(String(describing: error))")
      return
    }
  }
}

import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct FieldValueTests {
  private enum Level: Int, RecordIntegerEnum {
    case low = 1
    case high = 9
  }
  private enum Color: String, RecordStringEnum { case red, green }

  /// A value, a type, and what a column of the type holds of it.
  private static let conversions: [(FieldValue, ColumnType, FieldValue?)] = [
    (10, .double, .double(10)), (10, .float, .float(10)), (10, .decimal, .decimal(10)),
    (10, .int8, 10), (128, .int8, nil), (-129, .int8, nil), (-1, .uint8, nil),
    (255, .uint8, .unsigned(255)), (256, .uint8, nil), (.unsigned(.max), .int64, nil),
    (.unsigned(7), .int64, 7), (9_007_199_254_740_993, .double, nil), (16_777_217, .float, nil),
    (10.5, .double, 10.5), (10.5, .int64, nil), (10.0, .int64, nil), (0.1, .float, .float(0.1)),
    (0.1000000001, .float, nil), (1e300, .float, nil), (.float(0.5), .double, 0.5),
    (0.1, .decimal, .decimal(Decimal(string: "0.1") ?? 0)), (.double(.nan), .decimal, nil),
    (.double(-0.0), .double, 0.0), ("x", .string, "x"), ("x", .url, nil), ("x", .uuid, nil),
    ("http://a", .url, URL(string: "http://a").map { .url($0) }), ("a/b", .url, nil),
    (
      "00112233-4455-6677-8899-AABBCCDDEEFF", .uuid,
      UUID(uuidString: "00112233-4455-6677-8899-aabbccddeeff").map { .uuid($0) }
    ),
    (1, .boolean, nil), (true, .boolean, true), (true, .int8, nil), ("1", .int64, nil),
    (nil, .string, nil), ([1, 2], .array(of: .double), .array([.double(1), .double(2)])),
    ([1, "x"], .array(of: .double), nil), (1, .array(of: .int64), nil),
    (1, .transformable(codec: "json"), nil), (.date(Date(timeIntervalSince1970: 0)), .double, nil),
  ]

  @Test func `a value converts exactly or not at all`() {
    for (value, type, expected) in Self.conversions {
      #expect(value.converted(to: type) == expected, "\(value) as \(type)")
    }
    guard case .double(let zero) = FieldValue.double(-0.0).converted(to: .double) else {
      Issue.record("0 is no double")
      return
    }
    #expect(zero.sign == .plus)
  }

  @Test func `A14 B10: a default is a literal, an enum's case, or what a codec encodes`() throws {
    let fields = try checked { _ in
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "double", type: .double, default: 10)
      Field(name: "url", type: .url, default: "http://a")
      Field(name: "level", type: .int8, default: Level.high)
      Field(name: "color", type: .string, default: Color.green)
      Field(name: "list", type: .array(of: .uint8), default: [1, 2])
      Field(name: "tag", type: .transformable, default: InternalTestSupport.Tag(name: "t"))
      Field(name: "none", type: .string, optional: true, default: nil)
      Field(name: "moved", type: .string, migrationInfo: .init(default: Color.red))
    }.get().records[0].fields
    func value(_ name: String) -> FieldValue? { fields.first { $0.name == name }?.defaultValue }
    #expect(value("double") == .double(10))
    #expect(value("url")?.description == "http://a")
    #expect(value("level") == 9)
    #expect(value("color") == "green")
    #expect(value("list") == .array([.unsigned(1), .unsigned(2)]))
    #expect(value("tag") == .data(Data(#"{"name":"t"}"#.utf8)))
    #expect(value("none") == nil)
    #expect(fields.first { $0.name == "moved" }?.migrationDefault == "red")
  }

  @Test func `B10: enums of numbers and of strings need no code`() {
    #expect(Level(fieldValue: 9) == .high)
    #expect(Level(fieldValue: 2) == nil)
    #expect(Color(fieldValue: "red") == .red)
    #expect(Color.green.fieldValue == "green")
  }

  /// A default that the field's type does not take.
  private static let wrong: [Field] = [
    Field(name: "a", type: .int8, default: 128), Field(name: "a", type: .int64, default: 1.5),
    Field(name: "a", type: .url, default: "no scheme"), Field(name: "a", type: .uuid, default: ""),
    Field(name: "a", type: .string, default: Level.low),
    Field(name: "a", type: .string, default: .null),
    Field(name: "a", type: .transformable, default: FieldValue.data(Data())),
    Field(name: "a", type: .boolean, migrationInfo: .init(default: 1)),
  ]

  @Test func `A14: a default that does not convert is refused`() {
    for (index, field) in Self.wrong.enumerated() {
      let result = checked { _ in
        Field(primaryKey: true, name: "id", type: .uuid)
        field
      }
      guard case .failure(.invalidDescription("Item", "a", 1, let reason)) = result else {
        Issue.record("\(index): \(result)")
        continue
      }
      #expect(reason.contains("default"), "\(reason)")
    }
  }

  /// A rule, a type, what meets it and what does not.
  private static let rules: [(FieldRule, ColumnType, [FieldValue], [FieldValue])] = [
    (.range(18...), .int64, [18, 19, nil], [17]),
    (.range(18...20), .uint8, [.unsigned(18), .unsigned(20)], [.unsigned(17), .unsigned(21)]),
    (.range(0..<1.5), .double, [0.0, 1.0], [-0.5, 1.5, .double(.nan)]),
    (.range(...10), .decimal, [.decimal(10)], [.decimal(11)]),
    (.range(..<10), .float, [.float(9)], [.float(10)]),
    (.range("b"..."d"), .string, ["b", "c"], ["a", "dd", "é"]),
    (
      .range(Date(timeIntervalSinceReferenceDate: 5)...), .date,
      [.date(Date(timeIntervalSinceReferenceDate: 5))],
      [.date(Date(timeIntervalSinceReferenceDate: 4))]
    ),
    (.length(1...3), .string, ["a", "e\u{301}öü"], ["", "abcd"]),
    (.length(2...), .binaryData, [.data(Data([1, 2]))], [.data(Data([1]))]),
    (.length(...1), .array(of: .int8), [[], [1]], [[1, 2]]),
    (.pattern("^[a-z]+$"), .string, ["abc", nil], ["", "ABC", "ab1"]),
    (.pattern("b"), .string, ["abc"], ["a"]),
    (.predicate("even") { $0 == 2 }, .int64, [2, nil], [3]),
  ]

  @Test func `A19: rules hold for what they say`() throws {
    for (index, (rule, type, valid, invalid)) in Self.rules.enumerated() {
      let rule = try CheckedRule(rule, for: type)
      for value in valid { #expect(rule.holds(for: value), "\(index): \(value) \(rule.text)") }
      for value in invalid { #expect(!rule.holds(for: value), "\(index): \(value) \(rule.text)") }
    }
  }

  @Test func `values are the same if they are stored alike`() {
    let date = FieldValue.date(Date(timeIntervalSinceReferenceDate: .nan))
    let same: [FieldValue] = [
      .null, 1, "\u{e9}", date, .float(.nan), .double(.nan), .decimal(.nan), [1, .double(.nan)],
      .composite(["a": [.double(.nan)], "b": nil]),
    ]
    for value in same { #expect(value.isSame(as: value), "\(value)") }
    let different: [(FieldValue, FieldValue)] = [
      ("\u{e9}", "e\u{301}"), (["\u{e9}"], ["e\u{301}"]), (.double(.nan), 1.5),
      (nil, .double(.nan)),
      (.composite(["a": "\u{e9}"]), .composite(["a": "e\u{301}"])), ([1], [1, 1]),
      (.composite(["a": 1]), .composite(["b": 1])),
    ]
    for (one, other) in different {
      #expect(!one.isSame(as: other) && !other.isSame(as: one), "\(one), \(other)")
    }
  }

  @Test func `what is said of a value never ends the process`() {
    for seconds in [Double.infinity, -.infinity, .nan, 1e300, 0] {
      #expect(!"\(FieldValue.date(Date(timeIntervalSinceReferenceDate: seconds)))".isEmpty)
    }
    #expect("\(FieldValue.composite(["b": 1, "a": nil]))" == "[a: nil, b: 1]")
  }
}

import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Conditions as text.
@Suite struct ConditionTextTests {
  private static let same: [(String, FieldCondition)] = [
    ("age >= 18", .comparison(field: "age", .greaterOrEqual, 18)),
    ("18 <= age", .comparison(field: "age", .greaterOrEqual, 18)),
    ("age = -5", .comparison(field: "age", .equal, -5)),
    (
      #"age >= 18 && name beginswith "A""#,
      .and([
        .comparison(field: "age", .greaterOrEqual, 18),
        .match(field: "name", TextMatch(.prefix, "A")),
      ])
    ),
    (
      "a == 1 or b == 2 AND NOT c == 3",
      .or([
        .comparison(field: "a", .equal, 1),
        .and([
          .comparison(field: "b", .equal, 2), .not(.comparison(field: "c", .equal, 3)),
        ]),
      ])
    ),
    ("!a == 1", .not(.comparison(field: "a", .equal, 1))),
    ("a in [1, 2.5, null, \"x\"]", .isIn(field: "a", [1, 2.5, nil, "x"])),
    ("a in []", .isIn(field: "a", [])),
    (
      "a between 1 and 5 and b == 2",
      .and([
        .between(field: "a", 1, 5), .comparison(field: "b", .equal, 2),
      ])
    ),
    ("address.street is null", .comparison(field: "address.street", .equal, nil)),
    ("a is not null", .comparison(field: "a", .notEqual, nil)),
    (
      "a contains[cd] 'x'",
      .match(field: "a", TextMatch(.contains, "x", [.caseInsensitive, .diacriticInsensitive]))
    ),
    ("a LIKE[c] \"x*\\u{e9}\\n\"", .match(field: "a", TextMatch(.like, "x*é\n", .caseInsensitive))),
    ("body matches \"swift sto*\"", .match(field: "body", TextMatch(.words, "swift sto*"))),
    (
      "`matches` MATCHES[d] 'x'",
      .match(field: "matches", TextMatch(.words, "x", .diacriticInsensitive))
    ),
    ("tags has \"x\"", .contains(field: "tags", "x")),
    ("tags contains 5", .contains(field: "tags", 5)),
    ("`in`.`a b` == true", .comparison(field: "in.a b", .equal, true)),
    ("true", .and([])), ("false", .or([])), ("all(true)", .and([.and([])])),
    (
      "price * count + 1 > 2 * -(b)",
      .computed(
        .arithmetic(
          .arithmetic(.field("price"), .times, .field("count")), .plus, .value(1)),
        .greater, .arithmetic(.value(2), .times, .negated(.field("b"))))
    ),
    (
      "a - 5 - 6 == b",
      .computed(
        .arithmetic(.arithmetic(.field("a"), .minus, .value(5)), .minus, .value(6)), .equal,
        .field("b"))
    ),
    ("(a) == 5", .computed(.field("a"), .equal, .value(5))),
    ("length(name) < 3", .computed(.length(.field("name")), .less, .value(3))),
    ("a ?? 0 == 0", .computed(.coalesced(.field("a"), .value(0)), .equal, .value(0))),
    (
      "born < date\"2026-01-02T03:04:05.5Z\"",
      .comparison(
        field: "born", .less,
        .date(Date(timeIntervalSinceReferenceDate: 789_015_845.5)))
    ),
    ("a == 18446744073709551615", .comparison(field: "a", .equal, .unsigned(.max))),
    ("a == -9223372036854775808", .comparison(field: "a", .equal, .integer(.min))),
    ("photo == data\"00Ff\"", .comparison(field: "photo", .equal, .data(Data([0, 255])))),
  ]

  @Test(arguments: same) func `G3: a text is a condition`(
    text: String, condition: FieldCondition
  ) throws {
    #expect(try FieldCondition(parsing: text) == condition)
    #expect(try FieldCondition(parsing: condition.description) == condition)
  }

  private static let wrong: [(String, Int, Int, String)] = [
    ("", 1, 1, "value"), ("age >=", 1, 7, "value"), ("age >= 18 &&\n  name ==", 2, 10, "value"),
    ("age", 1, 1, "condition"), ("5", 1, 1, "condition"), ("(a == 1", 1, 8, ")"),
    ("a == 1)", 1, 7, "operator or the end"), ("a == 1 b", 1, 8, "operator or the end"),
    ("a == \"x", 1, 8, "at the end"), ("a == \"\\q\"", 1, 8, "backslash"),
    ("a in 5", 1, 6, "["), ("a in [b]", 1, 7, "value"), ("a like 5", 1, 8, "string"),
    ("a beginswith[x] 'a'", 1, 14, "cd"), ("a == 12x", 1, 8, "end of a number"),
    ("a == 99999999999999999999", 1, 6, "fits"), ("a # b", 1, 3, "operator"),
    ("a == date\"x\"", 1, 6, "date"), ("a == 1 == 2", 1, 1, "not a condition"),
    ("a + (b == 1) > 2", 1, 1, "value"), ("sum(a) > 2", 1, 1, "lowercased"),
    ("a == b.", 1, 8, "part"), ("and == 1", 1, 1, "value"),
  ]

  @Test(arguments: wrong) func `G3: an error says where and what was expected`(
    text: String, line: Int, column: Int, expected: String
  ) throws {
    let error = #expect(throws: ConditionSyntaxError.self) {
      _ = try FieldCondition(parsing: text)
    }
    #expect(error?.line == line && error?.column == column, "\(error.map { "\($0)" } ?? "")")
    #expect(error?.expected.contains(expected) ?? false, "\(error.map { "\($0)" } ?? "")")
  }

  private static let filled: [(String, [any FieldValueConvertible], String)] = [
    ("price > ?", [10], "price > 10"), ("? < price", [-1.5], "-1.5 < price"),
    ("name == ? && age in ?", ["O'\"Hara\"", [1, 2]], #"name == "O'\"Hara\"" && age in [1, 2]"#),
    ("age in [?, 2, ?]", [1, 3], "age in [1, 2, 3]"),
    ("age between ? and ?", [1, 5], "age between 1 and 5"),
    ("name beginswith[c] ?", ["a"], "name beginswith[c] \"a\""),
    ("tags has ?", ["x"], "tags has \"x\""),
    ("a ?? ? > ?", [0, 1], "a ?? 0 > 1"), ("tags.any(id == ?)", ["s"], "tags.any(id == \"s\")"),
    ("nick == ?", [FieldValue.null], "nick == null"), ("name == \"?\"", [], "name == \"?\""),
  ]

  @Test(arguments: filled.indices) func `G3: question marks stand for arguments`(
    index: Int
  ) throws {
    let (text, arguments, expected) = Self.filled[index]
    #expect(
      try FieldCondition(parsing: text, arguments: arguments) == FieldCondition(parsing: expected))
  }

  @Test func `as many arguments are given as there are question marks, of types that fit`() {
    let wrong: [(String, [any FieldValueConvertible], Int)] = [
      ("a == ?", [], 6), ("a == ? && b == ?", [1], 16), ("a == 1", [1], 7),
      ("a == ?", [1, 2], 7), ("a in ?", [1], 6), ("a like ?", [1], 8), ("? a", [1], 3),
    ]
    for (text, arguments, column) in wrong {
      let error = #expect(throws: ConditionSyntaxError.self) {
        _ = try FieldCondition(parsing: text, arguments: arguments)
      }
      #expect(error?.column == column, "\(text): \(error.map { "\($0)" } ?? "")")
    }
  }

  @Test func `text that is nested too deep is refused, not followed`() throws {
    for (open, close) in [("(", ")"), ("!", ""), ("-", ""), ("all(", ")"), ("a == [", "]")] {
      let text =
        String(repeating: open, count: 100_000) + "a == 1"
        + String(repeating: close, count: 100_000)
      #expect(throws: ConditionSyntaxError.self) { _ = try FieldCondition(parsing: text) }
    }
    let sum = "a" + String(repeating: " + a", count: 100_000)
    #expect(throws: ConditionSyntaxError.self) { _ = try FieldCondition(parsing: sum + " > 1") }
    let many = Array(repeating: "a == 1", count: 10_000).joined(separator: " && ")
    guard case .and(let conditions) = try FieldCondition(parsing: many) else {
      Issue.record("no list")
      return
    }
    #expect(conditions.count == 10_000)
  }

  @Test func `G3: every condition is read from its description`() {
    replaying(0..<UInt64(scaled(20_000, debug: 1000))) { seed in
      var random = SplitMix64(seed: seed)
      let condition = RandomCondition.make(&random, fields: ["a", "b c", "in", "x.y", "`", "é"])
      let text = condition.description
      try agree(try FieldCondition(parsing: text) == condition, text)
    }
  }

  @Test func `no text ends the process`() {
    let parts = [
      "a", "b.c", "5", "-", "1.5", "\"x\"", "\"", "`", "(", ")", "[", "]", "&&", "||", "!", "and",
      "or",
      "not", "in", "between", "is", "null", "==", "<", "??", "*", "date\"2020-01-01\"", "has",
      "like",
      "[c]", ",", "{", "}", ":", "length(", "all(", "\\", "é", "\u{301}", "\n", "1e", "#", "true",
    ]
    replaying(0..<UInt64(scaled(50_000, debug: 3000))) { seed in
      var random = SplitMix64(seed: seed)
      var text = ""
      for _ in 0..<Int.random(in: 0..<12, using: &random) {
        text += parts.randomElement(using: &random) ?? ""
        if random.next() % 2 == 0 { text += " " }
      }
      if let condition = try? FieldCondition(parsing: text) {
        let again = try FieldCondition(parsing: condition.description)
        try agree(again.description == condition.description, text)
        try agree(again == condition, text)
      }
    }
  }

  @Test func `a date is written in ISO 8601 with all of its digits, and is read back exactly`() {
    for (seconds, text) in [
      (0.5, "2001-01-01T00:00:00.500Z"), (-0.5, "2000-12-31T23:59:59.500Z"),
      (817_377_346.07, "2026-11-26T09:15:46.070Z"),
      (817_377_346.0712346, "2026-11-26T09:15:46.0712346Z"),
      (-817_377_346.0712346, "1975-02-06T14:44:13.9287654Z"),
      (1.5e-5, "2001-01-01T00:00:00.000015Z"), (-1.5e-5, "2000-12-31T23:59:59.999985Z"),
    ] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(date.isoText == text)
      #expect(Date(iso: text) == date)
    }
    #expect(
      Date(iso: "2026-11-26T10:15:46.07000+01:00")
        == Date(timeIntervalSinceReferenceDate: 817_377_346.07))
    var random = SplitMix64(seed: 8)
    for _ in 0..<scaled(20_000, debug: 2000) {
      let seconds = Double.random(in: -63_113_904_000..<252_423_993_600, using: &random)
      let scales: [Double] = [1, 1e3, 1e6, 1e9, 1e12, 1e30]
      let scale = scales.randomElement(using: &random) ?? 1
      let date = Date(timeIntervalSinceReferenceDate: seconds / scale)
      #expect(Date(iso: date.isoText) == date)
      #expect(date.isoText.hasSuffix("Z"), "\(date.isoText)")
    }
  }

  @Test func `dates are read and written for every day of ten thousand years`() throws {
    let day = 86_400.0
    for number in stride(from: -730_485, to: 2_921_575, by: scaled(1, debug: 97)) {
      let date = Date(timeIntervalSinceReferenceDate: Double(number) * day + 12_345)
      #expect(Date(iso: date.isoText) == date)
    }
    #expect(Date(timeIntervalSinceReferenceDate: 0).isoText == "2001-01-01T00:00:00Z")
    #expect(Date(iso: "2000-02-29") == Date(timeIntervalSinceReferenceDate: -307 * day))
    #expect(Date(iso: "2001-01-01T02:00+02:00") == Date(timeIntervalSinceReferenceDate: 0))
    // A leap second is the one after it.
    #expect(Date(iso: "2000-12-31T23:59:60Z") == Date(timeIntervalSinceReferenceDate: 0))
    #expect(Date(iso: "2000-12-31T23:59:61Z") == nil)
    for text in ["2001-02-29", "2001-1-1", "2001-01-01T24:00", "2001-01-01x", "", "@", "2001"] {
      #expect(Date(iso: text) == nil)
    }
    for seconds in [1e300, .infinity, -1e12, 0.1, 1e-300, -0.5, 5e9 + 0.001] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(Date(iso: date.isoText) == date)
    }
  }
}

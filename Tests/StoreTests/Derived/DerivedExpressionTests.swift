import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields that the store computes by an expression.
@Suite struct DerivedExpressionTests {
  // MARK: Of the record's own fields

  /// A record with a field of each type, and a field `d`.
  private static func model(_ derived: Field) -> StoreModel {
    untyped(
      (
        "R",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "a", type: .integer, optional: true)
          Field(name: "b", type: .integer, optional: true)
          Field(name: "x", type: .double, optional: true)
          Field(name: "f", type: .float, optional: true)
          Field(name: "p", type: .decimal, optional: true)
          Field(name: "s", type: .string, optional: true)
          Field(name: "t", type: .date, optional: true)
          Field(name: "bytes", type: .binaryData, optional: true)
          Field(name: "flag", type: .boolean, optional: true)
          Field(name: "tags", type: .array(of: .string))
          derived
        }
      ))
  }

  private static func field(_ text: String, _ type: FieldType, isOptional: Bool = true) -> Field {
    Field(name: "d", type: type, optional: isOptional, indexed: true, derived: .value(text))
  }

  private struct Case {
    var text: String
    var type: FieldType
    var fields: [String: FieldValue]
    var value: FieldValue

    init(
      _ text: String, _ type: FieldType, _ fields: [String: FieldValue], _ value: FieldValue
    ) {
      (self.text, self.type, self.fields, self.value) = (text, type, fields, value)
    }
  }

  private static func decimal(_ text: String) throws -> FieldValue {
    .decimal(try #require(Decimal(string: text)))
  }

  private static func date(_ seconds: Double) -> FieldValue {
    .date(Date(timeIntervalSinceReferenceDate: seconds))
  }

  private static func cases() throws -> [Case] {
    // 2001-01-01 23:30:00 UTC, a Monday.
    let evening = date(84_600)
    return [
      Case("a + b", .integer, ["a": 2, "b": 3], 5),
      Case("a - b", .integer, ["a": 2, "b": 3], -1),
      Case("a * b", .int16, ["a": 2, "b": -3], -6),
      Case("a / b", .integer, ["a": 7, "b": -2], -3),
      Case("a % b", .integer, ["a": -7, "b": 2], -1),
      Case("-a", .integer, ["a": 2], -2),
      Case("a * b", .integer, ["a": 2], .null),
      Case("a ?? b ?? 9", .integer, [:], 9),
      Case("a ?? b", .integer, ["b": 4], 4),
      // Beyond 64 bits on the way.
      Case("a * 4 / 4", .integer, ["a": .integer(.max)], .integer(.max)),
      Case("a + 1", .uint64, ["a": .integer(.max)], .unsigned(1 << 63)),
      Case("a + x", .double, ["a": 2, "x": 0.5], .double(2.5)),
      Case("f * 2", .double, ["f": .float(0.5)], .double(1)),
      Case("x", .double, ["x": .double(.infinity)], .double(.infinity)),
      Case("x * 2", .double, ["x": .double(.nan)], .null),
      Case("p * a", .decimal, ["p": try decimal("1.10"), "a": 3], try decimal("3.3")),
      Case("p * 1.19", .decimal, ["p": .decimal(2)], try decimal("2.38")),
      Case(
        "p / 3", .decimal, ["p": .decimal(1)],
        try decimal("0." + String(repeating: "3", count: 38))),
      Case("year(t)", .integer, ["t": evening], 2001),
      Case("month(t)", .int8, ["t": evening], 1),
      Case("day(t, \"+02:00\")", .integer, ["t": evening], 2),
      Case("weekday(t)", .integer, ["t": evening], 2),
      Case("hour(t, \"+02:00\")", .integer, ["t": evening], 1),
      Case("year(t)", .integer, [:], .null),
      Case("t + 60", .date, ["t": evening], date(84_660)),
      Case("t - date\"2001-01-01T00:00:00Z\"", .double, ["t": evening], .double(84_600)),
      Case("bucket(a, 10)", .integer, ["a": -1], -10),
      Case("bucket(p, decimal\"2.5\")", .decimal, ["p": .decimal(6)], .decimal(5)),
      Case("bucket(x, 0.5)", .double, ["x": .double(1.7)], .double(1.5)),
      Case("bucket(t, 86400)", .date, ["t": evening], date(0)),
      Case("lowercased(s)", .string, ["s": "ÄB"], "äb"),
      Case("s ?? \"none\"", .string, [:], "none"),
      Case("length(tags) + 1", .integer, ["tags": .array(["x", "y"])], 3),
      Case("length(bytes)", .integer, ["bytes": .data(Data([1, 2, 3]))], 3),
      Case("flag ?? true", .boolean, ["flag": false], false),
    ]
  }

  @Test func `A22: an expression on a record's own fields has its value in every row`() throws {
    for test in try Self.cases() {
      let model = Self.model(Self.field(test.text, test.type))
      try withStore(model) { store in
        let fields = test.fields.merging(["tags": .array([]), "d": .null]) { one, _ in one }
        try store.write { transaction in
          try transaction.save(.of("R", 1, fields))
          // Computed of the fields as they are now, not as they were.
          try transaction.save(.of("R", 2, ["tags": .array(["x"])]))
          try transaction.save(.of("R", 2, fields))
        }
        let found = try store.fetch(record: "R").map { $0["d"] }
        #expect(found == [test.value, test.value], "\(test.text) of \(test.fields)")
        let condition = FieldCondition.comparison(field: "d", .equal, test.value)
        #expect(try store.count(record: "R", where: condition) == 2, "\(test.text)")
      }
    }
  }

  private static func refusals() throws -> [(test: Case, reason: String)] {
    let digits = String(repeating: "7", count: 38)
    return [
      (Case("a / b", .integer, ["a": 1, "b": 0], .null), "1 / 0 has no result"),
      (Case("a % b", .integer, ["a": 1, "b": 0], .null), "1 % 0 has no result"),
      (Case("x / a", .double, ["x": 1.5, "a": 0], .null), "has no result"),
      (Case("p / a", .decimal, ["p": .decimal(1), "a": 0], .null), "has no result"),
      (Case("x * x", .double, ["x": .double(1e300)], .null), "has no result"),
      (Case("a + 1", .integer, ["a": .integer(.max)], .null), "is no int64"),
      (Case("a * a", .integer, ["a": .integer(.max)], .null), "is beyond 64 bits"),
      (Case("a * a * a", .integer, ["a": .integer(.max)], .null), "has no result"),
      (Case("-(a * a * b)", .integer, ["a": .integer(.min), "b": -2], .null), "has no result"),
      (Case("a", .int16, ["a": 40_000], .null), "40000 is no int16"),
      (Case("-a", .uint8, ["a": 1], .null), "-1 is no uint8"),
      (Case("p * p", .decimal, ["p": try decimal(digits)], .null), "or none that is exact"),
      (Case("year(t)", .integer, ["t": date(1e16)], .null), "has no result"),
    ]
  }

  @Test
  func `a computation without a result, or one that the field cannot hold, refuses the write`()
    throws
  {
    for (test, sentence) in try Self.refusals() {
      try withStore(Self.model(Self.field(test.text, test.type))) { store in
        try store.write { try $0.save(.of("R", 1, ["tags": .array([])])) }
        let fields = test.fields.merging(["tags": .array([])]) { one, _ in one }
        let error = storeError { try store.write { try $0.save(.of("R", 1, fields)) } }
        guard case .invalidValue("R", "d", let reason)? = error else {
          Issue.record("\(test.text): \(String(describing: error))")
          return
        }
        #expect(reason.hasPrefix("the value of "), "\(reason)")
        #expect(reason.contains(sentence), "\(sentence) is not in: \(reason)")
        #expect(try store.fetch(record: "R").map { $0["d"] } == [.null])
      }
    }
  }

  @Test func `a field that is not optional needs no value of the program's`() throws {
    let cases: [(text: String, type: FieldType, value: FieldValue)] = [
      ("a ?? 1", .uint8, 1), ("flag ?? true", .boolean, true), ("s ?? \"none\"", .string, "none"),
      ("bytes ?? data\"00\"", .binaryData, .data(Data([0]))),
      ("p ?? decimal\"2\"", .decimal, .decimal(2)), ("x ?? 0.5", .double, .double(0.5)),
      ("t ?? date\"2001-01-01T00:00:00Z\"", .date, Self.date(0)),
      (
        "uuid\"00112233-4455-6677-8899-AABBCCDDEEFF\"", .uuid,
        "00112233-4455-6677-8899-AABBCCDDEEFF"
      ),
      ("url\"http://a/b\"", .url, "http://a/b"),
    ]
    for test in cases {
      let field = Self.field(test.text, test.type, isOptional: false)
      try withStore(Self.model(field)) { store in
        try store.write { try $0.save(.of("R", 1, ["tags": .array([])])) }
        let value = try store.fetch(record: "R").map { $0["d"] }
        let record = try store.entities.entity(named: "R").record
        let type = try #require(record.field(named: "d")?.type)
        let expected = try #require(test.value.converted(to: type))
        #expect(value == [expected], "\(test.text)")
      }
    }
  }

  @Test func `NaN is no value of a field that is not optional`() throws {
    let model = Self.model(Self.field("(x ?? 0.0) * 2", .double, isOptional: false))
    try withStore(model) { store in
      try store.write { try $0.save(.of("R", 1, ["tags": .array([])])) }
      #expect(try store.fetch(record: "R").map { $0["d"] } == [.double(0)])
      let error = storeError {
        try store.write { try $0.save(.of("R", 1, ["tags": .array([]), "x": .double(.nan)])) }
      }
      #expect(error?.description.contains("it has no value, for 1") == true, "\(error as Any)")
    }
  }
}

// MARK: - Of related records

/// Sums and extremes of expressions, against a model.
@Suite struct DerivedExpressionSumTests {
  private static let model = untyped(
    (
      "Order",
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(
          name: "total", type: .decimal, indexed: true,
          derived: .sum(of: "lines", value: "price * quantity"))
        Field(
          name: "pieces", type: .integer,
          derived: .sum(of: "lines", value: "(quantity ?? 1) * packs"))
        Field(
          name: "weight", type: .double, derived: .sum(of: "lines", value: "quantity * 0.1"))
        Field(
          name: "least", type: .decimal, optional: true, indexed: true,
          derived: .minimum(of: "lines", value: "price * quantity"))
        Field(
          name: "latest", type: .integer, optional: true,
          derived: .maximum(of: "lines", value: "packs - (quantity ?? 0)"))
        inverse("lines", of: "order", in: "Line", .cascade)
      }
    ),
    (
      "Line",
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "order", type: .reference(to: "Order"), optional: true)
        Field(name: "price", type: .decimal)
        Field(name: "quantity", type: .integer, optional: true)
        Field(name: "packs", type: .integer)
      }
    ))

  private struct Line {
    var order: Int64?
    var cents: Int64
    var quantity: Int64?
    var packs: Int64

    func record(_ id: Int64) -> DynamicRecord {
      .of(
        "Line", id,
        [
          "order": order.map { .integer($0) } ?? .null, "price": .decimal(Decimal(cents) / 100),
          "quantity": quantity.map { .integer($0) } ?? .null, "packs": .integer(packs),
        ])
    }
  }

  private static func expected(_ lines: [Line]) -> [String: FieldValue] {
    let amounts = lines.compactMap { line in line.quantity.map { line.cents * $0 } }
    let weights = lines.compactMap { $0.quantity.map { Double($0) * 0.1 } }.sorted()
    let latest = lines.map { $0.packs - ($0.quantity ?? 0) }.max()
    return [
      "total": .decimal(Decimal(amounts.reduce(0, +)) / 100),
      "pieces": .integer(lines.map { ($0.quantity ?? 1) * $0.packs }.reduce(0, +)),
      "weight": .double(weights.reduce(0, +)),
      "least": amounts.min().map { .decimal(Decimal($0) / 100) } ?? .null,
      "latest": latest.map { .integer($0) } ?? .null,
    ]
  }

  @Test
  func `A22: sums and extremes of expressions are those of the related records after every write`()
    throws
  {
    replaying(0..<UInt64(scaled(40, debug: 8))) { seed in
      var random = SplitMix64(seed: seed)
      try withStore(Self.model) { store in
        var lines: [Int64: Line] = [:]
        try store.write { transaction in
          for id in Int64(1)...3 { try transaction.save(.of("Order", id)) }
        }
        for step in 0..<60 {
          let id = Int64.random(in: 0..<12, using: &random)
          if lines[id] != nil, random.next() % 4 == 0 {
            try store.write { _ = try $0.delete(record: "Line", key: id) }
            lines[id] = nil
          } else {
            let line = Line(
              order: random.pick([1, 2, 3, nil]),
              cents: Int64.random(in: -500...500, using: &random),
              quantity: random.pick([nil, 0, 1, 2, 7]),
              packs: Int64.random(in: -3...3, using: &random))
            try store.write { try $0.save(line.record(id)) }
            lines[id] = line
          }
          for order in try store.fetch(record: "Order") {
            let key = try order["id", as: Int64.self]
            let expected = Self.expected(lines.values.filter { $0.order == key })
            for (name, value) in expected {
              #expect(order[name] == value, "\(name) of \(key) after step \(step), seed \(seed)")
            }
            let isTotal = FieldCondition.comparison(
              field: "total", .equal, expected["total"] ?? .null)
            #expect(try store.count(record: "Order", where: isTotal) > 0)
          }
        }
      }
    }
  }

  @Test
  func `a record of which an expression has no result is refused, and its owner stays as it was`()
    throws
  {
    let model = untyped(
      (
        "Order",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "rate", type: .integer, derived: .sum(of: "lines", value: "a / b"))
          inverse("lines", of: "order", in: "Line", .cascade)
        }
      ),
      (
        "Line",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "order", type: .reference(to: "Order"), optional: true)
          Field(name: "a", type: .integer)
          Field(name: "b", type: .integer)
        }
      ))
    try withStore(model) { store in
      try store.write { transaction in
        try transaction.save(.of("Order", 1))
        try transaction.save(.of("Line", 1, ["order": 1, "a": 7, "b": 2]))
        // It leads to no order, so nothing is computed of it.
        try transaction.save(.of("Line", 2, ["a": 7, "b": 0]))
      }
      let error = storeError {
        try store.write { try $0.save(.of("Line", 2, ["order": 1, "a": 7, "b": 0])) }
      }
      guard case .invalidValue("Order", "rate", let reason)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(
        reason
          == "the sum over Line.order of (a / b) cannot be computed: 7 / 0 has no result, or none that is exact, for 2"
      )
      #expect(try store.fetch(record: "Order").map { $0["rate"] } == [3])
      #expect(
        storeError {
          try store.write {
            try $0.save(.of("Line", 3, ["order": 1, "a": .integer(.max), "b": 1]))
          }
        }?.description.contains("beyond 64 bits") == true)
    }
  }
}

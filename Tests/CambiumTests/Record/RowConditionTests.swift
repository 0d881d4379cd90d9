import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Conditions on bytes hold where they hold for the values.
@Suite struct RowConditionTests {
  private let sample: AnyRecord

  init() throws {
    sample = try AnyRecord()
  }

  @Test func `comparisons on bytes are comparisons of values`() {
    replaying(0..<UInt64(scaled(500, debug: 20))) { seed in
      var random = SplitMix64(seed: seed)
      let record = sample.random(using: &random)
      let stored = try sample.encode(record)
      let read = try RowReader(
        key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
      for (index, column) in sample.layout.columns.enumerated() {
        guard let type = column.field.type.scalar else { continue }
        let value = try read.value(index)
        let edges = SampleValues.edges(type)
        for other in [value, .null, edges.randomElement(using: &random) ?? .null] {
          for comparison in FieldComparison.allCases {
            let condition = FieldCondition.comparison(field: column.field.name, comparison, other)
            let bound = try RowCondition(condition, in: sample.layout)
            try agree(
              try bound.holds(for: read) == Self.expected(value, comparison, other),
              "\(value) \(comparison) \(other)")
          }
        }
      }
    }
  }

  private static func expected(
    _ value: FieldValue, _ comparison: FieldComparison, _ other: FieldValue
  ) throws -> Bool {
    let order = try SampleValues.order(value, other)
    let isOrdered = value != .null && other != .null
    return switch comparison {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: isOrdered && order < 0
    case .lessOrEqual: isOrdered && order <= 0
    case .greater: isOrdered && order > 0
    case .greaterOrEqual: isOrdered && order >= 0
    }
  }

  private func holds(_ condition: FieldCondition, for record: DynamicRecord) throws -> Bool {
    let stored = try sample.encode(record)
    let read = try RowReader(
      key: stored.key.rawSpan, row: stored.row.rawSpan, layout: sample.layout)
    return try RowCondition(condition, in: sample.layout).holds(for: read)
  }

  @Test func `conditions are put together`() throws {
    var random = SplitMix64(seed: 1)
    var record = sample.random(using: &random)
    record["int8"] = .integer(5)
    record["string"] = .string("b")
    let isFive = FieldCondition.comparison(field: "int8", .equal, .integer(5))
    let isA = FieldCondition.comparison(field: "string", .equal, .string("a"))
    #expect(try holds(.and([]), for: record))
    #expect(try !holds(.or([]), for: record))
    #expect(try !holds(.and([isFive, isA]), for: record))
    #expect(try holds(.and([isFive, .not(isA)]), for: record))
    #expect(try holds(.or([isA, isFive]), for: record))
    #expect(try holds(.not(.or([isA, .not(isFive)])), for: record))
  }

  @Test func `not a number differs from everything, itself included`() throws {
    var random = SplitMix64(seed: 1)
    var record = sample.random(using: &random)
    record["double"] = .double(.nan)
    for comparison in FieldComparison.allCases {
      for value in [0, Double.infinity, .nan] {
        let condition = FieldCondition.comparison(field: "double", comparison, .double(value))
        #expect(try holds(condition, for: record) == (comparison == .notEqual))
      }
    }
  }

  @Test func `arrays and composites are asked for null and equality only`() throws {
    var random = SplitMix64(seed: 1)
    var record = sample.random(using: &random)
    record["int16List"] = .array([.integer(1), .integer(2)])
    record["address"] = .null
    func list(_ comparison: FieldComparison, _ value: FieldValue) -> FieldCondition {
      .comparison(field: "int16List", comparison, value)
    }
    #expect(try holds(list(.equal, .array([.integer(1), .integer(2)])), for: record))
    #expect(try holds(list(.notEqual, .array([.integer(1)])), for: record))
    #expect(try holds(list(.notEqual, .null), for: record))
    #expect(try holds(.comparison(field: "address", .equal, .null), for: record))
    #expect(try holds(.comparison(field: "address.street", .equal, .null), for: record))
    #expect(throws: StoreError.self) { try holds(list(.less, .array([])), for: record) }
    #expect(throws: StoreError.self) {
      try holds(.comparison(field: "address", .equal, .composite([:])), for: record)
    }
  }

  @Test(
    arguments: [
      ("int8", .integer(300)), ("int8", .string("1")), ("string", .integer(1)),
      ("other", .integer(1)), ("decimal", .decimal(.nan)), ("any", .data(Data())),
    ] as [(String, FieldValue)])
  func `what cannot be compared is refused by name`(field: String, value: FieldValue) throws {
    let error = #expect(throws: StoreError.self) {
      try RowCondition(.comparison(field: field, .equal, value), in: sample.layout)
    }
    guard case .invalidQuery("Item", field, _) = error else {
      Issue.record("\(error.map { "\($0)" } ?? "nothing")")
      return
    }
  }
}

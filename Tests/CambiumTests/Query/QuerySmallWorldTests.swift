import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record whose every field has few values.
private struct Pair: Record, Hashable {
  var id: Int8
  var one: Int8?
  var two: Int8 = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .int8)
    Field(name: "one", type: .int8, optional: true)
    Field(name: "two", type: .int8)
    Index("one", .descending("two"), named: "oneTwo")
    Index(.descending("one"), named: "one")
    Index("two", named: "two", where: .comparison(field: "one", .greater, 0))
  }
}

@Suite struct QuerySmallWorldTests {
  /// Every condition of at most two comparisons with every order of one field, by every plan.
  @Test func `every small query has the same answer by every plan`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Pair.self]))
    try store.write { transaction in
      var id: Int8 = 0
      for one in [nil, 0, 1, 2] as [Int8?] {
        for two in [0, 1, 1] as [Int8] {
          try transaction.save(Pair(id: id, one: one, two: two))
          id += 1
        }
      }
    }
    let record = try store.entities.entity(named: "Pair")
    let trees = try store.snapshot().trees
    let oracle = try QueryOracle(record, trees)
    let runner = QueryRunner(record, in: RecordReader(entities: store.entities, trees: trees))
    var planCount = 0
    for condition in Self.conditions {
      for order in Self.orders {
        for limit in [nil, 2] as [Int?] {
          var query = FieldQuery(condition: condition, order: order, limit: limit)
          query.offset = limit == nil ? 0 : 1
          let expected = try oracle.keys(query)
          let (_, candidates) = try runner.planner().candidates(
            query, for: .records)
          for forced in candidates.indices {
            let found = try runner.find(query, forced: forced)
            var keys: [Bytes] = []
            while try found.next() { keys.append(found.key.array()) }
            try agree(keys == expected, "\(query) by \(found.plan.access)")
            planCount += 1
          }
        }
      }
    }
    #expect(planCount > 5_000)
  }

  private static var conditions: [FieldCondition?] {
    var comparisons: [FieldCondition] = []
    for comparison in FieldComparison.allCases {
      for value in [.null, 0, 1] as [FieldValue] {
        comparisons.append(.comparison(field: "one", comparison, value))
      }
      comparisons.append(.comparison(field: "two", comparison, 1))
    }
    var conditions: [FieldCondition?] = [nil] + comparisons.map { Optional($0) }
    for one in comparisons {
      for other in comparisons.suffix(8) {
        conditions.append(.and([one, other]))
        conditions.append(.or([one, other]))
      }
    }
    return conditions
  }

  private static var orders: [[FieldOrder]] {
    var orders: [[FieldOrder]] = [[]]
    for field in ["id", "one", "two"] {
      for isDescending in [false, true] {
        orders.append([FieldOrder(field: field, isDescending: isDescending)])
      }
    }
    return orders
  }
}

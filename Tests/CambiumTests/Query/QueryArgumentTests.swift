import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Row: Record, Equatable {
  var id: Int
  var name: String
  var count: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "count", type: .integer)
    Index("name", "count")
  }
}

private func withRows(_ body: (PersistentStore, [Row]) throws -> Void) throws {
  try withStore(StoreModel(records: [Row.self])) { store in
    let rows = (1...200).map { Row(id: $0, name: "n\($0 % 10)", count: -$0 % 7) }
    try store.write { transaction in try transaction.insert(contentsOf: rows) }
    try body(store, rows)
  }
}

@Suite struct QueryArgumentTests {
  @Test func `count, existence, the first and all records agree for every query`() throws {
    try withRows { store, rows in
      let conditions: [Condition<Row>] = [
        .always, .never, Condition { $0.name == "n3" },
        Condition { $0.name == "n3" && $0.count == -5 }, Condition { $0.count < -3 },
      ]
      let orders: [[Query<Row>.Order]] = [
        [], [.ascending(\.count)], [.descending(\.name), .ascending(\.count)], [.descending(\.id)],
      ]
      for condition in conditions {
        for order in orders {
          for after in [nil, 1, 3, 100, 200] {
            for (limit, offset) in [(nil, 0), (0, 0), (1, 2), (3, 300), (.max, .max)] {
              var query = Row.where(condition).offset(offset)
              query.limit = limit
              query.after = after.map { [.integer(Int64($0))] }
              query.order = order
              let found = try store.fetch(query)
              let (count, exists, first) = (
                try store.count(query), try store.contains(query), try store.first(query)
              )
              #expect(count == found.count, "\(query)")
              #expect(exists == !found.isEmpty, "\(query)")
              #expect(first == found.first, "\(query)")
            }
          }
        }
      }
      #expect(rows.count == 200)
    }
  }

  @Test func `a negative limit or offset is refused by all of them`() throws {
    try withRows { store, _ in
      let windows: [(limit: Int?, offset: Int)] = [
        (-1, 0), (Int.min, 0), (nil, -1), (nil, Int.min), (-1, -1), (0, -1),
      ]
      let conditions: [Condition<Row>] = [
        .always, .never, Condition { $0.id == 3 }, Condition { $0.name == "n3" },
      ]
      for (limit, offset) in windows {
        for condition in conditions {
          var query = Row.where(condition).offset(offset)
          query.limit = limit
          let errors = [
            storeError { try store.fetch(query) }, storeError { try store.count(query) },
            storeError { try store.contains(query) }, storeError { try store.first(query) },
          ]
          for error in errors {
            guard case .invalidQuery(record: "Row", field: nil, reason: _) = error else {
              Issue.record("\(query): \(String(describing: error))")
              continue
            }
          }
        }
      }
    }
  }

  @Test func `what comes after a record that is not there is refused by all of them`() throws {
    try withRows { store, _ in
      let query = Row.sorted(by: .ascending(\.count)).after(1_000)
      let errors = [
        storeError { try store.fetch(query) }, storeError { try store.count(query) },
        storeError { try store.contains(query) }, storeError { try store.first(query) },
      ]
      for error in errors {
        guard case .noSuchRecord = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test
  func `an equality of all fields of an index goes on after a key, whether it is there or not`()
    throws
  {
    try withRows { store, rows in
      let expected = rows.filter { $0.name == "n3" && $0.count == -5 }
      var query = Row.where { $0.name == "n3" && $0.count == -5 }
      for key in 0...200 {
        query.after = [.integer(Int64(key))]
        let found = try store.fetch(query)
        #expect(found == expected.filter { $0.id > key })
      }
    }
  }

  @Test func `extreme limits, offsets and batches give right answers`() throws {
    try withRows { store, rows in
      let extremes = [Int.min, -1, 0, 1, 3, .max]
      let order = [FieldOrder(field: "count")]
      for offset in extremes {
        for limit in extremes {
          let expected = min(limit, max(0, rows.count - max(0, offset)))
          let typed = Row.sorted(by: .ascending(\.count)).limit(limit).offset(offset)
          if limit < 0 || offset < 0 {
            for order in [[], order] {
              let errors = [
                storeError {
                  try store.fetch(
                    record: "Row", where: nil, sortedBy: order, limit: limit, offset: offset)
                },
                storeError {
                  try store.forEach(
                    record: "Row", where: nil, sortedBy: order, limit: limit, offset: offset
                  ) { _ in }
                },
                storeError {
                  try store.explain(
                    record: "Row", where: nil, sortedBy: order, limit: limit, offset: offset,
                    running: true)
                },
                storeError { try store.explain(typed, running: true) },
              ]
              for error in errors {
                guard case .invalidQuery(record: "Row", field: nil, reason: _) = error else {
                  Issue.record("\(limit), \(offset): \(String(describing: error))")
                  continue
                }
              }
            }
            continue
          }
          for order in [[], order] {
            let found = try store.fetch(
              record: "Row", where: nil, sortedBy: order, limit: limit, offset: offset)
            #expect(found.count == expected)
            var count = 0
            try store.forEach(
              record: "Row", where: nil, sortedBy: order, limit: limit, offset: offset
            ) { _ in count += 1 }
            #expect(count == expected)
            let explained = try store.explain(
              record: "Row", where: nil, sortedBy: order, limit: limit, offset: offset,
              running: true)
            #expect(explained.actual?.resultCount == expected)
          }
          #expect(try store.explain(typed, running: true).actual?.resultCount == expected)
        }
      }
      for size in extremes {
        var (typed, all) = (0, 0)
        try store.forEachBatch(Row.where { $0.id <= 5 }, of: size) { typed += $0.count }
        try store.forEachBatch(Row.self, of: size) { all += $0.count }
        #expect(typed == 5)
        #expect(all == 200)
        let count = size == 3 ? 3 : size == .max ? 200 : 1
        #expect(try store.cursor(Query<Row>()).next(size).count == count)
        #expect(try store.cursor(Row.self).next(size).count == count)
      }
    }
  }

  @Test func `a hundred thousand terms are joined, printed and forgotten in no time`() throws {
    let joins: [(Condition<Row>, Condition<Row>) -> Condition<Row>] = [
      { $0 || $1 }, { $0 && $1 }, { $1 || $0 }, { $1 && $0 },
    ]
    for (place, join) in joins.enumerated() {
      let time = threadTime {
        var condition = Condition<Row> { $0.id == 0 }
        for id in 1..<100_000 { condition = join(condition, Condition { $0.id == id }) }
        let text = condition.description
        let ids = place < 2 ? Array(0..<100_000) : Array((0..<100_000).reversed())
        let word = place % 2 == 0 ? " || " : " && "
        let expected = "(" + ids.map { "id == \($0)" }.joined(separator: word) + ")"
        #expect(text == expected)
      }
      #expect(time < .seconds(scaled(2, debug: 20)))
    }
  }

  @Test func `joined conditions mean what their terms do, whatever they are joined of`() throws {
    try withRows { store, rows in
      var long: Condition<Row> = .never
      for id in stride(from: 1, to: 2_000, by: 2) { long = Condition { long || $0.id == id } }
      var narrow: Condition<Row> = .always
      for count in 0..<200 { narrow = Condition { narrow && $0.count != count - 5 } }
      let both = long && narrow
      let either = Condition { !long || (both || $0.id == 2) }
      func isLeft(_ row: Row) -> Bool { !(-5..<195).contains(row.count) }
      let (foundBoth, foundEither) = (
        try store.fetch(Row.where(both)), try store.fetch(Row.where(either))
      )
      #expect(foundBoth == rows.filter { $0.id % 2 == 1 && isLeft($0) })
      #expect(foundEither == rows.filter { $0.id % 2 == 0 || isLeft($0) })
    }
  }
}

import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Mark: Record, Identifiable, Equatable {
  var id: Int
  var group: Int
  var value: Int?
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "group", type: .integer)
    Field(name: "value", type: .integer, optional: true, indexed: true)
  }
}

@Suite struct QueriedValueTests {
  @Test func `every small world has the values of queries that arrays have`() throws {
    let values: [Int?] = [nil, 0, 1, 3]
    for count in 0...3 {
      for world in 0..<Int(pow(8, Double(count))) {
        let marks = (0..<count).map { id in
          let digit = world >> (3 * id) & 7
          return Mark(id: id, group: digit / 4, value: values[digit % 4])
        }
        let store = try PersistentStore(inMemory: StoreModel(records: [Mark.self]))
        try store.write { try $0.insert(contentsOf: marks) }
        try check(marks, in: store)
      }
    }
  }

  private func check(_ marks: [Mark], in store: PersistentStore) throws {
    let numbers = marks.compactMap(\.value)
    let average = numbers.isEmpty ? nil : Double(numbers.reduce(0, +)) / Double(numbers.count)
    let first = marks.filter { $0.group == 0 }
    let place = "\(marks)"
    #expect(
      try store.fetch(Mark.where { $0.value > Mark.average(\.value) })
        == marks.filter { mark in
          guard let value = mark.value, let average else { return false }
          return Double(value) > average
        }, "\(place)")
    #expect(
      try store.fetch(Mark.where { $0.value == Mark.maximum(\.value) })
        == marks.filter { $0.value == numbers.max() }, "\(place)")
    #expect(
      try store.fetch(Mark.where { $0.value <= Mark.where { $0.group == 0 }.minimum(\.value) })
        == marks.filter { mark in
          guard let value = mark.value, let least = first.compactMap(\.value).min() else {
            return false
          }
          return value <= least
        }, "\(place)")
    #expect(
      try store.count(Mark.where { $0.id < Mark.where { $0.group == 0 }.count() })
        == min(first.count, marks.count), "\(place)")
    #expect(
      try store.fetch(Mark.where { $0.value.isIn(\.value, from: Mark.where { $0.group == 0 }) })
        == marks.filter { mark in first.contains { $0.value == mark.value } }, "\(place)")
    #expect(
      try store.fetch(Mark.where { !$0.value.isIn(\.id, from: Query<Mark>()) })
        == marks.filter { mark in !marks.contains { $0.id == mark.value } }, "\(place)")
    let highest = marks.sorted { ($0.value ?? -1, $1.id) > ($1.value ?? -1, $0.id) }.prefix(2)
    #expect(
      try store.fetch(Mark.where { $0.id.isIn(Mark.sorted(by: .descending(\.value)).limit(2)) })
        == marks.filter { mark in highest.contains(mark) }, "\(place)")
    #expect(
      try store.select(from: Query<Mark>()) { $0.id + Mark.sum(\.value) }
        == marks.map { $0.id + numbers.reduce(0, +) }, "\(place)")
  }

  @Test(arguments: [0, 1, 60, 2_000])
  func `values of queries over relations are those of dictionaries`(lineCount: Int) throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("seed \(seed)")
    let world = try SaleWorld(lineCount: lineCount, seed: seed)
    let products = world.products.values.sorted { $0.id < $1.id }
    let heavy = Set(products.filter { ($0.weight ?? 0) > 1 }.map(\.id))
    let lines = SaleLine.where { $0.product.isIn(SaleProduct.where { $0.weight > 1 }) }
    #expect(
      try world.store.fetch(lines) == world.lines.filter { heavy.contains($0.product.id) })
    let sold = Set(world.lines.filter { $0.quantity > 5 }.map(\.product.id))
    #expect(
      try world.store.fetch(
        SaleProduct.where { $0.id.isIn(\.product.id, from: SaleLine.where { $0.quantity > 5 }) })
        == products.filter { sold.contains($0.id) })
    // A query in a query, and in the condition on related records.
    let average = Double(world.lines.map { Int($0.quantity) }.reduce(0, +)) / Double(lineCount)
    let above = Set(world.lines.filter { Double($0.quantity) > average }.map(\.product.id))
    #expect(
      try world.store.fetch(
        SaleProduct.where {
          $0.lines.any { $0.quantity > SaleLine.average(\.quantity) }
        }) == products.filter { above.contains($0.id) })
    #expect(
      try world.store.fetch(
        SaleProduct.where {
          $0.id.isIn(
            \.product.id, from: SaleLine.where { $0.quantity > SaleLine.average(\.quantity) })
        }) == products.filter { above.contains($0.id) })
    let total = world.lines.map(\.price).reduce(0, +)
    #expect(
      try world.store.fetch(
        SaleLine.where { $0.price * Decimal(lineCount) > SaleLine.sum(\.price) }
      ).count
        == world.lines.filter { $0.price * Decimal(lineCount) > total }.count)
    // Groups and orders.
    let sums = try world.store.fetch(
      lines.grouped { $0.product }.computing(.sum(\.quantity)))
    #expect(Set(sums.map(\.key.id)) == Set(world.lines.map(\.product.id)).intersection(heavy))
  }

  @Test func `an index finds what a query has found, and the plan says so`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Mark.self]))
    try store.write {
      try $0.insert(
        contentsOf: (0..<2_000).map { Mark(id: $0, group: $0 % 7, value: $0 * 13 % 2_000) })
    }
    let query = Mark.where { $0.value.isIn(\.id, from: Mark.where { $0.id < 3 }) }
    #expect(try store.fetch(query).count == 3)
    let lines = try store.explain(query, running: true)
    #expect(lines.access.hasPrefix("index value in "), "\(lines)")
    #expect("\(lines)".contains("after Mark where id < 3: rows in one range, 3 values of id"))
    let highest = Mark.where { $0.value == Mark.maximum(\.value) }
    let plan = try store.explain(highest, running: true)
    #expect(plan.access == "index value in one range", "\(plan)")
    #expect(plan.actual?.entryCount == 1)
    #expect("\(plan)".contains("maximum of value is 1999"))
  }

  @Test func `integers are compared with an average with a fraction as with any number`() throws {
    let others: [Int?] = [nil, -2, -1, 0, 1, 2, .min, .max]
    for one in -2...2 {
      for two in -2...2 {
        for three in -2...2 {
          let first = [one, two, three].enumerated().map {
            Mark(id: $0.offset, group: 0, value: $0.element)
          }
          let rest = others.enumerated().map {
            Mark(id: 3 + $0.offset, group: 1, value: $0.element)
          }
          let store = try PersistentStore(inMemory: StoreModel(records: [Mark.self]))
          try store.write { try $0.insert(contentsOf: first + rest) }
          let average = Double(one + two + three) / 3
          try check(first + rest, besides: average, in: store)
        }
      }
    }
  }

  private func check(
    _ marks: [Mark], besides average: Double, in store: PersistentStore
  ) throws {
    let first = Mark.where { $0.group == 0 }
    func expected(_ isMet: (Double, Double) -> Bool) -> [Mark] {
      marks.filter { mark in mark.value.map { isMet(Double($0), average) } ?? false }
    }
    #expect(
      try store.fetch(Mark.where { $0.value > first.average(\.value) }) == expected(>),
      "\(average)")
    #expect(
      try store.fetch(Mark.where { $0.value >= first.average(\.value) }) == expected(>=),
      "\(average)")
    #expect(
      try store.fetch(Mark.where { $0.value < first.average(\.value) }) == expected(<),
      "\(average)")
    #expect(
      try store.fetch(Mark.where { $0.value <= first.average(\.value) }) == expected(<=),
      "\(average)")
    #expect(
      try store.fetch(Mark.where { $0.value == first.average(\.value) }) == expected(==),
      "\(average)")
  }

  @Test(arguments: [(1_990, 5), (1_991, 4)])
  func `an index finds the integers above an average, with a fraction or without`(
    least: Int, count: Int
  ) throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Mark.self]))
    try store.write {
      try $0.insert(
        contentsOf: (0..<2_000).map { Mark(id: $0, group: $0 % 7, value: $0 * 13 % 2_000) })
    }
    let high = Mark.where { $0.value >= least }
    let above = Mark.where { $0.value > high.average(\.value) }
    let expected = Array((2_000 - count)..<2_000)
    #expect(try store.fetch(above).map { $0.value ?? 0 }.sorted() == expected)
    let plan = try store.explain(above, running: true)
    #expect(plan.access == "index value in one range", "\(plan)")
    #expect(plan.actual?.entryCount == count)
  }

  @Test func `queries in conditions are text, which is parsed as the same condition`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Mark.self]))
    try store.write {
      try $0.insert(contentsOf: (0..<20).map { Mark(id: $0, group: $0 % 3, value: $0 % 5) })
    }
    let conditions: [(Condition<Mark>, String)] = [
      (
        Condition {
          $0.id.isIn(Mark.where { $0.group == 1 }.sorted(by: .descending(\.value)).limit(3))
        },
        "id in (select id from Mark where group == 1 sorted by value descending limit 3)"
      ),
      (
        Condition { $0.value.isIn({ $0.id * 2 }, from: Query<Mark>().offset(2)) },
        "value in (select (id * 2) from Mark offset 2)"
      ),
      (
        Condition { $0.value > Mark.average(\.id) },
        "value > (select average(id) from Mark)"
      ),
      (
        Condition { $0.id - Mark.where { $0.value > 1 }.count() == 0 },
        "((id - (select count() from Mark where value > 1))) == 0"
      ),
    ]
    for (condition, text) in conditions.prefix(3) { #expect("\(condition)" == text) }
    for (condition, _) in conditions {
      let bytes = try JSONEncoder().encode(Mark.where(condition))
      let decoded = try JSONDecoder().decode(Query<Mark>.self, from: bytes)
      let expected = try store.fetch(Mark.where(condition))
      #expect(try store.fetch(decoded) == expected)
      try store.write { transaction in
        try transaction.setQuery(Mark.where(condition), named: "kept")
      }
      let kept = try #require(try store.query(Mark.self, named: "kept"))
      #expect(try store.fetch(kept) == expected)
      let fields = try FieldCondition(parsing: "\(condition)")
      #expect(try FieldCondition(parsing: "\(fields)") == fields)
      #expect(try store.count(record: "Mark", where: fields) == expected.count)
    }
  }

  @Test func `what is no query is refused with the place of the error`() throws {
    for text in [
      "id in (", "id in (select)", "id in (select id)", "id in (select id from)",
      "id in (select id from Mark", "id in (select id from Mark limit)",
      "id in (select id from Mark limit -1", "id in (select id from Mark sorted value)",
      "id > (select average() from Mark)", "id > (select average(id))",
      "id > (select count(id) from Mark)", "id in (select id from Mark after 3)",
    ] {
      #expect(throws: ConditionSyntaxError.self, "\(text)") { try FieldCondition(parsing: text) }
    }
    let store = try PersistentStore(inMemory: StoreModel(records: [Mark.self]))
    for text in [
      "id in (select id from Nothing)", "id in (select nothing from Mark)",
      "id in (select id from Mark where nothing == 1)", "id in (select id from Mark limit -1)",
    ] {
      let condition = try FieldCondition(parsing: text)
      switch storeError({ try store.count(record: "Mark", where: condition) }) {
      case .invalidQuery, .unknownRecord: break
      case let other: Issue.record("\(text) was answered: \(String(describing: other))")
      }
    }
    var nested = FieldCondition.comparison(field: "id", .equal, 0)
    for _ in 0..<17 {
      nested = .isInQuery(field: "id", of: .field("id"), FieldSubquery(of: "Mark", where: nested))
    }
    guard case .invalidQuery = storeError({ try store.count(record: "Mark", where: nested) })
    else {
      Issue.record("seventeen queries in one another were run")
      return
    }
  }

  @Test func `a transaction sees its own changes in the values of queries`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Mark.self]))
    try store.write { try $0.insert(contentsOf: (0..<4).map { Mark(id: $0, group: 0, value: $0) }) }
    let highest = Mark.where { $0.value == Mark.maximum(\.value) }
    try store.write { transaction in
      try transaction.save(Mark(id: 1, group: 0, value: 9))
      #expect(try transaction.fetch(highest).map(\.id) == [1])
    }
    #expect(try store.fetch(highest).map(\.id) == [1])
  }
}

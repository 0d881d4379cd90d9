import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Part: Codable, Hashable {
  var text: String
}

/// Numbers of every kind to sort by, and properties that are read alone or only with their records.
private struct Mixed: Record, Equatable {
  var id: Int
  var small: Int8
  var large: UInt64
  var ratio: Float
  var weight: Double?
  var day: Date
  var inner: Part
  var outer: Part?

  var doubled: Int { id * 2 }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "small", type: .int8)
    Field(name: "large", type: .uint64)
    Field(name: "ratio", type: .float)
    Field(name: "weight", type: .double, optional: true)
    Field(name: "day", type: .date)
    Field(name: "inner", type: .composite { Field(name: "text", type: .string) })
    Field(name: "outer", type: .composite { Field(name: "text", type: .string) }, optional: true)
  }

  static let some: [Mixed] = (0..<500).map { number in
    let mixed = (number * 7919 + 13) % 499
    return Mixed(
      id: number, small: Int8(mixed % 200 - 100), large: .max - UInt64(mixed),
      ratio: mixed % 50 == 7 ? .nan : Float(mixed) / 8 - 20,
      weight: mixed % 5 == 0
        ? nil : mixed % 31 == 3 ? .nan : mixed % 9 == 1 ? -0.0 : 250 - Double(mixed),
      day: Date(timeIntervalSinceReferenceDate: Double(mixed * 1_000)),
      inner: Part(text: "inner \(mixed)"),
      outer: mixed % 3 == 0 ? nil : Part(text: "outer \(mixed)"))
  }
}

@Suite struct PartialReadingTests {
  private func withMixed(_ body: (PersistentStore) throws -> Void) throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Mixed.self]))
    try store.save(contentsOf: Mixed.some)
    try body(store)
    try store.close()
  }

  @Test func `the first of all are the same as those of all, sorted by any number`() throws {
    try withMixed { store in
      let orders: [Query<Mixed>.Order] = [
        .ascending(\.small), .descending(\.small), .ascending(\.large), .descending(\.large),
        .ascending(\.ratio), .descending(\.ratio), .ascending(\.weight), .descending(\.weight),
        .ascending(\.day), .descending(\.day),
      ]
      for order in orders {
        for query in [Mixed.sorted(by: order), Mixed.sorted(by: order).where { $0.id > 100 }] {
          let all = try store.fetch(query).map(\.id)
          for count in [1, 2, 20, 150, 499] {
            let first = try store.fetch(query.limit(count)).map(\.id)
            #expect(first == Array(all.prefix(count)), "\(query) \(count)")
          }
          let behind = try #require(try store.fetch(query.limit(40)).last)
          let next = try store.fetch(query.limit(20), after: behind).map(\.id)
          #expect(next == Array(all.dropFirst(40).prefix(20)), "\(query)")
        }
      }
    }
  }

  @Test func `properties are selected alone as with their records`() throws {
    try withMixed { store in
      let all = Mixed.some
      let query = Query<Mixed>()
      let rows = try store.select(\.id, \.weight, \.inner.text, \.day, from: query)
      #expect(rows.map(\.0) == all.map(\.id))
      #expect(rows.map { $0.1?.bitPattern } == all.map { $0.weight?.bitPattern })
      #expect(rows.map(\.2) == all.map(\.inner.text))
      #expect(rows.map(\.3) == all.map(\.day))
      #expect(try store.select(\.inner, \.small, from: query).map(\.0) == all.map(\.inner))
      #expect(try store.select(\.outer?.text, from: query) == all.map(\.outer?.text))
      #expect(try store.select(\.outer, from: query) == all.map(\.outer))
      #expect(try store.select(\.doubled, \.id, from: query).map(\.0) == all.map(\.doubled))
      #expect(try store.select(\.id, from: Mixed.where { $0.id > 400 }) == Array(401..<500))
      let groups = try store.fetch(query.grouped { ($0.inner.text, $0.outer.text) })
      #expect(groups.count == Set(all.map(\.inner.text)).count)
      let days = try store.distinct(\.day, \.small, from: query)
      #expect(days.map(\.0) == Set(all.map(\.day)).sorted())
    }
  }

  @Test func `properties of any number of records are selected as they are fetched`() throws {
    for count in [0, 1, 15, 16, 17, 47, 48, 49, 6_000] {
      let store = try PersistentStore(inMemory: StoreModel(records: [Mixed.self]))
      var records: [Mixed] = []
      for id in 0..<count {
        var mixed = Mixed.some[id % 500]
        mixed.id = id
        mixed.inner.text = String(repeating: "t", count: id % 40)
        records.append(mixed)
      }
      try store.save(contentsOf: records)
      for query in [
        Query<Mixed>(), Mixed.where { $0.small > 0 }, Query<Mixed>().limit(count / 2).offset(3),
        Mixed.sorted(by: .descending(\.small)),
      ] as [Query<Mixed>] {
        let fetched = try store.fetch(query)
        let rows = try store.select(\.small, \.inner.text, \.id, \.large, from: query)
        #expect(rows.map(\.0) == fetched.map(\.small), "\(count), \(query)")
        #expect(rows.map(\.1) == fetched.map(\.inner.text), "\(count), \(query)")
        #expect(rows.map(\.2) == fetched.map(\.id), "\(count), \(query)")
        #expect(rows.map(\.3) == fetched.map(\.large), "\(count), \(query)")
        #expect(try store.select(\.id, from: query) == fetched.map(\.id), "\(count), \(query)")
      }
    }
  }

  @Test func `thousands of keys are fetched in their order, in a snapshot and a transaction`()
    throws
  {
    try withMixed { store in
      let keys = (0..<3_000).map { $0 * 31 % 700 }
      let expected = keys.filter { $0 < 500 }
      #expect(try store.fetch(Mixed.self, keys: keys).map(\.id) == expected)
      try store.write { transaction in
        try transaction.delete(Mixed.self, key: 3)
        let found = try transaction.fetch(Mixed.self, keys: keys).map(\.id)
        #expect(found == expected.filter { $0 != 3 })
      }
      #expect(try store.fetch(Mixed.self, keys: [Int]()) == [])
    }
  }

  @Test func `changes are observed of a query without a limit`() throws {
    try withMixed { store in
      let changes = try store.changes(of: Mixed.where { $0.id < 10 })
      #expect(try changes.snapshot.count(Mixed.self) == 500)
      for query in [Query<Mixed>().limit(1), Query().offset(1), Query().after(1)] {
        guard case .invalidQuery("Mixed", _, _) = storeError({ try store.changes(of: query) })
        else {
          Issue.record("\(query)")
          return
        }
      }
    }
  }

  @Test func `records are written and deleted in transactions of the store's own`() throws {
    try withMixed { store in
      #expect(try store.update(Mixed.where { $0.id < 10 }) { $0.small = 99 } == 10)
      #expect(try store.count(Mixed.where { $0.small == 99 && $0.id < 10 }) == 10)
      #expect(try store.update(Mixed.where { $0.id == 11 }) { $0.large = 1 } == 1)
      #expect(try store.delete(Mixed.where { $0.id >= 400 }) == 100)
      #expect(try store.delete(Mixed.where { $0.id >= 300 }) == 100)
      #expect(try store.write { try $0.delete(contentsOf: Mixed.some.prefix(10)) } == 10)
      #expect(
        storeError { try store.write { try $0.insert(contentsOf: Mixed.some.suffix(200)) } } == nil)
      #expect(try store.count(Mixed.self) == 490)
      try store.write { try $0.deleteAll(Mixed.self) }
      #expect(try store.count(Mixed.self) == 0)
    }
  }
}

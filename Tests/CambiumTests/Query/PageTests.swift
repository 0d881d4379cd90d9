import TestSupport
import Testing

@testable import Cambium

/// Pages of records in the order of an index, each after the last record of the one before.
@Suite struct PageTests {
  private struct Entry: Record, Equatable {
    var id: Int
    var name: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, indexed: true)
    }
  }

  /// Entries of which `count` at a time have the same name.
  private func filled(_ count: Int) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: StoreModel(records: [Entry.self]))
    try store.write {
      try $0.insert(contentsOf: (0..<300).map { Entry(id: $0, name: "n\(100 + $0 / count)") })
    }
    return store
  }

  private func pages(
    _ reading: borrowing some RecordReading & ~Copyable, of limit: Int
  ) throws -> [Int] {
    let page = Entry.sorted(by: .ascending(\.name)).limit(limit)
    var ids: [Int] = []
    var last: Entry?
    repeat {
      let entries = try reading.fetch(page, after: last)
      #expect(entries.count <= limit)
      ids += entries.map(\.id)
      last = entries.last
    } while last != nil
    return ids
  }

  @Test(arguments: [1, 2, 10, 100, 300])
  func `pages are the whole, however many entries have the name that a page ends with`(
    count: Int
  ) throws {
    let store = try filled(count)
    for limit in [1, 2, 8, 9, 25, 31, 32, 33, 41, 299, 300, 301, .max] {
      #expect(try pages(store, of: limit) == Array(0..<300), "of \(limit)")
    }
    // What a transaction has not committed yet.
    try store.write { transaction in
      for id in stride(from: 0, to: 300, by: 3) {
        _ = try transaction.delete(Entry.self, key: id)
      }
      try transaction.insert(Entry(id: 1_000, name: "n1"))
      let expected = [1_000] + (0..<300).filter { $0 % 3 != 0 }
      for limit in [1, 9, 32, 300] {
        #expect(try pages(transaction, of: limit) == expected, "of \(limit)")
      }
    }
  }

  @Test func `a page begins after a record that does not exist any more`() throws {
    let store = try filled(100)
    let page = Entry.sorted(by: .ascending(\.name)).limit(25)
    let first = try store.fetch(page)
    _ = try store.write { transaction in try transaction.delete(Entry.self, key: 24) }
    #expect(try store.fetch(page, after: first.last).map(\.id) == Array(25..<50))
  }
}

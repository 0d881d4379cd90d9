import TestSupport
import Testing

@testable import Cambium

private struct Author: Record, Equatable {
  var id: Int
  var country: String
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "country", type: .string, indexed: true)
  }
}

private struct Work: Record, Equatable {
  var id: Int
  var author: Int
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "author", type: .integer, indexed: true)
  }
}

@Suite struct SubqueryTests {
  @Test func `what one query finds is a condition of another, in one snapshot or transaction, G5`()
    throws
  {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Author.self, Work.self]))
    try store.write { transaction in
      for id in 0..<40 { try transaction.insert(Author(id: id, country: "c\(id % 4)")) }
      for id in 0..<200 { try transaction.insert(Work(id: id, author: id * 7 % 40)) }
    }
    func works(in country: String, _ reading: borrowing some RecordReading & ~Copyable) throws
      -> [Int]
    {
      let authors = try reading.select(\.id, from: Author.where { $0.country == country })
      return try reading.fetch(Work.where { $0.author.isIn(authors) }).map(\.id)
    }
    let expected = (0..<200).filter { $0 * 7 % 40 % 4 == 2 }
    #expect(try store.read { try works(in: "c2", $0) } == expected)
    try store.write { transaction in
      try transaction.save(Author(id: 2, country: "elsewhere"))
      let now = try works(in: "c2", transaction)
      #expect(now == expected.filter { $0 * 7 % 40 != 2 })
    }
    #expect(try works(in: "nowhere", store) == [])
  }
}

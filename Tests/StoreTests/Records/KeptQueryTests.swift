import Testing

@testable import Cambium
@testable import InternalTestSupport

/// One stored record under Swift properties whose names change.
@RecordDescription.ResultBuilder
private func description(age: String, size: String) -> RecordDescription {
  RecordName("P")
  Field(primaryKey: true, name: "id", type: .integer)
  Field(name: "age", type: .integer, property: age)
  Field(name: "size", type: .integer, property: size)
}

private struct Old: Record {
  var id: Int
  var age: Int
  var size: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    description(age: "age", size: "size")
  }
}

private struct Exchanged: Record {
  var id: Int
  var size: Int
  var age: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    description(age: "size", size: "age")
  }
}

private struct OtherNames: Record {
  var id: Int
  var years: Int
  var length: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    description(age: "years", size: "length")
  }
}

@Suite struct KeptQueryTests {
  /// The keys of the records that a kept query finds when it is read for another Swift type.
  private func ids<New: Record & Sendable>(
    _ query: Query<Old>, as type: New.Type, _ id: (New) -> Int
  ) throws -> [Int] {
    let store = try PersistentStore(inMemory: StoreModel(records: [Old.self]))
    try store.write { transaction in
      for (id, age, size) in [(1, 1, 9), (2, 5, 5), (3, 9, 1)] {
        try transaction.save(Old(id: id, age: age, size: size))
      }
      try transaction.setQuery(query, named: "q")
    }
    let kept = try #require(
      try store.metadata(KeptQuery<Old>.self, for: store.entities.name(ofQuery: "q", Old.self)))
    let other = try PersistentStore(inMemory: StoreModel(records: [New.self]))
    try other.write { transaction in
      try store.forEach(record: "P") { try transaction.save($0) }
      try transaction.setMetadata(
        kept, for: try transaction.entities.name(ofQuery: "q", New.self))
    }
    let query = try #require(try other.query(New.self, named: "q"))
    return try other.fetch(query).map(id)
  }

  @Test func `a kept query asks the same fields whatever their properties are called`() throws {
    let queries: [(Query<Old>, [Int])] = [
      (Query().where { $0.age > 2 }, [2, 3]), (Query().where { $0.size > 2 }, [1, 2]),
      (Query().sorted(by: .descending(\.age)).limit(2), [3, 2]),
      (
        Old.where { $0.age + $0.size == 10 && $0.age != 5 }.sorted(by: .ascending(\.size)),
        [3, 1]
      ),
      (Query().sorted(by: .ascending(\.age)).offset(1).after(1), [3]),
    ]
    for (query, expected) in queries {
      #expect(try ids(query, as: Old.self) { $0.id } == expected)
      #expect(try ids(query, as: Exchanged.self) { $0.id } == expected)
      #expect(try ids(query, as: OtherNames.self) { $0.id } == expected)
    }
  }

  @Test func `a query that was kept with the names of properties is read as before`() throws {
    try withStore { store in
      let query = Account.where { $0.city == "Ulm" }.sorted(by: .descending(\.balance)).limit(4)
        .after(3)
      try store.write { transaction in
        try transaction.setMetadata(
          query, for: transaction.entities.name(ofQuery: "old", Account.self))
        try transaction.setMetadata(
          Query<Account>(), for: transaction.entities.name(ofQuery: "all", Account.self))
      }
      #expect(try store.query(Account.self, named: "old") == query)
      #expect(try store.query(Account.self, named: "all") == Query())
    }
  }

  @Test func `a query that is read equals the one that was kept`() throws {
    try withStore { store in
      let queries: [Query<Account>] = [
        Query(),
        Query().where { $0.city == "Ulm" }.sorted(by: .descending(\.balance)).limit(4).offset(1),
        Query().where { $0.city == "Ulm" && $0.balance > 3 },
        Account.where { !$0.city.hasPrefix("U") && $0.balance * 2 < 9 },
      ]
      for query in queries {
        try store.write { try $0.setQuery(query, named: "q") }
        #expect(try store.query(Account.self, named: "q") == query)
      }
    }
  }

  @Test func `a query of a field that is gone is refused when it is read`() throws {
    try withStore { store in
      let json = #"{"condition":{"fields":"gone > 2"}}"#
      let kept = try JSONCodec().decode(KeptQuery<Account>.self, from: Array(json.utf8))
      try store.write { transaction in
        try transaction.setMetadata(
          kept, for: transaction.entities.name(ofQuery: "q", Account.self))
      }
      guard
        case .invalidQuery("Account", "gone", _) = storeError({
          try store.query(Account.self, named: "q")
        })
      else {
        Issue.record("what is gone is asked for")
        return
      }
    }
  }

  @Test func `queries are not among the names of metadata`() throws {
    try withStore { store in
      try store.write { transaction in
        try transaction.setQuery(Query<Account>(), named: "mine")
        try transaction.setMetadata(1, for: "number")
      }
      #expect(try store.metadataNames() == ["number"])
      #expect(try store.allMetadataNames().count == 2)
      try store.write { transaction in
        for name in try transaction.metadataNames() {
          try transaction.setMetadata(nil as Int?, for: name)
        }
      }
      #expect(try store.queryNames(Account.self) == ["mine"])
    }
  }

  @Test func `every name of a query is found by what it is called`() throws {
    let names = ["", "a", "\u{301}abc", "e\u{301}", "é", "🇩", "🇪", "a.b", "1.", "\u{0}"]
    try withStore { store in
      try store.write { transaction in
        for name in names { try transaction.setQuery(Query<Account>(), named: name) }
      }
      let found = try store.queryNames(Account.self)
      #expect(Set(found.map { Array($0.utf8) }) == Set(names.map { Array($0.utf8) }))
      for name in found { #expect(try store.query(Account.self, named: name) != nil) }
    }
  }

  @Test func `changes that were not kept are refused`() throws {
    try withStore { store in
      let error = storeError {
        try store.write { transaction in
          try transaction.save(Account(id: 1, name: "a"))
          _ = try transaction.changes(of: Account.self)
        }
      }
      #expect(error == .changesNotKept(record: "Account"))
    }
  }
}

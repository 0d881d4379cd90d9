import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

/// A record with everything that indexes and constraints can do.
struct Person: Record, Equatable {
  var id = UUID()
  var name: String
  var email: String?
  var age: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "email", type: .string, optional: true, unique: true)
    Field(name: "age", type: .integer, validation: [.range(0...150)])
    Index("age", .descending("name"))
  }
}

@Suite("A persistent store")
struct PersistentStoreTests {
  private func memory() throws -> PersistentStore {
    try PersistentStore(inMemory: StoreModel(records: [Person.self]))
  }

  @Test func `what was saved is fetched, F1 G1`() throws {
    let store = try memory()
    let person = Person(name: "Ada", email: "ada@example.org", age: 36)
    try store.save(person)
    #expect(try store.fetch(Person.self, key: person.id) == person)
    #expect(try store.fetch(Person.self) == [person])
    #expect(try store.count(Person.self) == 1)
    #expect(try store.fetch(Person.self, key: UUID()) == nil)
  }

  @Test func `a unique field refuses a second record, or replaces the first, E2 E4 E5`() throws {
    let store = try memory()
    let first = Person(name: "Ada", email: "a@example.org", age: 36)
    let second = Person(name: "Bob", email: "a@example.org", age: 40)
    try store.save(first)
    #expect(throws: StoreError.self) { try store.save(second) }
    #expect(try store.fetch(Person.self) == [first])
    try store.save(second, onConflict: .replaceOther)
    #expect(try store.fetch(Person.self) == [second])
  }

  @Test func `it is there again when the store is opened anew`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/people.cambium"
    let people = (0..<100).map { Person(name: "P\($0)", email: nil, age: $0) }
    let model = StoreModel(records: [Person.self])
    do {
      let store = try PersistentStore(at: path, model: model)
      try store.write { transaction in try transaction.insert(contentsOf: people) }
      try store.close()
    }
    let store = try PersistentStore(at: path, model: model)
    #expect(try Set(store.fetch(Person.self).map(\.name)) == Set(people.map(\.name)))
    try store.close()
  }

  @Test func `a store that is let go of without closing can be opened, and has all`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/people.cambium"
    let model = StoreModel(records: [Person.self])
    let people = (0..<50).map { Person(name: "P\($0)", email: nil, age: $0) }
    for person in people {
      let store = try PersistentStore(at: path, model: model)
      try store.save(person, onConflict: .refuse, .relaxed(maxDelay: .infinite))
    }
    let store = try PersistentStore(at: path, model: model)
    #expect(try store.count(Person.self) == people.count)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `a store is deleted with its directory, and nothing else is, F21`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/people.cambium"
    let model = StoreModel(records: [Person.self])
    let store = try PersistentStore(at: path, model: model)
    try store.save(Person(name: "Ada", email: nil, age: 36))
    #expect(throws: StoreError.self) { try PersistentStore.delete(at: path) }
    try store.close()
    #expect(try PersistentStore.inspect(at: path).statistics.recordCount == 1)
    try PersistentStore.delete(at: path)
    #expect(throws: StoreError.missing(path: path)) { try PersistentStore.delete(at: path) }
    let new = try PersistentStore(at: path, model: model)
    #expect(try new.count(Person.self) == 0)
    try new.close()
  }
}

import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Properties that are stored nowhere: computed ones among changed fields, and those that are queries.
@Suite struct ComputedPropertyTests {
  private func changedFields(
    _ old: Worker, _ change: (inout Worker) -> Void
  ) throws -> Set<String>? {
    let store = try PersistentStore(inMemory: StoreModel(records: [Worker.self]))
    try store.save(old)
    return try store.write { transaction in
      transaction.keepChanges()
      var new = old
      change(&new)
      try transaction.save(new)
      return try transaction.changes(of: Worker.self).updated.first?.changedFields
    }
  }

  @Test func `A18: computed properties are among the changed fields`() throws {
    let worker = Worker(id: 1, first: "Ann", last: "Lee", home: .init(city: "Bern", street: "A"))
    #expect(try changedFields(worker) { $0.first = "Jo" } == ["first", "fullName", "label"])
    #expect(try changedFields(worker) { $0.home.street = "B" } == ["home.street", "label"])
    #expect(try changedFields(worker) { $0.age = 3 } == ["age"])
  }

  @Test func `A18: observers are told of computed properties that changed`() async throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Worker.self]))
    var worker = Worker(id: 1, first: "Ann", last: "Lee", home: .init(city: "Bern", street: "A"))
    try await store.save(worker)
    var changes = try store.changes(of: Worker.self).makeAsyncIterator()
    worker.last = "Moor"
    try await store.save(worker)
    let update = try await changes.next()?.updated.first
    #expect(update?.changedFields == ["last", "fullName", "label"])
  }

  @Test func `what a computed property depends on has to be there`() {
    func fault(_ computed: RecordDescription.Computed...) -> String? {
      let description = description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "first", type: .string)
        RecordDescription(computed.map { .init(kind: .computed($0)) })
      }
      return storeError { try untyped(("Worker", description)).schemas() }?.description
    }
    #expect(fault(.init("a", dependsOn: "first", "id"), .init("b", dependsOn: "a")) == nil)
    #expect(
      fault(.init("a", dependsOn: "b"), .init("b", dependsOn: "first"))?.contains("b") == true)
    #expect(fault(.init("first", dependsOn: "id"))?.contains("no field") == true)
    #expect(fault(.init("a"), .init("a"))?.contains("stated once") == true)
  }

  @Test func `A23: a fetched property is a query that a property returns`() async throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Worker.self]))
    for (id, last, age) in [(1, "Lee", 30), (2, "Lee", 70), (3, "Moor", 80)] {
      try await store.save(
        Worker(
          id: id, first: "\(id)", last: last, home: .init(city: "Bern", street: "A"), age: age))
    }
    let one = try #require(try store.fetch(Worker.self, key: 1))
    #expect(try await store.fetch(one.namesakes).map(\.id) == [2])
    #expect(
      try await store.fetch(Worker.old.sorted(by: .descending(\.age)).limit(1)).map(\.id) == [3])
    #expect(try await store.count(one.namesakes) == 1)
    var results = try store.results(of: one.namesakes).makeAsyncIterator()
    #expect(try await results.next()?.records.map(\.id) == [2])
    try await store.save(
      Worker(id: 4, first: "4", last: "Lee", home: .init(city: "Bern", street: "A")))
    #expect(try await results.next()?.records.map(\.id) == [2, 4])
  }
}

private struct Worker: Record, Identifiable {
  var id: Int
  var first: String
  var last: String
  var home: Home
  var age = 0

  struct Home: Codable {
    var city: String
    var street: String
  }

  var fullName: String { "\(first) \(last)" }
  var label: String { "\(fullName), \(home.city)" }
  /// Those of that age, whoever they are.
  static let old = Worker.where { $0.age >= 65 }

  var namesakes: Query<Worker> {
    let (id, last) = (id, last)
    return Worker.where { $0.last == last && $0.id != id }
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "first", type: .string)
    Field(name: "last", type: .string)
    Field(
      name: "home",
      type: .composite {
        Field(name: "city", type: .string)
        Field(name: "street", type: .string)
      })
    Field(name: "age", type: .integer)
    Computed("fullName", dependsOn: "first", "last")
    Computed("label", dependsOn: "fullName", "home")
  }
}

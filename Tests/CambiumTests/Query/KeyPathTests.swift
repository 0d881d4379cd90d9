import Testing

@testable import Cambium
@testable import InternalTestSupport

private final class Owner: Codable, Hashable, Sendable {
  let name: String

  init(_ name: String) { self.name = name }

  static func == (one: Owner, other: Owner) -> Bool { one.name == other.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private struct Place: Codable, Hashable, Sendable {
  var city: String
}

private enum Only: String, RecordStringEnum {
  case one
}

/// A record with properties of which key paths end with the names of its fields, but do not lead to them.
private struct Document: Record, Equatable {
  var id: Int
  var name: String
  var city: String
  var owner: Owner
  var target: Place { didSet {} }
  var level: Int { didSet {} }
  var home: Place?
  var first = Only.one
  var second = Only.one

  var computed: Place { Place(city: name) }
  var twiceTheLevel: Int { level * 2 }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "city", type: .string)
    Field(name: "owner", type: .transformable)
    Field(name: "target", type: .composite { Field(name: "city", type: .string) })
    Field(name: "level", type: .integer)
    Field(name: "home", type: .composite { Field(name: "city", type: .string) }, optional: true)
    Field(name: "first", type: .string)
    Field(name: "second", type: .string)
  }
}

/// Names with dots, of types that are one in the other.
private enum Outer<Value: Sendable> {
  struct Inner: Record {
    var id: Int
    var part: Place?
    var city = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "part", type: .composite { Field(name: "city", type: .string) }, optional: true)
      Field(name: "city", type: .string)
    }
  }
}

private func withDocuments(_ body: (PersistentStore, [Document]) throws -> Void) throws {
  try withStore(StoreModel(records: [Document.self])) { store in
    let documents = [
      Document(
        id: 1, name: "plan", city: "Ulm", owner: Owner("anna"), target: Place(city: "Rome"),
        level: 3, home: Place(city: "Bonn")),
      Document(
        id: 2, name: "anna", city: "Rome", owner: Owner("bob"), target: Place(city: "Ulm"),
        level: 4, home: nil),
    ]
    try store.write { transaction in try transaction.insert(contentsOf: documents) }
    try body(store, documents)
  }
}

@Suite struct KeyPathTests {
  private static let unstored: [Condition<Document>] = [
    \.owner.name == "anna", \.computed.city == "Rome", \.twiceTheLevel == 6,
    Condition(matching: { $0.owner.name == "anna" }),
    Condition(matching: { $0.computed.city == "Rome" }),
    \.first == .one, \.second == .one,
  ]

  @Test func `a key path that leads to no field is refused, whatever it ends with`() throws {
    try withDocuments { store, documents in
      for condition in Self.unstored {
        let errors = [
          storeError { try store.fetch(Document.self, where: condition) },
          storeError { try store.count(Document.self, where: condition) },
          storeError { try store.exists(Document.self, where: condition) },
          storeError { try store.write { try $0.delete(Document.self, where: condition) } },
          storeError {
            try store.write { try $0.update(Document.self, where: condition) { $0.name = "" } }
          },
        ]
        for error in errors {
          guard case .invalidQuery("Document", _, _) = error else {
            Issue.record("\(condition): \(String(describing: error))")
            continue
          }
        }
      }
      let order = Query<Document>(sortedBy: .ascending(\.owner.name))
      guard case .invalidQuery = storeError({ try store.fetch(order) }) else {
        Issue.record("the name of the owner is sorted by")
        return
      }
      let left = try store.fetch(Document.self)
      #expect(left == documents)
    }
  }

  @Test func `a refused key path says what to do`() throws {
    try withDocuments { store, _ in
      let error = storeError { try store.fetch(Document.self, where: \.owner.name == "anna") }
      #expect(error?.description.contains("owner.name") == true)
      #expect(error?.description.contains("make the condition of text") == true)
    }
  }

  @Test func `key paths through structs and optional structs lead to their parts`() throws {
    try withDocuments { store, _ in
      let conditions: [(Condition<Document>, [Int])] = [
        (\.city == "Rome", [2]), (\.home?.city == "Bonn", [1]), (\.home == nil, [2]),
        (Condition(matching: { $0.home.city == "Bonn" }), [1]),
      ]
      for (condition, expected) in conditions {
        let found = try store.fetch(Document.self, where: condition)
        #expect(found.map(\.id) == expected)
      }
    }
  }

  @Test func `fields that no key path leads to are asked by their names`() throws {
    try withDocuments { store, _ in
      let conditions = [
        ("level == 3", [1]), (#"target.city == "Rome""#, [1]),
        (#"first == "one" && second == "one""#, [1, 2]), (#"second == "two""#, []),
      ]
      for (text, expected) in conditions {
        let condition = Condition<Document>(try FieldCondition(parsing: text))
        let found = try store.fetch(Document.self, where: condition)
        #expect(found.map(\.id) == expected)
      }
    }
  }

  @Test func `a record's type may have dots in its name`() throws {
    typealias Inner = Outer<[Outer<Int>.Inner]>.Inner
    try withStore(StoreModel(records: [Inner.self])) { store in
      try store.write { transaction in
        try transaction.save(Inner(id: 1, part: Place(city: "Ulm"), city: "Bonn"))
      }
      #expect(try store.count(Inner.self, where: \.part?.city == "Ulm") == 1)
      #expect(try store.count(Inner.self, where: \.part?.city == "Bonn") == 0)
      #expect(try store.count(Inner.self, where: \.city == "Bonn") == 1)
    }
  }
}

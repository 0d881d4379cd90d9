import Cambium
import CambiumCoreStore
import Testing

/// Objects that are made of something else, F16.
@Suite struct CoreStoreImportingTests {
  private let stack = DataStack(
    CoreStoreSchema(modelVersion: "V1", entities: [Entity<Person>("Person"), Entity<Note>("Note")]))

  init() throws {
    try stack.addStorageAndWait(InMemoryStore())
  }

  private func importPeople(_ sources: [Person.Source]) throws -> ImportReport {
    try stack.perform(synchronous: { transaction in
      try transaction.importUniqueObjects(Into<Person>(), sourceArray: sources)
    })
  }

  private var people: [String] {
    get throws {
      try stack.fetchAll(From<Person>()).map { "\($0.number) \($0.name)" }
    }
  }

  @Test func `objects are found or made by their identifiers, and the last source of one counts`()
    throws
  {
    let first = try importPeople([.init(2, "Bo"), .init(1, "Al"), .init(2, "Bob"), .init(nil, "x")])
    #expect(first.inserted == 2)
    #expect(try Set(people) == ["1 Al", "2 Bob"])
    let second = try importPeople([
      .init(1, "Al"), .init(2, "Bo"), .init(3, "not new"), .init(4, "Di"),
    ])
    #expect(second.inserted == 1 && second.updated == 1 && second.unchanged == 1)
    #expect(try Set(people) == ["1 Al", "2 Bo", "4 Di"])
    let left = try importPeople([.init(4, "keep")])
    #expect(left.updated == 0 && left.skipped == 1)
    #expect(try people.contains("4 Di"))
  }

  @Test func `what a source's object throws ends the import, of which nothing is left`() throws {
    #expect(throws: Person.Refusal.self) {
      try importPeople([.init(1, "Al"), .init(2, "throw")])
    }
    #expect(try people == [])
  }

  @Test func `sources are chosen before the first object is made`() throws {
    _ = try stack.perform(synchronous: { transaction in
      try transaction.importUniqueObjects(
        Into<Person>(), sourceArray: [Person.Source(1, "Al"), Person.Source(2, "Bo")]
      ) { sources in
        sources[1] = nil
        sources[3] = Person.Source(3, "Cy")
      }
    })
    #expect(try Set(people) == ["2 Bo", "3 Cy"])
  }

  @Test func `objects without an identifier are made of every source`() throws {
    let texts = try stack.perform(synchronous: { transaction in
      try transaction.importObject(Into<Note>(), source: "c")
      return try transaction.importObjects(Into<Note>(), sourceArray: ["a", "", "b"]).map(\.text)
    })
    #expect(texts == ["a", "b"])
    #expect(try stack.fetchCount(From<Note>()) == 3)
  }
}

private struct Person: ImportableUniqueObject {
  struct Source {
    let number: Int?
    let name: String

    init(_ number: Int?, _ name: String) {
      (self.number, self.name) = (number, name)
    }
  }

  struct Refusal: Error {}

  var id = 0
  var number = 0
  var name = ""

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "number", type: .integer, unique: true)
    Field(name: "name", type: .string)
  }

  static var uniqueIDKeyPath: PartialKeyPath<Person>? { \.number }

  var uniqueIDValue: Int {
    get { number }
    set { (number, id) = (newValue, -newValue) }
  }

  static func uniqueID(from source: Source) -> Int? { source.number }

  static func shouldInsert(
    from source: Source, in transaction: inout WriteTransaction
  ) -> Bool { source.name != "not new" }

  static func shouldUpdate(
    from source: Source, in transaction: inout WriteTransaction
  ) -> Bool { source.name != "keep" }

  mutating func update(from source: Source, in transaction: inout WriteTransaction) throws {
    if source.name == "throw" { throw Refusal() }
    name = source.name
  }
}

private struct Note: ImportableObject {
  var id = UInt64.random(in: 0...UInt64.max)
  var text = ""

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uint64)
    Field(name: "text", type: .string)
  }

  static func shouldInsert(
    from source: String, in transaction: inout WriteTransaction
  ) -> Bool { !source.isEmpty }

  mutating func didInsert(from source: String, in transaction: inout WriteTransaction) {
    text = source
  }
}

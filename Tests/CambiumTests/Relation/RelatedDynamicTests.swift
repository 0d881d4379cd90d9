import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// References in records without Swift types, and random ones.
@Suite struct RelatedDynamicTests {
  private static let model = untyped(
    ("Author", description { Field(primaryKey: true, name: "id", type: .uuid) }),
    (
      "Book",
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "author", type: .reference(to: "Author"), optional: true)
        Field(name: "editors", type: .references(to: "Author", count: 0...2))
        Field(name: "source", type: .reference(to: "Author", checked: false), optional: true)
      }
    ))

  @Test func `C5: a reference is the value of its key, and a list an array`() throws {
    let store = try PersistentStore(inMemory: Self.model)
    let (one, two) = (UUID(), UUID())
    let book = DynamicRecord(
      "Book",
      [
        "id": 1, "author": .uuid(one), "editors": .array([.uuid(two), .uuid(one)]), "source": nil,
      ])
    try store.write { transaction in
      // Before those that it leads to.
      try transaction.save(book)
      for id in [one, two] {
        try transaction.save(DynamicRecord("Author", ["id": .uuid(id)]))
      }
    }
    let found = try #require(try store.fetch(record: "Book", key: 1))
    #expect(found == book)
    #expect(try found["author", as: UUID.self] == one)
    #expect(try found["editors", as: [UUID].self] == [two, one])
    #expect(
      try store.fetch(
        record: "Book", where: .comparison(field: "author", .equal, .uuid(one))) == [book])
    #expect(
      try store.fetch(record: "Book", where: .contains(field: "editors", .uuid(two))) == [book])
    let ids = [one, two].sorted { "\($0)" < "\($1)" }
    #expect(
      try store.fetch(record: "Author", after: [.uuid(ids[0])]).map { $0["id"] } == [.uuid(ids[1])])
    try store.close()
  }

  @Test func `C5: records without types obey the rules of references`() throws {
    let store = try PersistentStore(inMemory: Self.model)
    let id = UUID()
    func write(_ fields: [String: FieldValue]) throws {
      try store.write { transaction in
        try transaction.save(DynamicRecord("Author", ["id": .uuid(id)]))
        try transaction.save(
          DynamicRecord(
            "Book",
            RecordFields(["id": 1, "editors": .array([])].merging(fields) { $1 })))
      }
    }
    let dangling = UUID()
    #expect(
      throws: StoreError.danglingReference(
        record: "Book", key: "1", field: "author",
        destination: "Author \(FieldValue.uuid(dangling))")
    ) { try write(["author": .uuid(dangling)]) }
    #expect(throws: StoreError.self) { try write(["editors": .array([.uuid(id), .uuid(id)])]) }
    #expect(try store.count(record: "Book") == 0)
    try write(["source": .uuid(dangling), "author": .uuid(id)])
    #expect(try store.count(record: "Book") == 1)
    try store.write { transaction in
      let isDeleted = try transaction.delete(record: "Author", key: id)
      #expect(isDeleted)
    }
    #expect(try store.fetch(record: "Book", key: 1)?["author"] == .null)
    try store.close()
  }

  // MARK: Random records

  private func filled(_ model: StoreModel, seed: UInt64 = 3) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model)
    var random = RandomRecords(seed: seed)
    try random.fill(store, count: 60)
    return store
  }

  @Test func `random records lead to records that exist`() throws {
    let model = untyped(
      (
        "A person",
        description {
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "boss", type: .reference(to: "A person"))
          Field(name: "friends", type: .references(to: "A person", count: 1...3))
          inverse("staff", of: "boss", in: "A person", .deny, count: RelationBounds(0...4))
        }
      ),
      (
        "Account",
        description {
          Field(primaryKey: true, name: "person", type: .reference(to: "Person two"))
          Field(
            name: "at",
            type: .composite {
              Field(name: "bank", type: .reference(to: "Person two"), optional: true)
            })
          Field(name: "other", type: .reference(to: "Account"), optional: true, unique: true)
          Field(name: "loose", type: .reference(to: "A person", checked: false))
        }
      ), ("Person two", description { Field(primaryKey: true, name: "name", type: .string) }))
    for seed in 0..<5 {
      let store = try filled(model, seed: UInt64(seed))
      let counts = try store.statistics().records
      #expect(counts.map(\.name) == ["A person", "Account", "Person two"])
      for record in counts { #expect(record.count > 10, "\(record)") }
      #expect(counts[0].references["friends"] ?? 0 >= counts[0].count)
      let faults = try store.snapshot().check()
      #expect(faults.isEmpty, "\(faults.prefix(3).map { "\($0)" })")
      try store.close()
    }
  }

  @Test func `C8: relations of records without types are followed from both ends`() throws {
    let store = try PersistentStore(
      inMemory: untyped(
        (
          "Author",
          description {
            Field(primaryKey: true, name: "name", type: .string)
            inverse("books", of: "author", in: "Book")
            inverse("edited", of: "editors", in: "Book")
            inverse("lent", of: "place.shelf", in: "Book")
          }
        ),
        (
          "Book",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "author", type: .reference(to: "Author"), optional: true)
            Field(name: "editors", type: .references(to: "Author"))
            Field(
              name: "place",
              type: FieldType(
                kind: .composite(
                  description {
                    Field(name: "shelf", type: .reference(to: "Author"), optional: true)
                  })), optional: true)
          }
        )))
    func book(_ id: Int64, _ author: FieldValue, _ editors: [FieldValue]) -> DynamicRecord {
      DynamicRecord(
        "Book",
        [
          "id": .integer(id), "author": author, "editors": .array(editors),
          "place": id == 3 ? .composite(["shelf": "a"]) : .null,
        ])
    }
    let authors = ["a", "b"].map { DynamicRecord("Author", ["name": .string($0)]) }
    let books = [book(1, "a", ["b", "a"]), book(2, .null, []), book(3, "a", ["a"])]
    try store.write { transaction in
      for record in authors + books { try transaction.save(record) }
    }
    #expect(try store.related(to: books[0], "author") == [authors[0]])
    #expect(try store.related(to: books[1], "author").isEmpty)
    #expect(try store.related(to: books[0], "editors") == [authors[1], authors[0]])
    #expect(try store.related(to: books[2], "place.shelf") == [authors[0]])
    #expect(try store.related(to: books[0], "place.shelf").isEmpty)
    #expect(try store.related(to: authors[0], "books") == [books[0], books[2]])
    #expect(try store.related(to: authors[1], "edited") == [books[0]])
    #expect(try store.snapshot().related(to: authors[0], "lent") == [books[2]])
    #expect(try store.related(to: books, "author") == [[authors[0]], [], [authors[0]]])
    #expect(try store.related(to: books, "place.shelf") == [[], [], [authors[0]]])
    #expect(
      try store.related(to: authors + authors, "edited")
        == [[books[0], books[2]], [books[0]], [books[0], books[2]], [books[0]]])
    #expect(try store.related(to: [], "nothing").isEmpty)
    #expect(throws: StoreError.self) {
      _ = try store.related(to: [books[0], authors[0]], "author")
    }
    try store.write { transaction in
      try transaction.delete(record: "Book", key: 1)
      let left = try transaction.related(to: authors[0], "books")
      #expect(left == [books[2]])
    }
    for (record, relation) in [(books[0], "id"), (books[0], "books"), (authors[0], "author")] {
      guard
        case .invalidQuery(record.name, relation, _)? = storeError({
          _ = try store.related(to: record, relation)
        })
      else {
        Issue.record("\(relation) is not refused")
        continue
      }
    }
  }

  @Test func `an index that has elements of a list, too, is not the way back`() throws {
    let store = try PersistentStore(
      inMemory: untyped(
        (
          "Author",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            inverse("books", of: "author", in: "Book")
          }
        ),
        (
          "Book",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "author", type: .reference(to: "Author"), optional: true)
            Field(name: "labels", type: .array(of: .string))
            Index("author", .elements("labels"))
          }
        )))
    let author = DynamicRecord("Author", ["id": 1])
    // One without an entry, and one with two.
    let books = [[], ["a", "b"]].enumerated().map { id, labels in
      DynamicRecord(
        "Book", ["id": .integer(Int64(id)), "author": 1, "labels": .array(labels)])
    }
    try store.write { transaction in
      for record in [author] + books { try transaction.save(record) }
    }
    #expect(try store.related(to: author, "books") == books)
    _ = try store.write { try $0.delete(record: "Author", key: 1) }
    #expect(try store.fetch(record: "Book").map { $0["author"] } == [.null, .null])
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `a reference to the longest key moves from one unique list to another`() throws {
    let store = try PersistentStore(
      inMemory: untyped(
        ("Item", description { Field(primaryKey: true, name: "name", type: .string) }),
        (
          "Laundry",
          description {
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "items", type: .references(to: "Item"), unique: true)
          }
        )))
    // Their entries are cut, so they do not end with all of the key.
    let long = String(repeating: "k", count: StoreError.Limit.keyLength.bound - 1)
    let (one, two) = (FieldValue.string(long + "1"), FieldValue.string(long + "2"))
    func laundry(_ id: Int64, _ items: [FieldValue]) -> DynamicRecord {
      DynamicRecord("Laundry", ["id": .integer(id), "items": .array(items)])
    }
    try store.write { transaction in
      for name in [one, two] {
        try transaction.save(DynamicRecord("Item", ["name": name]))
      }
      try transaction.save(laundry(1, [one, two]))
      try transaction.save(laundry(2, [two]), onConflict: .replaceOther)
    }
    #expect(try store.fetch(record: "Laundry") == [laundry(1, [one]), laundry(2, [two])])
    _ = try store.write { try $0.delete(record: "Item", key: two) }
    #expect(try store.fetch(record: "Laundry") == [laundry(1, [one]), laundry(2, [])])
    #expect(try store.snapshot().check() == [])
  }

  @Test func `random records of one seed are the same, also with references`() throws {
    let (one, other) = (try filled(Self.model), try filled(Self.model))
    #expect(try one.snapshot().contentFingerprint() == other.snapshot().contentFingerprint())
    try one.close()
    try other.close()
  }

  @Test func `records that need each other in a ring cannot be random`() throws {
    func part(_ name: String) -> RecordDescription {
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "next", type: .reference(to: name))
      }
    }
    let error = #expect(throws: (any Error).self) {
      try filled(untyped(("A", part("B")), ("B", part("A"))))
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("A.next must lead to a B"))
    // One that need not lead anywhere does not until there are some.
    let optional = description {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "next", type: .reference(to: "B"), optional: true)
    }
    let store = try filled(untyped(("A", optional), ("B", part("A"))))
    #expect(try store.count(record: "B") > 10)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `records are ordered so that those that are led to come first`() throws {
    func leading(to names: String...) -> RecordDescription {
      description {
        Field(primaryKey: true, name: "id", type: .integer)
        for name in names { Field(name: "to" + name, type: .reference(to: name)) }
      }
    }
    let schema = try untyped(
      ("A", leading(to: "D", "A")), ("B", leading()), ("C", leading(to: "E")),
      ("D", leading(to: "B")), ("E", leading(to: "C"))
    ).onlySchema
    #expect(schema.inOrderOfReferences.map(\.name) == ["B", "D", "A", "C", "E"])
  }
}

import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Author: Record, Identifiable, Equatable {
  var id: Int
  var name = ""

  static let books = Inverse("books", of: \Book.author)
  static let papers = Inverse<Author, Paper>("papers", of: "writer", deleteRule: .deny)
  static let notes = Inverse("notes", of: \Remark.about, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    books
    papers
    notes
  }
}

private struct Topic: Record, Identifiable, Equatable {
  var id: String

  static let books = Inverse("books", of: \Book.tags)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
    books
  }
}

private struct Book: Record, Identifiable, Equatable {
  var id: Int
  var title = ""
  var author: Reference<Author>?
  var tags: [Reference<Topic>] = []
  var cover: Reference<Cover>?
  var text = ""
  var changes = 0

  static let hooks = RecordHooks<Book>(beforeUpdate: { book, old, _ in
    book.changes = old.changes + 1
  })

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Field(name: "author", type: .reference(to: Author.self), optional: true)
    Field(name: "tags", type: .references(to: Topic.self, count: 0...3))
    Field(name: "cover", type: .reference(to: Cover.self), optional: true, unique: true)
    Field(name: "text", type: .string, storage: .external(threshold: 10))
    Field(name: "changes", type: .integer)
    Validation("no book without a title has an author") { (book: Book) in
      !book.title.isEmpty || book.author == nil
    }
  }
}

private struct Cover: Record, Identifiable, Equatable {
  var id: UUID

  static let book = Inverse("book", of: \Book.cover)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    book
  }
}

/// With a bare key, whose property has another name, and which cannot be cut.
private struct Paper: Record, Identifiable, Equatable {
  var id: Int
  var by: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "writer", type: .reference(to: Author.self), property: "by")
  }
}

/// With a reference that begins the primary key.
private struct Remark: Record, Equatable {
  var about: Reference<Author>
  var number: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "about", type: .reference(to: Author.self))
    Field(primaryKey: true, name: "number", type: .integer)
  }
}

/// Records at both ends of relations: read, and changed from the end that stores nothing.
@Suite struct RelatedRecordsTests {
  private static let (one, two) = (Author(id: 1, name: "A"), Author(id: 2, name: "B"))
  private static let tags = ["x", "y", "z"].map { Topic(id: $0) }
  private static let long = String(repeating: "long ", count: 100)

  /// Books 0…19, of which every third is of author 1, and every second has the tag x.
  private func withBooks(_ body: (PersistentStore) throws -> Void) throws {
    let store = try PersistentStore(
      inMemory: StoreModel(
        records: [
          Author.self, Topic.self, Book.self, Cover.self, Paper.self, Remark.self,
        ]))
    try store.write { transaction in
      try transaction.save(contentsOf: [Self.one, Self.two])
      try transaction.save(contentsOf: Self.tags)
      try transaction.save(
        contentsOf: (0..<20).map { number in
          Book(
            id: number, title: "T\(number)",
            author: number % 3 == 0 ? Self.one.reference : nil,
            tags: number % 2 == 0 ? [Self.tags[1].reference, Self.tags[0].reference] : [],
            text: number == 3 ? Self.long : "")
        })
      try transaction.save(contentsOf: (0..<5).map { Paper(id: $0, by: $0 % 2 + 1) })
      try transaction.save(
        contentsOf: (0..<6).map { Remark(about: Reference($0 % 2 + 1), number: $0) })
    }
    try body(store)
    #expect(try store.snapshot().check().isEmpty)
    try store.close()
  }

  // MARK: Reading

  @Test func `C1 C2: a reference is fetched, a list in its order`() throws {
    try withBooks { store in
      let book = try #require(try store.fetch(Book.self, key: 6))
      #expect(try store.fetch(book.author) == Self.one)
      #expect(try store.fetch(book.cover) == nil)
      #expect(try store.fetch(book.tags) == [Self.tags[1], Self.tags[0]])
      #expect(try store.fetch(Reference<Author>(9)) == nil)
      #expect(
        try store.fetch([Reference<Author>(2), Reference(7), Reference(1), Reference(2)])
          == [Self.two, Self.one, Self.two])
      #expect(
        try Set(store.fetch(Set(book.tags)).map(\.id)) == ["x", "y"])
      #expect(try store.contains(Self.two.reference))
      #expect(try !store.contains(Reference<Author>(9)))
      try store.write { transaction in
        try transaction.save(Author(id: 9))
        #expect(try transaction.fetch(Reference<Author>(9)) == Author(id: 9))
      }
    }
  }

  @Test func `C4: the other end is a query like any other`() throws {
    try withBooks { (store: PersistentStore) throws -> Void in
      let books = Author.books(of: Self.one)
      #expect(try store.fetch(books).map(\.id) == [0, 3, 6, 9, 12, 15, 18])
      #expect(try store.count(books) == 7)
      #expect(try store.count(Author.books(of: Self.two)) == 0)
      #expect(try store.first(books.sorted(by: .descending(\.id)))?.id == 18)
      #expect(try store.fetch(books.where { $0.id > 9 }.limit(2)).map(\.id) == [12, 15])
      #expect(try store.count(Topic.books(of: Self.tags[0])) == 10)
      #expect(try store.fetch(Topic.books(of: Self.tags[1].reference)).count == 10)
      #expect(try store.fetch(Author.papers(of: Self.two)).map(\.id) == [1, 3])
      #expect(try store.fetch(Author.notes(of: Self.one)).map(\.number) == [0, 2, 4])
      #expect(try store.count(Author.notes(of: Reference(2))) == 3)
      #expect(try store.update(books) { $0.title += "!" } == 7)
      #expect(try store.delete(books.where { $0.id > 3 }) == 5)
      #expect(try store.count(books) == 2)
    }
  }

  @Test func `C4: the other end is found by its index, and counted without being read`() throws {
    try withBooks { store in
      // So many that reading all of them would cost more.
      try store.write { transaction in
        try transaction.save(contentsOf: (100..<2_000).map { Book(id: $0, title: "T") })
        try transaction.save(contentsOf: (100..<2_000).map { Paper(id: $0, by: 2) })
        try transaction.save(
          contentsOf: (100..<2_000).map { Remark(about: Reference(2), number: $0) })
      }
      func check<Subject: Record>(_ query: Query<Subject>, _ access: String) throws {
        let explained = try store.explain(query, running: true)
        #expect(explained.access == access)
        #expect(explained.condition == nil)
        let actual = try #require(explained.actual)
        #expect(max(actual.entryCount, actual.rowCount) == actual.resultCount)
        // A plan that says all of the condition in ranges of one tree is counted by ranks.
        let type = try store.entities.type(Subject.self)
        let plan = try QueryPlanner(type, in: store.snapshot().recordReader()).plan(
          try query.resolved(in: type, store.entities), for: .keysInAnyOrder)
        #expect(plan.isExact, "\(query)")
      }
      try check(Author.books(of: Self.one), "index author in one range")
      try check(Topic.books(of: Self.tags[0]), "index elements(tags) in one range")
      try check(Author.papers(of: Self.one), "index writer in one range")
      try check(Author.notes(of: Self.one), "rows in one range")
    }
  }

  @Test func `queries of the other end are encoded as others are`() throws {
    let query = Author.books(of: Self.one).limit(3)
    let data = try JSONEncoder().encode(query)
    #expect(try JSONDecoder().decode(Query<Book>.self, from: data) == query)
    #expect("\(query)" == "author == 1 limit 3")
    #expect("\(Topic.books(of: Self.tags[0]))" == #"tags has "x""#)
  }

  // MARK: Changing

  @Test func `C4: records are added to the other end, and removed from it`() throws {
    try withBooks { store in
      let book = try #require(try store.fetch(Book.self, key: 1))
      #expect(try store.write { try $0.add(book, to: Author.books, of: Self.two) })
      #expect(try !store.write { try $0.add(book, to: Author.books, of: Self.two) })
      #expect(try store.fetch(Author.books(of: Self.two)).map(\.id) == [1])
      // A reference that led elsewhere leads here now.
      #expect(try store.write { try $0.add(Book(id: 3), to: Author.books, of: Self.two) })
      #expect(try store.count(Author.books(of: Self.one)) == 6)
      let changed = try #require(try store.fetch(Book.self, key: 3))
      #expect(changed.changes == 1 && changed.text == Self.long && changed.title == "T3")
      #expect(try store.write { try $0.remove(book, from: Author.books, of: Self.two) })
      #expect(try !store.write { try $0.remove(book, from: Author.books, of: Self.two) })
      #expect(try !store.write { try $0.remove(book, from: Author.books, of: Self.one) })
      #expect(try store.fetch(Book.self, key: 1)?.author == nil)
      // Lists, whose order is kept.
      #expect(try store.write { try $0.add(Book(id: 2), to: Topic.books, of: Self.tags[2]) })
      #expect(try !store.write { try $0.add(Book(id: 2), to: Topic.books, of: Self.tags[1]) })
      #expect(try store.fetch(Book.self, key: 2)?.tags.map(\.id) == ["y", "x", "z"])
      #expect(try store.write { try $0.remove(Book(id: 2), from: Topic.books, of: Self.tags[1]) })
      #expect(try store.fetch(Book.self, key: 2)?.tags.map(\.id) == ["x", "z"])
      // A bare key can be given another value.
      #expect(try store.write { try $0.add(Paper(id: 0, by: 0), to: Author.papers, of: Self.two) })
      #expect(try store.fetch(Author.papers(of: Self.two)).map(\.id) == [0, 1, 3])
    }
  }

  @Test func `C4: exactly the records that are named are at the other end`() throws {
    try withBooks { store in
      let named = [3, 6, 7].map { Book(id: $0) }
      try store.write { try $0.set(Author.books, of: Self.one, to: named) }
      #expect(try store.fetch(Author.books(of: Self.one)).map(\.id) == [3, 6, 7])
      #expect(try store.fetch(Book.self, key: 3)?.changes == 0)
      #expect(try store.fetch(Book.self, key: 9)?.changes == 1)
      try store.write { try $0.set(Author.books, of: Self.one, to: [Book]()) }
      #expect(try store.count(Author.books(of: Self.one)) == 0)
      try store.write { try $0.set(Topic.books, of: Self.tags[2], to: named) }
      #expect(try store.fetch(Topic.books(of: Self.tags[2])).map(\.id) == [3, 6, 7])
    }
  }

  @Test func `C4: a one-to-one reference moves if that is asked for`() throws {
    try withBooks { store in
      let cover = Cover(id: UUID())
      try store.save(cover)
      _ = try store.write { try $0.add(Book(id: 1), to: Cover.book, of: cover) }
      let error = #expect(throws: StoreError.self) {
        _ = try store.write { try $0.add(Book(id: 2), to: Cover.book, of: cover) }
      }
      guard case .uniqueConflict("Book", "cover", "1") = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      // Here the one that leads there is not named, so it is cut first.
      try store.write { try $0.set(Cover.book, of: cover, to: [Book(id: 2)]) }
      #expect(try store.fetch(Cover.book(of: cover)).map(\.id) == [2])
      #expect(try store.fetch(Book.self, key: 1)?.cover == nil)
      _ = try store.write {
        try $0.add(Book(id: 1), to: Cover.book, of: cover, onConflict: .replaceOther)
      }
      #expect(try store.fetch(Cover.book(of: cover)).map(\.id) == [1])
      #expect(try store.fetch(Book.self, key: 2) == nil)
    }
  }

  @Test func `C4: what the other end cannot change is refused, and nothing has changed`() throws {
    try withBooks { store in
      let before = try store.fetch(Book.self)
      func refused(_ says: String, _ body: (inout WriteTransaction) throws -> Void) throws {
        try store.write { transaction in
          let error = #expect(throws: StoreError.self) { try body(&transaction) }
          #expect("\(String(describing: error))".contains(says), "\(String(describing: error))")
        }
        #expect(try store.fetch(Book.self) == before)
      }
      try refused("There is no Book with the key 99") {
        try $0.add(Book(id: 99), to: Author.books, of: Self.one)
      }
      try refused("There is no Book with the key 99") {
        try $0.remove(Book(id: 99), from: Author.books, of: Self.one)
      }
      try refused("There is no Book with the key 99") {
        try $0.set(Author.books, of: Self.one, to: [Book(id: 1), Book(id: 99)])
      }
      try refused("the reference of the record 1 is not optional") {
        try $0.remove(Paper(id: 1, by: 2), from: Author.papers, of: Self.two)
      }
      try refused("the reference of the record 1 is not optional") {
        try $0.set(Author.papers, of: Self.two, to: [Paper(id: 0, by: 1)])
      }
      try refused("is in its primary key") {
        try $0.add(Remark(about: Reference(1), number: 0), to: Author.notes, of: Self.two)
      }
      // As `save` refuses it.
      try refused("Book.tags of the record with the key 0 has 4 records") { transaction in
        try transaction.save(Topic(id: "more"))
        try transaction.savepoint { transaction in
          try transaction.add(Book(id: 0), to: Topic.books, of: Self.tags[2])
          try transaction.add(Book(id: 0), to: Topic.books, of: Topic(id: "more"))
        }
      }
      try store.save(Book(id: 50))
      try store.write { transaction in
        let error = #expect(throws: StoreError.self) {
          try transaction.add(Book(id: 50), to: Author.books, of: Self.one)
        }
        #expect("\(String(describing: error))".contains("no book without a title"))
      }
      // That the other one exists, the commit finds.
      #expect(throws: StoreError.self) {
        _ = try store.write { try $0.add(Book(id: 1), to: Author.books, of: Author(id: 77)) }
      }
      #expect(try store.fetch(Book.self, key: 1)?.author == nil)
    }
  }
}

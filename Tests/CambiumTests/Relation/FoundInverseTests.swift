import Cambium
import Testing

private struct Author: Record, Identifiable {
  var id: Int

  static let books = Inverse<Author, Book>("books")
  static let reviews = Inverse<Author, Review>("reviews", deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    books
    reviews
  }
}

private struct Book: Record, Identifiable {
  var id: Int
  var authors: [Reference<Author>]? = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "authors", type: .references(to: Author.self), optional: true)
  }
}

private struct Review: Record, Identifiable {
  var id: Int
  var by: Reference<Author>?
  var book: Reference<Book>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "writer", type: .reference(to: Author.self), optional: true, property: "by")
    Field(name: "book", type: .reference(to: Book.self), optional: true)
  }
}

/// Leads to others by two references, and to a country by none.
private struct Loan: Record, Identifiable {
  var id: Int
  var from: Reference<Reader>
  var to: Reference<Reader>

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "from", type: .reference(to: Reader.self))
    Field(name: "to", type: .reference(to: Reader.self))
  }
}

private struct Reader: Record, Identifiable {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Inverse<Reader, Loan>("loans")
  }
}

private struct Country: Record, Identifiable {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Inverse<Country, Author>("authors")
  }
}

/// Inverses whose references are found, and lists that are optional.
@Suite struct FoundInverseTests {
  @Test func `an inverse is found by the only reference that leads to the type`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Author.self, Book.self, Review.self]))
    let (one, two) = (Author(id: 1), Author(id: 2))
    try store.write { transaction in
      for author in [one, two] { try transaction.save(author) }
      try transaction.save(Book(id: 1, authors: [two.reference, one.reference]))
      try transaction.save(Book(id: 2, authors: nil))
      try transaction.save(Review(id: 1, by: one.reference))
    }
    #expect(try store.fetch(Author.books(of: two)).map(\.id) == [1])
    #expect(try store.fetch(Author.reviews(of: one)).map(\.id) == [1])
    _ = try store.write { try $0.add(Book(id: 2), to: Author.books, of: one) }
    #expect(try store.fetch(Author.books(of: one)).map(\.id) == [1, 2])
    _ = try store.delete(one)
    #expect(try store.count(Review.self) == 0)
    #expect(try store.fetch(Book.self).map { $0.authors?.map(\.id) } == [[2], []])
  }

  @Test func `a list that is nil is followed as an empty one`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Author.self, Book.self, Review.self]))
    try store.write { transaction in
      for id in 1...3 { try transaction.save(Author(id: id)) }
      try transaction.save(Book(id: 1, authors: [3, 1].map { Reference($0) }))
      try transaction.save(Book(id: 2, authors: nil))
      try transaction.save(Book(id: 3))
    }
    let books = try store.fetch(Book.self)
    #expect(books.map { $0.authors?.count } == [2, nil, 0])
    for (book, ids) in zip(books, [[3, 1], [], []]) {
      #expect(try store.fetch(book.authors).map(\.id) == ids)
    }
    let found = try store.fetch(books, including: .all(\.authors))
    #expect(found.map { $0.1.map(\.id) } == [[3, 1], [], []])
  }

  @Test func `an inverse that no reference has alone is refused, with what to state`() {
    for (model, record) in [
      (StoreModel(records: [Reader.self, Loan.self]), "Reader"),
      (StoreModel(records: [Country.self, Author.self, Book.self, Review.self]), "Country"),
    ] {
      do throws(StoreError) {
        _ = try PersistentStore(inMemory: model)
        Issue.record("\(record) was taken")
      } catch {
        guard case .invalidDescription(record, _, 1, let reason) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(reason.contains("no reference that alone leads to \(record): name one with `of:`"))
      }
    }
  }
}

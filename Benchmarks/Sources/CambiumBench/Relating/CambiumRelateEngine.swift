import Cambium

// Not in the extension below: there, the compiler takes it for a misspelt `hooks`.
extension Author {
  static let books = Inverse<Author, Book>("books", of: "author", deleteRule: .cascade)
}

extension Author: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, indexed: true)
    books
  }
}

extension Book: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Field(name: "author", type: .reference(to: Author.self))
    Field(name: "price", type: .integer)
  }
}

extension Critic: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
  }
}

extension Review: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
    Field(name: "critic", type: .reference(to: Critic.self), optional: true)
  }
}

extension Station: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
  }
}

extension Trip: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    for end in ["start", "end", "rest", "home"] {
      Field(name: end, type: .reference(to: Station.self), optional: true)
    }
  }
}

/// A book whose author is a number with an index, which is not checked.
struct PlainBook: Record, Codable {
  var id: Int
  var title: String
  var author: Int
  var price: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Field(name: "author", type: .integer, indexed: true)
    Field(name: "price", type: .integer)
  }
}

final class CambiumRelateEngine: RelateEngine {
  private let store: PersistentStore
  private let isPlain: Bool

  /// - Parameter isPlain: True if books are of the kind whose author is not checked.
  init(directory: String, isPlain: Bool) throws {
    self.isPlain = isPlain
    store = try .relaxed(
      at: directory, Author.self, Book.self, PlainBook.self, Critic.self, Review.self,
      Station.self, Trip.self)
  }

  deinit {
    try? store.close()
  }

  func load(_ library: Library) throws {
    try store.write { try $0.insert(contentsOf: library.authors) }
    guard !isPlain else { return }
    try store.write { transaction in
      try transaction.insert(contentsOf: library.critics)
      try transaction.insert(contentsOf: library.reviews)
      try transaction.insert(contentsOf: library.stations)
      try transaction.insert(contentsOf: library.trips)
    }
  }

  func insert(_ books: ArraySlice<Book>) throws {
    try store.write { transaction in
      guard isPlain else { return try transaction.insert(contentsOf: books) }
      for book in books {
        try transaction.insert(
          PlainBook(
            id: book.id, title: book.title, author: book.author, price: book.price))
      }
    }
  }

  func countReviews(of critic: Int) throws -> Int {
    try store.count(Review.where { $0.critic == critic })
  }

  func page(from id: Int) throws -> LibrarySum {
    var sum = LibrarySum()
    let page = Book.where { $0.id >= id }.limit(50)
    for (book, author) in try store.fetch(page, including: .one(\.author, of: Author.self)) {
      sum.add(book)
      if let author { sum.add(author) }
    }
    return sum
  }

  func books(of authors: Range<Int>, latest count: Int?) throws -> LibrarySum {
    var sum = LibrarySum()
    let query = Author.where { $0.id >= authors.lowerBound && $0.id < authors.upperBound }
    let found =
      if let count {
        try store.fetch(
          query, including: .all(Author.books, sortedBy: .descending(\.id), limit: count))
      } else {
        try store.fetch(query, including: .all(Author.books))
      }
    for (author, books) in found {
      sum.add(author)
      for book in books { sum.add(book) }
    }
    return sum
  }

  func books(ofAuthorsNamed prefix: String) throws -> LibrarySum {
    var sum = LibrarySum()
    let query = Book.where(Condition(.match(field: "author.name", TextMatch(.prefix, prefix))))
    for book in try store.fetch(query) { sum.add(book) }
    return sum
  }

  func authors(ofBooksAbove price: Int, count: Int) throws -> LibrarySum {
    var sum = LibrarySum()
    let query = Author.where { $0.books.count { $0.price > price } >= count }
    for author in try store.fetch(query) { sum.add(author) }
    return sum
  }

  func delete(_ kind: RelateKind, _ ids: Range<Int>) throws {
    try store.write { transaction in
      switch kind {
      case .authors: for id in ids { try transaction.delete(Author.self, key: id) }
      case .critics: for id in ids { try transaction.delete(Critic.self, key: id) }
      case .stations: for id in ids { try transaction.delete(Station.self, key: id) }
      }
    }
  }

  func countLeft(_ kind: RelateKind) throws -> Int {
    switch kind {
    case .authors: try store.count(Book.self)
    case .critics: try store.count(Review.where { $0.critic == nil })
    case .stations: try store.count(Station.self)
    }
  }
}

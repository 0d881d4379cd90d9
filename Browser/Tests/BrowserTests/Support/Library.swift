import Cambium
import FoundationEssentials
import Testing

/// The records of the stores that are browsed: with references, blobs, a history, in three versions.
enum Library {
  struct Author: Record, Identifiable {
    var id: Int
    var name: String
    var home = "Portland"
    static let books = Inverse("books", of: \Book.author)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "home", type: .string)
      Field(name: "name", type: .string)
      books
    }
  }

  struct Book: Record, Identifiable {
    struct Place: Codable, Sendable {
      var shelf: String
      var row: Int?
    }

    var id: Int
    var title: String
    var author: Reference<Author>?
    var year: Int?
    var genres: [Reference<Genre>] = []
    var place: Place?
    var cover: Blob?
    var text: Blob?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      if version == 1 {
        Field(name: "name", type: .string, property: "title")
      } else {
        Field(name: "title", type: .string, migrationInfo: .init(renamingID: "name"))
      }
      if version < 3 {
        Field(name: "year", type: .integer, optional: true)
      } else {
        Field(
          name: "published", type: .integer, optional: true, property: "year",
          migrationInfo: .init(renamingID: "year"))
      }
      Field(name: "author", type: .reference(to: Author.self), optional: true)
      Field(name: "genres", type: .references(to: Genre.self))
      Field(
        name: "place",
        type: .composite {
          Field(name: "shelf", type: .string)
          Field(name: "row", type: .integer, optional: true)
        }, optional: true)
      Field(name: "cover", type: .binaryData, storage: .external(threshold: 100), optional: true)
      Field(name: "text", type: .binaryData, storage: .external(threshold: 100), optional: true)
    }
  }

  struct Genre: Record, Identifiable {
    var id: String
    static let books = Inverse("books", of: \Book.genres)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
      books
    }
  }

  static func model(_ version: Int) -> StoreModel {
    StoreModel(
      version: version, label: "<b>label \(version)</b>",
      records: [Author.self, Book.self, Genre.self])
  }

  static var options: StoreOptions {
    var options = StoreOptions()
    options.history = .kept(for: .seconds(86_400), oldValues: true)
    return options
  }

  static func open(at path: String, version: Int = 2) throws -> PersistentStore {
    try PersistentStore(at: path, model: model(version), options: options)
  }

  /// A picture, so large that it is in a file of blobs.
  static var picture: Data {
    Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + (0..<100_000).map(noise))
  }

  private static func noise(_ place: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: (place &* place &* 31) &>> 3)
  }

  /// Markup in values of records, which no page may contain as markup.
  static let hostile = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"

  /// Changes a book.
  static func change(
    _ id: Int, in store: PersistentStore, _ body: (inout Book) -> Void
  ) throws {
    var book = try #require(try store.fetch(Book.self, key: id))
    body(&book)
    try store.save(book)
  }

  /// Makes a store of version 1 with one book, and migrates it to version 2.
  static func make(at path: String) throws {
    let old = try open(at: path, version: 1)
    try old.write(author: hostile) { transaction in
      try transaction.save(Author(id: 1, name: "Ursula K. Le Guin"))
      try transaction.save(Genre(id: "novel"))
    }
    try old.close()
    let store = try open(at: path)
    try store.write(author: "librarian") { transaction in
      try transaction.save(Author(id: 2, name: hostile))
      try transaction.save(
        Book(
          id: 1, title: "The Dispossessed", author: Reference(1), year: 1974,
          genres: [Reference("novel")], place: Book.Place(shelf: hostile, row: 3),
          cover: Blob(picture), text: Blob(Data("An ambiguous utopia. \(hostile)".utf8))))
      try transaction.save(Book(id: 2, title: hostile, author: Reference(2), year: nil))
      for id in 3...130 {
        try transaction.save(
          Book(id: id, title: "Volume \(id)", author: Reference(1), year: 1900 + id % 5))
      }
    }
    try change(1, in: store) { $0.year = 1975 }
    try store.close()
  }
}

/// The model that the article for users of SQL begins with.
struct Author: Record, Identifiable {
  var id: Int
  var name: String
  var country: String?
  static let books = Inverse("books", of: \Book.author, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "country", type: .string, optional: true)
    books
  }
}

struct Book: Record, Identifiable {
  var id: Int
  var title: String
  var year: Int
  var price: Double
  var author: Reference<Author>
  var tags: [Reference<Tag>] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Field(name: "year", type: .integer, indexed: true)
    Field(name: "price", type: .double)
    Field(name: "author", type: .reference(to: Author.self))
    Field(name: "tags", type: .references(to: Tag.self))
    Index(.words("title"))
  }
}

struct Tag: Record, Identifiable {
  var id: String
  static let books = Inverse("books", of: \Book.tags)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
    books
  }
}

static var store: PersistentStore {
  get throws {
    try PersistentStore(
      at: "books.cambium", model: StoreModel(records: [Author.self, Book.self, Tag.self]))
  }
}

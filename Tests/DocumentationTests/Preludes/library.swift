/// The types and values that the examples of the article on relations use.
struct Author: Record, Identifiable {
  var id = UUID()
  var name: String
  static let books = Inverse("books", of: \Book.author, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("name")
    books
  }
}

struct Book: Record, Identifiable {
  var id = UUID()
  var title: String
  var year: Int
  var author: Reference<Author>
  var tags: [Reference<Tag>] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("title")
    Field("year")
    Field("author")
    Field("tags", type: .references(to: Tag.self, count: 0...10))
  }
}

struct Tag: Record, Identifiable {
  var id: String
  static let books = Inverse("books", of: \Book.tags)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    books
  }
}

static let model = StoreModel(records: [Author.self, Book.self, Tag.self])
static var store: PersistentStore {
  get throws { try PersistentStore(at: "library.cambium", model: model) }
}
static let author = Author(name: "Ursula K. Le Guin")
static let book = Book(title: "The Dispossessed", year: 1974, author: author.reference)

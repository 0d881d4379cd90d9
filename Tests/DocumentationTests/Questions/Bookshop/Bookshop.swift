import Cambium

/// The model of the article for users of SQL.
enum Bookshop {
  struct Author: Record, Identifiable {
    var id: Int
    var name: String
    var country: String?
    static let books = Inverse("books", of: \Book.author, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name", indexed: true)
      Field("country")
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
      Field("id", primaryKey: true)
      Field("title")
      Field("year", indexed: true)
      Field("price")
      Field("author")
      Field("tags")
      Index(.words("title"))
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
}

extension Bookshop {
  /// A store with ninety books. Prices are multiples of a quarter, so sums of them are exact in any order.
  static func makeStore() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model)
    try store.write { transaction in
      try transaction.insert(contentsOf: ["swift", "linux", "sql"].map { Tag(id: $0) })
      try transaction.insert(contentsOf: authors)
      try transaction.insert(contentsOf: (1...90).map { book($0) })
    }
    return store
  }

  /// The first identifier is left free, and the last two have written nothing.
  private static let authors = (2...13).map { id in
    Author(
      id: id, name: "\(["Le Guin", "Le Fanu", "Lessing", "Borges", "Penguin"][id % 5]) \(id)",
      country: id % 4 == 0 ? nil : ["USA", "Chile", "Ghana"][id % 3])
  }

  private static func book(_ id: Int) -> Book {
    let first = ["Left", "Right", "Dark", "Handy"][id % 4]
    let second = ["Hand", "Handle", "Star", "Road", "Sea"][id * 2 % 5]
    let names = ["swift", "linux", "sql"]
    let tags = names.indices.filter { id >> $0 & 1 == 1 }.map { Reference<Tag>(names[$0]) }
    return Book(
      id: id, title: "\(first) \(second) \(id)", year: 1940 + id * 37 % 75,
      price: Double(id * 13 % 80) / 4, author: Reference(2 + id * id % 10), tags: tags)
  }
}

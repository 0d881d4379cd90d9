import GRDB

extension Author: FetchableRecord, PersistableRecord {
  static let allBooks = hasMany(Book.self, key: "books")

  init(row: Row) { self.init(id: row[0], name: row[1]) }
}

extension Book: FetchableRecord, PersistableRecord {
  static let writer = belongsTo(Author.self, key: "writer")

  init(row: Row) { self.init(id: row[0], title: row[1], author: row[2], price: row[3]) }
}

extension Critic: FetchableRecord, PersistableRecord {}
extension Review: FetchableRecord, PersistableRecord {}
extension Station: FetchableRecord, PersistableRecord {}
extension Trip: FetchableRecord, PersistableRecord {}

private struct WrittenBook: FetchableRecord {
  let book: Book
  let author: Author

  init(row: Row) throws {
    book = Book(row: row)
    author = row["writer"]
  }
}

private struct PublishedAuthor: FetchableRecord {
  let author: Author
  let books: [Book]

  init(row: Row) throws {
    author = Author(row: row)
    books = row["books"]
  }
}

/// GRDB with `foreign_keys = ON`, indexes on child keys, and statements that are cached.
final class GRDBRelateEngine: RelateEngine {
  private let pool: DatabasePool

  init(directory: String) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -1048576")
      try database.execute(sql: "PRAGMA mmap_size = \(Int32.max)")
    }
    pool = try DatabasePool(path: directory + "/store.sqlite", configuration: configuration)
    try pool.write { database in try database.execute(sql: Self.schema) }
  }

  private static let schema = """
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL,
      author INTEGER NOT NULL REFERENCES author ON DELETE CASCADE, price INTEGER NOT NULL);
    CREATE INDEX author_name ON author (name);
    CREATE INDEX book_author ON book (author);
    CREATE TABLE critic (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE review (id INTEGER PRIMARY KEY, text TEXT NOT NULL,
      critic INTEGER REFERENCES critic ON DELETE SET NULL);
    CREATE INDEX review_critic ON review (critic);
    CREATE TABLE station (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE trip (id INTEGER PRIMARY KEY,
      start INTEGER REFERENCES station ON DELETE SET NULL, "end" INTEGER REFERENCES station ON DELETE SET NULL,
      rest INTEGER REFERENCES station ON DELETE SET NULL, home INTEGER REFERENCES station ON DELETE SET NULL);
    CREATE INDEX trip_start ON trip (start);
    CREATE INDEX trip_end ON trip ("end");
    CREATE INDEX trip_rest ON trip (rest);
    CREATE INDEX trip_home ON trip (home);
    """

  func load(_ library: Library) throws {
    try pool.write { database in
      for author in library.authors { try author.insert(database) }
      for critic in library.critics { try critic.insert(database) }
      for review in library.reviews { try review.insert(database) }
      for station in library.stations { try station.insert(database) }
      for trip in library.trips { try trip.insert(database) }
    }
  }

  func insert(_ books: ArraySlice<Book>) throws {
    try pool.write { database in
      for book in books { try book.insert(database) }
    }
  }

  func countReviews(of critic: Int) throws -> Int {
    try pool.read { database in
      let statement = try database.cachedStatement(
        sql: "SELECT COUNT(*) FROM review WHERE critic = ?")
      return try Int.fetchOne(statement, arguments: [critic]) ?? 0
    }
  }

  /// A join.
  func page(from id: Int) throws -> LibrarySum {
    var sum = LibrarySum()
    let found = try pool.read { database in
      try Book.including(required: Book.writer).filter(Column("id") >= id).order(Column("id"))
        .limit(50).asRequest(of: WrittenBook.self).fetchAll(database)
    }
    for written in found {
      sum.add(written.book)
      sum.add(written.author)
    }
    return sum
  }

  /// All books by a second query of those with one of the authors; the latest by a window function.
  func books(of authors: Range<Int>, latest count: Int?) throws -> LibrarySum {
    var sum = LibrarySum()
    guard let count else {
      let found = try pool.read { database in
        try Author.filter(Column("id") >= authors.lowerBound && Column("id") < authors.upperBound)
          .including(all: Author.allBooks.order(Column("id")))
          .asRequest(of: PublishedAuthor.self).fetchAll(database)
      }
      for published in found {
        sum.add(published.author)
        for book in published.books { sum.add(book) }
      }
      return sum
    }
    try pool.read { database in
      let range = [authors.lowerBound, authors.upperBound]
      let found = try Author.fetchAll(
        try database.cachedStatement(sql: "SELECT * FROM author WHERE id >= ? AND id < ?"),
        arguments: StatementArguments(range))
      let books = try Book.fetchAll(
        try database.cachedStatement(sql: Self.latest),
        arguments: StatementArguments(range + [count]))
      let byAuthor = Dictionary(grouping: books, by: \.author)
      for author in found {
        sum.add(author)
        for book in byAuthor[author.id] ?? [] { sum.add(book) }
      }
    }
    return sum
  }

  private static let latest = """
    SELECT id, title, author, price FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY author ORDER BY id DESC) AS place
      FROM book WHERE author >= ? AND author < ?)
    WHERE place <= ? ORDER BY author, place
    """

  /// A join on a range of the indexed name.
  func books(ofAuthorsNamed prefix: String) throws -> LibrarySum {
    var sum = LibrarySum()
    let found = try pool.read { database in
      try Book.fetchAll(
        try database.cachedStatement(
          sql: """
            SELECT book.* FROM author JOIN book ON book.author = author.id
            WHERE author.name >= ? AND author.name < ?
            """), arguments: [prefix, prefix + "\u{10FFFF}"])
    }
    for book in found { sum.add(book) }
    return sum
  }

  func authors(ofBooksAbove price: Int, count: Int) throws -> LibrarySum {
    var sum = LibrarySum()
    let found = try pool.read { database in
      try Author.fetchAll(
        try database.cachedStatement(
          sql: """
            SELECT * FROM author WHERE id IN (
              SELECT author FROM book WHERE price > ? GROUP BY author HAVING COUNT(*) >= ?)
            """), arguments: [price, count])
    }
    for author in found { sum.add(author) }
    return sum
  }

  func delete(_ kind: RelateKind, _ ids: Range<Int>) throws {
    let table =
      switch kind {
      case .authors: "author"
      case .critics: "critic"
      case .stations: "station"
      }
    try pool.write { database in
      let statement = try database.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?")
      for id in ids { try statement.execute(arguments: [id]) }
    }
  }

  func countLeft(_ kind: RelateKind) throws -> Int {
    let sql =
      switch kind {
      case .authors: "SELECT COUNT(*) FROM book"
      case .critics: "SELECT COUNT(*) FROM review WHERE critic IS NULL"
      case .stations: "SELECT COUNT(*) FROM station"
      }
    return try pool.read { database in try Int.fetchOne(database, sql: sql) ?? 0 }
  }
}

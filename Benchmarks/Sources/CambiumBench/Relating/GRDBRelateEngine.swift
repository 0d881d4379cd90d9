import GRDB

extension Author: FetchableRecord, PersistableRecord {}
extension Book: FetchableRecord, PersistableRecord {}
extension Critic: FetchableRecord, PersistableRecord {}
extension Review: FetchableRecord, PersistableRecord {}
extension Station: FetchableRecord, PersistableRecord {}
extension Trip: FetchableRecord, PersistableRecord {}

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
      author INTEGER NOT NULL REFERENCES author ON DELETE CASCADE);
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

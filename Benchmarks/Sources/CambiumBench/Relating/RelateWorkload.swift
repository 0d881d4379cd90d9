import ArgumentParser

/// A workload on related records.
enum RelateWorkload: String, CaseIterable, ExpressibleByArgument {
  /// Inserts books with a checked author, 1,000 in each transaction.
  case insert
  /// Counts the thousand reviews of a critic.
  case count
  /// Fetches 100 pages of 50 books, each with its author.
  case page
  /// Fetches 1,000 authors, each with all ten books.
  case children
  /// Fetches 1,000 authors, each with the three latest books.
  case latest
  /// Fetches the books whose author's name begins so, about one in a hundred.
  case named
  /// Fetches the authors with at least three of their ten books above a price, of which a tenth of all books are.
  case priced
  /// Deletes 1,000 authors in one transaction, with their 10,000 books.
  case cascade
  /// Deletes 1,000 critics in one transaction; their 10,000 reviews are kept.
  case nullify
  /// Deletes 1,000 stations in one transaction. Four relations lead to their type, none to these records.
  case unused

  /// The goal: the ratio of GRDB's time to Cambium's.
  var goal: Double? {
    switch self {
    case .insert, .page, .children, .latest: 3
    case .count: 10
    case .named, .cascade, .nullify: 2.5
    case .priced: 2
    case .unused: nil
    }
  }

  var isReading: Bool {
    switch self {
    case .count, .page, .children, .latest, .named, .priced: true
    case .insert, .cascade, .nullify, .unused: false
    }
  }

  /// The records that it deletes; `nil` if it deletes none.
  var kind: RelateKind? {
    switch self {
    case .insert, .count, .page, .children, .latest, .named, .priced: nil
    case .cascade: .authors
    case .nullify: .critics
    case .unused: .stations
    }
  }

  /// The identifier of the first record that it deletes, after the records of the other workloads.
  var firstID: Int {
    switch self {
    case .insert, .count, .page, .children, .latest, .named, .priced, .cascade: 0
    case .nullify: Library.busyCritics
    case .unused: 10_000
    }
  }
}

enum RelateEngineName: String, CaseIterable, ExpressibleByArgument {
  case cambium
  /// Cambium with a plain indexed field instead of the reference to an author. It only inserts.
  case plain = "cambium-plain"
  case grdb
}

/// An engine that keeps a library.
protocol RelateEngine {
  /// Inserts all records except the books.
  func load(_ library: Library) throws
  func insert(_ books: ArraySlice<Book>) throws
  func countReviews(of critic: Int) throws -> Int
  /// Returns the sum of a page of 50 books, from an identifier on, with their authors.
  func page(from id: Int) throws -> LibrarySum
  /// Returns the sum of authors with their latest books, those of the highest identifiers; nil for all books.
  func books(of authors: Range<Int>, latest count: Int?) throws -> LibrarySum
  /// Returns the sum of the books of authors whose name begins with a text.
  func books(ofAuthorsNamed prefix: String) throws -> LibrarySum
  /// Returns the sum of the authors with at least `count` books above a price.
  func authors(ofBooksAbove price: Int, count: Int) throws -> LibrarySum
  /// Deletes authors, critics or stations in one transaction.
  func delete(_ kind: RelateKind, _ ids: Range<Int>) throws
  /// The number of books, of reviews without a critic, or of stations. All engines must return the same.
  func countLeft(_ kind: RelateKind) throws -> Int
}

/// A sum over records that were fetched, by which engines are compared.
struct LibrarySum: Hashable {
  private(set) var value = 0

  mutating func add(_ author: Author) { value += author.id &* 7 &+ author.name.utf8.count }
  mutating func add(_ book: Book) { value += book.id &* 3 &+ book.title.utf8.count &+ book.author }
}

/// A type of records to delete.
enum RelateKind {
  /// With their books.
  case authors
  /// Their reviews are kept.
  case critics
  case stations
}

extension RelateEngineName {
  func open(in directory: String) throws -> any RelateEngine {
    switch self {
    case .cambium: try CambiumRelateEngine(directory: directory, isPlain: false)
    case .plain: try CambiumRelateEngine(directory: directory, isPlain: true)
    case .grdb: try GRDBRelateEngine(directory: directory)
    }
  }

  func takes(_ workload: RelateWorkload) -> Bool { self != .plain || workload == .insert }
}

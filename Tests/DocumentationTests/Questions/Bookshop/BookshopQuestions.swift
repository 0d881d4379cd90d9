import Cambium
import Testing

extension Bookshop {
  /// The questions of the article for users of SQL, each with the answer of SQLite.
  @Suite struct Questions: SQLQuestions {
    static let article = "ComingFromSQL"
    static let compared = Result { try ComparedStore(try Bookshop.makeStore()) }
    let store: PersistentStore

    init() throws { store = try Self.compared.get().store }
  }
}

extension Bookshop.Questions {
  typealias Author = Bookshop.Author
  typealias Book = Bookshop.Book

  /// The columns of an author, by name.
  private func columns(of author: Author) -> [FieldValue] {
    row(author.country, author.id, author.name)
  }

  /// The columns of a book, by name.
  private func columns(of book: Book) -> [FieldValue] {
    row(book.author, book.id, book.price, book.title, book.year)
  }
}

// MARK: - One type

extension Bookshop.Questions {
  @Test func `1 to 5, one record, several records`() throws {
    let one = try store.fetch(Book.self, key: 7)  // 1
    let some = try store.fetch(Book.self, keys: [7, 8, 9])  // 2
    let all = try store.fetch(Book.self)  // 3
    let exists = try store.contains(Book.where { $0.year == 1974 })  // 4
    let count = try store.count(Book.self)  // 5
    try compare("1", [one].compactMap { $0 }.map { columns(of: $0) })
    try compare("2", inAnyOrder: true, some.map { columns(of: $0) })
    try compare("3", inAnyOrder: true, all.map { columns(of: $0) })
    try compare("4", [row(exists)])
    try compare("5", [row(count)])
  }

  @Test func `6 to 10, conditions on books`() throws {
    let equal = try store.fetch(Book.where { $0.year == 1974 })  // 6
    let range = try store.fetch(Book.where { $0.year.isIn(1960...1979) })  // 7
    let listed = try store.fetch(Book.where { $0.year.isIn([1969, 1974]) })  // 8
    let both = try store.fetch(Book.where { $0.price < 10 && !($0.year < 2000) })  // 9
    let either = try store.fetch(Book.where { $0.price < 10 || $0.year == 1974 })  // 10
    try compare("6", inAnyOrder: true, equal.map { columns(of: $0) })
    try compare("7", inAnyOrder: true, range.map { columns(of: $0) })
    try compare("8", inAnyOrder: true, listed.map { columns(of: $0) })
    try compare("9", inAnyOrder: true, both.map { columns(of: $0) })
    try compare("10", inAnyOrder: true, either.map { columns(of: $0) })
  }

  @Test func `11 to 16, null and strings`() throws {
    let unknown = try store.fetch(Author.where { $0.country == nil })  // 11
    let known = try store.fetch(Author.where { $0.country != nil })  // 12
    let elsewhere = try store.fetch(Author.where { $0.country != "USA" })  // 13
    let prefix = try store.fetch(Author.where { $0.name.hasPrefix("Le ") })  // 14
    let substring = try store.fetch(
      Author.where { $0.name.contains("guin", .caseInsensitive) })  // 15
    let words = try store.fetch(Book.where { $0.title.matches("left hand*") })  // 16
    try compare("11", inAnyOrder: true, unknown.map { columns(of: $0) })
    try compare("12", inAnyOrder: true, known.map { columns(of: $0) })
    try compare("13", inAnyOrder: true, elsewhere.map { columns(of: $0) })
    try compare("14", inAnyOrder: true, prefix.map { columns(of: $0) })
    try compare("15", inAnyOrder: true, substring.map { columns(of: $0) })
    try compare(
      "16", inAnyOrder: true, words.map { row($0.title) },
      after: """
        CREATE VIRTUAL TABLE book_words USING fts5(title);
        INSERT INTO book_words SELECT title FROM book;
        """)
  }

  @Test func `17 to 22, order, pages, columns`() throws {
    let sorted = try store.fetch(Book.sorted(by: .descending(\.year), .ascending(\.title)))  // 17
    let page = try store.fetch(Book.sorted(by: .descending(\.year)).limit(20).offset(40))  // 18
    let first = try store.fetch(Book.sorted(by: .ascending(\.year)).limit(20))
    let next = try store.fetch(
      Book.sorted(by: .ascending(\.year)).limit(20), after: first.last)  // 19
    let columns = try store.select(\.title, \.price, from: Book.where { $0.year > 2000 })  // 20
    let years = try store.distinct(\.year, from: Query<Book>())  // 21
    let ids = try store.ids(Book.where { $0.price < 10 })  // 22
    try compare("17", sorted.map { self.columns(of: $0) })
    try compare("18", page.map { self.columns(of: $0) })
    try compare("19", next.map { self.columns(of: $0) })
    try compare("20", inAnyOrder: true, columns.map { row($0.0, $0.1) })
    try compare("21", inAnyOrder: true, years.map { row($0) })
    try compare("22", inAnyOrder: true, ids.map { row($0) })
  }

  @Test func `23 to 25, numbers over records`() throws {
    let recent = Book.where { $0.year >= 2000 }
    let number = try store.count(recent)  // 23
    let (sum, average) = (
      try store.sum(\.price, of: recent), try store.average(\.price, of: recent)
    )  // 24
    let (oldest, newest) = (try store.min(\Book.year), try store.max(\Book.year))  // 25
    try compare("23", [row(number)])
    try compare("24", [row(sum, average)])
    try compare("25", [row(oldest, newest)])
  }
}

// MARK: - Joins

extension Bookshop.Questions {
  @Test func `26 to 32, joins`() throws {
    let hers = try store.fetch(Book.where { $0.author.name.hasPrefix("Le ") })  // 26
    let byAuthor = try store.fetch(
      Book.sorted(by: .ascending { $0.author.name }, .ascending(\.title)))  // 27
    let active = try store.fetch(Author.where { $0.books.any { $0.year > 2000 } })  // 28
    let silent = try store.fetch(Author.where { $0.books.none() })  // 29
    let busy = try store.fetch(Author.where { $0.books.count() >= 3 })  // 30
    let tagged = try store.fetch(Book.where { $0.tags.any { $0.id == "swift" } })  // 31
    let pairs = try store.fetch(Query<Book>(), including: .one(\.author))  // 32
    try compare("26", inAnyOrder: true, hers.map { columns(of: $0) })
    try compare("27", byAuthor.map { columns(of: $0) })
    try compare("28", inAnyOrder: true, active.map { columns(of: $0) })
    try compare("29", inAnyOrder: true, silent.map { columns(of: $0) })
    try compare("30", inAnyOrder: true, busy.map { columns(of: $0) })
    try compare("31", inAnyOrder: true, tagged.map { columns(of: $0) })
    try compare(
      "32", inAnyOrder: true,
      pairs.map { book, author in
        columns(of: book) + (author.map { columns(of: $0) } ?? [])
      })
  }

  @Test func `33 to 37, the first of each, totals, ranks and values of queries`() throws {
    let newest = try store.fetch(
      Query<Author>(),
      including: .all(Author.books, sortedBy: .descending(\.year), limit: 3))  // 33
    let totals = try store.fetch(
      Book.sorted(by: .ascending(\.year)).running(.sum(\.price)))  // 34
    let ranks = try store.fetch(
      Book.sorted(by: .descending(\.price)).ranked(within: { $0.year }))  // 35
    let expensive = try store.fetch(Book.where { $0.price > Book.average(\.price) })  // 36
    let american = try store.fetch(
      Book.where { $0.author.isIn(Author.where { $0.country == "USA" }) })  // 37
    try compare("33", newest.flatMap { author, books in books.map { row(author.id, $0.title) } })
    try compare("34", totals.map { columns(of: $0.record) + row($0.value) })
    try compare("35", inAnyOrder: true, ranks.map { columns(of: $0.record) + row($0.value) })
    try compare("36", inAnyOrder: true, expensive.map { columns(of: $0) })
    try compare("37", inAnyOrder: true, american.map { columns(of: $0) })
  }
}

// MARK: - Changes

extension Bookshop.Questions {
  @Test func `38 to 41, changes`() throws {
    let store = try Bookshop.makeStore()
    var author = Author(id: 1, name: "Ursula K. Le Guin", country: "USA")
    try store.insert(author)  // 38
    author.name = "Ursula Kroeber Le Guin"
    try store.save(author)  // 39
    try store.update(Book.where { $0.year < 1980 }) { $0.price *= 0.5 }  // 40
    try store.delete(Book.where { $0.year < 1950 })  // 41
    let statements = try QuestionArticle(named: Self.article).statements
    let changes = try ["38", "39", "40", "41"].map { try #require(statements[$0]) }.joined()
    let rows = try Self.compared.get().rows(
      """
      CREATE UNIQUE INDEX identity ON author(id);
      \(changes)
      SELECT 'author', id, name, country FROM author
      UNION ALL SELECT 'book', id, title, price FROM book ORDER BY 1, 2;
      """)
    let authors = try store.fetch(Author.self).map { row("author", $0.id, $0.name, $0.country) }
    let books = try store.fetch(Book.self).map { row("book", $0.id, $0.title, $0.price) }
    #expect(authors.count == 13 && books.count < 90)
    #expect(Self.cells(rows) == Self.cells(authors + books))
  }
}

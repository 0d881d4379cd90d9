import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Country: Record, Identifiable, Equatable {
  var id: Int
  static let authors = Inverse("authors", of: \Author.country)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    authors
  }
}

private struct Author: Record, Identifiable, Equatable {
  var id: String
  var country: Reference<Country>?

  static let books = Inverse("books", of: \Book.author, deleteRule: .deny)
  static let finds = Inverse("finds", of: \Book.finder, deleteRule: .noAction)
  static let drafts = Inverse<Author, Draft>("drafts", of: "writer", deleteRule: .noAction)
  static let memberships = Inverse("memberships", of: \Membership.author, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .string)
    Field(name: "country", type: .reference(to: Country.self), optional: true)
    books
    finds
    drafts
    memberships
  }
}

private struct Topic: Record, Identifiable, Equatable {
  var id: Int64
  static let books = Inverse("books", of: \Book.tags)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    books
  }
}

private struct Cover: Record, Identifiable, Equatable {
  var id: Int
  static let book = Inverse("book", of: \Book.cover)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    book
  }
}

private struct Book: Record, Identifiable, Equatable {
  var id: Int
  var year: Int
  var author: Reference<Author>
  /// Not checked, and without an index.
  var finder: Reference<Author>?
  var tags: [Reference<Topic>] = []
  var others: Set<Reference<Book>> = []
  var cover: Reference<Cover>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "year", type: .integer)
    Field(name: "author", type: .reference(to: Author.self))
    Field(name: "finder", type: .reference(to: Author.self), optional: true)
    Field(name: "tags", type: .references(to: Topic.self))
    Field(name: "others", type: .references(to: Book.self))
    Field(name: "cover", type: .reference(to: Cover.self), optional: true, unique: true)
    Index("author", .descending("year"))
  }
}

/// With bare keys.
private struct Draft: Record, Equatable {
  var id: Int
  var writer: String
  var tags: [Int64] = []

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "writer", type: .reference(to: Author.self))
    Field(name: "tags", type: .references(to: Topic.self))
  }
}

/// With a reference that begins the primary key.
private struct Membership: Record, Equatable {
  var author: Reference<Author>
  var club: Reference<Country>

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "author", type: .reference(to: Author.self))
    Field(primaryKey: true, name: "club", type: .reference(to: Country.self))
  }
}

@Suite struct InclusionTests {
  private static var model: StoreModel {
    StoreModel(records: [
      Country.self, Author.self, Topic.self, Cover.self, Book.self, Draft.self, Membership.self,
    ])
  }

  /// Swift takes some for equal that are different keys.
  private static let names = [
    "e\u{301}", "\u{e9}", "k", "k\u{0}", "k1", "", "l", String(repeating: "long", count: 250),
  ]
  /// Keys as long as can be, whose entries in indexes are cut.
  private static let longest = ["1", "2"].map {
    String(repeating: "k", count: StoreError.Limit.keyLength.bound - 1) + $0
  }.map { String($0.dropFirst()) }

  /// Puts records that lead to one another at random.
  private static func fill(
    _ transaction: inout WriteTransaction, bookCount: Int, _ random: inout SplitMix64
  ) throws {
    try transaction.save(contentsOf: (0..<3).map { Country(id: $0) })
    try transaction.save(
      contentsOf: (names + longest).map { name in
        Author(
          id: name,
          country: random.chance(3) ? nil : Reference(Int.random(in: 0..<3, using: &random)))
      })
    try transaction.save(contentsOf: (0..<6).map { Topic(id: $0 * 1_000 - 2_000) })
    try transaction.save(contentsOf: (0..<bookCount).map { Cover(id: $0) })
    for id in 0..<bookCount {
      var book = Book(
        id: id, year: Int.random(in: 1990..<1994, using: &random),
        author: Reference(random.pick(names + longest)))
      if random.chance(2) {
        book.finder = Reference(random.chance(4) ? "nobody" : random.pick(names))
      }
      for tag in 0..<6 where random.chance(3) {
        book.tags.append(Reference(Int64(tag * 1_000 - 2_000)))
      }
      book.tags.shuffle(using: &random)
      for _ in 0..<3 where random.chance(2) {
        book.others.insert(Reference(Int.random(in: 0..<bookCount, using: &random)))
      }
      if random.chance(2) { book.cover = Reference(bookCount - 1 - id) }
      try transaction.save(book)
      let writer = random.pick(names + longest)
      try transaction.save(
        Draft(id: id, writer: writer, tags: id % 2 == 0 ? [1_000, -2_000] : []))
    }
    for name in names {
      for club in 0..<3 where random.chance(2) {
        try transaction.save(Membership(author: Reference(name), club: Reference(club)))
      }
    }
  }

  // MARK: Against single fetches

  @Test(arguments: 0..<4)
  func `included records are those that are fetched one by one`(shard: Int) throws {
    for seed in Seeds.range(scaled(60, debug: 6), shard: 80 + shard) {
      var random = SplitMix64(seed: seed)
      let count = Int.random(in: 0...40, using: &random)
      let store = try PersistentStore(inMemory: Self.model)
      try store.write { try Self.fill(&$0, bookCount: count, &random) }
      do {
        try Self.compare(store, &random)
        try Self.compare(try store.snapshot(), &random)
        try store.write { transaction in
          for id in 0..<count where random.chance(3) {
            try transaction.delete(Book.self, key: id)
          }
          try Self.fill(&transaction, bookCount: count + 2, &random)
          try Self.compare(transaction, &random)
        }
      } catch {
        throw Disagreement(description: "seed \(seed): \(error)")
      }
    }
  }

  private static func compare(
    _ reader: borrowing some RecordReading & ~Copyable, _ random: inout SplitMix64
  ) throws {
    try compareTargets(reader, &random)
    try compareSources(reader, &random)
    try compareOrders(reader, &random)
    try compareUntyped(reader)
  }

  private static func compareTargets(
    _ reader: borrowing some RecordReading & ~Copyable, _ random: inout SplitMix64
  ) throws {
    let year = Int.random(in: 1990..<1994, using: &random)
    let query = Book.where { $0.year >= year }.sorted(by: .descending(\.year))
    let books = try reader.fetch(query)
    let found = try reader.fetch(
      query, including: .one(\.author, including: .one(\.country)), .one(\.finder), .all(\.tags),
      .all(\.others, including: .one(\.author)), .one(\.cover))
    try agree(found.map(\.0) == books, "\(found.map(\.0)), not \(books)")
    for (book, author, finder, tags, others, cover) in found {
      let writer = try reader.fetch(book.author)
      try agree(author?.0 == writer, "\(String(describing: author)) of \(book)")
      try agree(try author?.1 == reader.fetch(writer?.country), "the country of \(book)")
      try agree(try finder == reader.fetch(book.finder), "\(String(describing: finder)) of \(book)")
      try agree(try tags == reader.fetch(book.tags), "\(tags) of \(book)")
      try agree(
        try others.map(\.0) == reader.fetch(book.others.sorted { $0.id < $1.id }),
        "\(others) of \(book)")
      for (other, author) in others {
        try agree(try author == reader.fetch(other.author), "the author of \(other)")
      }
      try agree(try cover == reader.fetch(book.cover), "\(String(describing: cover)) of \(book)")
    }
    let drafts = try reader.fetch(
      Query<Draft>(), including: .one(\.writer, of: Author.self), .all(\.tags, of: Topic.self))
    for (draft, writer, tags) in drafts {
      try agree(try writer == reader.fetch(Author.self, key: draft.writer), "\(draft)")
      try agree(try tags == reader.fetch(Topic.self, keys: draft.tags), "\(draft)")
    }
    try agree(try drafts.count == reader.count(Draft.self), "\(drafts.count) drafts")
  }

  private static func compareSources(
    _ reader: borrowing some RecordReading & ~Copyable, _ random: inout SplitMix64
  ) throws {
    let year = Int.random(in: 1990..<1994, using: &random)
    let limit = Int.random(in: 0...4, using: &random)
    let found = try reader.fetch(
      Query<Author>(),
      including: .all(
        Author.books, where: Condition { $0.year >= year }, including: .all(\.tags)),
      .all(Author.books, sortedBy: .descending(\.year), limit: limit, including: .one(\.cover)),
      .all(Author.finds, sortedBy: .ascending(\.year), .descending(\.id)),
      .all(Author.drafts), .all(Author.memberships))
    try agree(try found.map(\.0) == reader.fetch(Author.self), "\(found.map(\.0))")
    for (author, books, latest, finds, drafts, memberships) in found {
      let all = Author.books(of: author)
      try agree(
        try books.map(\.0) == reader.fetch(all.where { $0.year >= year }), "\(books) of \(author)")
      for (book, tags) in books {
        try agree(try tags == reader.fetch(book.tags), "\(tags) of \(book)")
      }
      try agree(
        try latest.map(\.0) == reader.fetch(all.sorted(by: .descending(\.year)).limit(limit)),
        "\(latest) of \(author)")
      for (book, cover) in latest {
        try agree(try cover == reader.fetch(book.cover), "the cover of \(book)")
      }
      let byYear = Author.finds(of: author).sorted(by: .ascending(\.year), .descending(\.id))
      try agree(try finds == reader.fetch(byYear), "\(finds) of \(author)")
      try agree(try drafts == reader.fetch(Author.drafts(of: author)), "\(drafts) of \(author)")
      try agree(
        try memberships == reader.fetch(Author.memberships(of: author)),
        "\(memberships) of \(author)")
    }
    let tags = try reader.fetch(
      Query<Topic>(), including: .all(Topic.books, including: .all(\.tags)))
    for (tag, books) in tags {
      try agree(try books.map(\.0) == reader.fetch(Topic.books(of: tag)), "\(books) of \(tag)")
    }
    let covers = try reader.fetch(Query<Cover>(), including: .all(Cover.book))
    for (cover, books) in covers {
      try agree(try books == reader.fetch(Cover.book(of: cover)), "\(books) of \(cover)")
    }
  }

  /// Compares lists in orders that entries of indexes have, forward and backward, and in others.
  private static func compareOrders(
    _ reader: borrowing some RecordReading & ~Copyable, _ random: inout SplitMix64
  ) throws {
    let orders: [Query<Book>.Order] = [
      .ascending(\.year), .descending(\.year), .ascending(\.id), .descending(\.id),
      .ascending(\.author), .descending(\.finder),
    ]
    let (one, two) = (random.pick(orders), random.pick(orders))
    let limit = random.pick([nil, 0, 1, 3])
    let condition: Condition<Book> = random.pick([
      .always, .always, Condition { $0.id >= 10 }, Condition { $0.cover != nil },
    ])
    func cut<Subject>(_ query: Query<Subject>) -> Query<Subject> {
      limit.map { query.limit($0) } ?? query
    }
    let found = try reader.fetch(
      Query<Author>(),
      including: .all(Author.books, where: condition, sortedBy: one, two, limit: limit),
      .all(Author.finds, where: condition, sortedBy: one, two, limit: limit),
      .all(Author.books, where: condition, sortedBy: one, limit: limit),
      .all(Author.drafts, sortedBy: .descending(\.id), limit: limit),
      .all(Author.drafts, limit: limit),
      .all(Author.memberships, sortedBy: .descending(\.club), limit: limit))
    for (author, books, finds, simple, last, first, memberships) in found {
      let name = "\(one), \(two), \(limit ?? -1), \(condition) of \(author.id.suffix(9))"
      let all = Author.books(of: author).where(condition)
      try agree(
        try books == reader.fetch(cut(all.sorted(by: one, two))), "books \(name): \(books)")
      try agree(
        try finds
          == reader.fetch(
            cut(Author.finds(of: author).where(condition).sorted(by: one, two))),
        "finds \(name): \(finds)")
      try agree(try simple == reader.fetch(cut(all.sorted(by: one))), "simple \(name): \(simple)")
      let drafts = Author.drafts(of: author)
      try agree(
        try last == reader.fetch(cut(drafts.sorted(by: .descending(\.id)))),
        "the last drafts, \(name): \(last)")
      try agree(try first == reader.fetch(cut(drafts)), "drafts, \(name): \(first)")
      try agree(
        try memberships
          == reader.fetch(cut(Author.memberships(of: author).sorted(by: .descending(\.club)))),
        "memberships, \(name): \(memberships)")
    }
    let tags = try reader.fetch(
      Query<Topic>(), including: .all(Topic.books, sortedBy: one, two, limit: limit))
    for (tag, books) in tags {
      try agree(
        try books == reader.fetch(cut(Topic.books(of: tag).sorted(by: one, two))),
        "\(one), \(two): \(books) of \(tag)")
    }
    let covers = try reader.fetch(
      Query<Cover>(), including: .all(Cover.book, sortedBy: one, limit: limit))
    for (cover, books) in covers {
      try agree(
        try books == reader.fetch(cut(Cover.book(of: cover))), "\(books) of \(cover)")
    }
  }

  /// Compares the relations of records without types with queries.
  private static func compareUntyped(_ reader: borrowing some RecordReading & ~Copyable) throws {
    let authors = try reader.fetch(record: "Author")
    for (inverse, record, field) in [
      ("books", "Book", "author"), ("finds", "Book", "finder"), ("drafts", "Draft", "writer"),
      ("memberships", "Membership", "author"),
    ] {
      let lists = try reader.related(to: authors, inverse)
      for (author, list) in zip(authors, lists) {
        let found = try reader.fetch(
          record: record, where: .comparison(field: field, .equal, author["id"]))
        try agree(list == found, "\(inverse) of \(author): \(list)")
      }
      try agree(lists.count == authors.count, "\(lists.count) lists")
    }
    let books = try reader.fetch(record: "Book")
    for (relation, record) in [
      ("author", "Author"), ("finder", "Author"), ("tags", "Topic"), ("cover", "Cover"),
    ] {
      for (book, list) in zip(books, try reader.related(to: books, relation)) {
        let keys = if case .array(let keys) = book[relation] { keys } else { [book[relation]] }
        var found: [DynamicRecord] = []
        for key in keys where key != .null {
          if let target = try reader.fetch(record: record, key: key) { found.append(target) }
        }
        try agree(list == found, "\(relation) of \(book): \(list)")
      }
    }
  }

  // MARK: Sentences

  @Test func `pages come with their relations, one after the other`() throws {
    let store = try PersistentStore(inMemory: Self.model)
    var random = SplitMix64(seed: 7)
    try store.write { try Self.fill(&$0, bookCount: 30, &random) }
    let query = Book.sorted(by: .ascending(\.year)).limit(7)
    var ids: [Int] = []
    var last: Book?
    while true {
      let page = try store.fetch(query, after: last, including: .one(\.author))
      if page.isEmpty { break }
      for (book, author) in page {
        #expect(author?.id.unicodeScalars.elementsEqual(book.author.id.unicodeScalars) ?? false)
        ids.append(book.id)
      }
      last = page.last?.0
    }
    #expect(try ids == store.fetch(Book.sorted(by: .ascending(\.year))).map(\.id))
  }

  @Test func `records at hand get their relations as they are now`() throws {
    let store = try PersistentStore(inMemory: Self.model)
    var random = SplitMix64(seed: 8)
    try store.write { try Self.fill(&$0, bookCount: 5, &random) }
    let author = Author(id: "k", country: Reference(2))
    try store.save(author)
    let (_, country) = try #require(try store.fetch([author], including: .one(\.country)).first)
    #expect(country == Country(id: 2))
    let none = try store.fetch([Author](), including: .all(Author.books))
    #expect(none.isEmpty)
  }

  @Test func `a relation that the store does not have is refused`() throws {
    struct Stranger: Record {
      var id: Int
      var author: Reference<Author>
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "author", type: .reference(to: Author.self))
      }
    }
    let store = try PersistentStore(inMemory: Self.model)
    try store.save(Author(id: "k"))
    let strangers = Inverse<Author, Stranger>("strangers", of: "author")
    #expect(throws: StoreError.unknownRecord(name: "Stranger")) {
      _ = try store.fetch(Query<Author>(), including: .all(strangers))
    }
    let years = Inverse<Author, Book>("years", of: "year")
    guard
      case .invalidQuery("Book", "year", _)? = storeError({
        _ = try store.fetch(Query<Author>(), including: .all(years))
      })
    else {
      Issue.record("it is not refused")
      return
    }
  }

  // MARK: Passes

  private static func open(
    _ medium: SimulatedFileSystem, _ seed: UInt64
  ) throws -> PersistentStore {
    var options = EngineOptions.small(foldThreshold: 1 << 20)
    options.nodeSizes = .forLongKeys
    options.readMode = .buffered(cacheSize: 64 << 10)
    let backend = try EngineBackend(alone: medium, options, creating: true, seed: seed)
    let opening = try StoreOpening(Self.model, steps: [], .automatic, StoreOptions())
    return PersistentStore(try opening.open(backend), StoreOptions())
  }

  @Test func `with a limit, only the first entries of an index that is in order are read`() throws {
    let medium = SimulatedFileSystem()
    let filled = try Self.open(medium, 1)
    try filled.write { transaction in
      try transaction.save(Author(id: "busy"))
      try transaction.save(
        contentsOf: (0..<4_000).map { Book(id: $0, year: $0 % 100, author: Reference("busy")) })
    }
    try filled.close()
    func pages(_ one: Query<Book>.Order, _ two: Query<Book>.Order) throws -> Int {
      let store = try Self.open(medium, 2)
      let before = medium.callCount(of: .read)
      let found = try store.fetch(
        Query<Author>(), including: .all(Author.books, sortedBy: one, two, limit: 3))
      let count = medium.callCount(of: .read) - before
      #expect(found.map(\.1.count) == [3])
      try store.close()
      return count
    }
    let forward = try pages(.descending(\.year), .ascending(\.id))
    let backward = try pages(.ascending(\.year), .descending(\.id))
    let other = try pages(.ascending(\.year), .ascending(\.id))
    #expect(
      max(forward, backward) < 15 && other > 30, "\(forward), \(backward) and \(other) pages")
  }

  @Test func `the pages read are those of a pass over each tree`() throws {
    let medium = SimulatedFileSystem()
    let filled = try Self.open(medium, 1)
    var random = SplitMix64(seed: 3)
    let count = 4_000
    var owners = (0..<count).map { "author \($0 / 10)" }
    owners.shuffle(using: &random)
    try filled.write { transaction in
      try transaction.save(contentsOf: Set(owners).map { Author(id: $0) })
      try transaction.save(
        contentsOf: owners.enumerated().map { id, owner in
          Book(id: id, year: 2_000, author: Reference(owner))
        })
    }
    try filled.close()
    let store = try Self.open(medium, 2)
    func reads(_ body: () throws -> Void) rethrows -> Int {
      let before = medium.callCount(of: .read)
      try body()
      return medium.callCount(of: .read) - before
    }
    let scans = try reads {
      _ = try store.fetch(Author.self)
      _ = try store.fetch(Book.self)
    }
    let included = try reads {
      let found = try store.fetch(Query<Author>(), including: .all(Author.books))
      #expect(found.reduce(0) { $0 + $1.1.count } == count)
    }
    let back = try reads {
      let found = try store.fetch(Query<Book>(), including: .one(\.author))
      #expect(found.allSatisfy { $0.1?.id == $0.0.author.id })
    }
    let singles = try reads {
      for author in try store.fetch(Author.self) { _ = try store.fetch(Author.books(of: author)) }
    }
    print("inclusions: pages: scans \(scans), \(included) and \(back), one by one \(singles)")
    // The index is a third tree.
    #expect(included < 2 * scans)
    #expect(back <= scans + scans / 4)
    #expect(singles > 5 * included)
    try store.close()
  }
}

import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Records that are loaded in bulk are as if each had been inserted: the same records, the same indexes, the same refusals.
@Suite struct LoadTests {
  /// Books, with every kind of index, that lead to their authors and to one another.
  private static let model = StoreModel([
    ModelVersion(
      1,
      describing: [
        "Author": RecordDescription.author, "Book": RecordDescription.book,
        "Shelf": RecordDescription.shelf,
      ])
  ])

  private func store(budget: Int = 64 << 20) throws -> PersistentStore {
    var options = StoreOptions()
    options.transactionBudget = budget
    return try PersistentStore(inMemory: Self.model, options: options)
  }

  private static let fields = ["id", "title", "isbn", "author", "next", "tags", "price"]

  private struct Book: Sendable {
    var id: Int64
    var title: String
    var isbn: FieldValue
    var author: Int64
    var next: FieldValue = .null
    var tags: [String] = []
    var price = 1.5

    var values: [FieldValue] {
      [
        .integer(id), .string(title), isbn, .integer(author), next,
        .array(tags.map { .string($0) }), .double(price),
      ]
    }

    var record: DynamicRecord {
      DynamicRecord(
        "Book",
        RecordFields(Dictionary(uniqueKeysWithValues: zip(LoadTests.fields, values))))
    }
  }

  private static func books(_ count: Int64) -> [Book] {
    var books: [Book] = []
    for id in 0..<count {
      var book = Book(id: id, title: "Title \(id * 7919 % count)", isbn: .null, author: id % 10)
      if id % 5 > 0 { book.isbn = .string("\(id * 104_729 % 1_000_003)") }
      if id % 3 == 0 { book.next = .integer((id + 1) % count) }
      for number in 0..<id % 3 { book.tags.append("tag \(number * id % 7)") }
      book.price = Double(id % 100) / 4
      books.append(book)
    }
    return books
  }

  /// - Parameter count: The expected number, from 10,000 on of which entries are sorted before they are written.
  private static func load(
    _ books: [Book], _ transaction: inout WriteTransaction, expecting count: Int
  ) throws {
    var rest = books[...]
    let loaded = try transaction.load(record: "Book", fields: fields, expecting: count) { values in
      guard let book = rest.popFirst() else { return false }
      for (place, value) in book.values.enumerated() { values[place] = value }
      return true
    }
    #expect(loaded == books.count)
  }

  private static func loadAuthors(
    _ ids: Range<Int64>, _ transaction: inout WriteTransaction
  ) throws {
    var ids = ids
    _ = try transaction.load(record: "Author", fields: ["id"], expecting: ids.count) { values in
      guard let id = ids.popFirst() else { return false }
      values[0] = .integer(id)
      return true
    }
  }

  private static func insert(_ books: [Book], _ transaction: inout WriteTransaction) throws {
    for book in books { try transaction.save(book.record) }
  }

  /// All entries of all trees of records.
  private func entries(_ store: PersistentStore) throws -> [[[UInt8]]] {
    let trees = TreeAccess.state(try store.backend.snapshot())
    return try store.entities.all.flatMap { [$0.rows] + $0.indexes.map(\.slot) }.map { slot in
      var entries: [[UInt8]] = []
      let cursor = try trees.cursor(in: slot)
      while try cursor.advance() {
        let value = try cursor.value().array()
        entries.append(cursor.key.array() + value)
      }
      return entries
    }
  }

  @Test(arguments: [(10, false), (10_000, false), (10_000, true)], [64 << 20, 20_000])
  func `what is loaded has the rows and index entries of what is inserted`(
    _ kind: (count: Int, isShuffled: Bool), budget: Int
  ) throws {
    var random = SplitMix64(seed: 7)
    let books = kind.isShuffled ? Self.books(500).shuffled(using: &random) : Self.books(500)
    let (loaded, inserted) = (try store(budget: budget), try store())
    try loaded.write { transaction in
      // Their authors come after them.
      try Self.load(books, &transaction, expecting: kind.count)
      #expect(
        try transaction.count(record: "Book", where: .comparison(field: "author", .equal, 3)) == 50)
      try Self.loadAuthors(0..<10, &transaction)
    }
    try inserted.write { transaction in
      try Self.loadAuthors(0..<10, &transaction)
      try Self.insert(books, &transaction)
    }
    #expect(try entries(loaded) == entries(inserted))
    #expect(try loaded.snapshot().check().isEmpty)
    #expect(try loaded.fetch(record: "Book", key: 7)?["shelf"] == .null)
    try loaded.close()
    try inserted.close()
  }

  /// Books that cannot be inserted.
  private enum Refused: CaseIterable {
    case keyTwice, uniqueValueTwice, otherType, danglingReference, notANumber

    var books: [Book] {
      let book = Book(id: 1, title: "a", isbn: .null, author: 1)
      var (second, third) = (book, book)
      switch self {
      case .keyTwice: second.id = 0
      case .uniqueValueTwice:
        (second.id, third.id) = (2, 3)
        (second.isbn, third.isbn) = (.string("b"), .string("b"))
      case .otherType:
        second.isbn = .integer(7)
        return [second]
      case .danglingReference:
        second.author = 11
        return [second]
      case .notANumber:
        second.price = .nan
        return [second]
      }
      return [book, second, third]
    }

    func isReason(of error: StoreError) -> Bool {
      switch (self, error) {
      case (.keyTwice, .invalidValue("Book", nil, _)): true
      case (.uniqueValueTwice, .uniqueConflict("Book", _, _)): true
      case (.otherType, .invalidValue("Book", "isbn", _)): true
      case (.danglingReference, .danglingReference("Book", "1", "author", _)): true
      case (.notANumber, .invalidValue("Book", "price", _)): true
      default: false
      }
    }
  }

  @Test(arguments: Refused.allCases, [10, 10_000])
  private func `what cannot be inserted cannot be loaded, and nothing of it is left`(
    _ refused: Refused, count: Int
  ) throws {
    let store = try store()
    try store.write { try Self.loadAuthors(0..<10, &$0) }
    let before = try entries(store)
    do {
      try store.write { try Self.load(refused.books, &$0, expecting: count) }
      Issue.record("\(refused) was loaded")
    } catch let error as StoreError {
      #expect(refused.isReason(of: error), "\(error)")
    }
    #expect(try entries(store) == before)
    try store.close()
  }

  @Test func `a load that is undone leaves the transaction as it was, and what was to be proved`()
    throws
  {
    let store = try store()
    try store.write { transaction in
      try Self.loadAuthors(0..<10, &transaction)
      for count in [10, 10_000] {
        // A reference that leads nowhere, and then a failure of the source.
        #expect(throws: CancellationError.self) {
          try transaction.load(record: "Book", fields: Self.fields, expecting: count) { values in
            let book = Book(id: 1, title: "a", isbn: .null, author: 99)
            if values[0] == .integer(1) { throw CancellationError() }
            for (place, value) in book.values.enumerated() { values[place] = value }
            return true
          }
        }
        #expect(try transaction.count(record: "Book") == 0)
      }
      try Self.load(Self.books(30), &transaction, expecting: 10_000)
    }
    #expect(try store.count(record: "Book") == 30)
    #expect(try store.snapshot().check().isEmpty)
    try store.close()
  }

  @Test func `records are added one by one to a type that has some, or that more depends on`()
    throws
  {
    let store = try store()
    let books = Self.books(40)
    try store.write { transaction in
      try Self.loadAuthors(0..<10, &transaction)
      try Self.load(Array(books[..<20]), &transaction, expecting: 10_000)
    }
    try store.write { transaction in
      try Self.load(Array(books[20...]), &transaction, expecting: 10_000)
      #expect(throws: StoreError.duplicateKey(record: "Book", key: "3")) {
        try Self.load([books[3]], &transaction, expecting: 1)
      }
      // A list of references.
      var isDone = false
      _ = try transaction.load(record: "Shelf", fields: ["name", "books"], expecting: 1) { values in
        (values[0], values[1]) = ("first", [3, 4])
        defer { isDone = true }
        return !isDone
      }
      #expect(throws: StoreError.self) {
        try transaction.load(record: "Shelf", fields: ["name", "books"], expecting: 1) { values in
          (values[0], values[1]) = ("second", [3, 3])
          return true
        }
      }
    }
    #expect(try store.count(record: "Book") == 40)
    #expect(try store.count(record: "Shelf") == 1)
    #expect(try store.snapshot().check().isEmpty)
    try store.close()
  }

  @Test func `fields and types that there are not are refused`() throws {
    let store = try store()
    try store.write { transaction in
      #expect(throws: StoreError.unknownRecord(name: "Poem")) {
        try transaction.load(record: "Poem", fields: [], expecting: 1) { _ in true }
      }
      #expect(throws: StoreError.self) {
        try transaction.load(record: "Book", fields: ["id", "poem"], expecting: 1) { _ in true }
      }
    }
    try store.close()
  }

  // MARK: Crashes

  private static func sweep(spilling: Bool) -> CommitSweep<[[DynamicRecord]]> {
    CommitSweep(
      name: spilling ? "loads that spill" : "loads", model: model, commitCount: 2,
      transactionBudget: spilling ? 4_000 : nil
    ) { number, transaction in
      if number == 0 {
        try load(books(60), &transaction, expecting: 10_000)
        try loadAuthors(0..<10, &transaction)
      } else {
        try transaction.save(Book(id: 70, title: "a", isbn: "b", author: 3).record)
      }
    } world: { store in
      try ["Author", "Book"].map { try store.fetch(record: $0) }
    }
  }

  @Test(arguments: [false, true])
  func `crashes before any call leave a load whole or undone, X1, X2`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).crash(stride: scaled(1, debug: 5))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(50, debug: 10))
  }

  @Test(arguments: [false, true])
  func `a call that fails leaves a load whole or undone, X4`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).fail(stride: scaled(1, debug: 11))
    #expect(findings.violations == [])
    #expect(findings.count > 0)
  }
}

extension RecordDescription {
  @ResultBuilder fileprivate static var author: RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    UntypedInverse("books", of: "author", in: "Book", deleteRule: .cascade)
  }

  @ResultBuilder fileprivate static var book: RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "title", type: .string)
    Field(name: "isbn", type: .string, optional: true, unique: true)
    Field(name: "author", type: .reference(to: "Author"))
    Field(name: "next", type: .reference(to: "Book"), optional: true)
    Field(name: "tags", type: .array(of: .string))
    Field(name: "price", type: .double)
    Field(name: "shelf", type: .string, optional: true)
    Index(.elements("tags"), "price")
    Index(.words("title"))
    Index(.descending("price"), "title")
  }

  @ResultBuilder fileprivate static var shelf: RecordDescription {
    Field(primaryKey: true, name: "name", type: .string)
    Field(name: "books", type: .references(to: "Book"))
  }
}
